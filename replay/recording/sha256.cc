#include "replay/recording/sha256.h"

#include <openssl/evp.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/strings/escaping.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

void Check(int ok) {
  if (ok == 1) return;
  std::fprintf(stderr, "blockreplay: SHA-256 failed inside OpenSSL (out of memory?)\n");
  std::abort();
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  Check(context_ != nullptr ? 1 : 0);
  Check(EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), EVP_sha256(), nullptr));
}

Sha256::~Sha256() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_)); }

void Sha256::Update(std::string_view bytes) {
  Check(EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), bytes.data(), bytes.size()));
}

Sha256Digest Sha256::Finish() {
  Sha256Digest digest;
  Check(EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_), digest.data(), nullptr));
  Check(EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), EVP_sha256(), nullptr));
  return digest;
}

Sha256Digest Sha256Of(std::string_view bytes) {
  Sha256 sha;
  sha.Update(bytes);
  return sha.Finish();
}

std::string HexOf(const Sha256Digest& digest) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

std::string RawOf(const Sha256Digest& digest) { return {digest.begin(), digest.end()}; }

absl::StatusOr<Sha256Digest> Sha256OfFile(const std::string& path) {
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  Sha256 sha;
  std::vector<char> buffer(size_t{1} << 18);
  for (;;) {
    absl::StatusOr<size_t> size = file->Read(buffer.data(), buffer.size());
    if (!size.ok()) return size.status();
    if (*size == 0) return sha.Finish();
    sha.Update(std::string_view(buffer.data(), *size));
  }
}

}  // namespace blockreplay::replay
