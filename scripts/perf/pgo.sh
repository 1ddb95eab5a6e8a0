#!/usr/bin/env bash
# Profile-guided optimisation, measured on blocks it was not trained on: pgo.sh --help, docs/pgo.md.
set -euo pipefail
# shellcheck source=scripts/lib/perf.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/perf.sh"
run_perf pgo "$@"
