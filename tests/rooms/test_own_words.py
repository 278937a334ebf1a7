"""A fix is said in the words of the command that the text shows."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.rooms.text.own_words import chosen_gpu, from_its_index, program_again, run_again
from gpuwhy.rooms.text.where import told_release
from gpuwhy.shell.person import by_installer
from gpuwhy.symptoms.reader import read_text

SHM = "docker run --gpus all --shm-size=8g IMAGE"
SERVED = "$ docker run --gpus all -p 8000:8000 v/m:1 --model x/y\n"


@pytest.mark.parametrize(
    "text, image, wanted",
    [
        (SERVED, "v/m:1", "docker run --shm-size=8g --gpus all -p 8000:8000 v/m:1 --model x/y"),
        ("docker run --rm \\\n  a/b:1 x.py | tee l\n", "a/b:1", "docker run --gpus all --shm-size=8g --rm a/b:1 x.py"),
        ("docker run --runtime nvidia --shm-size=1g a/b\n", "a/b", SHM),  # no start that has failed is told again
        (
            "docker run --gpus 1 --name n -d a/b\n",
            "a/b",
            "docker rm n\ndocker run --shm-size=8g --gpus 1 --name n -d a/b",
        ),
        ("docker run --rm --name n a/b\n", "a/b", "docker run --gpus all --shm-size=8g --rm --name n a/b"),
        ('docker run a/b:1 sh -c "half\n', "a/b:1", SHM),
        ("docker run c/d:2\n", "a/b:1", SHM),
        ("", "", SHM),
    ],
)
def test_a_container_is_started_as_the_text_started_it(text, image, wanted):
    assert run_again(SHM, text, image) == wanted


def test_files_that_are_named_are_no_gpus_that_are_handed_in():
    files = "docker run --gpus all --device=/dev/nvidia-uvm --device=/dev/nvidia0 IMAGE"
    started = "docker run --gpus all --device=/dev/nvidia0 a/b nvidia-smi\n"
    wanted = "docker run --device=/dev/nvidia-uvm --gpus all --device=/dev/nvidia0 a/b nvidia-smi"
    assert run_again(files, started, "a/b") == wanted


def test_another_command_stays():
    for command in ("docker run --rm --gpus all ubuntu nvidia-smi", "docker compose up -d", "docker restart IMAGE"):
        assert run_again(command, SERVED, "v/m:1") == command


ASKED = "pip install torch==2.2.0 --index-url https://download.pytorch.org/whl/cu121\n"


@pytest.mark.parametrize(
    "line, text, windows, index",
    [
        ("uv pip install --python .venv torch==2.2.0", ASKED, True, "cu121"),
        ("pip install torch==2.7.0 torchvision", ASKED, False, "cu128"),  # 2.7 has no cu121
        ("pip install torch==2.1.0", "", True, "cu121"),
        ("pip install torch==2.1.0", "", False, ""),
        ("pip install torch==2.1.0 --torch-backend=auto", ASKED, True, ""),
        ("pip install torchvision==0.18.0", ASKED, True, ""),
    ],
)
def test_an_installation_keeps_its_index(line, text, windows, index):
    wanted = f"{line} --index-url https://download.pytorch.org/whl/{index}" if index else line
    assert from_its_index(line, text, windows) == wanted


def test_the_option_that_chose_a_gpu_is_named():
    assert chosen_gpu("Launching Web UI with arguments: --device-id 1 --xformers") == ("--device-id 1", "--device-id 0")
    assert chosen_gpu("python a.py --gpu 0 --epochs 2") == ("", "")
    text = 'venv "F:\\sd\\venv\\Scripts\\Python.exe"\nLaunching Web UI with arguments: --device-id 1\n'
    first = explain_text(text + "RuntimeError: CUDA error: invalid device ordinal\n").causes[0].fixes[0]
    assert "--device-id 1" in first.text
    assert first.command == "--device-id 0"


def test_an_environment_of_uv_needs_no_pip():
    command = "python -m pip install uv\npython -m uv pip install --reinstall torch --torch-backend=auto"
    assert by_installer(command, "uv") == "uv pip install --reinstall torch --torch-backend=auto"
    assert by_installer(command, "poetry").startswith("python -m pip install uv")


@pytest.mark.parametrize("shown", ["PS C:\\x> uv pip list\n", "me@LAPTOP-77:~$ uv pip list\n"])
def test_uv_is_known_on_windows_and_under_wsl_too(shown):
    fixes = explain_text(f"{shown}AssertionError: Torch not compiled with CUDA enabled\n").causes[0].fixes
    said = "\n".join(fix.command for fix in fixes[:2])
    assert "uv pip install" in said
    assert "-m pip" not in said


def test_the_toolkit_comes_with_its_repository_unless_it_is_there():
    text = "ubuntu@box:~$ docker compose up\nError response from daemon: unknown or invalid runtime name: nvidia\n"
    said = "\n".join(fix.command for fix in explain_text(text).causes[0].fixes)
    assert "libnvidia-container/gpgkey" in said
    listed = "ii  nvidia-container-toolkit   1.16.1-1   amd64   NVIDIA Container toolkit\n"
    assert "gpgkey" not in "\n".join(fix.command for fix in explain_text(listed + text).causes[0].fixes)


COMFY = "E:\\ui>.\\python_embeded\\python.exe -s ComfyUI\\main.py --windows-standalone-build\n"


def test_a_program_is_started_as_the_text_started_it():
    wanted = ".\\python_embeded\\python.exe -s ComfyUI\\main.py --windows-standalone-build --lowvram"
    assert program_again("python main.py --lowvram", COMFY) == wanted
    assert program_again("python main.py --lowvram", "$ python3 main.py --lowvram\n") == "python main.py --lowvram"
    assert program_again("python other.py --lowvram", COMFY) == "python other.py --lowvram"
    said = f"{COMFY}Total VRAM 8192 MB\ntorch.OutOfMemoryError: Allocation on device\n"
    assert explain_text(said).causes[0].fixes[0].command == wanted


@pytest.mark.parametrize(
    "text, release",
    [
        ("triton-windows 3.2.0.post13, torch 2.6.0+cu124, Windows 11", "2.6.0+cu124"),
        ("torch==2.5.1", "2.5.1"),
        ("torch-2.5.1-cp310-cp310-win_amd64.whl", ""),
        ("pytorch3d 0.7.5", ""),
    ],
)
def test_a_release_that_stands_in_a_sentence_is_told(text, release):
    assert told_release(read_text(f"{text}\nRuntimeError: CUDA error\n"), "torch") in (
        release,
        release.partition("+")[0],
    )
