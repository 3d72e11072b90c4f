#!/usr/bin/env bash
# record_commit.sh [REVISION]: write the commit of the checkout in this folder to PROVENANCE.json.
# It is recorded with every number that is measured, ` changed` where the code is not that commit's. An
# archive brings its own record; without a repository the commit is REVISION, or nobody knows it.
set -euo pipefail
[ ! -f PROVENANCE.json ] || exit 0
if commit=$(git rev-parse --verify HEAD 2>/dev/null); then
    [ -z "$(git status --porcelain -- code)" ] || commit+=" changed"
else
    commit=${1:-unknown}
fi
[ "$commit" = unknown ] || printf '{"name": "layerwise", "commit": "%s"}\n' "$commit" >PROVENANCE.json
