# syntax=docker/dockerfile:1
# Images of AskGate, built from its wheels.
#
#   docker build -t askgate .                            data, gates, scoring and board: no torch
#   docker build -t askgate:cpu --target cpu .           training on a CPU
#   docker build -t askgate:cuda --target cuda .         training on an NVIDIA GPU
#   docker run --rm --user "$(id -u)" -v "$PWD:/work" askgate:cpu demo
#   docker run --rm --user "$(id -u)" --gpus all -v "$PWD:/work" askgate:cuda train --model Qwen/Qwen3-4B --data my.jsonl
#   docker run --rm --user "$(id -u)" --network host -v "$PWD:/work" askgate board     (it listens on 127.0.0.1 only)
ARG PYTHON=3.11

FROM python:${PYTHON}-slim AS wheels
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
# hadolint ignore=DL3013
RUN pip install --no-cache-dir --constraint constraints.txt build
COPY src src
COPY docs docs
COPY configs configs
COPY templates templates
COPY models models
COPY packages packages
RUN python -m build --wheel --outdir /wheels . && python -m build --wheel --outdir /wheels packages/askgate-env

FROM python:${PYTHON}-slim AS base
# --user may name somebody without a home: what libraries and the judge cache goes to the mounted folder.
ENV PYTHONUNBUFFERED=1 HOME=/work/.cache XDG_CACHE_HOME=/work/.cache HF_HOME=/work/.cache/huggingface
COPY --from=wheels /wheels /wheels
COPY constraints.txt /wheels/constraints.txt
RUN useradd --uid 1000 --create-home askgate && mkdir /work && chown askgate /work

FROM base AS cpu
# libgomp1: llama.cpp needs it, and the slim image has none. PyPI's torch for Linux brings CUDA; the other index has the
# build without it.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/* \
    && pip install --no-cache-dir --constraint /wheels/constraints.txt \
        --extra-index-url https://download.pytorch.org/whl/cpu "torch==2.13.0+cpu" \
    && pip install --no-cache-dir --constraint /wheels/constraints.txt \
        /wheels/askgate_env-*.whl "$(echo /wheels/askgate-*.whl)[train]"
USER 1000
WORKDIR /work
ENTRYPOINT ["askgate"]
CMD ["--help"]

FROM base AS cuda
# torch brings the CUDA libraries; the host needs only the driver and the NVIDIA Container Toolkit.
# A compiler, which brings libgomp1: triton makes its kernels when they are first used.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/* \
    && pip install --no-cache-dir --constraint /wheels/constraints.txt \
        /wheels/askgate_env-*.whl "$(echo /wheels/askgate-*.whl)[train,gpu,trl]"
USER 1000
WORKDIR /work
ENTRYPOINT ["askgate"]
CMD ["--help"]

FROM base AS core
RUN pip install --no-cache-dir --constraint /wheels/constraints.txt /wheels/*.whl
USER 1000
WORKDIR /work
ENTRYPOINT ["askgate"]
CMD ["--help"]
