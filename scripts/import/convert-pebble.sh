#!/bin/bash
# Makes a folder that `blockreplay import --home` reads of a node's PebbleDB databases. --help says more.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/import/convert-pebble.sh [--no-verify] NODE_DATA TARGET

Copies the databases of a stopped node into the new folder TARGET, as goleveldb, for
`blockreplay import --home TARGET`. Nothing is written into NODE_DATA.

  NODE_DATA     the node's folder of databases, or its home: data/ of a Cosmos SDK node
                (application.db, blockstore.db, state.db), db/ of a gno.land node
                (gnolang.db, blockstore.db, state.db)
  TARGET        must not exist
  --no-verify   do not read what was written again to compare it

Databases that are goleveldb already are copied; RocksDB is refused, because `import` reads it as
it is. Needs Go 1.23 or later and, the first time, its module proxy. Takes about as much disk as
the databases, a hundred MB of memory, and a minute for some GB.
TEXT
}

fail() {
  echo "convert-pebble: error: $*" >&2
  exit 1
}

verify=()
while [[ ${1:-} == -* ]]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --no-verify) verify=(--no-verify); shift ;;
    *) usage >&2; exit 1 ;;
  esac
done
[[ $# == 2 ]] || { usage >&2; exit 1; }
target=${2%/}

folder=
for candidate in "$1/data" "$1/db" "$1"; do
  if [[ -d $candidate/blockstore.db ]]; then
    folder=$candidate
    break
  fi
done
[[ -n $folder ]] || fail "$1 has no blockstore.db, neither there nor in data/ or db/"
application=
for name in application gnolang; do
  [[ -d $folder/$name.db ]] && application=$name
done
[[ -n $application ]] || fail "$folder has neither application.db nor gnolang.db"
[[ -d $folder/state.db ]] || fail "$folder has no state.db"
[[ ! -e $target ]] || fail "$target exists already"
command -v go >/dev/null || fail "Go is needed (apt install golang, or go.dev): PebbleDB can only be read with it"

# Which engine a database is of: pebble, rocksdb or goleveldb.
engine() {
  local options
  options=$(find "$1" -maxdepth 1 -name 'OPTIONS-*' -print -quit)
  if [[ -z $options ]]; then
    echo goleveldb
  elif grep -q pebble_version "$options"; then
    echo pebble
  else
    echo rocksdb
  fi
}

for name in "$application" blockstore state; do
  [[ $(engine "$folder/$name.db") != rocksdb ]] ||
    fail "$folder/$name.db is a RocksDB, which blockreplay reads as it is"
done

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
(cd "$(dirname "${BASH_SOURCE[0]}")/pebble-to-goleveldb" &&
  CGO_ENABLED=0 go build -mod=readonly -buildvcs=false -o "$tools/pebble-to-goleveldb" .) ||
  fail "the converter could not be built (see above)"

# Not complete before it has its name.
unfinished=$target.incomplete
[[ ! -e $unfinished ]] || fail "$unfinished is there, of a conversion that did not end: delete it"
mkdir -p "$unfinished"
for name in "$application" blockstore state; do
  if [[ $(engine "$folder/$name.db") == pebble ]]; then
    "$tools/pebble-to-goleveldb" "${verify[@]}" "$folder/$name.db" "$unfinished/$name.db" ||
      { rm -rf "$unfinished"; fail "nothing was written to $target"; }
  else
    cp -R "$folder/$name.db" "$unfinished/$name.db"
    echo "$name.db: copied"
  fi
done
mv "$unfinished" "$target"
echo "next: blockreplay import --home $target --out RECORDING"
