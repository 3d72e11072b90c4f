#!/usr/bin/env bash
# Make .venv from locks whose every file is checked by its hash, or add to it: requirements/setup.sh [LAYER...]
#   pipeline  what `make reproduce` needs, 0.4 GB; always
#   models    torch and transformers; TORCH=cpu, cuda (driver 580 or newer) or cuda12 (525 or newer) asks
#             for it too, and says which build; without TORCH the driver is asked
#   dev       what `make test` and `make lint` need beside it
#   docs      what `make site` needs
# PYTHON names the interpreter of a new .venv. The stamp is written last: without it a set-up was cut
# short, and is done from the start.
set -euo pipefail
cd "$(dirname "$0")/.."
stamp=.venv/layerwise.stamp
old=.venv.old
turn=.venv.lock # a link to the number of the process that holds it

fail() {
    echo "setup: $1" >&2
    exit 2
}

in_list() { # in_list WORD LIST
    [[ " $2 " == *" $1 "* ]]
}

TORCH=${TORCH:-auto}
in_list "$TORCH" "auto cpu cuda cuda12" || fail "TORCH must be cpu, cuda or cuda12, found '$TORCH'"
wanted="pipeline $*"
[ "$TORCH" = auto ] || in_list models "$wanted" || wanted="$wanted models"
for layer in $wanted; do
    in_list "$layer" "pipeline models dev docs" ||
        fail "a layer must be pipeline, models, dev or docs, found '$layer'"
done

fingerprint() { # another lock or another pyproject.toml asks for a new set-up
    cksum requirements/*.lock pyproject.toml requirements/setup.sh
}

# What is there, and what is still to be installed
there="" build="" place="" of=""
[ ! -f "$stamp" ] || { read -r there && read -r build && read -r place && of=$(cat); } <"$stamp" || true
is_here() { # whatever the spelling: through links, or in other letters where case does not count
    [ -n "$place" ] && [ "$place" -ef . ]
}

if [ "$of" != "$(fingerprint)" ] || ! is_here; then
    wanted="$wanted $there" there=""
fi
if [ "$TORCH" = auto ] && [ "$build" != none ]; then
    TORCH=${build:-auto}
elif [ "$TORCH" != "$build" ]; then
    there=${there/models/}
fi
missing=""
for layer in $wanted; do
    in_list "$layer" "$there $missing" || missing="$missing $layer"
done
[ -n "$missing" ] || exit 0

# One at a time: a second set-up would take the first one's .venv for one that was cut short.
[ -w . ] || fail "$PWD must be a folder that this user may write to, it is not; make it so, or unpack it elsewhere"
set_aside=""
leave() {
    if [ -n "$set_aside" ]; then
        rm -rf .venv
        mv $old .venv
    fi
    rm -f $turn
}
if ! ln -s $$ $turn 2>/dev/null; then
    other=$(readlink $turn)
    ! kill -0 "$other" 2>/dev/null ||
        fail "one set-up at a time runs in a folder, process $other is at it; wait until that has ended, or, if it is something else, remove $turn"
    ln -sfn $$ $turn # of one that was killed
fi
trap leave EXIT

find_python() {
    local name seen="" known="python3.11 python3.12 python3.13 python3.14 python3 python"
    # 3.11 first: the hash of the CPU build in cpu.lock is that of its wheel
    for name in ${PYTHON:-$known}; do
        version=$("$name" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            python=$name
            return
        fi
        seen="$seen $name is $version,"
    done
    fail "Python 3.11 or newer is needed,${seen:- none found,} tried ${PYTHON:-$known}; install one (apt install python3 python3-venv) or name it: make setup PYTHON=/path/to/python"
}

if ! is_here || ! .venv/bin/python -c '' 2>/dev/null; then
    if [ -e .venv ]; then
        [ -f .venv/pyvenv.cfg ] || fail ".venv is no virtual environment; move it away"
        echo "setup: .venv is not whole, or was moved: making it anew"
        # Set aside before a Python is looked for: none that is found then is gone with it.
        rm -rf $old
        mv .venv $old
        set_aside=yes
    fi
    find_python
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$python has no venv module; install it (apt install python$version-venv)"
    "$python" -m venv .venv
    set_aside=""
    rm -rf $old
    missing="$missing $there" there=""
fi
rm -f "$stamp"
pip=(.venv/bin/python -m pip --disable-pip-version-check)
[ -t 1 ] || pip+=(-qq) # progress is for a terminal, not for a log

pinned() { # the lines of packages in a lock
    sed -nE "/^($1)==/,/^ *#/{/^ *#/!p;}" "$2"
}

if in_list models "$missing" && [ "$TORCH" = auto ]; then
    TORCH=cuda
    if driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null); then
        driver=${driver%%.*}
        if [[ $driver =~ ^[0-9]+$ ]] && [ "$driver" -lt 580 ]; then
            [ "$driver" -ge 525 ] ||
                fail "the GPU's driver must be 525 or newer, found $driver; update it, or take TORCH=cpu"
            TORCH=cuda12
        fi
    elif "${pip[@]}" install --dry-run --no-deps --require-hashes \
        -r <(pinned torch requirements/cpu.lock) >/dev/null 2>&1; then
        TORCH=cpu
    else
        echo "setup: the CPU build of torch is not in reach for $(.venv/bin/python --version); the CUDA build is taken, 3 GB"
    fi
fi
# pip is the locked one, and what comes as source is built with the locked setuptools.
"${pip[@]}" install --no-deps --require-hashes -r <(pinned 'pip|setuptools' requirements/pipeline.lock)
# Bytecode is written for what is imported, when it is: a sixth of the whole.
build=(--no-compile --no-deps --no-build-isolation --use-pep517)
for layer in $missing; do # each lock holds the whole of its layer: what is there already is left alone
    lock=$layer
    [ "$layer" != models ] || lock=$TORCH
    echo "setup: $(.venv/bin/python --version), layer $layer (requirements/$lock.lock)"
    "${pip[@]}" install "${build[@]}" --require-hashes -r "requirements/$lock.lock"
done
"${pip[@]}" install "${build[@]}" -e .
# The figures are drawn by several processes, each of which would compile matplotlib for itself.
.venv/bin/python -c 'import matplotlib.backends.backend_pdf, matplotlib.backends.backend_svg, matplotlib.figure'
mkdir -p -m 700 .dvc-site # DVC keeps pickles there, and would let everybody write
if [ -d .dvc ] && [ ! -e .git ]; then # an unpacked archive: DVC must not look for a repository
    .ci/keep_record.sh
    # no script of .venv/bin: the first line of those breaks where the path has a blank and a $
    .venv/bin/python -m dvc config --local core.no_scm true
fi
layers=$(printf '%s\n' $there $missing | sort -u | tr '\n' ' ')
in_list models "$layers" && build=$TORCH || build=none
{ printf '%s\n' "${layers% }" "$build" "$PWD" && fingerprint; } >"$stamp.part"
mv "$stamp.part" "$stamp"
echo "setup: done"
