# Everything comes from Debian packages; scripts/lib/packages.sh lists them. Nothing is downloaded.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(RocksDB REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(leveldb REQUIRED)

# These ship pkg-config files only.
find_package(PkgConfig REQUIRED)
pkg_check_modules(cli11 REQUIRED IMPORTED_TARGET CLI11)
# Not "zstd": RocksDB's package looks for zstd in variables of that name, and a second configure would find ours there.
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(grpc REQUIRED IMPORTED_TARGET grpc++)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(libdw REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(secp256k1 REQUIRED IMPORTED_TARGET libsecp256k1)

# Debian's RocksDB is used as the shared library: the static one would need its compression libraries too.
add_library(blockreplay_rocksdb INTERFACE)
if(TARGET RocksDB::rocksdb-shared)
  target_link_libraries(blockreplay_rocksdb INTERFACE RocksDB::rocksdb-shared)
else()
  target_link_libraries(blockreplay_rocksdb INTERFACE RocksDB::rocksdb)
endif()
