"""Boxed: a service that runs in a container: its commands go in by exec, and its engine starts it."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

_NAME = r"(?P<name>[A-Za-z][\w.-]*)"
_CALLED = re.compile(
    r"\b(?P<engine>docker|podman) (?:container )?(?:exec|logs|restart|start|stop)(?: -\S+)* " + _NAME
    + r"|\b(?P<runner>docker|podman) (?:container )?run\b[^\n]*? --name[= ]" + _NAME.replace("<name>", "<given>")
)  # fmt: skip
_PREFIXED = re.compile(r"^(?P<name>[a-z][\w.-]{2,40}) +\| ?\S[^\n]*\n(?:(?P=name) +\| ?[^\n]*\n){2}", re.MULTILINE)
_ON_HOST = re.compile(
    r"\bollama\.service\b|\bsystemctl\b[^\n]{0,40}\bollama\b|journalctl[^\n]{0,20} ollama|\bollama\[\d+\]"
)


class Box(msgspec.Struct, frozen=True):
    """A container, and what it is reached by."""

    name: str
    engine: Literal["docker", "podman"] = "docker"
    compose: bool = False  # the name is a service's

    @property
    def into(self) -> str:
        """What a command is put behind to run inside."""
        return f"docker compose exec {self.name}" if self.compose else f"{self.engine} exec -it {self.name}"

    @property
    def again(self) -> str:
        """What starts it anew."""
        return f"docker compose restart {self.name}" if self.compose else f"{self.engine} restart {self.name}"


def is_prefixed(text: str) -> bool:
    """Whether compose wrote the text: three lines one after the other begin with one service's name and a bar."""
    return bool(_PREFIXED.search(text))


def box_of(text: str, service: str = "") -> Box | None:
    """The container whose words a text is; None where it names none, and where the service is the host's own."""
    if _ON_HOST.search(text):
        return None
    found = _PREFIXED.search(text)
    if named := service or (found["name"] if found else ""):
        bare = re.sub(r"[-_]\d+$", "", named)
        return Box(bare, compose=bare != named)
    called = _CALLED.search(text)
    if called is None:
        return None
    return Box(called["name"] or called["given"], "podman" if "podman" in called[0] else "docker")


_OLLAMA = re.compile(r"(?P<before>^|&& |; )ollama (?=run|ps|show|pull|stop|list|create)", re.MULTILINE)
_RESTART = re.compile(r"(?:sudo )?systemctl restart ollama\b")
_SETS = re.compile(r"export ((?:OLLAMA_\w+=\S+ ?)+)")


def in_box(command: str, box: Box | None) -> str:
    """A command for a service that runs in a container; others stay."""
    if box is None:
        return command
    said = _OLLAMA.sub(lambda found: f"{found['before']}{box.into} ollama ", command)
    said = re.sub(r" && journalctl -u ollama\b[^\n]*", "", _RESTART.sub(box.again, said))
    found = _SETS.fullmatch(said)
    if not found:
        return said
    given = " ".join(f"-e {one}" for one in found[1].split())
    return f"{box.engine} run {given} …    # the same words as before; in compose: under environment"
