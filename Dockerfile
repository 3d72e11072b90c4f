# The whole reproduction in one image.
#   docker build -t layerwise .
#   docker run --gpus all --user "$(id -u):$(id -g)" -v "$PWD/artifact:/artifact" layerwise
# docs/docker.md has the rest: what runs, what is kept in /artifact, older drivers, another base.

# The torch wheels bring their own CUDA libraries, so NVIDIA's smallest image is enough; it needs driver
# 580 or newer. For older drivers (525 or newer) set TORCH=cuda12 and
# BASE=nvidia/cuda:12.8.1-runtime-ubuntu24.04@sha256:828c4d878adcaa4265d80c95d8ec877149b49bb2419a4cf3bb6aa889bbb7ca2e
# Any image of the Debian family with Python 3.11 to 3.14 can stand in for it.
ARG BASE=nvidia/cuda:13.0.3-base-ubuntu24.04@sha256:7c7413a56200486f71f181cad9310f6fd31b6bb21816ade15fc9c1e1e927a5c1

FROM ${BASE} AS environment
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# No versions: the distribution's archive keeps only the newest of each, so a pin would break the build at
# the next security update. Which ones were installed is written to /opt/layerwise/packages.txt; SNAPSHOT
# (YYYYMMDDTHHMMSSZ) takes the archive as it was then, where the base's apt can (Ubuntu 24.04, Debian 13).
ARG SNAPSHOT=
# hadolint ignore=DL3008
RUN apt-get update ${SNAPSHOT:+--snapshot "${SNAPSHOT}"} \
    && DEBIAN_FRONTEND=noninteractive apt-get install ${SNAPSHOT:+--snapshot "${SNAPSHOT}"} -y --no-install-recommends \
        ca-certificates python3 python3-venv \
    && apt-get clean && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/layerwise
# Only what the set-up reads, so that a change of the code does not install everything anew.
COPY pyproject.toml README.md LICENSE ./
COPY requirements requirements
COPY code/layerwise/__init__.py code/layerwise/
COPY .ci/wheel_data.py .ci/
ARG TORCH=cuda
# The image is read-only when it runs: what is imported is compiled here.
RUN PIP_NO_CACHE_DIR=1 TORCH=${TORCH} PYTHON=python3 requirements/setup.sh models dev \
    && .venv/bin/python -m compileall -q -x 'torch/testing/' .venv/lib

# The tree as the image holds it: its repository tells the commit, and stays outside.
FROM ${BASE} AS tree
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
ARG SNAPSHOT=
# hadolint ignore=DL3008
RUN apt-get update ${SNAPSHOT:+--snapshot "${SNAPSHOT}"} \
    && DEBIAN_FRONTEND=noninteractive apt-get install ${SNAPSHOT:+--snapshot "${SNAPSHOT}"} -y --no-install-recommends git
WORKDIR /tree
COPY . .
ARG REVISION=unknown
RUN .ci/record_commit.sh "${REVISION}" && .ci/keep_record.sh && rm -rf .git

FROM ${BASE}
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
ARG SNAPSHOT=
# hadolint ignore=DL3008
RUN apt-get update ${SNAPSHOT:+--snapshot "${SNAPSHOT}"} \
    && DEBIAN_FRONTEND=noninteractive apt-get install ${SNAPSHOT:+--snapshot "${SNAPSHOT}"} -y --no-install-recommends \
        ca-certificates make python3 \
        texlive-latex-recommended texlive-latex-extra latexmk poppler-utils \
    && apt-get clean && rm -rf /var/lib/apt/lists/* /var/log/*.log /var/log/apt \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /artifact reader \
    && install -d -m 1777 /artifact
COPY --from=environment /opt/layerwise/.venv /opt/layerwise/.venv
WORKDIR /opt/layerwise
COPY --from=tree /tree .
# .image tells one image's files from another's, .venv and the base aside.
RUN find . -path ./.venv -prune -o -type f -print0 | LC_ALL=C sort -z \
        | xargs -0 sha256sum | sha256sum | cut -c 1-16 > .image \
    && dpkg-query -W > packages.txt

# Everything that is written, downloaded or cached goes to /artifact; the rest of the image is read-only.
# There is no C compiler, which torch's kernels in triton would call for: its own are taken instead.
ENV PATH=/opt/layerwise/.venv/bin:$PATH \
    HOME=/artifact/cache/home \
    USER=reader \
    HF_HOME=/artifact/cache/huggingface \
    XDG_CACHE_HOME=/artifact/cache \
    MPLCONFIGDIR=/artifact/cache/matplotlib \
    DVC_SITE_CACHE_DIR=/artifact/cache/dvc-site \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TORCH_DISABLE_NATIVE_JIT=1
USER 10001
WORKDIR /artifact

ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="layerwise" \
    org.opencontainers.image.description="The numbers of the transformer-dynamics papers, recomputed" \
    org.opencontainers.image.licenses="MIT" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}"
ENTRYPOINT ["/opt/layerwise/.ci/entrypoint.sh"]
