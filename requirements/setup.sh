#!/usr/bin/env bash
# Make .venv from a lock whose every file is checked by its hash. Called by `make setup`.
# PYTHON names the interpreter of a new .venv, TORCH=cpu, cuda (driver 580 or newer) or cuda12 (older
# drivers) the build of torch; the first two are found if not given. The stamp is written last: without it a set-up was cut short, and is done from the start.
set -euo pipefail
cd "$(dirname "$0")/.."
stamp=.venv/layerwise.stamp
PATH=:$PATH:
PATH=${PATH//:"$PWD/.venv/bin":/:} # the .venv to be made is not the Python to make it with
PATH=${PATH#:} PATH=${PATH%:}

fail() {
    echo "setup: $1" >&2
    exit 2
}

case "${TORCH:-auto}" in
    auto | cpu | cuda | cuda12) ;;
    *) fail "TORCH must be cpu, cuda or cuda12, found '$TORCH'" ;;
esac

fingerprint() { # a moved folder, another lock or another pyproject.toml asks for a new set-up
    pwd
    cksum requirements/*.lock pyproject.toml requirements/setup.sh
}

if [ -f "$stamp" ]; then
    { read -r installed && whole=$(cat); } <"$stamp" || true
    if [ "${TORCH:-${installed:-}}" = "${installed:-}" ] && [ "$(fingerprint)" = "${whole:-}" ]; then
        exit 0
    fi
fi

find_python() {
    local name seen=""
    # 3.11 first: the hash of the CPU build in cpu.lock is that of its wheel
    for name in ${PYTHON:-python3.11 python3.12 python3 python}; do
        version=$("$name" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            python=$name
            return
        fi
        seen="$seen $name is $version,"
    done
    fail "Python 3.11 or newer is needed,${seen:- none found,} tried ${PYTHON:-python3.11 python3.12 python3 python}; install one (apt install python3 python3-venv) or name it: make setup PYTHON=/path/to/python"
}
find_python
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python has no venv module; install it (apt install python$version-venv)"

if [ -e .venv ] && [ ! -f "$stamp" ]; then
    [ -f .venv/pyvenv.cfg ] || fail ".venv is no virtual environment; move it away"
    echo "setup: .venv is not whole, making it anew"
    rm -rf .venv
fi
rm -f "$stamp"
.venv/bin/python -c '' 2>/dev/null || "$python" -m venv --clear .venv
pip=(.venv/bin/python -m pip --disable-pip-version-check)
[ -t 1 ] || pip+=(-qq) # progress is for a terminal, not for a log

pinned() { # a package's lines of a lock
    sed -n "/^$1==/,/^ *#/{/^ *#/!p}" "$2"
}

case "${TORCH:-auto}" in
    cpu | cuda | cuda12) torch=$TORCH ;;
    auto)
        torch=cuda
        if ! nvidia-smi >/dev/null 2>&1 &&
            "${pip[@]}" install --dry-run --no-deps --require-hashes \
                -r <(pinned torch requirements/cpu.lock) >/dev/null 2>&1; then
            torch=cpu
        fi
        ;;
esac
echo "setup: $(.venv/bin/python --version), requirements/$torch.lock ($torch build of torch)"
# What comes as source is built with the locked setuptools, not with whatever is newest.
"${pip[@]}" install --no-deps --require-hashes -r <(pinned setuptools "requirements/$torch.lock")
build=(--no-deps --no-build-isolation --use-pep517)
"${pip[@]}" install "${build[@]}" --require-hashes -r "requirements/$torch.lock"
"${pip[@]}" install "${build[@]}" -e .
if [ -d .dvc ] && [ ! -e .git ]; then # an unpacked archive: DVC must not look for a repository
    .venv/bin/dvc config --local core.no_scm true
fi
{ echo "$torch" && fingerprint; } >"$stamp.part"
mv "$stamp.part" "$stamp"
echo "setup: done"
