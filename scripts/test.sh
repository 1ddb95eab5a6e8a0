#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests; the last line is "N passed, N failed".
# Debian 12; run it as root or as a user with sudo; safe to run again. PRESET=asan-ubsan (or another) picks the build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/common.sh
. scripts/lib/common.sh

case "${1:-}" in
  "") ;;
  -h | --help) sed -n '2,3s/^# //p' "$0"; exit 0 ;;
  *) die "unknown argument '$1' (there are none but --help)" ;;
esac

preset=${PRESET:-release}
install_packages "${BLOCKREPLAY_PACKAGES[@]}" "${BLOCKREPLAY_PERF_PACKAGES[@]}" "${BLOCKREPLAY_PERF_TEST_PACKAGES[@]}" \
  shellcheck
build_preset "$preset"

say "Running the tests"
results=$(mktemp)
trap 'rm -f "$results"' EXIT
ctest --preset "$preset" --parallel "$(nproc)" --output-junit "$results" || true

python3 - "$results" <<'EOF'
import sys
import xml.etree.ElementTree as ElementTree

suite = ElementTree.parse(sys.argv[1]).getroot()
cases = suite.findall("testcase")
failed = [case.get("name") for case in cases if case.get("status") == "fail"]
skipped = [case.get("name") for case in cases if case.get("status") in ("notrun", "disabled")]
for name in failed:
    print("failed:", name)
for name in skipped:
    print("skipped:", name)
passed = len(cases) - len(failed) - len(skipped)
print(f"{passed} passed, {len(failed)} failed" + (f", {len(skipped)} skipped" if skipped else ""))
sys.exit(1 if failed or not passed else 0)
EOF
