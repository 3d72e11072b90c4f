#!/usr/bin/env bash
# What `docker run IMAGE [COMMAND ...]` does. Without a command: the full reproduction where a GPU is
# visible, else the source that needs none. Else a target of make (test, reproduce, ...), a verb
# of layerwise (analyze, doctor, ...), or any program (bash).
set -euo pipefail
image=${LAYERWISE_IMAGE:-/opt/layerwise}
work=${LAYERWISE_WORK:-/artifact}
tree=$work/layerwise

fail() {
    echo "layerwise: $1" >&2
    exit 2
}

# One sentence about the GPU; true if torch can compute on one, false if none is visible.
gpu() {
    local report status=0
    report=$(python -W error - 2>&1 <<'PY'
import sys
try:
    import torch
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    for index in range(len(names)):
        torch.ones(8, 8, device=f"cuda:{index}").matmul(torch.ones(8, 8, device=f"cuda:{index}")).sum().item()
except Exception as error:
    print(f"{type(error).__name__}: {error}".splitlines()[0])
    sys.exit(1)
print(f"torch {torch.__version__}, " + (", ".join(names) or "no device"))
sys.exit(0 if names else 3)
PY
    ) || status=$?
    case $status in
        0) echo "layerwise: GPU: $report" >&2 ;;
        3)
            # A device that the driver shows but torch does not is a fault, not a machine without GPU.
            if compgen -G "/dev/nvidia[0-9]*" >/dev/null; then
                fail "a GPU is there but torch cannot use it ($report): the driver must be 580 or newer, or build the image for older ones (docs/docker.md)"
            fi
            echo "layerwise: no GPU is visible (with one: docker run --gpus all ...); reproduce and rehearse need none" >&2
            return 1
            ;;
        *) fail "a GPU is there but torch cannot use it ($report): the driver must be 580 or newer, or build the image for older ones (docs/docker.md)" ;;
    esac
}

# A copy of the repository that this user may write, beside its caches; made once and kept.
prepare() {
    local writable=$work
    [ ! -e "$tree" ] || writable=$tree
    [ -w "$writable" ] ||
        fail "$writable is not writable for user $(id -u): run with --user \"\$(id -u):\$(id -g)\", or mount a folder that this user owns"
    # an empty variable is as none: these are the image's own (Dockerfile)
    export HOME=${HOME:-$work/cache/home} HF_HOME=${HF_HOME:-$work/cache/huggingface}
    export MPLCONFIGDIR=${MPLCONFIGDIR:-$work/cache/matplotlib}
    export DVC_SITE_CACHE_DIR=${DVC_SITE_CACHE_DIR:-$work/cache/dvc-site}
    mkdir -p "$HOME" "$HF_HOME" "$MPLCONFIGDIR" "$DVC_SITE_CACHE_DIR" "$work/cache/dvc"
    [ -e "$tree" ] || copy
    cmp -s "$image/.image" "$tree/.image" ||
        fail "$tree was made by another image: move it away, or mount an empty folder ($work/cache may stay, and nothing in it is downloaded or computed twice)"
}

# In a folder of its own, then one rename: of several containers at once the first one's copy is kept.
copy() {
    local part
    part=$(mktemp -d "$tree.XXXXXX")
    trap 'rm -rf "$part"' EXIT
    (cd "$image" && tar -cf - --exclude=./.venv --exclude=./packages.txt .) |
        tar -xf - -C "$part" --no-same-owner --no-same-permissions
    printf '[core]\n    no_scm = true\n[cache]\n    dir = %s\n' "$work/cache/dvc" >"$part/.dvc/config.local"
    chmod 755 "$part"
    mv -T "$part" "$tree" 2>/dev/null || [ -e "$tree" ] || fail "$tree could not be made"
    rm -rf "$part"
    trap - EXIT
}

umask 022
set_up=(--old-file=setup --old-file=setup-models --old-file=setup-test --old-file=setup-dev) # the image has all layers
prepare
export PYTHONPATH=$tree/code # the code that DVC hashes is the code that runs
command=${1:-default}
[ $# -eq 0 ] || shift
case $command in
    default)
        cd "$tree"
        target=reproduce
        ! gpu || target=reproduce-full
        exec make "${set_up[@]}" "$target"
        ;;
    test | test-models | test-all | reproduce | rehearse | reproduce-full | bench | bench-gpu | help)
        cd "$tree"
        [ "$command" = help ] || gpu || true
        exec make "${set_up[@]}" "$command" "$@"
        ;;
    analyze | scaling) # paths of the user's own are relative to the mounted folder
        exec layerwise "$command" "$@"
        ;;
    *)
        cd "$tree"
        if command -v -- "$command" >/dev/null; then
            exec "$command" "$@"
        fi
        exec layerwise "$command" "$@"
        ;;
esac
