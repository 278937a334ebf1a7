"""On: the system and the shell of a command, said where it is written: `on.linux("sudo dmesg")`, `on.powershell(…)`.

A plain string is the portable notation (`shell/notation.py`): settings, and programs that are called alike everywhere.
What is neither typed nor portable is printed nowhere: so a command of another system cannot be.
"""

from __future__ import annotations

from typing import Literal

Shell = Literal["any", "sh", "cmd", "powershell", "code", "dockerfile"]
System = Literal["linux", "windows", "wsl", "macos", "image", ""]
_LINUX = frozenset[System]({"linux", "wsl", "macos", "image"})
_EVERYWHERE = _LINUX | frozenset[System]({"windows"})


class Command(str):
    """A command with its shell, the systems that have it, and whether it changes the host of a container."""

    shell: Shell
    systems: frozenset[System]
    host: bool
    driver: bool  # it installs the driver, which each system has its own way to

    def __new__(
        cls, text: str, shell: Shell, systems: frozenset[System], host: bool = False, driver: bool = False
    ) -> Command:
        """The text is the string itself."""
        self = super().__new__(cls, text)
        self.shell, self.systems, self.host, self.driver = shell, systems, host, driver
        return self


def linux(text: str) -> Command:
    """A Unix shell of Linux: also under WSL and inside a container."""
    return Command(text, "sh", _LINUX)


def host(text: str) -> Command:
    """The Linux machine itself, its kernel, driver and services: never WSL; from a container, on its host."""
    return Command(text, "sh", _LINUX - {"wsl", "image"}, host=True)


def engine(text: str) -> Command:
    """The machine that starts containers, WSL too: its engine and its tools; from a container, on its host."""
    return Command(text, "sh", _LINUX - {"image"}, host=True)


def driver(text: str) -> Command:
    """How Ubuntu installs the NVIDIA driver; the gate says it in the words of the other systems."""
    return Command(text, "sh", _LINUX - {"wsl", "image"}, host=True, driver=True)


def wsl(text: str) -> Command:
    """A Unix shell inside WSL, and nowhere else."""
    return Command(text, "sh", frozenset({"wsl"}))


def across(text: str) -> Command:
    """A prompt of Windows, about the WSL or the Docker Desktop that runs there."""
    return Command(text, "cmd", frozenset({"windows", "wsl"}))


def cmd(text: str, powershell: str = "") -> Command:
    """The command prompt of Windows; and how PowerShell says the same, where that differs."""
    other = f"\n{powershell}    # in PowerShell" if powershell else ""
    return Command(text + other, "cmd", frozenset({"windows"}))


def powershell(text: str) -> Command:
    """PowerShell alone."""
    return Command(text, "powershell", frozenset({"windows"}))


def code(text: str) -> Command:
    """Not for a shell: a line of a program or of a manifest."""
    return Command(text, "code", _EVERYWHERE)


def dockerfile(text: str) -> Command:
    """Lines of a Dockerfile, whose inside is Linux wherever it is built."""
    return Command(text, "dockerfile", _EVERYWHERE)


def like(text: str, other: str) -> str:
    """A text made out of a command, of that command's type."""
    if not isinstance(other, Command):
        return text
    return Command(text, other.shell, other.systems, other.host, other.driver)


class Said(str):
    """A sentence of a fix for some systems only; their name stands before it, and falls away at such a system."""

    label: str
    systems: frozenset[System]

    def __new__(cls, text: str, label: str, systems: frozenset[System]) -> Said:
        """The string is the whole, with the label."""
        self = super().__new__(cls, text)
        self.label, self.systems = label, systems
        return self

    @property
    def bare(self) -> str:
        """Without the label."""
        return str(self[len(self.label) :])


def _said(label: str, text: str, *systems: System) -> Said:
    return Said(f"{label}: {text}", f"{label}: ", frozenset(systems))


def after(words: str, text: str) -> str:
    """A sentence with words before it, for the systems that it is for."""
    if not isinstance(text, Said):
        return words + text.removeprefix("Or ")
    return Said(f"{text.label}{words}{text.bare.removeprefix('Or ')}", text.label, text.systems)


def in_windows(text: str, of: str = "") -> Said:
    """A sentence for Windows; `of` narrows its label (Windows, TensorFlow)."""
    return _said(f"Windows, {of}" if of else "Windows", text, "windows")


def in_linux(text: str, of: str = "") -> Said:
    """A sentence for Linux, also under WSL and in an image."""
    return _said(f"Linux, {of}" if of else "Linux", text, "linux", "wsl", "image")


def in_plain_linux(text: str) -> Said:
    """A sentence for a Linux that is not WSL."""
    return _said("Linux, not WSL", text, "linux", "image")


def in_wsl(text: str) -> Said:
    """A sentence for WSL alone."""
    return _said("WSL", text, "wsl")


def in_windows_or_wsl(text: str) -> Said:
    """A sentence for Windows and for the WSL on it."""
    return _said("Windows, WSL", text, "windows", "wsl")


def in_macos(text: str) -> Said:
    """A sentence for macOS."""
    return _said("macOS", text, "macos")


def as_said(text: str, other: str) -> str:
    """A sentence made out of another one, for the same systems; one with another beginning is for all."""
    if not isinstance(other, Said) or not text.startswith(other.label):
        return text
    return Said(text, other.label, other.systems)
