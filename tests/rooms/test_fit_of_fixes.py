"""Fit: of several remedies those first whose premises the text meets."""

import pytest

from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import asked
from gpuwhy.rooms.text.fit import ranked, unmet
from gpuwhy.symptoms.reader import read_text

RUN = Fix("Start it with the GPU", "docker run --gpus all IMAGE")
COMPOSE = Fix("Reserve the GPU in the service", "deploy: {resources: {reservations: {devices: [{driver: nvidia}]}}}")
POD = Fix("Start the plug-in anew", "kubectl -n kube-system rollout restart daemonset nvidia-device-plugin-daemonset")
TOOLKIT = Fix("Install the toolkit", "sudo apt install nvidia-container-toolkit")
CONDA = Fix("The libraries of CUDA 10.1", "conda install -c conda-forge cudatoolkit=10.1 cudnn=7.6")
ARCHIVE = Fix("Unpack cuDNN 7.6 for CUDA 10.1 into /usr/local/cuda-10.1/lib64")
SLURM = Fix("Slurm: ask for a GPU", "srun --gres=gpu:1 python train.py")
IN_BOX = Fix("In a container: give it more shared memory", "--shm-size=8g")
NEWEST = Fix("Raise it", "pip install -U torch torchvision --index-url https://download.pytorch.org/whl/cu126")
SAME = Fix("Its own series", "pip install torch==2.4.1 torchvision==0.19.1")
OTHER = Fix("Another series", "pip install torch==2.7.1 torchvision==0.22.1")

COMPOSED = "$ docker compose up\nollama | no compatible GPUs were discovered\n"
TYPED = "$ docker run --rm -it pytorch/pytorch python -c 'import torch'\nRuntimeError: No CUDA GPUs are available\n"
PODS = "$ kubectl logs worker-0\nRuntimeError: No CUDA GPUs are available\n"
SYSTEM = "ii  libcudnn8  8.0.5  amd64  cuDNN\nLoaded runtime CuDNN library: 8.0.5 but source was compiled with: 7.6.5\n"
ENVIRONMENT = (
    "(base) user@host:~$ python a.py\nLoaded runtime CuDNN library: 8.0.5 but source was compiled with: 7.6.5\n"
)
TORCH = "torch==2.4.0\nOSError: [WinError 126] fbgemm.dll\n"


def case(text: str):
    return asked((), read_text(text))


@pytest.mark.parametrize(
    ("fixes", "text", "first"),
    [
        ((RUN, COMPOSE, TOOLKIT), COMPOSED, COMPOSE),
        ((COMPOSE, RUN, TOOLKIT), TYPED, RUN),
        ((RUN, COMPOSE, POD), PODS, POD),
        ((CONDA, ARCHIVE), SYSTEM, ARCHIVE),
        ((CONDA, ARCHIVE), ENVIRONMENT, CONDA),
        ((SLURM, TOOLKIT), TYPED, TOOLKIT),
        ((IN_BOX, ARCHIVE), ENVIRONMENT, ARCHIVE),
        ((NEWEST, SAME), TORCH, SAME),
        ((NEWEST, OTHER), TORCH, NEWEST),
        ((NEWEST, SAME), "OSError: [WinError 126] fbgemm.dll\n", NEWEST),
    ],
)  # fmt: skip
def test_the_first_is_the_one_whose_premises_are_met(fixes, text, first):
    assert ranked(fixes, case(text))[0] == first


def test_what_is_seen_nowhere_and_excluded_by_nothing_keeps_its_place():
    assert ranked((RUN, TOOLKIT), case("RuntimeError: No CUDA GPUs are available\n")) == (RUN, TOOLKIT)


def test_steps_go_with_what_they_belong_to():
    then = Fix("Then start it", "docker run --gpus all IMAGE nvidia-smi")
    assert ranked((RUN, then, COMPOSE), case(COMPOSED)) == (COMPOSE, RUN, then)


def test_the_remedy_of_another_cause_does_not_rise_where_ours_lack_something():
    theirs = Fix("Or, if the driver is gone: install it", "sudo ubuntu-drivers install", of="driver.missing")
    assert ranked((RUN, theirs, POD), case(COMPOSED))[1] == theirs


def test_an_image_that_the_remedy_names_is_the_remedy_itself():
    image = Fix("Run it in NVIDIA's image", "docker run --gpus all -it nvcr.io/nvidia/tensorflow:23.03-tf1-py3")
    assert unmet(image, case(PODS)) == 0
    assert unmet(RUN, case(PODS)) == 2


def test_conda_goes_last_where_there_is_none() -> None:
    fixes = [Fix("By conda", "conda install cudnn"), Fix("By pip", "pip install nvidia-cudnn-cu12")]
    assert ranked(fixes, asked((), read_text("/home/u/.venv/lib/python3.11/x.py")))[0].text == "By pip"
    for text in ("/home/u/.venv/lib/python3.11/x.py\n(base) $ conda list", "nothing told"):
        assert ranked(fixes, asked((), read_text(text)))[0].text == "By conda"
