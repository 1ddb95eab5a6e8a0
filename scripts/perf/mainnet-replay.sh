#!/usr/bin/env bash
# Long replays without anybody watching, in shards where asked for: mainnet-replay.sh --help, docs/mainnet-replay.md.
set -euo pipefail
# shellcheck source=scripts/lib/perf.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/perf.sh"
run_perf replay "$@"
