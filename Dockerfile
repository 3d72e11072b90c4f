# The full reproduction: docker build -t layerwise . && docker run --gpus all layerwise
# The torch wheels bring their own CUDA libraries, so the base image is enough (driver 580 or newer).
FROM nvidia/cuda:13.0.3-base-ubuntu24.04@sha256:7c7413a56200486f71f181cad9310f6fd31b6bb21816ade15fc9c1e1e927a5c1

RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        ca-certificates git make python3.12 python3.12-venv \
        texlive-latex-recommended texlive-latex-extra texlive-science latexmk \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home reader \
    && install -d -o reader -g reader /home/reader/layerwise

USER reader
WORKDIR /home/reader/layerwise

COPY --chown=reader:reader . .
RUN make setup TORCH=cuda PYTHON=python3.12

CMD ["make", "reproduce-full"]
