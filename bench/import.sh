#!/usr/bin/env bash
# What importing a node's data directory costs against reading its databases once and replaying the
# result: makes a synthetic node of KEYS keys and BLOCKS blocks, scans it, imports it, runs it.
#
#   bench/import.sh BUILD_DIR [KEYS] [BLOCKS] [CACHE_MB]
set -euo pipefail

build=${1:?usage: bench/import.sh BUILD_DIR [KEYS] [BLOCKS] [CACHE_MB]}
keys=${2:-1000000} blocks=${3:-2000} cache=${4:-256}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# CPU seconds and peak memory of a command.
measure() {
  local name=$1
  shift
  TIMEFORMAT="$name: CPU %U + %S s, wall %R s"
  time "$@" >"$work/$name.log" 2>&1 || { cat "$work/$name.log" >&2; exit 1; }
}

"$build/bin/node_directory" write "$work/node" "$keys" "$blocks"
du -sh "$work/node"
measure scan "$build/bin/node_directory" scan "$work/node"
measure import /usr/bin/env time -f '%M KiB peak' "$build/bin/blockreplay" import --home "$work/node" --from 2 \
  --out "$work/recording" --application synthetic --application-version 1 --cache-mb "$cache" --threads 1
tail -2 "$work/import.log"
measure run "$build/bin/blockreplay" run "$work/recording" --cache-mb "$cache" --threads 1
du -sh "$work/recording"
