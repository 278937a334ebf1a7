"""What time has taken away: siblings of each rule's page that are found, and sound ones that are not."""

from __future__ import annotations

import pytest

from gpuwhy.knowledge import ended
from tests.lint.support import check

REPOSITORIES = "https://developer.download.nvidia.com/compute/cuda/repos"
KEY = f"apt-key adv --fetch-keys {REPOSITORIES}/ubuntu1804/x86_64/7fa2af80.pub"
DEPLOYMENT = (
    "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: a\n"
)
FLASH = '[project]\nname = "a"\nversion = "1"\ndependencies = ["torch>=2.3", "flash-attn"]\n'
FOUND = [
    ("ended-system", "Dockerfile", "FROM python:3.6.4-slim\nRUN apt-get update && apt-get install -y git\n", 1),
    ("ended-system", "Dockerfile", "FROM continuumio/miniconda3:4.5.4\nRUN apt-get update\n", 1),
    ("torch-at-build", "pyproject.toml", FLASH, 4),
    (
        "old-pip-option",
        "Dockerfile",
        "FROM python:3.11\nRUN pip --no-cache-dir -q install -U pip\n"
        "RUN pip --no-cache-dir install torch==2.6.0 --process-dependency-links\n",
        3,
    ),
    ("unstated-limit", "requirements.txt", "# Python 3.8\ntensorflow==2.4.1\nkeras\nprotobuf<3.21\n", 3),
    ("marker-skips", "requirements.txt", 'torch>=2.0 ; python_version < "3.13"\n', 1),
    (
        "apt-cuda",
        "Dockerfile",
        "FROM nvidia/cuda:10.2-base-ubuntu18.04\nRUN apt-get install -y libcudnn7=7.6.5.32-1+cuda10.1\n",
        2,
    ),
    ("apt-cuda", "s.sh", "sudo apt-get install -y cuda-11-8\nsudo apt-get -y install cuda\n", 2),
    ("mixed-cuda", "requirements.txt", "onnxruntime-gpu>=1.24\ncupy-cuda12x\n", 1),
    ("mixed-cuda", "requirements.txt", "tensorrt>=10\nnvidia-cudnn-cu12\n", 1),
    ("refused-metadata", "requirements.txt", "# Python 3.9\ntorch==2.5.1\nomegaconf==2.0.6\n", 3),
    ("refused-metadata", "Dockerfile", "FROM python:3.9\nRUN pip install -U pip\nRUN pip install fairseq==0.12.2\n", 3),
    ("no-command", "a.yaml", DEPLOYMENT + "        image: nvcr.io/nvidia/pytorch:24.10-py3\n", 8),
    (
        "no-command",
        "compose.yml",
        "services:\n  a:\n    restart: always\n    image: nvidia/cuda:12.4.1-base-ubuntu22.04\n",
        4,
    ),
    ("cuda-for-cpu", "Dockerfile.cpu", "FROM python:3.12\nRUN pip install torch\n", 2),
    ("cuda-for-cpu", "environment-cpu.yml", "dependencies:\n- python=3.11\n- pip:\n  - torch>=2.5\n", 4),
    ("tf1-open", "requirements.txt", "tensorflow>=1.14\n", 1),
    ("tf1-open", "s.sh", "pip install edward\n", 1),
    ("local-version", "requirements.txt", "torch>=1.13.0+cu117\n", 1),
    ("no-gpu-request", "k8s/gpu.yaml", DEPLOYMENT + "        image: x\n        # nvidia.com/gpu: 1\n", 9),
    ("no-gpu-request", "Makefile", "a:\n\tdocker build -t x -f Dockerfile.gpu .\nb:\n\tdocker run -v $$PWD:/x x\n", 4),
    (
        "shared-memory",
        "compose.yml",
        "services:\n  a:\n    image: vllm/vllm-openai\n    command: -tp 2\n    gpus: all\n",
        5,
    ),
    ("unstated-limit", "requirements.txt", "torch==2.9.1\nopencv-python==4.8.1.78\nnumpy==2.1.2\n", 3),
    ("unstated-limit", "requirements.txt", "tensorflow==1.15.0\nkeras==2.0.1\nh5py==3.1.0\nprotobuf<3.21\n", 3),
    ("cog-python", "cog.yaml", 'build:\n  gpu: true\n  python_version: "3.8"\n', 3),
    ("python-unnamed", "requirements.txt", "numpy==1.21.2\ntorch==1.9.1\n", 2),
    ("python-unnamed", "requirements.txt", "librosa\nnumba==0.56.4\ntorch\n", 2),
    ("python-unnamed", "setup.py", "from setuptools import setup\nsetup(install_requires=['tensorflow<2.4'])\n", 2),
    ("python-unnamed", "environment.yml", "dependencies:\n- pip\n- pip:\n  - tensorflow==2.4.*\n", 4),
    ("old-gpus", "requirements.txt", "# Python 3.8\ntorch==1.9.1\n", 2),
    ("old-gpus", "environment.yml", "dependencies:\n- python=3.6\n- pip:\n  - tensorflow-gpu==1.13.1\n", 4),
    ("old-gpus", "install.sh", "sudo sh cuda_9.0.176_384.81_linux.run --silent\n", 1),
    ("old-gpus", "install.sh", "sudo apt-get install -y cuda-8-0\n", 1),
    ("old-apt-key", "a.sh", f"if [ $1 = a ]; then\n{KEY}\nelse\n{KEY}\nfi\n", 2, 4),
    ("ended-system", "Dockerfile", "FROM python:3.7-stretch\nRUN apt-get update\n", 1),
    ("ended-system", "Dockerfile", "FROM debian:10-slim\nRUN apt update && apt install -y git\n", 1),
    ("ended-system", "Dockerfile", "FROM nvidia/cuda:11.4.3-devel-centos7\nRUN yum install -y git\n", 1),
    ("ended-system", "Dockerfile", "FROM ubuntu:21.10\nRUN apt-get update\n", 1),
    (
        "ended-system",
        "Dockerfile",
        "FROM ubuntu:focal\nRUN apt-get update\nRUN add-apt-repository -y ppa:deadsnakes/ppa\n",
        3,
    ),
    ("old-get-pip", "Dockerfile", "FROM python:3.8-slim\nRUN curl https://bootstrap.pypa.io/get-pip.py | python\n", 2),
    ("old-get-pip", "s.sh", "wget https://bootstrap.pypa.io/get-pip.py\nsudo python3.7 get-pip.py\n", 1),
    ("nvidia-docker", "Makefile", "run:\n\tnvidia-docker run -it x bash\n", 2),
    ("nvidia-docker", "Makefile", "DOCKER = nvidia-docker\nrun:\n\t$(DOCKER) run -it x bash\n", 1),
    ("nvidia-docker", "s.sh", "sudo apt-get update\napt-get install -y nvidia-docker2\n", 2),
    (
        "externally-managed",
        "Dockerfile",
        "FROM debian:bookworm\nRUN apt-get install -y python3-pip\nRUN pip install torch\n",
        3,
    ),
    ("foreign-line", "requirements.txt", "torch==2.9.1\nnumpy @ file:///tmp/build/80754af9/numpy\n", 2),
    ("foreign-line", "requirements.txt", "torch==2.9.1\npython-debian===0.1.36ubuntu1\n", 2),
    ("wrong-name", "requirements.txt", "torch==2.9.1\nsklearn\n", 2),
    ("wrong-name", "requirements.txt", "torch==2.9.1\nlibgcc-ng==9.1.0\nopenssl==1.1\n", 2),
    ("wrong-name", "s.sh", "pip install cupy-rocm-6-1\n", 1),
]
SOUND = [
    ("pyproject.toml", FLASH + '[tool.uv]\nno-build-isolation-package = ["flash-attn"]\n'),
    ("Dockerfile", "# syntax=edrevo/dockerfile-plus\nFROM python:3.11\nINCLUDE+ common\nRUN pip install torch\n"),
    ("Dockerfile", "FROM python:3.9\nRUN pip install omegaconf==2.0.6\n"),  # its pip is 23
    ("requirements.txt", "torch==2.9.1\nomegaconf==2.3.0\n"),
    ("requirements.txt", 'torch>=2.5; sys_platform == "linux"\ntorch>=2.5; sys_platform != "linux"\n'),
    ("requirements.txt", "tensorrt-cu12\ncupy-cuda12x\ncuda-python<13\n"),
    ("s.sh", "sudo apt-get install -y cuda\n"),
    (
        "a.yaml",
        DEPLOYMENT
        + "        image: nvcr.io/nvidia/pytorch:24.10-py3\n        args: [a.py]\n        resources: {limits: {nvidia.com/gpu: 1}}\n",
    ),
    ("compose.yml", "services:\n  a:\n    image: python:3.12\n    tty: true\n    restart: always\n"),
    ("Makefile", "a:\n\tdocker build -t x .\nb:\n\tdocker run --gpus all x\n"),
    ("requirements.txt", "tensorflow>=2.16\n"),
    ("requirements.txt", "flask\nopencv-python==4.8.1.78\nnumpy==2.1.2\n"),
    ("requirements.txt", "# Python 3.8\ntorch==1.13.1\nnumpy==1.24.4\n"),
    ("requirements.txt", "torch>=1.9\nnumpy>=1.19,<2\n"),
    ("requirements.txt", "torch>=2.5\nscikit-learn==1.2.2\nnumpy<2\n"),
    ("requirements.txt", "flask\nnumpy==1.21.2\n"),
    ("environment.yml", "dependencies:\n- python=3.9\n- pip:\n  - torch==1.13.1\n  - numpy==1.24.4\n"),
    (
        "task.yaml",
        "resources:\n  accelerators: tpu-v3-8\nsetup: |\n  pip install torch==2.6.0+cpu --index-url https://download.pytorch.org/whl/cpu\n",
    ),
    (
        "requirements-cpu.txt",
        "# py39\n--extra-index-url https://download.pytorch.org/whl/cpu\ntorch==1.12.1+cpu\nnumpy==1.24.4\n",
    ),
    ("install.sh", "sudo apt-get install -y cuda-toolkit-12-4\n"),
    ("Dockerfile", "FROM ubuntu:20.04\nRUN apt-get update && apt-get install -y git\n"),
    ("Dockerfile", "FROM debian:bullseye\nRUN apt-get update\n"),
    (
        "Dockerfile",
        "FROM debian:buster\nRUN sed -i s/deb/archive/ /etc/apt/sources.list && apt-get update\n",
    ),
    ("Dockerfile", "FROM python:3.11-slim\nRUN curl https://bootstrap.pypa.io/get-pip.py | python\n"),
    (
        "Dockerfile",
        "FROM ubuntu:24.04\nRUN apt-get install -y python3-pip\nRUN pip install --break-system-packages torch\n",
    ),
    ("Dockerfile", "FROM python:3.12-bookworm\nRUN apt-get update && pip install torch\n"),
    ("Dockerfile", "FROM python:3.9.7-slim\nRUN apt-get update && apt-get install -y git\n"),
    ("Dockerfile", "FROM python:3.6\nRUN apt-get update && apt-get install -y git\n"),
    ("Dockerfile", "FROM continuumio/miniconda3:24.1.2-0\nRUN apt-get update && apt-get install -y git\n"),
    ("Makefile", "IMAGE := x\nrun:\n\t@docker run --rm $(IMAGE) bash\n"),
    ("requirements.txt", "torch==2.9.1\nscikit-learn\n"),
    ("requirements.txt", "torch==2.9.1\nmine @ file:./mine\n"),
]


@pytest.mark.parametrize("case", FOUND, ids=lambda case: case[0])
def test_found(case):
    rule, name, text, *lines = case
    assert [m.place.line for m in check({name: text}).mistakes if m.rule == rule] == lines


@pytest.mark.parametrize(("name", "text"), SOUND)
def test_sound(name, text):
    assert [m.rule for m in check({name: text}).mistakes] == []


def test_a_release_by_name_or_number():
    assert ended.system("nvidia/cuda:11.2.2-devel-ubuntu18.04").without_deadsnakes
    assert not ended.system("ubuntu:noble").without_deadsnakes
    assert ended.system("ghcr.io/x/y:latest") is None
