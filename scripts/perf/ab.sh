#!/usr/bin/env bash
# Measures a candidate against a base and says whether the change is worth keeping: ab.sh --help, docs/ab.md.
set -euo pipefail
# shellcheck source=scripts/lib/perf.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/perf.sh"
run_perf ab "$@"
