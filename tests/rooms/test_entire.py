"""Commands have every step that they need, and are for what the text is about."""

from __future__ import annotations

import pytest

from gpuwhy.logs import read_text
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import asked
from gpuwhy.rooms.text.entire import entire

LISTED = "torch 2.4.0+cu121\ntorchaudio 2.4.0+cu121\ntorchvision 0.19.0+cu121\nImportError: DLL load failed\n"


def made(command: str, text: str) -> str:
    return entire([Fix("Do it", command)], asked((), read_text(text)))[0].command


@pytest.mark.parametrize(
    ("command", "whole"),
    [
        ('pip install -U "torch>2.4.0" -i X', 'pip install -U "torch>2.4.0" torchvision torchaudio -i X'),
        ('pip install "torch==2.4.1"', 'pip install "torch==2.4.1" "torchvision==0.19.1" "torchaudio==2.4.1"'),
        ("uv pip install --reinstall torch", "uv pip install --reinstall torch torchvision torchaudio"),
        ("pip install torch torchvision", "pip install torch torchvision"),
        ("pip uninstall -y torch", "pip uninstall -y torch"),
        ("pip install torch-scatter", "pip install torch-scatter"),
    ],
)  # fmt: skip
def test_pytorch_comes_with_its_companions(command: str, whole: str) -> None:
    assert made(command, LISTED) == whole
    assert made(command, "RuntimeError: torch failed") == command


def test_a_build_goes_over_the_one_that_is_there() -> None:
    command = "pip install --no-binary lightgbm --config-settings=cmake.define.USE_CUDA=ON lightgbm"
    assert "--force-reinstall" in made(command, "LightGBMError: CUDA Tree Learner was not enabled\n lightgbm/basic.py")
    assert made(command, "other words") == command


def test_tensorflow_comes_with_the_libraries_that_its_wheel_lacks() -> None:
    old = "Successfully opened dynamic library libcudart.so.10.1\n/home/u/.local/lib/python3.8/tensorflow/x\n"
    assert "nvidia-cudnn-cu11==8.6.*" in made('pip install "tensorflow==2.13.1"', old)
    assert "conda install -c conda-forge cudatoolkit=11.8 cudnn=8.6" in made(
        'pip install "tensorflow==2.13.1"', old + "(base) $ conda list"
    )
    assert made('pip install "tensorflow==2.13.1"', old.replace("10.1", "11.0")) == 'pip install "tensorflow==2.13.1"'
    assert made('pip install "tensorflow[and-cuda]==2.16.1"', old) == 'pip install "tensorflow[and-cuda]==2.16.1"'


def test_what_nobody_named_goes_last() -> None:
    fixes = [
        Fix("Install PyTorch", "pip install --force-reinstall torch"),
        Fix("Then", "x"),
        Fix("Take it out", on.linux("sudo pacman -R cudnn")),
    ]
    order = [
        fix.command for fix in entire(fixes, asked((), read_text("koharu: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH")))
    ]
    assert order == ["sudo pacman -R cudnn", "pip install --force-reinstall torch", "x"]
    order = [
        fix.command for fix in entire(fixes, asked((), read_text("torch: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH")))
    ]
    assert order[0] == "pip install --force-reinstall torch"


def test_what_is_installed_is_not_installed_again() -> None:
    command = "sudo apt install nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker"
    listed = "ii  nvidia-container-toolkit   1.16.1-1   amd64   NVIDIA Container toolkit\n"
    assert made(command, listed) == "sudo nvidia-ctk runtime configure --runtime=docker"
    assert made(command, "nothing") == command


def test_headers_and_signed_modules_of_the_very_release() -> None:
    assert (
        made("sudo apt install python3-dev", "gcc main.c -I/usr/include/python3.10")
        == "sudo apt install python3.10-dev"
    )
    command = "sudo apt install linux-modules-nvidia-550-generic nvidia-driver-550"
    assert made(command, "nvidia/535.161.08, 6.5.0, x86_64: installed") == command.replace("550", "535")


def test_a_notebook_is_started_anew() -> None:
    text = "<ipython-input-3-6c7a4dbe8a2d> in <cell line: 1>()\nRuntimeError: operator torchvision::nms does not exist"
    case = asked((), read_text(text))
    assert entire([Fix("Install it", "pip install x")], case)[0].text.endswith("then restart the notebook's kernel")
    for other in (
        Fix("Set it", "export A=1"),
        Fix("Make one", "conda create -n x\nconda run -n x pip install y"),
        Fix("Then", "pip install x"),
    ):
        assert entire([other], case)[0].text == other.text
