# Sourced by scripts/perf/*.sh: runs a module of scripts/perf/blockreplay_perf with Debian's Python.
# shellcheck shell=bash

# shellcheck source=scripts/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# SciPy and statsmodels are Debian packages, so they are there for Debian's interpreter, whatever python3 comes first in PATH.
BLOCKREPLAY_PYTHON=${BLOCKREPLAY_PYTHON:-/usr/bin/python3}

# run_perf MODULE ARGUMENT...: does not return.
run_perf() {
  local module=$1 here
  shift
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../perf" && pwd)
  "$BLOCKREPLAY_PYTHON" -c 'import scipy, statsmodels' 2>/dev/null ||
    die "$BLOCKREPLAY_PYTHON lacks SciPy or statsmodels: install ${BLOCKREPLAY_PERF_PACKAGES[*]} (apt-get install)"
  # Numbers of a few runs need no threads, and these would show up in what is measured.
  export OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
  PYTHONPATH=$here exec "$BLOCKREPLAY_PYTHON" -m "blockreplay_perf.$module" "$@"
}
