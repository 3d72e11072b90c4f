#!/usr/bin/env bash
# Build the image without a registry of images, and use it as a stranger would.
#
#     tests/image.sh [FOLDER]      (root; Debian packages buildah and debootstrap; about 40 GB and an hour)
#
# The Dockerfile is built as it is, on a base that debootstrap makes from Debian's packages (BASE=IMAGE takes
# another). Then the container runs with the ids of an ordinary user: the default command twice, the tests,
# an analysis, and what must be refused. FOLDER keeps the logs and what the container wrote.
# TORCH=cpu|cuda|cuda12 goes to the build; STEPS="build run test refuse" chooses steps.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-$(mktemp -d)}")
steps=" ${STEPS:-build run test refuse} "
suite=${SUITE:-bookworm}
image=localhost/layerwise
user=12345:23456 # ids that nobody has, here or in the image
export BUILDAH_ISOLATION=chroot
mkdir -p "$folder"

fail() {
    echo "image.sh: $1" >&2
    exit 1
}
say() { echo "== $* ($(date -u +%H:%M:%S))"; }

# A model of a reader's own, at /artifact/tiny: three layers of random weights.
tiny='
import shutil, sys
sys.path.insert(0, "tests")
from tiny_checkpoints import twin_folder
shutil.copytree(twin_folder("gpt_neox"), "/artifact/tiny", dirs_exist_ok=True)'

build_base() { # an image of Debian's packages alone
    [ -d "$folder/rootfs/usr" ] || debootstrap --variant=minbase "$suite" "$folder/rootfs" >"$folder/base.log"
    local container
    container=$(buildah from scratch)
    buildah copy -q "$container" "$folder/rootfs" / >/dev/null
    buildah commit -q --rm "$container" localhost/layerwise-base >/dev/null
    rm -rf "$folder/rootfs"
    echo localhost/layerwise-base
}

build() {
    local base=${BASE:-} host=()
    [ -n "$base" ] || base=$(build_base)
    # This machine's settings of pip are lent to the build and do not enter the image.
    mkdir -p "$folder/pip"
    {
        echo "[global]"
        [ -z "${PIP_CERT:-}" ] || echo "cert = /etc/xdg/pip/ca.crt"
        [ -z "${PIP_INDEX_URL:-}" ] || echo "index-url = $PIP_INDEX_URL"
        [ -z "${PIP_FIND_LINKS:-}" ] || echo "find-links = /etc/xdg/pip/wheels"
    } >"$folder/pip/pip.conf"
    [ -z "${PIP_CERT:-}" ] || cp "$PIP_CERT" "$folder/pip/ca.crt"
    host+=(--volume "$folder/pip:/etc/xdg/pip:ro")
    if [ -n "${PIP_FIND_LINKS:-}" ]; then
        mkdir -p "$folder/pip/wheels"
        host+=(--volume "$PIP_FIND_LINKS:/etc/xdg/pip/wheels:ro")
    fi
    buildah build --build-arg "BASE=$base" --build-arg "TORCH=${TORCH:-cuda}" --build-arg VERSION=test \
        --format docker "${host[@]}" --tag "$image" . >"$folder/build.log" 2>&1 ||
        { tail -n 30 "$folder/build.log" >&2; fail "the build failed: $folder/build.log"; }
}

container() { # run the image's entry point: container WORK [ENV=VALUE ...] -- [COMMAND ...]
    local work=$1 env=()
    shift
    while [ "$1" != -- ]; do env+=(--env "$1") && shift; done
    shift
    buildah run --user "$user" "${env[@]}" --volume "$work:/artifact" "$running" -- \
        /opt/layerwise/.ci/entrypoint.sh "$@"
}

expect() { # expect WANTED_STATUS WANTED_TEXT COMMAND ...
    local wanted=$1 text=$2 status=0
    shift 2
    "$@" >"$folder/said.log" 2>&1 || status=$?
    if [ "$status" != "$wanted" ] || ! grep -qF -- "$text" "$folder/said.log"; then
        cat "$folder/said.log" >&2
        fail "wanted exit $wanted and '$text', came exit $status: $*"
    fi
}

