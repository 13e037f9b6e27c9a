#!/usr/bin/env bash
# Install the MCP servers that these tests speak to, each written by somebody else: two from PyPI
# with uv, into an environment of their own, two from npm. Into TESTS_MCP_SERVERS_DIR, else
# .tox/mcp-servers of the checkout; a second call finds them and ends at once.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
dir="${TESTS_MCP_SERVERS_DIR:-$root/.tox/mcp-servers}"
python_servers=(mcp-server-git==2026.10.19 mcp-server-time==2026.10.19)
node_servers=(@modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-everything@2026.8.31)
wanted="${python_servers[*]} ${node_servers[*]}"

[ "$(cat "$dir/installed" 2>/dev/null)" = "$wanted" ] && exit 0
mkdir -p "$dir"
failed=0
# Without our constraints: these are programs of their own, and bring the versions they want.
if command -v uv >/dev/null; then
  env -u UV_CONSTRAINT -u PIP_CONSTRAINT sh -c \
    'uv venv --quiet --allow-existing "$0/venv" && uv pip install --quiet --python "$0/venv" "$@"' \
    "$dir" "${python_servers[@]}" || failed=1
else
  python3 -m venv "$dir/venv" \
    && env -u PIP_CONSTRAINT "$dir/venv/bin/python" -m pip install -q "${python_servers[@]}" || failed=1
fi
if command -v npm >/dev/null; then
  npm install --prefix "$dir" --no-audit --no-fund --no-save --ignore-scripts --loglevel=error \
    "${node_servers[@]}" >&2 || failed=1
else
  echo "npm is not installed" >&2
  failed=1
fi
[ "$failed" = 0 ] && echo "$wanted" >"$dir/installed"
exit "$failed"
