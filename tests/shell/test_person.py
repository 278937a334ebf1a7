"""Who may do what, and by which tool: the same remedy for somebody without root, in an image, with uv or Poetry."""

from __future__ import annotations

import pytest

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.shell.gate import fitting
from gpuwhy.shell.person import by_installer, installer_of, rights_of
from gpuwhy.shell.place import Place, place_of
from gpuwhy.shell.render import rendered
from gpuwhy.symptoms.reader import read_text


@pytest.mark.parametrize(
    "text, inside, rights",
    [
        ("I have no sudo here", False, "none"), ("user is not in the sudoers file", False, "none"),
        ("#SBATCH --gres=gpu:1\nRuntimeError: x", False, "none"), ("[ab@login03 md]$ gmx mdrun", False, "none"),
        ("$ sudo modprobe nvidia\n#SBATCH", False, ""), ("RuntimeError: x", False, ""), ("root@node1:~# srun x", False, ""),
        ("root@5b1d9a33cafe:/workspace# python x", True, "self"), ("jovyan@0123456789ab:~$ python x /home/jovyan", True, ""),
        ("FROM x\nRUN pip install torch", True, "self"), ("no root partition is full", False, ""),
    ],
)  # fmt: skip
def test_rights(text, inside, rights):
    assert rights_of(text, inside) == rights


@pytest.mark.parametrize(
    "text, name",
    [
        ("$ uv pip list", "uv"), ("poetry run python x", "poetry"), ("/home/u/.cache/pypoetry/virtualenvs/x", "poetry"),
        ("Pipfile.lock", "pipenv"), ("$ mamba install pytorch", "mamba"), ("pixi run train", "pixi"), ("pip install x", ""),
    ],
)  # fmt: skip
def test_installer(text, name):
    assert installer_of(text) == name


def test_the_tool_of_the_environment_is_said():
    assert by_installer("pip uninstall -y a\npip install --force-reinstall --no-cache-dir a", "uv") == (
        "uv pip uninstall a\nuv pip install --reinstall --no-cache a"
    )
    assert (
        by_installer("A=1 pip install x && pip list", "poetry") == "A=1 poetry run pip install x && poetry run pip list"
    )
    assert by_installer("conda install x", "mamba") == "mamba install x"
    assert by_installer("pip install x", "mamba") == "pip install x"


ROOT = Fix("Install the driver", on.driver("sudo ubuntu-drivers install"), root=True)
OWN = Fix("Or take an older build", "pip install x")


def test_who_has_no_root_is_told_what_to_ask_for():
    told = fitting((ROOT, OWN), Place("linux", rights="none"))
    assert [fix.text for fix in told] == ["Take an older build", "Ask the administrator: install the driver"]
    assert next(fix.text for fix in fitting((ROOT, OWN), Place("linux"))) == "Install the driver"


def test_root_in_an_image_has_no_sudo_and_the_host_has():
    inside = Place("linux", container=True, rights="self")
    said = rendered(on.linux("sudo apt install gcc"), inside)
    assert said == "apt-get update && apt-get install -y gcc"
    assert rendered(on.host("sudo modprobe nvidia"), inside) == "sudo modprobe nvidia"


def test_the_distribution_of_an_image_is_not_the_hosts():
    text = 'docker run --gpus all nvidia/cuda:12.2.0-base-ubuntu20.04 nvidia-smi\ndocker: could not select device driver "" with capabilities: [[gpu]].\nRocky Linux 9.3'
    place = place_of(None, read_text(text))
    assert (place.family, place.inner) == ("rhel", "ubuntu")
    assert "dnf" in (rendered(on.engine("sudo apt install nvidia-container-toolkit"), place) or "")
    assert "apt" in (rendered(on.linux("sudo apt install build-essential"), place) or "")