sizes() {
    buildah run "$running" -- bash -c '
        echo "installed, MB:"
        du -sm /opt/layerwise/.venv /usr/share/texlive /usr/share/texmf* /usr/share/fonts 2>/dev/null
        echo "the largest packages of Python:"
        du -sm /opt/layerwise/.venv/lib/python3*/site-packages/* | sort -rn | head -12
        du -smx / | sed "s/$/ (everything)/"'
}

if [[ $steps == *" build "* ]]; then
    say "build"
    build
    rm -rf "$folder/artifact/layerwise" "$folder/other" # an image refuses what another one made
fi
running=$(buildah from "$image")
trap 'buildah rm "$running" >/dev/null' EXIT
work=$folder/artifact
mkdir -p "$work"
chown "$user" "$work"

if [[ $steps == *" build "* ]]; then
    sizes | tee "$folder/sizes.txt"
    buildah run "$running" -- test ! -s /etc/xdg/pip/pip.conf || fail "pip's settings are in the image"
    ! buildah inspect --type image "$image" | grep -q HF_TOKEN || fail "a token is in the image"
fi
if [[ $steps == *" run "* ]]; then
    say "default command, no GPU"
    container "$work" -- >"$folder/run.log" 2>&1 || { tail -n 30 "$folder/run.log" >&2; fail "the default command failed"; }
    grep -q "no GPU is visible" "$folder/run.log" || fail "the missing GPU was not said"
    grep -q "layerwise: stage " "$folder/run.log" || fail "no stage was said to run"
    [ -s "$work/layerwise/paper/published.pdf" ] || fail "no PDF came"
    [ "$(stat -c %u "$work/layerwise/paper/published.pdf")" = "${user%:*}" ] || fail "the PDF is another user's"
    say "default command again"
    container "$work" -- >"$folder/again.log" 2>&1
    ! grep -q "layerwise: stage " "$folder/again.log" || fail "the second run computed something again"
    grep -q "claims, source published" "$folder/again.log" || fail "the second run did not end with its answer"
    say "own model"
    cp -r examples "$work/examples"
    chown -R "$user" "$work/examples"
    container "$work" -- python -c "$tiny" >"$folder/analyze.log" 2>&1 || { cat "$folder/analyze.log" >&2; fail "no model was built"; }
    container "$work" -- analyze --model tiny --pairs examples/pairs.json \
        --prompts examples/prompts.json --out own >"$folder/analyze.log" 2>&1 ||
        { cat "$folder/analyze.log" >&2; fail "analyze failed"; }
    [ -s "$work/own/layers.json" ] || fail "analyze wrote nothing"
    [ -s "$work/own/index.html" ] || fail "analyze made no page"
    expect 0 "agrees" container "$work" -- claims
fi
if [[ $steps == *" test "* ]]; then
    say "tests"
    container "$work" -- test >"$folder/test.log" 2>&1 || { tail -n 40 "$folder/test.log" >&2; fail "the tests failed"; }
    tail -n 12 "$folder/test.log"
fi
if [[ $steps == *" refuse "* ]]; then
    say "what is refused"
    mkdir -p "$folder/locked"
    chmod 755 "$folder" "$folder/locked" # root's: to be read, not written
    expect 2 "is not writable for user ${user%:*}" container "$folder/locked" -- help
    mkdir -p "$folder/other/layerwise"
    echo another >"$folder/other/layerwise/.image"
    chown -R "$user" "$folder/other"
    expect 2 "was made by another image" container "$folder/other" -- help
    expect 1 "Permission denied" buildah run --user "$user" "$running" -- touch /opt/layerwise/code/layerwise/new.py
    expect 0 "layerwise" container "$work" -- analyze --help
    expect 0 "this list" container "$work" -- help
fi
say "all well"
