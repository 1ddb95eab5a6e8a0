# Sourced by the scripts: saying what is done, and installing what is missing.
# shellcheck shell=bash

say() { printf '==> %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Debian 12 packages that the build needs; one list for the scripts, CI and the README.
BLOCKREPLAY_PACKAGES=(
  # tools
  g++ cmake ninja-build ccache pkg-config protobuf-compiler zstd python3
  # storage
  librocksdb-dev libleveldb-dev libsnappy-dev libzstd-dev zlib1g-dev
  # messages, hashes, signatures, errors, big integers
  libprotobuf-dev libssl-dev libsecp256k1-dev libabsl-dev libboost-dev
  # command line and reports
  libcli11-dev nlohmann-json3-dev
  # profiles
  libgoogle-perftools-dev libdw-dev libelf-dev libre2-dev libcpp-httplib-dev
  # the node's streaming plugin
  libgrpc++-dev protobuf-compiler-grpc
  # tests and benchmarks
  libgtest-dev libgmock-dev libbenchmark-dev
)

# What scripts/perf needs besides: statistics.
BLOCKREPLAY_PERF_PACKAGES=(python3-scipy python3-statsmodels python3-numpy)

# What their tests exercise: job arrays on a Slurm of one machine, and GNU parallel. Tests of Slurm are skipped without.
BLOCKREPLAY_PERF_TEST_PACKAGES=(slurm-wlm munge parallel)

# Prints the packages of the arguments that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || printf '%s\n' "$package"
  done
}

# Installs the packages of the arguments that are missing; works as root and as a user with sudo.
install_packages() {
  local -a missing
  mapfile -t missing < <(missing_packages "$@")
  if [ "${#missing[@]}" -eq 0 ]; then
    say "All needed packages are installed"
    return
  fi
  command -v apt-get >/dev/null || die "apt-get not found: this script installs Debian 12 packages; install these yourself: ${missing[*]}"
  local -a as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root and no sudo: install these packages first: ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing ${#missing[@]} packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build_preset PRESET [TARGET...]: configures and builds; quiet unless something fails.
build_preset() {
  local preset=$1
  shift
  local log
  log=$(mktemp)
  say "Configuring (preset $preset)"
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; die "cmake --preset $preset failed"; }
  rm -f "$log"
  say "Building (preset $preset)"
  cmake --build --preset "$preset" ${1:+--target "$@"}
}
