#!/usr/bin/env bash
# Every link between the pages must lead to a page that is there.
set -euo pipefail
cd "$(dirname "$0")/pages"
broken=0
for page in *.md; do
  while read -r target; do
    [ -e "$target" ] || { echo "$page: $target is missing"; broken=$((broken + 1)); }
  done < <(grep -o '](\([a-z-]*\.md\))' "$page" | tr -d '()]' || true)
done
echo "broken links: $broken"
