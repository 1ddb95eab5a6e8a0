#!/usr/bin/env bash
# Installs what is missing, builds blockreplay, replays the shipped 2,000 THORChain blocks with CPU and heap profiles
# and a report, and says where they are. Debian 12; run it as root or as a user with sudo; safe to run again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/common.sh
. scripts/lib/common.sh

case "${1:-}" in
  "") ;;
  -h | --help) sed -n '2,3s/^# //p' "$0"; exit 0 ;;
  *) die "unknown argument '$1' (there are none but --help)" ;;
esac

install_packages "${BLOCKREPLAY_PACKAGES[@]}"
build_preset release blockreplay

out=runs/quickstart
mkdir -p "$out"
say "Replaying fixtures/thor-2000: 2,000 blocks, every app hash checked"
build/release/bin/blockreplay run fixtures/thor-2000 \
  --cpu-profile "$out/cpu.pb.gz" --heap-profile "$out/heap.pb.gz" \
  --report "$out/report.json" --csv "$out/blocks.csv" --html "$out/report.html"

cat <<EOF

Written to $out/:
  report.html   all of it to look at: open it in a browser   (docs/report-page.md)
  report.json   totals, percentiles, phases, CPU split      (docs/reports.md)
  blocks.csv    one row per block
  cpu.pb.gz     CPU profile:   go tool pprof -http=localhost:8080 $out/cpu.pb.gz
  heap.pb.gz    heap profile:  go tool pprof -sample_index=alloc_space -top $out/heap.pb.gz
Any reader of pprof profiles opens them; no binary or symbol file is needed (docs/profiles.md).
EOF
