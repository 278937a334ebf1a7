"""Place: where a remedy will be carried out, as far as the machine or the text shows."""

from typing import Literal

import msgspec


class Place(msgspec.Struct, frozen=True):
    """What decides which commands can be typed there; "" where it is not known."""

    os: Literal["", "linux", "windows", "macos"] = ""
    wsl: bool = False
    shell: Literal["", "sh", "cmd", "powershell", "notebook", "dockerfile"] = ""
    distribution: str = ""  # "ubuntu", "fedora", "arch" …: whose package manager
    platform: str = ""  # "jetson", "colab", "kaggle"
    container: bool = False  # the program runs in one
    engine: str = ""  # what starts it: "docker", "compose", "kubernetes", "apptainer"
    batch_system: str = ""  # "slurm": the person owns neither the machine nor its driver
    manager: Literal["", "pip", "uv", "conda", "poetry", "pdm", "pixi"] = ""
    python: str = ""  # to install into: "/opt/torch/bin/python3"; "" = the active one
    python_version: str = ""
    root: bool | None = None  # whether the person may use root; None = not known
    no_gpu: bool = False  # this machine has none, by its PCI bus
    program: str = ""  # the known program that ran: "ollama"
