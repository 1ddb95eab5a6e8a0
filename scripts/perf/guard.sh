#!/usr/bin/env bash
# Proves that two builds behave the same, and shows the first difference: guard.sh --help, docs/guard.md.
set -euo pipefail
# shellcheck source=scripts/lib/perf.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/perf.sh"
run_perf guard "$@"
