#!/usr/bin/env bash
# Install bun, jest, vitest, mocha and eslint, which tests run, from npm.
# Into TESTS_JS_DIR, else .tox/js of the checkout; a second call finds them and ends at once.
# bun itself is then at $TESTS_JS_DIR/bin/bun.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
dir="${TESTS_JS_DIR:-$root/.tox/js}"
wanted="bun 1.3.5 jest 30.2.0 vitest 3.2.4 mocha 11.7.5 eslint 9.39.1"

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) bun=bun-linux-x64 ;;
  Linux-aarch64) bun=bun-linux-aarch64 ;;
  Darwin-arm64) bun=bun-darwin-aarch64 ;;
  Darwin-x86_64) bun=bun-darwin-x64 ;;
  *) echo "no bun package for $(uname -s) on $(uname -m)" >&2; exit 1 ;;
esac

[ "$(cat "$dir/installed" 2>/dev/null)" = "$wanted" ] && exit 0
command -v npm >/dev/null || { echo "npm is not installed" >&2; exit 1; }
mkdir -p "$dir/bin"
npm install --prefix "$dir" --no-audit --no-fund --no-save --ignore-scripts --loglevel=error \
  "@oven/$bun@1.3.5" jest@30.2.0 vitest@3.2.4 mocha@11.7.5 eslint@9.39.1 >&2
ln -sf "../node_modules/@oven/$bun/bin/bun" "$dir/bin/bun"
"$dir/bin/bun" --version >/dev/null
echo "$wanted" >"$dir/installed"
