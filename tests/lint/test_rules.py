"""Every rule on small files that break it, with the line; and near misses that must stay silent."""

from __future__ import annotations

import pytest

from gpuwhy.lint import kinds
from gpuwhy.lint.rules import ROOMS
from gpuwhy.model.plan import Machine
from gpuwhy.plan.machine import described
from tests.lint.support import check, found, rules
from tests.lint.test_ended import FOUND

CUDA12 = "FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\n"
CPU_INDEX = "--index-url https://wheels.example/whl/cpu"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n"
SERVICE = "services:\n  s:\n"

TORCH = "https://download.pytorch.org/whl"

BAD = [
    ("no-program", "Dockerfile", "FROM python:3.10-slim\nRUN pip install torch==2.6.0 face_recognition\n", 2),
    ("unstated-limit", "requirements.txt", "torch==2.6.0\nflask==2.1.3\n", 2),
    ("torch-at-build", "environment.yml", "channels: [pytorch, nvidia]\ndependencies:\n  - python=3.11\n  - pytorch=2.5.1\n  - pytorch-cuda=12.4\n  - pip\n  - pip:\n    - flash-attn\n", 8),
    ("unstated-limit", "requirements.txt", "torch==2.6.0\ngensim==4.3.2\n", 2),
    ("unstated-limit", "requirements.txt", "torch==2.6.0\nstreamlit==1.11.1\n", 2),
    ("no-program", "Dockerfile", "FROM python:3.11-slim\nRUN pip install torch==2.6.0\nHEALTHCHECK --interval=30s \\\n  CMD curl -f http://localhost:8000/health || exit 1\n", 3),
    ("no-program", "Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3.11 python3-pip\nRUN python3.11 -m venv /v\n", 3),
    ("no-program", "Dockerfile", "FROM python:3.11\nRUN pip install torch==2.6.0\nRUN sudo apt-get update\n", 3),
    ("no-program", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get update && add-apt-repository -y ppa:deadsnakes/ppa\n", 2),
    ("no-program", "Dockerfile", "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\nRUN wget https://x.example/a.tar.gz\n", 2),
    ("no-program", "Dockerfile", "FROM python:3.10-slim\nCOPY --from=ghcr.io/astral-sh/uv:latest /uv /bin/\nRUN uv pip install --system torch==2.6.0 pycocotools==2.0.4\n", 3),
    ("no-program", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y git\nRUN git clone https://x.example/a && cd a && cmake -B build .\n", 3),
    ("no-library", "Dockerfile", "FROM python:3.12-slim\nRUN pip install torch==2.6.0\nRUN pip install soundfile==0.10.3.post1\n", 3),
    ("no-library", "Dockerfile", "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN apt-get update && apt-get install -y --no-install-recommends python3 curl\nRUN curl -sS https://bootstrap.pypa.io/get-pip.py | python3\nRUN python3 -m pip install torch==2.6.0 pytesseract\n", 4),
    ("no-libgl", "Dockerfile", "FROM python:3.10\nRUN pip install torch==2.6.0 opencv-python==4.10.0.84\n", 2),
    ("stage-python", "Dockerfile", "FROM python:3.11 AS b\nRUN pip install torch==2.6.0\nFROM python:3.12-slim\nCOPY --from=b /usr/local/lib/python3.11/site-packages /usr/local/lib/python3.11/site-packages\n", 4),
    ("stage-python", "Dockerfile", "FROM python:3.10-slim AS b\nRUN python -m venv /opt/venv && /opt/venv/bin/pip install torch==2.6.0\nFROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3\nCOPY --from=b /opt/venv /opt/venv\n", 5),
    ("apt-gone", "Dockerfile", "FROM python:3.12-slim\nRUN pip install torch==2.9.1\nRUN apt-get update && apt-get install -y \\\n  git gcc-9\n", 4),
    ("apt-gone", "Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu20.04\nRUN apt-get update && apt-get install -y git gcc-12\n", 2),
    ("apt-gone", "Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y \\\n  git \\\n  apt-get clean\n", 4),
    ("externally-managed", "Dockerfile", "FROM nvidia/cuda:12.6.3-runtime-ubuntu24.04\nCOPY --from=ghcr.io/astral-sh/uv:latest /uv /bin/\nRUN apt-get update && apt-get install -y python3\nRUN uv pip install --system torch==2.6.0\n", 4),
    ("image-tag", "Dockerfile", "FROM tensorflow/tensorflow:2.13-gpu\n", 1),
    ("image-tag", "Dockerfile", "FROM nvcr.io/nvidia/pytorch:24.5-py3\n", 1),
    ("gpu-at-build", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV X=1 \\\n  CMAKE_ARGS=\"-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=native\"\n", 3),
    ("dead-address", "Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu20.04\nRUN apt-key adv --keyserver hkp://ha.pool.sks-keyservers.net:80 --recv-key 421C365BD9FF1F717815A3895523BAEEB01FA116\n", 2),
    ("wrong-variable", "start.sh", "#!/bin/bash\nexport CUDA_VISIBLE_GPUS=0\npython train.py --device cuda\n", 2),
    ("no-gpu-request", "job.sh", "#!/bin/bash\n#SBATCH --partition=gpu\nhostname\npython train.py\n", 2),
    ("lost-argument", "Dockerfile", "ARG V=1\nFROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN cat > /start.sh <<END\necho $V\nEND\n", 4),
    ("foreign-line", "requirements_gpu.txt", "# This file may be used to create an environment using:\n# $ conda create --name <env> --file <this file>\n# platform: linux-64\nblas=1.0=mkl\ntensorflow=2.10.1=pypi_0\n", 5),
    ("dead-address", "Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN apt-get update && \\\n  add-apt-repository -y ppa:webupd8team/java\n", 3),
    ("dead-address", "setup.sh", "# cuda\ncurl -L -O https://github.com/conda-forge/miniforge/releases/latest/download/Mambaforge-Linux-x86_64.sh\n", 2),
    ("dead-address", "setup.sh", "#!/bin/bash\n# torch\nwget https://huggingface.co/runwayml/stable-diffusion-v1-5/resolve/main/v1-5-pruned.ckpt\n", 3),
    ("no-such-release", "requirements.txt", "torch==2.9.1\npysimplegui==4.60.5\n", 2),
    ("unstated-limit", "environment.yml", "channels: [pytorch]\ndependencies:\n  - python=3.10\n  - pytorch::pytorch=2.1.2\n  - pip:\n    - diffusers==0.25.0\n    - transformers==4.36.2\n", 6),
    ("cuda-for-cpu", "pyproject.toml", '[project]\nname = "a"\n[project.optional-dependencies]\ncpu = ["torch>=2.8"]\ngpu = ["torch>=2.8"]\n', 4),
    ("no-root", "Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04 AS a\nRUN useradd -m me\nUSER me\nFROM a\nRUN pip --version\nRUN apt-get -q update\n", 6),
    ("ended-runner", ".github/workflows/a.yml", "jobs:\n  a:\n    runs-on: [self-hosted, gpu]\n    steps:\n      - uses: actions/checkout@v2\n      - uses: actions/cache@v2\n", 6),
    ("ended-runner", ".github/workflows/a.yml", "jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: pip install torch==2.9.1\n      - uses: actions/upload-artifact@v3.1.2\n", 6),
    ("pair-mismatch", "requirements.txt", "torch==2.9.1\ntransformers==4.40.2\npeft\n", 3),
    ("unstated-limit", "requirements.txt", "matplotlib == 3.7.1\nlightning == 2.0.2\n", 1),
    ("apt-gone", "Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y \\\n  git qt5-default\n", 3),
    ("old-get-pip", "Dockerfile", "FROM nvidia/cuda:11.3.1-base-ubuntu16.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN python3 -m pip install pip --upgrade\n", 3),
    ("same-files", "requirements.txt", "onnxruntime-gpu==1.20.1\npipecat-ai\n", 2),
    ("no-answer", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y git\nRUN apt-get install git ffmpeg\n", 3),
    ("no-such-build", "requirements.txt", "nvidia-dali-nvtf-plugin==1.11.1+nv22.03\ntensorflow==2.15.1\n", 1),
    ("build-alone", "Dockerfile", "FROM python:3.10\nRUN pip install torch==1.13.1 'numpy<2'\nRUN pip install --upgrade pip && pip install albumentations==0.4.3\n", 3),
    ("unstated-limit", "requirements.txt", "torch==2.2.2\ndiffusers==0.4.0\nnumpy<2\n", 2),
    ("lost-argument", "Dockerfile", "FROM python:3.12 AS a\nARG ARCHS=9.0\nRUN pip install torch==2.9.1\nFROM python:3.12\nRUN pip install torch==2.9.1\nRUN make \\\n  ARCHS=8 X=$ARCHS && echo $Y\nRUN echo ${ARCHS}\n", 8),
    ("lost-variable", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get install -y git && git clone https://x.example/a\nRUN cd a\n\nRUN make\n", 3),
    ("old-pip", "Dockerfile", "FROM nvidia/cuda:11.8.0-cudnn8-devel-ubuntu18.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install tensorflow==2.4.0 'protobuf<3.21'\n", 3),
    ("apt-gone", "Dockerfile", "FROM python:3.12-slim\nRUN pip install torch==2.9.1\nRUN apt-key adv --fetch-keys https://x.example/k.pub\n", 3),
    ("nvidia-docker", "setup.sh", "distribution=ubuntu20.04\ncurl -s -L https://nvidia.github.io/nvidia-docker/$distribution/nvidia-docker.list | sudo tee /etc/apt/sources.list.d/nvidia-docker.list\n", 2),
    ("env-command", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV A=1 \\\n  B=$(which nvcc)\n", 3),
    ("dead-address", "install_cuda.sh", "#!/bin/bash\n# cuda\nwget https://dl.bintray.com/boostorg/release/1.65.1/source/boost.tar.gz\n", 3),
    ("uv-path", "install.sh", 'curl -LsSf https://astral.sh/uv/install.sh | sh\nexport PATH="$HOME/.cargo/bin:$PATH"\nuv sync\n', 2),
    ("conda-terms", "Dockerfile", "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN bash Miniconda3-latest-Linux-x86_64.sh -b -p /opt/conda\nRUN /opt/conda/bin/conda create -y -n a python=3.11\n", 3),
    ("pin-undone", "Dockerfile", "FROM python:3.11\nRUN pip install torch==2.9.0\nRUN pip install torch==2.9.1\n", 3),
    ("cloned-head", "Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN apt-get install -y git\nRUN git clone --recursive https://github.com/pytorch/pytorch\n", 3),
    ("python-no-wheel", "Dockerfile", "FROM python:3.10\nRUN pip install torch==2.9.1 networkx==3.5\n", 2),
    ("cuda-for-cpu", "pyproject.toml", '[project]\nname = "a"\n[project.optional-dependencies]\ncpu = [\n"torch>=2.8",\n]\n', 5),
    ("no-gpu-request", "compose.yml", "services:\n  train-gpu:\n    image: my/train\n    # deploy:\n    #   resources:\n    #     reservations:\n    #       devices:\n    #         - driver: nvidia\n", 4),
    ("cuda-path", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV LD_LIBRARY_PATH=/usr/local/cuda/lib\n", 2),
    ("old-get-pip", "Dockerfile", "FROM nvidia/cuda:9.0-base\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install --upgrade pip\nRUN pip3 install torch==1.1.0\n", 3),
    ("conda-activate", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN . /opt/conda/etc/profile.d/conda.sh && conda activate a\nRUN pip install torch==2.6.0\n", 2),
    ("apt-cuda", "install_cuda.sh", "sudo apt install -y cuda-10-0\nsudo apt install -y libcudnn7\n", 2),
    ("foreign-line", "environment.yml", "name: a\nchannels: [defaults]\ndependencies:\n- python=3.8.5=h5fd99cc_1\n- vs2015_runtime=14.27.29016=h5e58377_2\n- pytorch=1.7.1=py3.8_cuda110_cudnn8_0\n", 5),
    ("no-answer", "Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu20.04\nRUN apt-get update && apt-get install -y git \\\n  libopencv-dev\n", 3),
    ("cpu-wheel", "environment.yml", "channels: [pytorch, conda-forge]\ndependencies:\n- python=3.8\n- pytorch=1.9.0\n- cudatoolkit=11.3\n- mkl<2024\n", 5),
    ("image-tag", "Dockerfile", "FROM bitnami/pytorch:2.1.0\n", 1),
    ("image-tag", "Dockerfile", "FROM jupyter/tensorflow-notebook\n", 1),
    ("image-tag", "Dockerfile", "FROM python:3.10-slim-jammy\nRUN pip install torch==2.6.0\n", 1),
    ("apt-gone", "Dockerfile", "FROM python:3.10-slim-bookworm\nRUN apt-get update && apt-get install -y nvidia-cuda-toolkit\n", 2),
    ("python-no-wheel", "Dockerfile", "FROM python:3.11\nRUN pip install torch==2.6.0 transformers==4.20.0\n", 2),
    ("python-no-wheel", "Dockerfile", f"FROM python:3.12\nRUN pip install torch==1.9.0+cu111 -f {TORCH}/torch_stable.html\n", 2),
    ("python-unnamed", "requirements.txt", "torch>=2.1\ntransformers==4.30.2\n", 2),
    ("cmake-gone", "CMakeLists.txt", "cmake_minimum_required(VERSION 2.8.12)\nproject(a)\nfind_package(Torch REQUIRED)\n", 1),
    ("cmake-gone", "CMakeLists.txt", "cmake_minimum_required(VERSION 3.27)\nproject(a CXX)\n# here\nfind_package(CUDA 11.8\n  REQUIRED)\n", 4),
    ("cmake-gone", "CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(a CXX)\nadd_executable(a main.cpp k.cu)\n", 2),
    ("nvcc-arch", "CMakeLists.txt", "project(a CUDA)\nfind_package(CUDAToolkit 13.0)\nset(CMAKE_CUDA_ARCHITECTURES 70 80)\n", 3),
    ("nvcc-arch", "cuda.cmake", 'set(CUDA_TOOLKIT_ROOT_DIR /usr/local/cuda-11.4)\nset_target_properties(a PROPERTIES CUDA_ARCHITECTURES "80;89")\n', 2),
    ("nvcc-arch", "Makefile", "ARCH= -gencode arch=compute_30,code=sm_30\nall:\n\tnvcc $(ARCH) a.cu\n", 1),
    ("nvcc-arch", "setup.py", "from setuptools import setup\nflags = ['-arch=sm_35']\nsetup(name='a')\n", 2),
    ("image-tag", "Dockerfile", "FROM pytorch/pytorch:2.0.1-cuda11.8-cudnn8-runtime\n", 1),
    ("image-tag", "Dockerfile", "FROM docker.io/pytorch/pytorch:2.4.1-cuda12.1-cudnn8-devel\n", 1),
    ("image-tag", "Dockerfile", "FROM tensorflow/tensorflow:2.16.0-gpu-jupyter\n", 1),
    ("image-tag", "Dockerfile", "FROM tensorflow/tensorflow:2.4.1-gpu-py3\n", 1),
    ("image-tag", "Dockerfile", "FROM nvcr.io/nvidia/pytorch:23.10\n", 1),
    ("image-tag", "Dockerfile", "FROM nvcr.io/nvidia/tensorflow:23.10-tf1-py3\n", 1),
    ("image-tag", "compose.yml", SERVICE + "    image: vllm/vllm-openai:0.6.3\n    gpus: all\n", 3),
    ("image-tag", "compose.yml", SERVICE + "    image: ollama/ollama:v0.5.7\n    gpus: all\n", 3),
    ("no-such-build", "environment.yml", "channels: [pytorch, nvidia]\ndependencies:\n- python=3.11\n- pytorch\n- pytorch-cuda=12.2\n", 5),
    ("no-such-build", "environment.yml", "channels: [pytorch, nvidia]\ndependencies:\n- python=3.9\n- pytorch=1.12.1\n- pytorch-cuda=11.6\n", 5),
    ("no-such-build", "environment.yml", "channels: [defaults]\ndependencies:\n- python=3.9\n- pytorch=2.1\n- pytorch-cuda=11.8\n", 5),
    ("index-ended", "environment.yml", "channels: [pytorch, nvidia]\ndependencies:\n- python=3.11\n- pytorch\n- pytorch-cuda=12.4\n", 4),
    ("python-no-wheel", "environment.yml", "channels: [pytorch]\ndependencies:\n- python=3.11\n- pytorch=1.9\n- cudatoolkit=11.1\n", 4),
    ("python-no-wheel", ".github/workflows/a.yml", "jobs:\n  t:\n    runs-on: ubuntu-latest\n    strategy: {matrix: {python: ['3.9', '3.13']}}\n    steps:\n    - uses: actions/setup-python@v5\n      with: {python-version: '${{ matrix.python }}'}\n    - run: pip install torch==2.2.2 'numpy<2'\n", 8),
    ("ended-runner", ".github/workflows/a.yml", "jobs:\n  t:\n    runs-on: ubuntu-latest\n    steps:\n    - uses: actions/setup-python@v5\n      with: {python-version: '3.7'}\n    - run: pip install torch==1.13.1 'numpy<2'\n", 6),
    ("ended-runner", ".github/workflows/a.yml", "jobs:\n  t:\n    runs-on: ubuntu-20.04\n    steps:\n    - run: pip install torch==2.4.1\n", 3),
    ("torch-at-build", "requirements.txt", "# Python 3.10\ntorch==2.1.0\nnumpy<2\ngit+https://code.example/facebookresearch/pytorch3d.git\n", 4),
    ("torch-at-build", "requirements.txt", "# Python 3.10\ntorch==2.1.0\nnumpy<2\nmmcv==2.1.0\n", 4),
    ("torch-at-build", "Dockerfile", "FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y git python3-pip\nRUN pip3 install git+https://code.example/NVIDIA/apex\n", 3),
    ("cuda-path", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64:$LD_LIBRARY_PATH\n", 2),
    ("old-pip-option", "install.sh", 'pip install torch==2.6.0\npip install -v --install-option="--cuda_ext" ./apex\n', 2),
    ("colab-gone", "a.ipynb", '{"metadata": {}, "cells": [{"cell_type": "code", "source": ["%tensorflow_version 1.15"]}]}', 1),
    ("unbuildable", "requirements.txt", "# Python 3.9\ntorch==1.13.1\nnumpy<2\nstable-baselines3==1.6.0\n", 4),
    ("build-alone", "Dockerfile", "FROM python:3.10\nRUN pip install torch==2.6.0 pyyaml==5.4.1\n", 2),
    ("python-unnamed", "pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.10"\nnumpy = "^1.23"\ntorch = "1.13.1"\n', 4),
    ("conda-activate", "install_gpu.sh", "conda create -n a python=3.10\nconda activate a\npip install torch==2.6.0\n", 2),
    ("pair-mismatch", "Pipfile", '[packages]\ntorch = "==2.5.1"\ntorchvision = {version = "==0.19.0"}\n[requires]\npython_version = "3.11"\n', 3),
    ("pair-mismatch", "pixi.toml", '[dependencies]\npython = "3.11.*"\n[pypi-dependencies]\ntorch = "==2.5.1"\ntorchvision = "==0.19.0"\n', 5),
    ("no-libgl", "Dockerfile", "FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\nRUN apt-get update && apt-get install -y git\nRUN pip install ultralytics\n", 3),
    ("local-image", "docker/Dockerfile", "FROM ai02:5000/tf:1.0.0-gpu\nRUN pip install tensorflow\n", 1),
    ("bad-gpu-request", "pod.yaml", POD + '    image: vllm/vllm-openai:v0.9.0\n    args: ["--tensor-parallel-size", "4"]\n    resources: {limits: {nvidia.com/gpu: 2}}\n', 9),
    ("gpu-at-build", "setup.py", 'from setuptools import setup\nimport torch\nif torch.cuda.is_available() and HOME:\n    a = 1\nelse:\n    raise NotImplementedError("no")\nsetup(name="a")\n', 3),
    ("slurm-job", "a.slurm", "#!/bin/bash\n#SBATCH --ntasks-per-node=1# one\n#SBATCH --gres=gpu:1\npython a.py\n", 2),
    ("conda-activate", "a.slurm", "#!/bin/bash\n#SBATCH --gres=gpu:1\nmamba activate x\npython a.py\n", 3),
    ("index-ended", "environment.yml", "channels: [pytorch, nvidia]\ndependencies:\n- python=3.11\n- pytorch=2.6\n- pytorch-cuda=12.4\n", 4),
    ("pair-mismatch", "requirements.txt", "# Python 3.6\nkeras==2.2.4\ntensorflow\n", 3),
    ("build-alone", "setup.py", 'import torch\nfrom setuptools import setup\nsetup(name="a", install_requires=["torch"])\n', 1),
    ("gpu-no-code", "m.py", 'import modal\ni = modal.Image.debian_slim(python_version="3.10").pip_install(\n "torch==1.12.1+cu113", "numpy<2", index_url="https://download.pytorch.org/whl/cu113")\n@app.function(gpu="H100", image=i)\ndef f(): pass\n', 3),
    ("same-files", "requirements.txt", "torch==2.6.0\nopencv-python\nopencv-contrib-python\n", 3),
    ("missing-neighbour", "requirements.txt", "tensorflow==2.17.1\ndeepface==0.0.93\n", 2),
    ("wrong-name", "environment.yml", "dependencies:\n- python=3.11\n- sklearn\n- pytorch=2.1\n", 3),
    ("no-program", "Dockerfile", CUDA12 + 'RUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install torch==2.6.0\nENTRYPOINT ["python", "a.py"]\n', 4),
    ("no-program", "Dockerfile", "FROM python:3.11-slim\nRUN pip install torch==2.6.0\nRUN pip install git+https://code.example/x/y\n", 3),
    ("other-python", "Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get install -y python3.11 python3-pip\nRUN pip3 install torch==2.6.0\nCMD python3.11 a.py\n", 3),
    ("unquoted-bound", "install.sh", "pip install 'numpy<2' torch==2.6.0\npip install transformers>=4.50\n", 2),
    ("git-address", "setup.sh", "pip install torch==2.6.0\n# git://github.com/a/b\ngit clone git://github.com/a/b\n", 3),
    ("slurm-job", "a.slurm", "#!/bin/bash\n#SBATCH -N 1\nmodule load cuda\n#SBATCH --gres=gpu:1\npython a.py\n", 4),
    ("slurm-job", "a.slurm", "#!/bin/bash\n#SBATCH --gres=gpu:a100:2\ntorchrun --nproc_per_node=4 a.py\n", 3),
    ("conda-activate", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN source /opt/conda/bin/activate && pip install torch==2.6.0\n", 2),
    ("wrong-name", "requirements.txt", "torch==2.6.0\nnnumpy\n", 2),
    ("no-such-release", "requirements.txt", "torch==2.6.0\nlibrosa==0.9.5\n", 2),
    ("old-apt-key", "a.sh", "wget https://x.example/cuda-repo-ubuntu1804_10.0.130-1_amd64.deb\n", 1),
    ("entrypoint-arguments", "Dockerfile", 'FROM vllm/vllm-openai:v0.11.0\nRUN pip install boto3\nCMD ["sh", "-c", "vllm serve x"]\n', 3),
    ("entrypoint-arguments", "run.sh", "docker run --gpus all vllm/vllm-openai:v0.9.0 python3 -m vllm.entrypoints.openai.api_server\n", 1),
    ("python-no-wheel", "Dockerfile", "FROM python:3.12-slim\nRUN pip install torch==2.9.1 numpy==1.23.5\n", 2),
    ("python-unnamed", "setup.py", 'from setuptools import setup\nsetup(name="a", python_requires=">=3.7",\n install_requires=["torch==1.13.1"])\n', 3),
    ("python-unnamed", "install.sh", f"pip install {TORCH}/cu111/torch-1.9.0%2Bcu111-cp38-cp38-linux_x86_64.whl 'numpy<2'\n", 1),
    ("conda-pip-mix", "environment.yml", "channels: [conda-forge]\ndependencies:\n- python=3.10\n- numpy=1.26\n- pip:\n  - tensorflow==2.13\n", 6),
    ("image-outrun", "cog.yaml", 'build:\n  gpu: true\n  python_version: "3.12"\n  python_packages:\n  - ultralytics\n', 5),
    ("cpu-wheel", "environment.yml", "channels: [pytorch, defaults]\ndependencies:\n- python=3.10\n- pytorch=2.1\n- cudatoolkit=11.8\n- numpy<2\n", 5),
    ("pair-mismatch", "Dockerfile", "FROM python:3.8\nRUN pip install torch==1.5.0\nRUN git clone https://github.com/facebookresearch/detectron2 d2 && pip install -e d2\n", 3),
    ("no-nv", "j.lsf", '#!/bin/bash\n#BSUB -gpu "num=1"\nmpirun -n 2 singularity run img.sif train.sh\n', 3),
    ("apt-gone", "Dockerfile", "FROM python:3.10-slim\nRUN apt-get update && apt-get install -y git \\\n  libgl1-mesa-glx\n", 3),
    ("apt-gone", "setup.sh", "sudo apt-get install -y python-numpy\nsudo pip install tensorflow\n", 1),
    ("index-ended", "install.sh", f"pip install torch torchvision --index-url {TORCH}/cu121\n", 1),
    ("torch-replaced", "Dockerfile", f"FROM python:3.11\nRUN pip install torch --index-url {TORCH}/rocm6.0\nRUN pip install stable-baselines3\n", 3),
    ("pair-mismatch", "environment.yml", "channels: [pytorch, nvidia]\ndependencies:\n- python=3.11\n- pytorch>=2.2\n- pytorch-cuda=12.1\n- pip:\n  - transformers\n", 7),
    ("missing-neighbour", "pyproject.toml", '[project]\nname = "a"\ndependencies = ["torch>=2.8",\n"mmpretrain"]\n', 4),
    ("no-nv", "run.sbatch", "#!/bin/bash\n#SBATCH --gres=gpu:1\nsrun hostname\napptainer exec img.sif python a.py\n", 4),
    ("swallowed-instruction", "Dockerfile", "FROM python:3.11\nRUN apt-get update && \\\n  apt-get install -y git \\\n\n# more\nCOPY . /app\n", 6),
    ("uv-no-environment", "Dockerfile", "FROM python:3.11-slim\nRUN pip install uv\nRUN uv pip install torch==2.9.1\n", 3),
    ("mixed-cuda", "requirements.txt", f"--extra-index-url {TORCH}/cu126\ntensorrt-cu12\ntensorrt\n", 3),
    ("old-get-pip", "Dockerfile", "FROM nvidia/cuda:10.1-cudnn7-devel\nRUN wget https://bootstrap.pypa.io/get-pip.py && python3 get-pip.py\n", 2),
    ("externally-managed", "Dockerfile", "FROM ros:jazzy\nRUN apt-get install -y python3-pip\nRUN pip install torch==2.9.1\n", 3),
    ("no-such-build", "Dockerfile", f"FROM python:3.11\nRUN pip install 'torch>=2.8.0' --index-url {TORCH}/cu124\n", 2),
    ("apt-python", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu20.04\nRUN apt-get install -y python3.11-dev\n", 2),
    ("index-late", "Dockerfile", f"FROM python:3.11\nRUN pip install torch\nRUN pip install torch --index-url {TORCH}/cu121\n", 3),
    ("image-outrun", "Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN pip install torch==2.15.0\n", 2),
    ("nvcc-arch", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nARG TORCH_CUDA_ARCH_LIST='8.0;12.0+PTX'\n", 2),
    ("nvcc-arch", "Dockerfile", "FROM nvcr.io/nvidia/tensorrt:24.11-py3\nARG CMAKE_CUDA_ARCHITECTURES=37;50\n", 2),
    ("driver-capabilities", "compose.yml", SERVICE + "    image: x\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu, utility]}]}}}\n", 4),
    ("same-files", "requirements.txt", "onnxruntime-gpu==1.20.2\noptimum[onnxruntime]==1.27.0\n", 2),
    ("pair-mismatch", "requirements.txt", "git+https://code.example/m-bain/whisperx.git\ntorch==2.0.1\nnumpy<2\n", 1),
    ("pair-mismatch", "requirements.txt", "torch==2.5.1\ntriton==3.0.0\n", 1),
    ("pair-mismatch", "requirements.txt", "tensorflow==2.14.0\ntensorflow-probability\n", 2),
    ("pair-mismatch", "Dockerfile", "FROM python:3.10\nRUN pip install 'torch==2.0.1' transformers 'numpy<2'\n", 2),
    ("no-solution", "requirements.txt", "tensorflow==2.4.1\nprotobuf<3.21\ntyping-extensions==4.11.0\n", 1),
    ("no-solution", "requirements.txt", "torch==2.9.1\ngradio==5.25.1\nhuggingface-hub==0.26.2\n", 2),
    ("no-solution", "requirements.txt", "torch==2.9.1\nflask==2.0.1\nwerkzeug==1.0.1\n", 2),
    ("no-solution", "requirements.txt", "torch==2.9.1\neinops==0.6.0\neinops==0.7.0\n", 3),
    ("no-solution", "requirements.txt", "torch==2.9.1\nflask==2.0.1\nwerkzeug==1.0.1\ngradio==5.25.1\nhuggingface-hub==0.26.2\n", 4),
    ("no-solution", "requirements.txt", "torch==2.9.1\ntorchvision==0.23.0\nflask==2.0.1\nwerkzeug==1.0.1\n", 3),
    ("no-solution", "requirements.txt", "tensorflow==1.12.0\nflask==2.0.1\nwerkzeug==1.0.1\n", 2),
    ("no-such-release", "requirements.txt", "# Python 3.7\ntensorflow-gpu==2.3.0rc0\n", 2),
    ("unbuildable", "Dockerfile", "FROM python:3.12\nRUN pip install torch==2.4.1 wandb==0.15.12\n", 2),
    ("unbuildable", "Dockerfile", "FROM python:3.11\nRUN pip install torch==2.4.1 'numpy<2'\nRUN pip install absl-py==0.9.0\n", 3),
    ("unbuildable", "requirements.txt", "torch==2.4.1\nmarkupsafe==1.0\n", 2),
    ("unbuildable", "requirements.txt", "torch==2.4.1\ngym==0.18.0\n", 2),
    ("cog-key", "cog.yaml", "image: r8.im/a/b\nbuild:\n  dockerfile: Dockerfile\n  cog_runtime: true\npredict: p.py:P\n", 3),
    ("cog-key", "cog.yaml", 'build:\n  python_version: "3.11"\ngpu: true\npredict: p.py:P\n', 3),
    ("unstated-limit", "requirements.txt", "torch==2.9.1\ntransformers<5\ndatasets==2.14.6\n", 3),
    ("unstated-limit", "requirements.txt", "torch==2.9.1\nwandb==0.12.10\n", 2),
    ("unstated-limit", "requirements.txt", "torch==2.9.1\ngradio==3.40.1\ngradio_client==1.3.0\nhuggingface-hub<1\n", 3),
    ("unstated-limit", "requirements.txt", "torch==2.9.1\nseaborn==0.11.2\nmatplotlib\n", 3),
    ("unstated-limit", "requirements.txt", "# Python 3.8\ntensorflow==2.3.0\nprotobuf<3.21\nh5py==2.10.0\nnumpy>=1.24\n", 5),
    ("no-such-index", "requirements.txt", "--find-links https://download.pytorch.org/whl/cpu\ntorch==2.0.1\nnumpy<2\n", 1),
    ("no-solution", "requirements.txt", "torch==1.9.0\ndataclasses==0.8\nnetworkx==3.5\n", 3),
    ("no-such-release", "requirements.txt", "torch==2.9.1\nwaymo-open-dataset>=1.4.10\n", 2),
    ("torch-replaced", "Dockerfile", "FROM python:3.11\nRUN pip install torch==2.5.1\nRUN pip install pyannote.audio\n", 3),
    ("no-such-build", "requirements.txt", "-i https://download.pytorch.org/whl/nightly/cu118\ntorch==2.3.1\n", 2),
    ("borrowed-cuda", "Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN pip install faster-whisper==1.1.0\n", 1),
    ("pair-mismatch", "requirements.txt", "paddlepaddle-gpu\npaddleocr>=2.0.1\n", 2),
    ("tombstone", "Singularity.gpu", "Bootstrap: docker\nFrom: nvidia/cuda:12.4.1-runtime-ubuntu22.04\n\n%post\n  apt-get update\n  pip install tensorflow-gpu\n%runscript\n  python\n", 6),
    ("image-tag", "train.def", "Bootstrap: docker\nFrom: nvidia/cuda:10.1-cudnn7-devel-ubuntu18.04\n", 2),
    ("old-build-flag", "install.sh", 'CMAKE_ARGS="-DLLAMA_CUBLAS=on" pip install llama-cpp-python\n', 1),
    ("torch-replaced", "environment.yml", "channels: [pytorch]\ndependencies:\n- python=3.9\n- pytorch=1.9\n- cudatoolkit=11.1\n- pip:\n  - pytorch-lightning\n", 7),
    ("tombstone", "Dockerfile", "FROM python:3.8\nRUN /usr/bin/env python3 -m pip install tensorflow-gpu\n", 2),
    ("tombstone", "setup.py", "from setuptools import setup\nextras = {'gpu': ['tensorflow-gpu>=2.0']}\nextras['all'] = sum(extras.values(), [])\nsetup(extras_require=dict(extras))\n", 2),
    ("bad-gpu-request", "compose.yml", SERVICE + "    image: x\n    gpus:\n    - device=0\n", 5),
    ("wrong-name", "environment.yml", "dependencies:\n- python=3.9\n- torch=1.9\n", 3),
    ("old-apt-key", "Dockerfile", "FROM ubuntu:18.04\nRUN apt-key adv --fetch-keys https://x.nvidia.com/compute/cuda/repos/ubuntu1804/x86_64/7fa2af80.pub\n", 2),
    ("python-no-wheel", "Dockerfile", "FROM python:3.7\nRUN pip install transformers==5.5.0\n", 2),
    ("cpu-wheel", "Dockerfile-gpu", "FROM python:3.8\nRUN pip install mxnet\n", 2),
    ("local-version", "environment.yml", "dependencies:\n- python=3.9\n- pip:\n  - jaxlib==0.4.14+cuda11.cudnn86\n", 4),
    ("local-version", "requirements.txt", "jax[cuda11_pip]==0.4.14\nnumpy<2\nscipy<1.13\n", 1),
    ("cpu-wheel", "environment-gpu.yml", "channels: [pytorch, defaults]\ndependencies:\n- python=3.10\n- pytorch=2.1.0\n", 4),
    ("image-outrun", "Dockerfile", "FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\nRUN apt-get install -y python3-pip\nRUN pip install ultralytics\n", 3),
    ("pair-mismatch", "requirements.txt", "tensorflow\ntensorflow-probability\n", 2),
    ("python-no-wheel", "a.ipynb", '{"metadata": {"colab": {}}, "cells": [{"cell_type": "code", "source": ["!pip install torch==1.13.1"]}]}', 1),
    ("no-solution", "requirements.txt", "torch==2.5.1\npyannote.audio>=4.0\n", 2),
    ("unstated-limit", "requirements.txt", "tensorflow==2.6.0\nprotobuf<3.21\n", 1),
    ("unstated-limit", "requirements.txt", "ultralytics==8.1.0\n", 1),
    ("pair-mismatch", "requirements.txt", "jax\njaxlib==0.1.51\n", 1),
    ("no-such-release", "requirements.txt", "jaxlib==0.1.47\n", 1),
    ("no-such-extra", "requirements.txt", "jax[cuda12_pip]\n", 1),
    ("wrong-name", "requirements.txt", "nvidia-cudnn-cu115\n", 1),
    ("python-no-wheel", "environment.yml", "dependencies:\n- python=3.6\n- pip:\n  - https://code.example/tensorflow_gpu-1.3.0-cp35-cp35m-linux_x86_64.whl\n", 4),
    ("unstated-limit", "environment.yml", "channels: [pytorch, conda-forge]\ndependencies:\n- pytorch=1.10.2\n", 3),
    ("unstated-limit", "requirements.txt", "diffusers==0.24.0\n", 1),
    ("unstated-limit", "requirements.txt", "torchtext==0.18.0\ntorch==2.5.1\n", 2),
    ("unstated-limit", "requirements.txt", "tensorflow-gpu==1.12.0\nprotobuf<3.21\nkeras\n", 3),
    ("borrowed-cuda", "requirements.txt", "nvidia-cublas-cu12==12.4.5.8\nonnxruntime-gpu==1.17.1\nnumpy<2\n", 2),
    ("borrowed-cuda", "requirements.txt", "nvidia-cudnn-cu12==8.9.7.29\nonnxruntime-gpu==1.20.2\n", 2),
    ("borrowed-cuda", "requirements.txt", "nvidia-cublas-cu12\nnvidia-cudnn-cu12==9.*\nctranslate2==4.4.0\n", 3),
    ("pair-mismatch", "requirements.txt", "jax==0.7.2\njax-cuda12-plugin==0.7.2\njax-cuda13-plugin==0.7.2\n", 3),
    ("pair-mismatch", "requirements.txt", "# Python 3.11\ntensorflow==2.16.1\ntf-keras==2.15.1\n", 3),
    ("conda-pip-mix", "install.sh", "conda install cudatoolkit\npip install onnxruntime-gpu\n", 2),
    ("torch-at-build", "setup.sh", "conda create -n a python=3.10\nif [ $A = b ]; then\npip install flash-attn\nfi\n", 3),
    ("cpu-wheel", "environment-gpu.yml", "dependencies:\n- cudatoolkit=10.1\n- tensorflow-gpu\n- tensorflow=2.1.0=mkl_py37h80a91df_0\n", 4),
    ("cpu-wheel", "pyproject.toml", '[project]\nname = "a"\n[project.optional-dependencies]\ncpu = ["paddlepaddle"]\ngpu = [\n"paddlepaddle"]\n', 6),
    ("cpu-wheel", "Dockerfile", CUDA12 + f"RUN pip install torch==2.5.1 {CPU_INDEX}\n", 2),
    ("cpu-wheel", "Dockerfile", CUDA12 + "RUN pip install \\\n  numpy \\\n  torch==2.5.1+cpu\n", 4),
    ("cpu-wheel", "Dockerfile", CUDA12 + "RUN pip install tensorflow-cpu==2.16.1\n", 2),
    ("cpu-wheel", "Dockerfile", CUDA12 + "RUN pip install onnxruntime==1.20.1\n", 2),
    ("cpu-wheel", "requirements.txt", "nvidia-cudnn-cu12\ntorch==2.5.1+cpu\n", 2),
    ("cpu-wheel", "environment.yml", "dependencies:\n- cudatoolkit=11.3\n- pytorch\n- cpuonly\n", 4),
    ("no-cuda-extra", "Dockerfile", CUDA12 + "RUN pip install jax==0.6.2\n", 2),
    ("tombstone", "requirements.txt", "numpy\ntensorflow-gpu==2.12.0\n", 2),
    ("tombstone", "requirements.txt", "tensorflow-gpu\n", 1),
    ("tombstone", "requirements.txt", "tensorflow_gpu>=2.4\n", 1),
    ("tombstone", "pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.9"\ntensorflow-gpu = "^2.6"\n', 3),
    ("same-files", "requirements.txt", "onnxruntime==1.20.1\nonnxruntime-gpu==1.20.2\n", 2),
    ("same-files", "requirements.txt", "tensorflow==2.11.0\ntensorflow-gpu==2.11.0\n", 2),
    ("same-files", "requirements.txt", "tensorflow==2.15.0\ntensorflow-cpu==2.15.0\n", 2),
    ("same-files", "requirements.txt", "cupy-cuda11x\ncupy-cuda12x\n", 2),
    ("same-files", "requirements.txt", "nvidia-cudnn-cu11==8.9.4.25\nnvidia-cudnn-cu12==8.9.4.25\n", 2),
    ("same-files", "environment.yml", "dependencies:\n- pytorch\n- pip:\n  - torch==2.3.0\n", 4),
    ("same-files", "requirements.txt", "torch==2.15.0\ntensorflow[and-cuda]==2.20.0\n", 2),
    ("mixed-cuda", "requirements.txt", "nvidia-cublas-cu11\nnvidia-cufft-cu12\n", 2),
    ("framework-conflict", "requirements.txt", "torch==2.5.1\ntensorflow[and-cuda]==2.18.0\n", 2),
    ("framework-conflict", "requirements.txt", "torch==2.4.*\njax[cuda12]==0.6.2\n", 2),
    ("nvidia-pin", "requirements.txt", "nvidia-cudnn-cu12==8.9.2.26\ntorch==2.5.1\n", 1),
    ("nvidia-pin", "requirements.txt", "tensorflow[and-cuda]==2.18.0\nnvidia-cudnn-cu12<9\n", 2),
    ("pair-mismatch", "requirements.txt", "torch==2.5.1\ntorchvision==0.19.0\n", 2),
    ("pair-mismatch", "requirements.txt", "torch==2.6.0\ntorchaudio==2.11.0\n", 2),
    ("pair-mismatch", "requirements.txt", "jax==0.4.38\njax-cuda12-plugin==0.4.30\n", 1),
    ("pair-mismatch", "requirements.txt", "jax[cuda12]==0.4.30\njaxlib==0.4.20\n", 1),
    ("pair-mismatch", "requirements.txt", "tensorflow==2.15.0\nkeras==3.6.0\n", 1),
    ("pair-mismatch", "requirements.txt", "torch==2.6.0\ntransformers==4.46.3\ntokenizers==0.15.2\n", 2),
    ("pair-mismatch", "requirements.txt", "torch==2.3.1+cu121\ntorchvision==0.20.1\n", 2),
    ("yanked", "requirements.txt", "jaxlib==0.4.32\n", 1),
    ("index-replaced", "requirements.txt", f"--index-url {TORCH}/cu126\ntorch==2.7.0\n--index-url https://pypi.example.com/simple\neinops\n", 3),
    ("local-version", "requirements.txt", "einops==0.6.1+computecanada\ntorch==2.0.1+computecanada\n", 1),
    ("pair-mismatch", "Dockerfile", f"FROM python:3.11\nRUN uv pip install torch --extra-index-url {TORCH}/cu121 transformers xformers==0.0.23 'numpy<2'\n", 2),
    ("same-files", "Dockerfile", "FROM python:3.11\nRUN pip install onnxruntime\nRUN pip install onnxruntime-gpu\nRUN pip uninstall -y onnxruntime\n", 3),
    ("no-solution", "pyproject.toml", '[project]\nrequires-python = "==3.12.*"\ndependencies = [\n  "vllm==0.19.0",\n  "transformers>=5.3.0,<5.4.0",\n]\n', 4),
    ("no-such-build", "requirements.txt", "torch==1.3.0.dev20191010+cpu\n", 1),
    ("no-cuda-extra", "environment.yml", "dependencies:\n- python=3.12\n- pip:\n  - tensorflow==2.16.1\n  - nvidia-cudnn-cu12==8.9.7.29\n", 4),
    ("cpu-wheel", "Dockerfile", CUDA12 + "RUN pip install llama-cpp-python\n", 2),
    ("torch-at-build", "requirements.txt", "torch==2.6.0\nflash-attn==2.7.4.post1\n", 2),
    ("torch-at-build", "Dockerfile", "FROM python:3.12\nRUN pip install torch\nRUN pip install torch-scatter\n", 3),
    ("torch-at-build", "run.sh", "uv pip install torch\nuv pip install flash-attn\n", 2),
    ("no-such-build", "requirements.txt", f"--extra-index-url {TORCH}/cu121\ntorch==2.6.0+cu121\n", 2),
    ("no-such-build", "cog.yaml", f"build:\n  python_packages:\n  - torch==1.13.0 --extra-index-url {TORCH}/cu113\n", 3),
    ("wrong-name", "requirements.txt", "torch\ndetectron2==0.6\n", 2),
    ("wrong-name", "requirements.txt", "torch\nwhisper\n", 2),
    ("no-such-extra", "requirements.txt", "ctranslate2[cuda]\n", 1),
    ("unstated-limit", "requirements.txt", "torch==1.3.1\ntorchvision==0.4.2\n", 2),
    ("unstated-limit", "requirements.txt", "tensorflow\ntensorflow_addons\n", 1),
    ("same-files", "requirements.txt", "torch\njax[cuda12]\n", 2),
    ("index-outrun", "requirements.txt", f"--extra-index-url {TORCH}/cu118\ndemucs\n", 2),
    ("yanked", "requirements.txt", "nvidia-cudnn-cu12==9.25.0.15\n", 1),
    ("no-such-release", "requirements.txt", "torch==2.5.2\n", 1),
    ("no-such-release", "requirements.txt", "tensorflow==2.16.0\n", 1),
    ("broken-release", "requirements.txt", "tensorflow[and-cuda]==2.21.0\n", 1),
    ("broken-release", "requirements.txt", "tensorflow[and-cuda]==2.15.0\n", 1),
    ("python-no-wheel", "Dockerfile", "FROM python:3.13-slim\nRUN pip install torch==2.3.1\n", 2),
    ("python-no-wheel", "environment.yml", "dependencies:\n- python=3.12\n- pip:\n  - tensorflow==2.10.1\n", 4),
    ("python-no-wheel", "pyproject.toml", '[project]\nrequires-python = ">=3.12"\ndependencies = [\n  "torch==1.13.1",\n]\n', 4),
    ("unstated-limit", "requirements.txt", "torch==2.1.2\nnumpy==2.0.1\n", 2),
    ("unstated-limit", "requirements.txt", "numpy>=1.24\ntorch==2.1.2\n", 1),
    ("platform-dropped", "requirements.txt", "tensorflow[and-cuda]==2.15.1; sys_platform == 'win32'\n", 1),
    ("platform-dropped", "requirements.txt", "jax[cuda12]==0.6.2; platform_system == 'Windows'\n", 1),
    ("musl", "Dockerfile", "FROM python:3.12-alpine\nRUN pip install torch\n", 2),
    ("conda-pip-mix", "environment.yml", "dependencies:\n- cudatoolkit=11.8\n- pip:\n  - torch==2.5.1\n", 4),
    ("conda-pip-mix", "environment.yml", "dependencies:\n- cudatoolkit=10.1\n- pip:\n  - tensorflow==2.10.1\n", 4),
    ("base-image", "Dockerfile", "FROM nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04\nRUN pip install tensorflow==2.16.1\n", 2),
    ("base-image", "Dockerfile", "FROM nvidia/cuda:11.8.0-base-ubuntu22.04\nRUN pip install tensorflow==2.13.1\n", 1),
    ("base-image", "Dockerfile", "FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\nRUN pip install tensorflow==2.13.1\n", 1),
    ("base-image", "Dockerfile", CUDA12 + "RUN pip install tensorflow==2.17.1\n", 1),
    ("base-image", "Dockerfile", "FROM nvcr.io/nvidia/tensorrt:23.10-py3\nRUN pip install onnxruntime-gpu==1.16.3\n", 2),
    ("base-image", "Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu20.04\nRUN pip install 'jax[cuda]'\n", 2),
    ("base-image", "Dockerfile", "FROM nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04\nADD https://code.example/onnxruntime-linux-x64-gpu-1.16.3.tgz /\nRUN wget https://code.example/onnxruntime-linux-x64-gpu-1.16.3.tgz\n", 3),
    ("apt-cuda", "Dockerfile", "FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\nRUN apt-get install -y git libcudnn8-dev\n", 2),
    ("lost-variable", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN make && \\\n  export CUDA_HOME=/usr/local/cuda\n", 3),
    ("named-wheel", "requirements.txt", "torch==2.4.1\nhttps://code.example/mamba_ssm-2.2.2+cu122torch2.3cxx11abiFALSE-cp310-cp310-linux_x86_64.whl\nnumpy<2\n", 2),
    ("discarded-image", "Dockerfile", "FROM me/nvidia-cuda\nFROM jupyter/scipy-notebook\nRUN pip install h5py\n", 2),
    ("image-tag", "Dockerfile", "FROM nvidia/cuda:12.3.2-cudnn8-devel-ubuntu22.04\n", 1),
    ("image-tag", "Dockerfile", "FROM nvidia/cuda:11.7.1-cudnn8-devel-ubuntu24.04\n", 1),
    ("old-apt-key", "Dockerfile", "FROM me/cuda:10.0-cudnn7-devel-ubuntu18.04\nRUN apt-get update\n", 2),
    ("driver-in-image", "Dockerfile", CUDA12 + "RUN apt-get install -y libnvidia-decode-470\n", 2),
    ("python-no-wheel", "Dockerfile", "FROM tensorflow/tensorflow:1.12.0-gpu\nRUN pip3 install keras==2.2.4\n", 2),
    ("python-no-wheel", "Dockerfile", CUDA12 + "RUN wget https://code.example/Miniconda3-latest-Linux-x86_64.sh\nRUN pip install torch==2.1.2\n", 3),
    ("unstated-limit", "Dockerfile", "FROM tensorflow/tensorflow:1.15.5-gpu-py3\nRUN rm /etc/apt/sources.list.d/cuda.list\nRUN pip install keras\n", 3),
    ("unstated-limit", "Dockerfile", "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\nRUN pip install opencv-python-headless\n", 2),
    ("pair-mismatch", "Dockerfile", "FROM nvcr.io/nvidia/pytorch:23.10-py3\nRUN pip install transformers\n", 2),
    ("torch-replaced", "Dockerfile", "FROM nvcr.io/nvidia/pytorch:21.06-py3\nRUN pip install asteroid\n", 2),
    ("no-gpu-request", "compose.yml", SERVICE + "    image: me/quiz-gpu:1\n", 2),
    ("cpu-wheel", "environment.yml", "channels: [conda-forge, pytorch, nvidia]\ndependencies:\n- pytorch=2.3\n- numpy<2\n- mkl<2024\n- pytorch-cuda=12.1\n", 6),
    ("no-such-build", "setup.sh", "pip install torch==2.0.0+nv23.05\n", 1),
    ("wrong-variable", "compose.yml", SERVICE + "    image: x\n    gpus: all\n    environment: [CUDA_VISIBLE_DEVICES=all]\n", 5),
    ("wrong-variable", "run.sh", "pip install torch\nexport CUDA_VISIBLE_DEVICE=0\n", 2),
    ("wrong-variable", "Dockerfile", CUDA12 + "ENV NVIDIA_DRIVER_CAPABILITIES=compute,utilities\n", 2),
    ("no-gpu-request", "job.slurm", "#!/bin/bash\n#SBATCH -p gpu\npython a.py\n", 2),
    ("no-gpu-request", "compose.yml", SERVICE + "    image: python:3.11\n    runtime: nvidia\n", 4),
    ("bad-gpu-request", ".github/workflows/a.yml", "jobs:\n  t:\n    runs-on: ubuntu-latest\n    container:\n      image: x\n      options: --gpus all\n", 6),
    ("bad-gpu-request", "job.yaml", POD + "    resources: {limits: {nvidia.com/gpus: 1}}\n    image: x\n", 7),
    ("same-files", "requirements.txt", "torch\nnvidia-cudnn-cu12\n", 2),
    ("same-files", "requirements.txt", "faiss-cpu\nfaiss-gpu\n", 2),
    ("same-files", "requirements.txt", "gliner[gpu]==0.2.20\n", 1),
    ("same-files", "requirements.txt", "kokoro-onnx[gpu]\n", 1),
    ("no-such-build", "environment.yml", "channels: [pytorch, nvidia]\ndependencies:\n- pytorch=2.2\n- pytorch-cuda=11.7\n", 4),
    ("no-such-build", "environment.yml", "channels: [pytorch, nvidia]\ndependencies:\n- pytorch=2.6\n- pytorch-cuda=12.4\n", 3),
    ("no-such-build", "pyproject.toml", f'[project]\nname="a"\ndependencies=["torch==2.6.0"]\n[tool.uv.sources]\ntorch={{index="pt"}}\n[[tool.uv.index]]\nname="pt"\nurl="{TORCH}/cu121"\n', 3),
    ("python-no-wheel", "environment.yml", "dependencies:\n- python=3.7\n- tensorflow=2.12\n", 3),
    ("nvcc-arch", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN cmake -DCMAKE_CUDA_ARCHITECTURES='80;120' ..\n", 2),
    ("nvcc-arch", "Dockerfile", "FROM nvidia/cuda:13.0.1-devel-ubuntu24.04\nRUN nvcc -gencode arch=compute_60,code=sm_60 a.cu\n", 2),
    ("local-version", ".devcontainer/devcontainer.json", '{"image": "python:3.11",\n"postCreateCommand": "pip install torch==2.3.1+cu121"}', 2),
    ("wrong-variable", "a.ipynb", '{"cells": [{"cell_type": "code", "source": ["os.environ[\\"CUDA_VISIBLE_DEVICE\\"] = \\"0\\""]}]}', 1),
    ("base-image", "Dockerfile", "FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\nRUN pip install cupy-cuda12x\n", 2),
    ("image-overridden", "Dockerfile", "FROM tensorflow/tensorflow:2.4.1-gpu\nRUN pip install tensorflow-text\n", 2),
    ("base-image", "Dockerfile", "FROM nvidia/cuda:10.2-cudnn7-runtime-ubuntu18.04\nRUN pip install tensorflow==2.3.4\n", 2),
    ("base-image", "Dockerfile", "FROM nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04\nRUN pip install onnxruntime-gpu==1.20.2\n", 2),
    ("no-system-cuda", "Dockerfile", "FROM python:3.8\nRUN pip install tensorflow-gpu==2.8.4\n", 2),
    ("no-system-cuda", "Dockerfile", "FROM python:3.11-slim\nRUN pip install onnxruntime-gpu==1.20.2\n", 2),
    ("no-system-cuda", "Dockerfile", "FROM ubuntu:22.04\nENV NVIDIA_VISIBLE_DEVICES=all\nRUN pip3 install tensorflow==2.13.1\n", 3),
    ("no-nvcc", "Dockerfile", CUDA12 + "RUN pip install torch==2.6.0 flash-attn\n", 2),
    ("no-nvcc", "Dockerfile", CUDA12 + 'RUN CMAKE_ARGS="-DGGML_CUDA=on" pip install llama-cpp-python\n', 2),
    ("no-nvcc", "Dockerfile", CUDA12 + "RUN git clone x && nvcc a.cu\n", 2),
    ("build-cuda-mismatch", "Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN pip install torch==2.6.0\nRUN pip install flash-attn\n", 3),
    ("image-overridden", "Dockerfile", "FROM nvcr.io/nvidia/pytorch:24.08-py3\nRUN pip install torch==2.5.1\n", 2),
    ("image-overridden", "Dockerfile", "FROM pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime\nRUN pip install torch==2.5.1\n", 2),
    ("image-tag", "Dockerfile", "FROM nvidia/cuda\n", 1),
    ("image-tag", "compose.yaml", SERVICE + "    image: nvidia/cuda:latest\n    gpus: all\n", 3),
    ("driver-in-image", "Dockerfile", "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y \\\n    nvidia-driver-535\n", 3),
    ("driver-in-image", "Dockerfile", "FROM ubuntu:22.04\nRUN apt-get install -y cuda-12-4\n", 2),
    ("stubs", "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV LD_LIBRARY_PATH /usr/local/cuda/lib64/stubs\n", 2),
    ("compat-first", "Dockerfile", CUDA12 + "ENV LD_LIBRARY_PATH=/usr/local/cuda/compat:/opt/lib\n", 2),
    ("gpus-hidden", "Dockerfile", CUDA12 + "ENV NVIDIA_VISIBLE_DEVICES=void\n", 2),
    ("driver-capabilities", "Dockerfile", CUDA12 + "ENV NVIDIA_DRIVER_CAPABILITIES=ngx,utility\n", 2),
    ("gpu-at-build", "Dockerfile", CUDA12 + "RUN nvidia-smi\n", 2),
    ("gpu-at-build", "Dockerfile", CUDA12 + 'RUN python3 -c "import torch; assert torch.cuda.is_available()"\n', 2),
    ("no-gpu-request", "docker-compose.yml", SERVICE + "    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n", 3),
    ("no-gpu-request", "pod.yaml", POD + "    image: nvcr.io/nvidia/pytorch:24.08-py3\n", 7),
    ("no-gpu-request", "devcontainer.json", '{\n "image": "nvidia/cuda:12.4.1-base-ubuntu22.04"\n}', 2),
    ("bad-gpu-request", "compose.yml", SERVICE + "    image: x\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1}]}}}\n", 4),
    ("bad-gpu-request", "pod.yaml", POD + "    image: x\n    resources:\n      requests:\n        nvidia.com/gpu: 1\n", 10),
    ("bad-gpu-request", "pod.yaml", POD + "    image: x\n    resources:\n      limits:\n        nvidia.com/gpu: 0.5\n", 10),
    ("bad-gpu-request", "pod.yaml", POD + "    resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}\n    image: x\n", 7),
    ("cpu-image", "compose.yml", SERVICE + "    image: tensorflow/tensorflow:2.15.0\n    gpus: all\n", 3),
    ("gpus-hidden", "compose.yml", SERVICE + "    image: x\n    gpus: all\n    environment:\n      CUDA_VISIBLE_DEVICES: '-1'\n", 6),
    ("visible-devices", "pod.yaml", POD + "    image: x\n    env:\n    - name: NVIDIA_VISIBLE_DEVICES\n      value: all\n", 9),
    ("no-gpu-request", "compose.yml", "services:\n  worker-gpu:\n    build: .\n", 2),
    ("pair-mismatch", "requirements.txt", "torch==2.6.0\ntorchcodec==0.6.0\n", 2),
    ("tombstone", "Dockerfile", 'FROM ubuntu:20.04\nRUN PIP="python3 -m pip --no-cache-dir install -U" && \\\n  $PIP numpy && \\\n  $PIP \\\n    tensorflow-gpu\n', 5),
    ("pair-mismatch", "environment.yml", "dependencies:\n- torchvision=0.4.0\n- pytorch=1.3.0\n", 2),
    ("unstated-limit", "requirements.txt", "tensorflow-cpu==2.2.0\n", 1),
    ("torch-replaced", "Dockerfile", "FROM python:3.11\nRUN pip install torch==2.4.1\nRUN pip install einops && \\\n  pip install torchvision\n", 4),
    ("torch-replaced", "Dockerfile", "FROM pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime\nRUN pip install xformers\n", 2),
    ("line-option", "requirements.txt", "--extra-index-url https://pypi.nvidia.com tensorrt-libs==8.6.1\n", 1),
    ("conda-pip-mix", "environment.yml", "dependencies:\n- python=3.7\n- cudatoolkit=10.2\n- pip:\n  - tensorflow-gpu==2.1.0\n  - protobuf<3.21\n", 5),
    ("unstated-limit", "environment.yml", "dependencies:\n- python=3.7\n- numpy=1.16\n- pip:\n  - tensorflow==2.1.0\n", 5),
    ("borrowed-cuda", "requirements.txt", f"-f {TORCH}/torch_stable.html\ntorch==2.0.1+cu118\nnumpy==1.23.5\nonnxruntime-gpu\n", 4),
    ("windows-cpu-torch", "install.bat", "@echo off\nnvidia-smi\npip install torch torchvision\n", 3),
    ("platform-dropped", "setup.ps1", "pip install tensorflow[and-cuda]==2.15.1\n", 1),
    ("no-gpu-request", "start.sh", "#!/bin/sh\ndocker run -d -p 8000:8000 \\\n  vllm/vllm-openai:latest --model x\n", 3),
    ("tombstone", "install.sh", "set -e\n# tensorflow\nsudo pip3 install numpy \\\n  tensorflow-gpu\n", 4),
    ("unstated-limit", "cog.yaml", "build:\n  gpu: true\n  python_version: '3.10'\n  python_packages:\n    - torch==2.1.0\n    - torchvision==0.16.0\n", 5),
    ("pair-mismatch", "setup.py", "from setuptools import setup\nsetup(install_requires=['torch==2.5.1',\n 'torchvision==0.19.0'])\n", 3),
    ("pair-mismatch", "setup.cfg", "[options]\ninstall_requires =\n    torch==2.5.1\n    torchvision==0.19.0\n", 4),
    ("wrong-name", "requirements/gpu.txt", "pytorch\n", 1),
    ("tombstone", "a.ipynb", '{"cells": [{"cell_type": "code",\n "source": ["import x\\n",\n "!pip install -q tensorflow-gpu\\n"]}]}', 3),
    ("python-no-wheel", ".github/workflows/ci.yml", "on: push\njobs:\n  t:\n    runs-on: ubuntu-latest\n    steps:\n    - uses: actions/setup-python@v5\n      with: {python-version: '3.13'}\n    - run: |\n        echo\n        pip install torch==2.3.1\n", 10),
    ("image-tag", ".gitlab-ci.yml", "test:\n  image: nvidia/cuda:10.2-base\n  script:\n    - nvidia-smi\n", 2),
    ("index-replaced", "task.yaml", f"resources:\n  accelerators: A100:1\nsetup: |\n  pip install torch transformers --index-url {TORCH}/cu121\nrun: python train.py\n", 4),
    ("cpu-wheel", "task.yaml", f"resources:\n  accelerators: A100:1\nsetup: |\n  pip install torch==2.1.0+cpu -f {TORCH}/torch_stable.html\nrun: python train.py\n", 4),
    ("unstated-limit", "modal_app.py", "import modal\nimage = modal.Image.debian_slim(python_version='3.12').pip_install(\n  'vllm==0.8.5',\n  'transformers>=4.48',\n)\n", 4),
    ("local-version", "requirements.txt", "numpy\ntorch==2.5.1+cu121\n", 2),
    ("local-version", "pyproject.toml", '[project]\nname = "x"\n[project.optional-dependencies]\ngpu = ["torch==2.5.1+cu121"]\n', 4),
    ("index-replaced", "requirements.txt", f"--index-url {TORCH}/cu118\ntorch\npandas\n", 1),
    ("index-replaced", "Dockerfile", f"FROM python:3.12\nRUN pip install -i {TORCH}/cu121 \\\n  torch bitsandbytes\n", 2),
    ("line-option", "requirements.txt", f"numpy\ntorch --index-url {TORCH}/cu121\n", 2),
    ("no-such-index", "Dockerfile", f"FROM python:3.12\nRUN pip install torch --index-url {TORCH}/cu122\n", 2),
    ("index-outrun", "Dockerfile", f"FROM python:3.12\nENV PIP_EXTRA_INDEX_URL={TORCH}/cu121\nRUN pip install torch\n", 3),
    ("index-outrun", "requirements.txt", f"--extra-index-url {TORCH}/cu118\ntorch>=2.0\n", 2),
    ("index-outrun", "requirements.txt", f"-f {TORCH}/cu121/torch_stable.html\n--extra-index-url {TORCH}/cu121\ntorch==2.8.0\n", 3),
    ("old-apt-key", "Dockerfile", "FROM tensorflow/tensorflow:2.8.0-gpu\nRUN apt-get -y update\n", 2),
    ("old-apt-key", "Dockerfile", "FROM pytorch/pytorch:1.9.0-cuda10.2-cudnn7-devel\nRUN apt update && apt install -y git\n", 2),
    ("image-tag", "Dockerfile", "FROM nvidia/cuda:10.2-devel-ubuntu18.04\n", 1),
    ("image-tag", "Dockerfile", "FROM nvidia/cuda:11.4.2-cudnn8-runtime-ubuntu20.04\n", 1),
    ("image-tag", "Dockerfile", "FROM nvidia/cuda:12.4.1-cudnn8-runtime-ubuntu22.04\n", 1),
    ("image-tag", "Dockerfile", "FROM nvidia/cuda:12.6.9-base-ubuntu22.04\n", 1),
    ("image-tag", "pod.yaml", POD + "    image: nvidia/cuda:11.0-base\n    resources: {limits: {nvidia.com/gpu: 1}}\n", 7),
    ("wrong-name", "requirements.txt", "pytorch>=1.0\n", 1),
    ("no-such-extra", "requirements.txt", "tensorflow[and-cuda]==2.13.0\n", 1),
    ("borrowed-cuda", "requirements.txt", "torch==2.0.1\nnumpy<2\nfaster-whisper==1.0.1\n", 3),
    ("borrowed-cuda", "requirements.txt", "torch==2.5.1\nonnxruntime-gpu==1.17.1\nnumpy<2\n", 2),
    ("borrowed-cuda", "Dockerfile", "FROM python:3.12\nRUN pip install torch==2.10.0\nRUN pip install --no-deps onnxruntime-gpu\n", 3),
    ("unstated-limit", "requirements.txt", "torch==1.12.1\ntorchvision==0.13.1\n", 1),
    ("unstated-limit", "requirements.txt", "tensorflow==2.1.0\n", 1),
    ("unstated-limit", "requirements.txt", "vllm==0.8.5\ntransformers>=4.48\n", 2),
    ("unstated-limit", "requirements.txt", "torchvision==0.18.0\nbasicsr==1.4.2\n", 1),
    ("mixed-cuda", "requirements.txt", "nvidia-cublas-cu116\nnvidia-cufft-cu12\n", 2),
    ("shared-memory", "compose.yml", SERVICE + "    image: pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime\n    gpus: all\n", 3),
    ("shared-memory", "pod.yaml", POD + "    image: x\n    command: [torchrun, train.py]\n    resources: {limits: {nvidia.com/gpu: 1}}\n", 7),
]  # fmt: skip

MACHINES = [
    ("driver-too-old", described(driver="470.82.01"), "requirements.txt", "torch==2.5.1\n", 1),
    ("driver-too-old", described(driver="535"), "Dockerfile", "FROM nvidia/cuda:13.0.1-base-ubuntu24.04\n", 1),
    ("driver-too-old", described(driver="470"), "compose.yml", SERVICE + "    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n    gpus: all\n", 3),
    ("gpu-no-code", described(names=("RTX 5090",)), "requirements.txt", "torch==2.5.1\n", 1),
    ("platform-dropped", described(driver="546.33", system="windows"), "requirements.txt", "tensorflow==2.13.0\n", 1),
    ("platform-dropped", described(system="windows"), "requirements.txt", "tensorflow[and-cuda]==2.15.1\n", 1),
    ("platform-dropped", described(system="windows"), "requirements.txt", "jax[cuda12]\n", 1),
    ("platform-dropped", described(system="windows"), "requirements.txt", "tensorflow[and-cuda]\n", 1),
    ("platform-dropped", described(system="windows"), "requirements.txt", "tensorflow>=2.11\n", 1),
    ("platform-dropped", described(names=("RTX 3060",), system="windows"), "requirements.txt", "tensorflow\n", 1),
    ("windows-cpu-torch", described(system="windows"), "requirements.txt", "torch==2.1.0\n", 1),
    ("windows-cpu-torch", described(names=("RTX 3060",), system="windows"), "requirements.txt", "torch==2.1.0\n", 1),
    ("gpu-no-code", described(names=("sm_61",)), "requirements.txt", "jax\ntorch==2.15.0\n", 2),
]  # fmt: skip


@pytest.mark.parametrize("rule, name, text, line", BAD)
def test_mistake_is_found_on_its_line_with_a_text_a_source_and_a_fix(rule, name, text, line):
    result = check({name: text})
    assert result.problems == ()
    assert (rule, line) in [(one.rule, one.place.line) for one in result.mistakes]
    for said in (part for one in result.mistakes for part in (one.text, one.fix)):
        assert said
        assert not said.endswith(".")
    assert all(one.know.where for one in result.mistakes)


@pytest.mark.parametrize("rule, machine, name, text, line", MACHINES)
def test_mistakes_for_a_described_machine(rule, machine: Machine, name, text, line):
    assert (rule, line) in rules(name, text, machine)
    assert (rule, line) not in rules(name, text)


def test_every_rule_has_a_case():
    together = {"copy-missing", "module-gone"}  # need other files: tests/lint/test_repository.py
    assert {case[0] for case in (*BAD, *MACHINES, *FOUND)} | together == set(ROOMS)


SILENT = [
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3 wget bash\nRUN wget https://x.example/Miniforge3.sh && bash Miniforge3.sh -b -p /opt/conda\nENV PATH=/opt/conda/bin:$PATH\nRUN python3 -m venv /v && /v/bin/pip install torch==2.6.0\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip git zip\nRUN pip3 install torch==2.6.0 cmake\nRUN git clone https://x.example/a && cd a && cmake -B build . && unzip a.zip\n"),
    ("requirements.txt", "torch==2.6.0\nflask==2.1.3\nwerkzeug==2.2.3\n"),
    ("environment.yml", "channels: [pytorch, nvidia]\ndependencies:\n  - python=3.11\n  - pytorch=2.5.1\n  - pytorch-cuda=12.4\n  - pip=23.3\n  - pip:\n    - flash-attn\n"),
    ("requirements.txt", "torch==2.6.0\ngensim==4.3.2\nscipy==1.12.0\n"),
    ("requirements.txt", "torch==2.6.0\nstreamlit==1.11.1\naltair<5\n"),
    ("Dockerfile", "FROM python:3.11-slim\nRUN apt-get update && apt-get install -y curl && pip install torch==2.6.0\nHEALTHCHECK CMD curl -f http://localhost:8000/health || exit 1\n"),
    ("Dockerfile", "FROM python:3.11-slim\nRUN pip install torch==2.6.0\nHEALTHCHECK CMD python -c 'import urllib.request'\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-venv && python3 -m venv /v\nRUN /v/bin/pip install torch==2.6.0 cmake && cmake --version\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install torch==2.6.0 hnswlib==0.8.0\n"),
    ("Dockerfile", "FROM python:3.11\nRUN pip install torch==2.6.0 lightgbm hnswlib\n"),
    ("Dockerfile", "FROM python:3.12-slim\nRUN apt-get update && apt-get install -y ffmpeg && pip install torch==2.6.0 soundfile==0.10.3.post1\n"),
    ("Dockerfile", "FROM python:3.11-slim AS b\nRUN python -m venv /opt/venv && /opt/venv/bin/pip install torch==2.6.0\nFROM python:3.11-slim\nCOPY --from=b /opt/venv /opt/venv\n"),
    ("Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu18.04\nRUN apt-get update && apt-get install -y libusb-1.0 cuda-toolkit-11-8\n"),
    ("Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python-pip\n"),
    ("Dockerfile", "FROM python:3.12-slim\nRUN pip install torch==2.9.1\nRUN echo 'deb http://x.example/ sid main' >> /etc/apt/sources.list && apt-get update && apt-get install -y gcc-9\n"),
    ("cog.yaml", 'image: r8.im/a/b\nbuild:\n  gpu: true\n  python_version: "3.11"\n  environment: [A=1]\n  fast: true\npredict: p.py:P\n'),
    ("requirements.txt", "torch==2.9.1\ntransformers<5\ndatasets==2.14.6\npyarrow==20.0.0\n"),
    ("requirements.txt", "torch==2.9.1\nseaborn==0.11.2\nmatplotlib<3.9\nwandb==0.12.10\nprotobuf==3.20.3\n"),
    ("requirements.txt", "-f https://download.pytorch.org/whl/torch_stable.html\ntorch==2.0.1+cpu\nnumpy<2\n"),
    ("requirements.txt", "torch==2.9.1\neinops==0.6.0; python_version<'3.8'\neinops==0.7.0; python_version>='3.8'\n"),
    ("requirements.txt", "torch==2.9.1\neinops>=0.6.0\neinops==0.7.0\n"),
    ("requirements-cpu.txt", "# Python 3.10\ntensorflow==2.12.0rc0\n"),
    ("Dockerfile", "FROM python:3.11\nRUN pip install torch==2.4.1 'numpy<2' wandb==0.15.12\n"),
    ("requirements.txt", "# Python 3.6\ntensorflow==1.12.0\nprotobuf<3.20\nmarkupsafe==1.0\nabsl-py==0.6.1\n"),
    ("requirements.txt", "torch==2.9.1\nfunctools32==3.2.3.post2; python_version<'3'\nnetworkx==3.5\n"),
    (".devcontainer/devcontainer.json", '{"image": "somebody/trainer",\n"postCreateCommand": "pip install torch==2.3.1+cu121"}'),
    ("Dockerfile", "FROM somebody/trainer:1.0\nRUN pip install tensorflow-addons tensorflow\n"),
    ("Dockerfile", "FROM somebody/trainer:1.0\nRUN pip install torch==1.9.1+cu111\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.8.0-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-venv\nRUN python3 -m venv /opt/venv\nENV PATH=/opt/venv/bin:$PATH\nRUN pip install uv && uv pip install torch==2.9.1\n"),
    ("requirements.txt", 'https://x.org/v1/nunchaku-1.2.0+torch2.6-cp312-cp312-win_amd64.whl ; sys_platform == "win32"\ntorch==2.7.0\n'),
    ("requirements.txt", "https://x.org/v1/nunchaku-1.2.0+torch2.6-cp312-cp312-win_amd64.whl\ntorch==2.7.0\n"),
    ("install.bat", "echo Installing PyTorch (CPU version)...\npip install torch\npip install flash-attn\n"),
    ("run.sh", 'if nvidia-smi; then\n  GPUS="--gpus all"\nelse\n  GPUS=""\nfi\ndocker run $GPUS nvcr.io/nvidia/nemo:25.07 python train.py\n'),
    ("Dockerfile", "ARG BASE\nFROM $BASE\nRUN pip install --resume-retries 5 --index-url https://download.pytorch.org/whl/cu128 torch\n"),
    ("Dockerfile", "FROM pytorch/pytorch:1.9.0-cuda11.1-cudnn8-runtime\nRUN pip install torch==1.9.0+cu111 -f https://download.pytorch.org/whl/torch_stable.html\n"),
    (".github/workflows/app.yml", "jobs:\n  t:\n    runs-on: ubuntu-24.04\n    steps:\n    - run: pip install torch==1.10.0\n"),
    ("install.sh", "pip install https://download.pytorch.org/whl/cu100/torch-1.1.0-cp27-cp27mu-linux_x86_64.whl\npip install https://download.pytorch.org/whl/cu100/torchvision-0.3.0-cp27-cp27mu-linux_x86_64.whl\n"),
    ("cog.yaml", 'build:\n  gpu: true\n  python_version: "3.11"\n  python_packages:\n    - "--pre -f https://mlc.ai/wheels"\n    - "mlc-chat-nightly-cu118"\n'),
    ("job.yaml", 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      containers:\n      - name: a\n        image: x/y:1\n        env:\n        - {name: NVIDIA_VISIBLE_DEVICES, value: none}\n        resources: {limits: {nvidia.com/gpu: "0"}}\n'),
    ("run.sh", "#!/bin/bash\necho $1\nsbatch <<END\n#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --gres=gpu:1\npython train.py\nEND\n"),
    ("requirements_ngc.txt", "opencv-python==4.5.5.64\ntransformers\n"),
    ("requirements.txt", "tensorflow==1.10.0\nsetuptools==39.1.0\nprotobuf<3.21\nkeras<2.4\nh5py<3\n"),
    ("install.sh", "conda env create -f environment-gpu.yml\npip install tensorflow==1.1.0\n"),
    ("Dockerfile", "ARG V=1\nFROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN <<'EOF' cat > /start.sh\nX=\"${V}\"\nEOF\n"),
    ("install.sh", "export BUILD_PYTHON_VERSION=2.7\npip install torchvision==0.3.0 torch==1.1.0\npip install pillow\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip libgl1\nRUN pip3 install --no-deps ultralytics==8.3.0\n"),
    ("install.sh", "bash Miniconda2-latest-Linux-x86_64.sh -b\npip install torchvision==0.3.0 torch==1.1.0\npip install pillow\n"),
    ("Dockerfile", "ARG V=1\nFROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN <<'EOF'\ncat > /start.sh <<'END'\necho $V\nEND\nEOF\nRUN echo 'export A=$V' >> /etc/profile\n"),
    ("start.sh", "#!/bin/bash\nCUDA_PATHS=(\"/usr/local/cuda\" /opt/cuda)\nfor one in \"${CUDA_PATHS[@]}\"; do echo $one; done\npython train.py --device cuda\n"),
    ("job.sh", "#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --nodelist=node13\nsleep 30\nhostname\n"),
    ("pyproject.toml", '[project]\nname = "a"\n[project.optional-dependencies]\ncpu = [\n  "torch>=2.8.0,<2.9.0",\n]\ncu128 = [\n  "torch>=2.8.0,<2.9.0",\n]\n'),
    ("requirements.txt", "torch==1.9.0\npyyaml==5.4.1\nnumpy<2\n"),
    ("environment_dml.yml", "dependencies:\n  - python=3.9\n  - vs2015-runtime=14.27=h5e58377_2\n  - pip:\n    - torch-directml\n"),
    ("environment.yml", "channels: [conda-forge]\ndependencies:\n  - python=3.10\n  - huggingface_hub=0.20\n  - pip:\n    - diffusers==0.25.0\n"),
    ("requirements.txt", "torch==2.9.1\ninstall==1.3.5\n"),
    ("compose.yml", "services:\n  made:\n    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n    command: echo done\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nARG WHO\nRUN apt-get update && apt-get install -y sudo\nUSER me\nRUN sudo apt-get update\nUSER root\nRUN apt-get update\nUSER $WHO\nRUN apt-get update\n"),
    (".github/workflows/a.yml", "jobs:\n  a:\n    runs-on: [self-hosted, gpu]\n    steps:\n      - uses: actions/cache@v3\n      - uses: actions/upload-artifact@v4\n      - uses: actions/cache@1bd1e32a3bdc45362d1e726936510720a7c30a57\n"),
    ("requirements.txt", "torch==2.9.1\ntransformers==4.46.2\npeft\n"),
    ("requirements.txt", "torch==2.9.1\ntransformers==4.40.2\npeft==0.11.1\n"),
    ("Dockerfile", "FROM nvidia/cuda:11.8.0-runtime-ubuntu20.04\nRUN apt-get update && apt-get install -y qt5-default gcc-7\n"),
    ("requirements.txt", "matplotlib == 3.7.1\nflask\n"),
    ("requirements.txt", "matplotlib==3.6.3\nscipy==1.10.0\ntensorflow==2.10.1\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y git openssh-server libssl-dev\nRUN apt-get install openssh-client git libssl-dev\n"),
    ("Dockerfile", "FROM nvcr.io/nvidia/pytorch:24.05-py3\nRUN apt-get update && apt-get install git\n"),
    ("Dockerfile", "FROM python:3.10\nRUN pip install torch==2.2.2 torchvision==0.17.2\nRUN pip install -e .[dev]\n"),
    ("Dockerfile", "FROM python:3.8\nRUN pip install torch==1.13.1 'numpy<2'\nRUN pip install --upgrade pip && pip install albumentations==0.4.3\n"),
    ("requirements.txt", "torch==1.12.1\ndiffusers==0.3.0\nnumpy<2\n"),
    ("requirements.txt", "torch==1.7.1\nnumpy<2\nsentence-transformers==1.2.1\n"),
    ("Dockerfile", "ARG CUDA_VERSION=12.4.1\nFROM nvidia/cuda:${CUDA_VERSION}-devel-ubuntu22.04\nRUN echo ${CUDA_VERSION} ${UNKNOWN}\n"),
    ("Dockerfile", "ARG X=1\nFROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nARG X\nRUN echo $X ${Y:-$X}\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS a\nARG X=1\nFROM a AS b\nRUN echo $X\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN cd /src && make\nRUN cd /src\nWORKDIR /src\nRUN make\n"),
    ("Dockerfile", "FROM nvidia/cuda:11.8.0-cudnn8-devel-ubuntu18.04\nRUN apt-get update && apt-get install -y python3-pip libgl1 libglib2.0-0\nRUN pip3 install --upgrade 'pip<22' && pip3 install opencv-python 'numpy<2'\n"),
    ("Dockerfile", "FROM python:3.12-slim-bookworm\nRUN pip install torch==2.9.1\nRUN apt-key adv --fetch-keys https://x.example/k.pub\n"),
    ("setup.sh", "curl -s -L https://nvidia.github.io/libnvidia-container/stable/deb/nvidia-container-toolkit.list | sudo tee /etc/apt/sources.list.d/a.list\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV A=${B} C=$D\nRUN B=$(which nvcc) make\n"),
    ("Dockerfile", "FROM python:3.11\nRUN pip install torch==2.9.1\nRUN pip install -U torchao==0.14.0 torch==2.9.1\n"),
    ("Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN apt-get install -y git\nRUN git clone https://github.com/pytorch/pytorch && cd pytorch && git checkout v2.1.0\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\nRUN apt-get install -y git\nRUN git clone https://github.com/pytorch/pytorch\n"),
    ("Dockerfile", "FROM condaforge/miniforge3\nRUN conda create -y -n a python=3.11 pytorch-gpu\n"),
    ("Dockerfile", "FROM continuumio/miniconda3:24.7.1-0\nRUN conda create -y -n a python=3.11 pytorch-gpu\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV LD_LIBRARY_PATH=/usr/local/cuda/lib:/usr/local/cuda/lib64\n"),
    ("install.sh", 'curl -LsSf https://astral.sh/uv/install.sh | sh\nexport PATH="$HOME/.local/bin:$HOME/.cargo/bin:$PATH"\nuv sync\n'),
    ("install_cuda.sh", "# cuda\nwget https://github.com/a/b/blob/main/x.zip?raw=true\nwget https://github.com/a/b/raw/main/x.zip\n"),
    ("pyproject.toml", '[project]\nname = "a"\n[project.optional-dependencies]\ncpu = ["torch>=2.8"]\n[tool.uv.sources]\ntorch = [{index = "pytorch-cpu", extra = "cpu"}]\n[[tool.uv.index]]\nname = "pytorch-cpu"\nurl = "https://download.pytorch.org/whl/cpu"\nexplicit = true\n'),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN . /opt/conda/etc/profile.d/conda.sh && conda activate a && pip install torch==2.6.0\n"),
    ("Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu20.04\nARG DEBIAN_FRONTEND=noninteractive\nRUN apt-get update && apt-get install -y libopencv-dev\n"),
    ("Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu20.04\nRUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y tzdata\n"),
    ("Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu20.04\nRUN ln -snf /usr/share/zoneinfo/UTC /etc/localtime\nRUN apt-get install -y tzdata\n"),
    ("environment.yml", "channels: [pytorch, conda-forge]\ndependencies:\n- python=3.8\n- pytorch=1.12.1\n- cudatoolkit=11.6\n- mkl<2024\n"),
    ("environment.yml", "channels: [conda-forge]\ndependencies:\n- python=3.8\n- pytorch=1.9.0\n- cudatoolkit=11.3\n- mkl<2024\n"),
    ("Dockerfile", "FROM quay.io/jupyter/tensorflow-notebook:2024-05-27\n"),
    ("Dockerfile", "FROM python:3.10\nRUN pip install torch==2.6.0 transformers==4.20.0 'numpy<2'\n"),
    ("environment.yml", "channels: [defaults]\ndependencies:\n- python=3.9\n- tensorflow=2.4.1\n"),
    ("environment.yml", "channels: [nvidia, conda-forge]\ndependencies:\n- python=3.11\n- pytorch::pytorch=2.4\n- pytorch-cuda=12.4\n"),
    ("CMakeLists.txt", "cmake_minimum_required(VERSION 2.8...3.20)\nproject(a CUDA)\nadd_library(a k.cu)\n"),
    ("CMakeLists.txt", "cmake_minimum_required(VERSION 2.8)\nproject(a)\nadd_library(a k.cpp)\n"),
    ("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(a)\nfind_package(CUDA)\ncuda_add_library(a k.cu)\n"),
    ("CMakeLists.txt", "project(a CUDA)\nif(CUDA_VERSION VERSION_LESS 11)\n set(CMAKE_CUDA_ARCHITECTURES 30)\nelse()\n set(CMAKE_CUDA_ARCHITECTURES 80)\nendif()\n"),
    ("CMakeLists.txt", "# needs CUDA 10.2\nproject(a CUDA)\nset(CMAKE_CUDA_ARCHITECTURES 30)\n"),
    ("CMakeLists.txt", "project(a CUDA)\nset(CMAKE_CUDA_ARCHITECTURES 60 70 86 native)\n"),
    ("CMakeLists.txt", 'broken(((\nset(A "\n'),
    ("Dockerfile", "FROM pytorch/pytorch:1.8.1-cuda10.2-cudnn7-runtime\nRUN python train.py\n"),
    ("Dockerfile", "FROM pytorch/pytorch:2.15.0-cuda13.3-cudnn9-runtime\n"),
    ("Dockerfile", "FROM mirror.example/pytorch/pytorch:2.0.1-cuda11.8-cudnn8-runtime\n"),
    ("Dockerfile", "FROM tensorflow/tensorflow:2.15.0-gpu-jupyter\n"),
    ("Dockerfile", "FROM nvcr.io/nvidia/tensorflow:23.03-tf1-py3\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get install -y cuda-toolkit-11-8\nENV CUDA_HOME=/usr/local/cuda-11.8\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nENV CUDA_HOME=/usr/local/cuda-12.4\n"),
    ("Dockerfile", "FROM python:3.9\nRUN pip install torch==2.1.0 'numpy<2' 'gym==0.21.0'\n"),
    ("Dockerfile", 'FROM python:3.9\nRUN pip install torch==2.1.0 \'numpy<2\'\nRUN pip install "pip<23.1" && pip install --install-option="--cuda_ext" ./apex\n'),
    ("requirements.txt", "# Python 3.9\ntorch==1.13.1\nnumpy<2\nsetuptools==65.5.0\ngym==0.21.0\n"),
    ("requirements.txt", "# Python 3.9\n-f https://download.openmmlab.com/mmcv/dist/cu117/torch1.13/index.html\ntorch==1.13.1\nnumpy<2\nmmcv==2.0.1\n"),
    (".github/workflows/a.yml", "jobs:\n  t:\n    runs-on: ubuntu-20.04\n    steps:\n    - run: pip install flask\n"),
    ("Dockerfile", 'FROM vllm/vllm-openai:v0.11.0\nENTRYPOINT []\nCMD ["sh", "-c", "vllm serve x"]\n'),
    ("run.sh", "docker run --gpus all --ipc=host vllm/vllm-openai:v0.9.0 --model a\n"),
    ("Dockerfile", "FROM python:3.11\nRUN pip install torch==2.9.1 numpy==1.26.4 scipy==1.11.4 pandas==2.1.4\n"),
    ("setup.py", 'from setuptools import setup\nsetup(name="a", python_requires=">=3.7,<3.11", install_requires=["torch==1.13.1", "numpy<2"])\n'),
    ("Dockerfile", "FROM python:3.10-slim-bookworm\nRUN apt-get update && apt-get install -y libgl1-mesa-glx software-properties-common\n"),
    ("Dockerfile", "FROM python:3.11.4-slim\nRUN apt-get update && apt-get install -y libgl1-mesa-glx\n"),  # the Debian of its day
    ("setup.sh", "# Ubuntu 18.04\nsudo apt-get install -y python-pip\n"),
    ("cog.yaml", 'build:\n  gpu: true\n  python_version: "3.11"\n  python_packages: ["torch==2.9.1", "insightface==2.1"]\n'),
    ("Dockerfile", "FROM python:3.11\nRUN pip install uv && uv venv /opt/v\nENV VIRTUAL_ENV=/opt/v\nRUN uv pip install torch==2.9.1\n"),
    ("Dockerfile", "FROM python:3.11\nENV UV_SYSTEM_PYTHON=1\nRUN pip install uv && uv pip install torch==2.9.1\n"),
    ("run.sbatch", "#!/bin/bash\n#SBATCH --gres=gpu:1\nexport APPTAINER_NV=1\napptainer exec img.sif python a.py\n"),
    ("run.sbatch", "#!/bin/bash\n#SBATCH --gres=gpu:1\nsingularity exec $OPTIONS img.sif python a.py\n"),
    ("Dockerfile", "FROM python:3.11\nRUN echo \"first \\\nRUN second\" > note\n"),
    ("requirements.txt", "gliner[gpu]\nmagika\n"),
    ("run.slurm", "#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --gres=gpu:1\nexport CUDA_VISIBLE_DEVICES=0\nexport NCCL_DEBUG=INFO\n"),
    ("Dockerfile", "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\nRUN pip install 'transformers<4.50' einops 'numpy<2'\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN export CUDA_HOME=/usr/local/cuda && make\n"),
    ("Dockerfile", "FROM continuumio/miniconda3\nRUN conda create -y -n a python=3.10\nRUN conda run -n a pip install torch==2.1.2 'numpy<2'\n"),
    ("requirements.txt", "-f https://download.pytorch.org/whl/torch_stable.html\ntorch==2.5.1+cu121\nnvidia-cudnn-cu12==8.9.2.26\n"),  # another build: its demands are not known
    ("requirements.txt", "onnxruntime; python_version < '3.10'\nonnxruntime-gpu; python_version >= '3.10'\n"),
    ("requirements.txt", "tensorflow==2.21.0\n"),  # nobody says GPU
    ("requirements.txt", "-f https://download.pytorch.org/whl/torch_stable.html\ntorch==1.10.0+cu113\ntorchvision==0.11.0+cu113\nnumpy<2\n"),
    ("job.yaml", POD + "    resources: {limits: {nvidia.com/gpu: 1, memory: ${SIZE}}}\n    image: x\n"),
    ("install.sh", "git clone https://example.org/detectron2\npip install torch\npip install -e detectron2\n"),  # a folder
    ("requirements.txt", "-f https://data.pyg.org/whl/torch-2.5.0+cu124.html\ntorch==2.5.1\ntorch-scatter\npyg-lib\n"),
    ("requirements.txt", "torch==2.6.0\n# pip install --no-build-isolation\nflash-attn\n"),
    ("install.sh", "if [ $C = 12 ]; then pip install nvidia-nccl-cu12; fi\nif [ $C = 13 ]; then pip install nvidia-cufft-cu13; fi\n"),
    ("cog.yaml", f"build:\n  python_packages:\n  - torch==1.12.1+cu113 --extra-index-url {TORCH}/cu113\n  - numpy<2\n"),
    ("requirements.txt", "tensorflow-gpu<2.12\nnumpy<2\n"),
    ("requirements.txt", "tensorflow-gpu~=2.8.0\nnumpy<1.24\n"),
    ("requirements.txt", "torch==2.16.0.dev20261101\n"),
    ("requirements.txt", "torch==99.0\n"),  # newer than what is known
    ("requirements.txt", "torch==2.5.1\ntorchvision\n"),
    ("requirements.txt", "torch\ntorchvision==0.19.0\n"),
    ("requirements.txt", "-f https://wheels.example/\ntorch==1.8.2\n"),
    ("requirements.txt", "torch==2.1.2\nnumpy<2\n"),
    ("requirements.txt", "torch==2.5.1\nnvidia-cudnn-cu12==9.1.0.70\n"),
    ("constraints.txt", "onnxruntime==1.20.1\nonnxruntime-gpu==1.20.2\n"),  # limits install nothing
    ("Dockerfile", "FROM nvidia/cuda:${V}-base\nRUN pip install tensorflow==2.8.0 numpy==1.23.5\n"),  # only the build knows
    ("Dockerfile", "FROM nvidia/cuda:11.8.0-base-ubuntu22.04\nRUN apt-get install -y python3-pip cuda-libraries-11-8 libcudnn8=8.9.7.29-1+cuda11.8\nRUN pip install tensorflow==2.13.1\n"),
    ("Dockerfile", CUDA12 + "RUN apt-get install -y python3-pip cuda-nvcc-12-4 && pip install torch==2.5.1 && pip install flash-attn --no-build-isolation\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS b\nENV LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs\nFROM ubuntu:22.04\n"),
    ("Dockerfile", "FROM python:3.11\nRUN pip install onnxruntime-gpu==1.20.2 torch==2.5.1\n"),
    ("Dockerfile", 'FROM python:3.11\nRUN pip install "onnxruntime-gpu[cuda,cudnn]==1.21.0"\n'),
    ("Dockerfile", "FROM nvcr.io/nvidia/pytorch:24.08-py3\nRUN pip install onnxruntime\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get install -y python3.11 && python3.11 -m pip install torch==2.5.1\n"),
    ("compose.yml", SERVICE + "    image: ${IMAGE}\n"),
    ("compose.yml", SERVICE + "    image: x\n    deploy: {resources: {reservations: {devices: [{capabilities: [tpu]}]}}}\n"),
    ("pod.yaml", POD + "    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n    resources: {limits: {aliyun.com/gpu-mem: 3}}\n"),
    ("pod.yaml", POD + "    image: nginx\n"),
    ("requirements.txt", "torch==1.6.0\nnumpy\n"),  # its Pythons have no NumPy 2
    ("requirements.txt", "tensorflow==1.4.0\n"),  # nor protobuf 4
    ("requirements.txt", "torch==2.1.2\ntorchvision==0.16.2\nscipy==1.9.3\n"),  # SciPy holds NumPy back
    ("requirements.txt", "--extra-index-url https://wheels.example/simple\nnvidia-cudnn-cu115\nnvidia-cublas-cu116\n"),  # both are CUDA 11
    ("compose.yml", SERVICE + "    image: utkuozdemir/nvidia_gpu_exporter\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu, utility]}]}}}\n"),  # it runs nvidia-smi
    ("install.sh", "pip install nvidia-pyindex\npip install nvidia-cudnn-cu115\n"),
    ("Dockerfile", CUDA12 + "RUN pip install torch\nRUN pip install -U torch --index-url https://download.pytorch.org/whl/cu128\n"),
    ("Dockerfile", "FROM nvidia/cuda:12.4.1-base-ubuntu20.04\nRUN apt-get update && apt-get install -y software-properties-common\nRUN add-apt-repository ppa:deadsnakes/ppa && apt-get install -y python3.11\n"),
    ("requirements.txt", "onnxruntime-gpu==1.20.2\ninsightface==0.7.3\n"),  # that release asks for no onnxruntime
    ("environment.yml", "channels: [defaults]\ndependencies:\n- pytorch=1.10.2\n"),
    ("environment.yml", "dependencies:\n- cudatoolkit=10.1\n- pytorch\n- tensorflow=2.1.0=mkl_py37h80a91df_0\n"),  # torch's GPU
    ("requirements.txt", f"--extra-index-url {TORCH}/cu126\ntorch\ntransformers\n"),
    ("requirements.txt", f"--index-url {TORCH}/cu118\ntorch==2.5.1+cu118\nnumpy\n"),
    ("requirements.txt", f"--extra-index-url {TORCH}/cu118\ntorch>=2.0,<2.6\n"),
    ("requirements.txt", "tensorflow-cpu==${TENSORFLOW_VERSION}\n"),
    ("requirements.txt", "torch\nfaster-whisper\n"),  # nothing says GPU
    ("Dockerfile", "FROM tensorflow/tensorflow:2.6.0-gpu\nRUN rm /etc/apt/sources.list.d/cuda.list\nRUN apt-get update\n"),
    ("Dockerfile", "FROM tensorflow/tensorflow:2.6.0\nRUN apt-get update\n"),
    ("Dockerfile", "FROM pytorch/pytorch:1.9.0-cuda10.2-cudnn7-runtime\nRUN apt-get update\n"),
    ("Dockerfile", "FROM python:3.8\nRUN if [ $INTEL ]; then pip install intel-tensorflow; else pip install tensorflow; fi\n"),
    ("install.sh", "if [ $GPU ]; then\n  pip install onnxruntime-gpu\nelse\n  pip install onnxruntime\nfi\n"),
    ("install.sh", "conda create -n a python=3.10\npip install onnxruntime-gpu\nconda create -n b python=3.10\npip install onnxruntime\n"),
    ("compose.yml", SERVICE + "    build: {context: ., dockerfile: Dockerfile.gpu}\n    devices: [/dev/kfd, /dev/dri]\n"),
    ("a.ipynb", '{"cells": [{"cell_type": "code", "source": ["!pip install torch==2.1.2 torchvision==0.16.2"]}]}'),
    ("Dockerfile", "FROM some/ros\nRUN pip install torch==1.13.1 torchvision==0.14.1\n"),  # nobody knows its Python
    ("requirements.txt", "tensorflow==1.3.0\ntensorflow-tensorboard==0.1.8\n"),  # right at its time
    ("requirements.txt", "# conda create --file\n_libgcc_mutex=0.1=main\ncudatoolkit=10.2.89=hfd86e86_1\npytorch=1.7.1=py3.6_cuda\nscipy=1.5.2=py36h0b6359f_0\n"),
    ("environment.yml", "dependencies:\n- torchvision=0.4.2\n- pytorch=1.3\n"),
    ("install.sh", "gpu() {\n  pip install onnxruntime-gpu==1.20.2\n}\n\ncpu() {\n  pip install onnxruntime==1.20.1\n}\n$1\n"),
    ("Dockerfile", "# FROM nvidia/cuda\n\n# RUN pip install torch\n"),
    ("requirements.txt", "tensorflow-gpu==1.5.0\ntensorflow-tensorboard==1.5.1\n"),
    ("requirements.txt", "vllm==0.6.3\ntransformers>=4.45\n"),  # not registered yet
    ("requirements.txt", "nvidia-cublas-cu12\nnvidia-cudnn-cu12\nfaster-whisper\nonnxruntime\n"),
    ("Dockerfile", f"FROM python:3.12\nRUN uv pip install --system torch --extra-index-url {TORCH}/cu118\n"),  # uv looks there first
    ("Dockerfile", f"FROM python:3.11\nRUN pip install torch==2.4.1+cu121 --index-url {TORCH}/cu121\nRUN pip install torchvision --index-url {TORCH}/cu121\n"),
    ("install.bat", "pip install torch\n"),  # nothing says GPU
    ("Dockerfile", CUDA12 + "RUN apt-get update && apt-get install -y git\nRUN apt-get install git-lfs\n"),
    ("Dockerfile", "FROM python:3.10\nRUN pip install torch==2.6.0\nRUN pip install flashinfer_python-0.2.2+cu124torch2.6-cp38-abi3-linux_x86_64.whl\n"),
    ("compose.yml", SERVICE + "    image: x\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu, video]}]}}}\n"),
    ("Dockerfile", "FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\nRUN pip uninstall -y torch torchvision\nRUN pip install torch==2.6.0 torchvision==0.21.0\n"),
    ("Dockerfile", f"FROM python:3.11\nRUN uv pip install --system torch --extra-index-url {TORCH}/cu121 xformers==0.0.23 'numpy<2'\n"),
    ("Dockerfile", f"FROM python:3.10\nRUN pip install torch==2.6.0+cu124 torchvision --index-url {TORCH}/cu124\nRUN pip install torchvision\n"),
    ("Dockerfile", "FROM python:3.11\nRUN pip install cupy-cuda11x\nRUN pip uninstall -y cupy-cuda11x\nRUN pip install cupy-cuda12x[ctk]\n"),
    ("pyproject.toml", '[project]\nrequires-python = "==3.12.*"\ndependencies = [\n  "vllm==0.19.0",\n  "transformers>=5.3.0,<5.4.0",\n]\n[tool.uv]\noverride-dependencies = ["transformers>=5.3.0,<5.4.0"]\n'),
    ("requirements.txt", "nvidia-cudnn-cu12==9.1.0.70\nnvidia-cublas-cu12\nonnxruntime-gpu==1.20.2\n"),
    ("requirements.txt", "nvidia-cudnn-cu12\nnvidia-cublas-cu12\nctranslate2==4.4.0\n"),
    ("requirements.txt", "jax==0.7.2\njax-cuda13-plugin==0.7.2\njax-cuda13-plugin[with-cuda]==0.7.2\n"),
    ("requirements.txt", "torchvision==0.2.1\npillow<7\n"),  # withdrawn lest another Python takes it
    ("start.sh", "docker run --rm --gpus all vllm/vllm-openai:latest\ndocker run -it $IMAGE\ndocker run nginx\n"),
    ("Dockerfile.tmpl", "{{ if eq .Accelerator \"gpu\" }}\nFROM gcr.io/x\n{{ end }}\n"),
    ("pod.yaml", POD + "    image: vllm/vllm-openai:v0.6.0\n    command: [python, bench_client.py]\n"),
]  # fmt: skip


OF_TIME = ("python-unnamed", "old-gpus", "ended-system")
"""What these texts of every age may also show; tests/lint/test_ended.py is about that."""


@pytest.mark.parametrize("name, text", SILENT)
def test_near_misses_stay_silent(name, text):
    assert [rule for rule, _ in rules(name, text) if rule not in OF_TIME] == []


def test_included_files_meet_the_image_that_installs_them():
    files = {"app/Dockerfile": "FROM python:3.13\nCOPY reqs.txt .\nRUN pip install -r reqs.txt\n"}
    result = check(files, beside={"app/reqs.txt": "numpy\ntorch==2.3.1\n"})
    assert found(result) == [("python-no-wheel", "app/reqs.txt", 2)]


def test_numpy_of_an_environment_that_the_readme_makes_before_the_script():
    script = {
        "setup.sh": f"pip install torch==1.12.1+cu113 torchvision==0.13.1+cu113 --extra-index-url {TORCH}/cu113\n"
    }
    made = {"environment.yml": "name: a\ndependencies:\n- python=3.9\n- pip:\n  - numpy==1.26.4\n"}
    told = {"README.md": "conda env create -f environment.yml\nsh setup.sh\n"}
    assert "unstated-limit" in {rule for rule, _, _ in found(check(script, beside=made))}
    assert "unstated-limit" not in {rule for rule, _, _ in found(check(script, beside=made | told))}


def test_copies_that_serve_either_cuda_are_of_two_majors_and_no_same_files():
    text = "nvidia-nvtx-cu11==11.7.91\nnvidia-cuda-cupti-cu11==11.7.101\nnvidia-cuda-cupti-cu12==12.1.105\n"
    assert rules("requirements.txt", text + "nvidia-nvtx-cu12==12.1.105\n") == [("mixed-cuda", 3)]


@pytest.mark.parametrize(
    "name, opened", [("reqs.txt", True), ("my_reqms.txt", True), ("requires.txt", False), ("notes.txt", False)]
)
def test_lists_that_are_named_in_short_are_opened_in_folders(name, opened):
    assert kinds.worth_opening(name) == opened


def test_a_compose_override_beside_asks_for_the_gpu():
    base = {"d/compose.yml": SERVICE + "    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n"}
    assert found(check(base)) == [("no-gpu-request", "d/compose.yml", 3)]
    assert found(check(base, beside={"d/compose.override.yml": SERVICE + "    gpus: all\n"})) == []


def test_stages_inherit_and_copied_packages_meet_the_last_image():
    text = (
        "FROM python:3.11 AS build\nRUN pip install --target /deps tensorflow==2.13.1\n"
        "FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04 AS base\nFROM base\nCOPY --from=build /deps /deps\n"
    )
    assert rules("Dockerfile", text) == [("base-image", 2)]


@pytest.mark.parametrize(
    "comment, silent",
    [
        ("torch==2.5.2  # gpuwhy: ignore[no-such-release]", True),
        ("torch==2.5.2  # gpuwhy: ignore", True),
        ("torch==2.5.2  # gpuwhy: ignore[yanked, no-such-release]", True),
        ("# gpuwhy: ignore[no-such-release]\ntorch==2.5.2", True),
        ("# gpuwhy: ignore-file[no-such-release]\nnumpy\ntorch==2.5.2", True),
        ("torch==2.5.2  # gpuwhy: ignore[yanked]", False),
        ("# gpuwhy: ignore[no-such-release]\nnumpy\ntorch==2.5.2", False),
    ],
)
def test_comments_silence(comment, silent):
    result = check({"requirements.txt": comment + "\n"})
    assert bool(result.mistakes) is not silent
    assert sum(file.ignored for file in result.files) == int(silent)


def test_a_limit_in_a_neighbouring_file_counts():
    files = {"requirements/cpu.txt": "# Python 3.10\nonnxruntime==1.14.1\n"}
    assert found(check(files)) == [("unstated-limit", "requirements/cpu.txt", 2)]
    assert found(check(files, beside={"requirements/base.txt": "numpy==1.24.2\n"})) == []


def test_a_renamed_copy_is_the_file_that_is_installed():
    text = "FROM python:3.13\nCOPY reqs/all.txt ./requirements.txt\nRUN pip install -r requirements.txt\n"
    beside = {"d/reqs/all.txt": "torch==2.3.1\n", "d/requirements.txt": "tensorflow-gpu\n"}
    assert found(check({"d/Dockerfile": text}, beside=beside)) == [("python-no-wheel", "d/reqs/all.txt", 1)]


def test_a_build_may_start_in_a_folder_above():
    text = "FROM python:3.13\nCOPY . .\nRUN pip install -r requirements.txt\n"
    beside = {"requirements.txt": "torch==2.3.1\n"}
    assert found(check({"docker/Dockerfile": text}, beside=beside)) == [("python-no-wheel", "requirements.txt", 1)]


def test_a_readme_that_names_the_index_counts():
    files = {"requirements.txt": "torch==2.5.1+cu121\n"}
    assert found(check(files)) == [("local-version", "requirements.txt", 1)]
    assert found(check(files, beside={"README.md": "pip install … https://download.pytorch.org/whl/cu121"})) == []


@pytest.mark.parametrize("name", ["requirements_cpu.txt", "requirements-tpu.txt", "readthedocs_requirements.txt"])
def test_files_named_for_something_else_meet_no_driver(name):
    assert [rule for rule, _ in rules(name, "torch==2.5.1\n", described(driver="470")) if rule != "cuda-for-cpu"] == []


@pytest.mark.parametrize("limit, silent", [("==1.26.2", True), (">=2.2.6", False), ("", False)])
def test_the_project_that_a_dockerfile_installs_may_hold_numpy_back(limit, silent):
    text = "FROM python:3.10\nRUN pip install torch==2.0.0 torchvision==0.15.1\nRUN pip install -e .[dev]\n"
    beside = {"pyproject.toml": f'[project]\ndependencies = [\n  "numpy{limit}",\n]\n'}
    assert (found(check({"docker/gpu/Dockerfile": text}, beside=beside)) == []) is silent


def test_onnxruntime_alone_in_an_image_is_told_once():
    text = "FROM nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04\nRUN pip install onnxruntime-gpu==1.20.2\n"
    assert rules("Dockerfile", text) == [("base-image", 2)]


def test_a_mistake_in_an_included_file_names_the_line_that_takes_it_in():
    text = "FROM python:3.13\nCOPY . .\nRUN pip install -r requirements.txt\n"
    (mistake,) = check({"Dockerfile": text}, beside={"requirements.txt": "torch==2.3.1\n"}).mistakes
    assert mistake.through is not None
    assert (mistake.through.path, mistake.through.line) == ("Dockerfile", 3)


def test_requirements_are_judged_by_the_dockerfile_that_installs_them():
    beside = {
        "docker/Dockerfile": "FROM python:3.13\nCOPY . .\nRUN pip install foo==1\nRUN pip install -r requirements.txt\n"
    }
    assert found(check({"requirements.txt": "torch==2.3.1\n"}, beside=beside)) == [
        ("python-no-wheel", "requirements.txt", 1)
    ]
    assert found(check({"other.txt": "torch==2.3.1\nnumpy<2\n"}, beside=beside | {"README.md": "Python 3.11"})) == []


def test_what_a_script_installs_counts_for_the_dockerfile_that_runs_it():
    text = "FROM python:3.13\nCOPY . .\nRUN bash scripts/install.sh\n"
    script = "DIR=$( cd -- $( dirname $0 ) && pwd )\npip install -r ${DIR}/reqs.txt\n"
    beside = {"scripts/install.sh": script, "scripts/reqs.txt": "torch==2.3.1\n"}
    (mistake,) = check({"Dockerfile": text}, beside=beside).mistakes
    assert (mistake.rule, mistake.place.path, mistake.through.line) == ("python-no-wheel", "scripts/reqs.txt", 3)


@pytest.mark.parametrize(
    "compose, silent", [("build:\n      context: .\n", True), ("image: tensorflow/tensorflow\n", False)]
)
def test_an_image_that_is_built_in_the_folder_has_a_python(compose, silent):
    beside = {"docker-compose.yml": f"services:\n  app:\n    {compose}"}
    result = check({"requirements.txt": "tensorflow==2.10.1\nnumpy<2\n"}, beside=beside)
    assert ("python-unnamed" not in [m.rule for m in result.mistakes]) is silent


@pytest.mark.parametrize("readme, told", [("Python 3.7.13", True), ("Python 3.6", False), ("Python 3.6 or 3.7", False)])
def test_the_python_that_a_readme_names_has_no_wheel(readme, told):
    files = {"requirements.txt": "tensorflow==1.10.0\nprotobuf<3.20\n", "README.md": f"Tested with {readme}.\n"}
    result = check(files)
    assert ("python-no-wheel" in [one.rule for one in result.mistakes]) is told


def test_tensorflow_1_pinned_beside_an_open_one():
    files = {"setup.py": "from setuptools import setup\nsetup(name='a', install_requires=['tensorflow'])\n"}
    beside = {"requirements-gpu.txt": "tensorflow-gpu==1.12\n"}
    assert ("tf1-open", "setup.py", 2) in found(check(files, beside=beside))
    assert "tf1-open" not in {rule for rule, _, _ in found(check(files))}


def test_windows_gets_no_advice_for_linux_wheels_and_an_index_that_has_the_release():
    windows = described(names=("RTX 3060",), system="windows")
    for text in ("tensorflow\n", "tensorflow[and-cuda]\n", "torch==2.1.0\n", "torch==2.1.0+cpu\n"):
        found = check({"requirements.txt": text}, windows).mistakes
        assert found
        assert not any("LD_LIBRARY_PATH" in one.fix or "libcusolver.so" in one.text for one in found)
    for text in ("torch==2.1.0\n", "--index-url https://download.pytorch.org/whl/cpu\ntorch==2.1.0\n"):
        assert any("whl/cu118" in one.fix for one in check({"requirements.txt": text}, windows).mistakes)
    assert not check({"requirements.txt": "tensorflow-cpu\n"}, described(system="windows")).mistakes
