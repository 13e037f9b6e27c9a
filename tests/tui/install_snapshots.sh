#!/usr/bin/env bash
# Install pytest-textual-snapshot, which compares the screens of tests/tui.
# Into TESTS_SNAPSHOTS_DIR, else .tox/snapshots of the checkout, and not among the tests' packages:
# every pytest that is started there would import it. A second call finds it and ends at once.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
dir="${TESTS_SNAPSHOTS_DIR:-$root/.tox/snapshots}"
# Later ones pin a syrupy that needs an older pytest.
wanted="pytest-textual-snapshot==1.0.0 syrupy==7.0.2"

[ "$(cat "$dir/installed" 2>/dev/null)" = "$wanted" ] && exit 0
mkdir -p "$dir"
"${PYTHON:-python3}" -m venv "$dir/venv"
# shellcheck disable=SC2086 - two requirements
"$dir/venv/bin/pip" install -q --no-deps --target "$dir/packages" $wanted
echo "$wanted" >"$dir/installed"
