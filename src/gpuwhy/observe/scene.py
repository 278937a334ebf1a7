"""Scene: what an observation may look at; Options: what the user asked for; Look: one observation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import msgspec

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Fact
from gpuwhy.model.facts import Facts

Imports = Literal["", "no", "yes", "deep"]
"""Real imports where nothing else is wrong: not spoken of, left out, tried; tried with small uses, and files hashed."""


class Options(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the user asked for; kept in a recording, because the questions depend on it."""

    python: str = ""  # --python: an interpreter or an environment's folder
    folder: str = ""  # working folder, for project environments
    script: str = ""  # folder of the script that a watched program ran; "" where it was no script
    verify: bool = False  # hash installed files
    crashed: bool = False  # a watched program crashed: hash the smaller libraries, as far as a second goes
    doubted: tuple[str, ...] = ()  # libraries that a failing program's last words name: hashed
    imports: Imports = ""
    probe: Literal["", "gentle", "full"] = ""  # live stages: none, those that only read, all


class Scene:
    """The host, the options, and the facts observed so far (each subject complete once its looks are done)."""

    def __init__(self, host: Host, options: Options, note: Callable[[str], None] = lambda _: None) -> None:
        self.host = host
        self.options = options
        self.facts = Facts()
        self.note = note  # progress: names a step that may take longer than a second


Client = Literal["plan", "devices"]
"""Who asks for a few looks alone: a plan for this machine, and whoever wants to know its GPUs."""


class Look(NamedTuple):
    """One observation: fills `facts.<subject>.<field>`."""

    subject: str
    field: str
    see: Callable[[Scene], Fact[Any]]
    seconds: float = 10.0
    serves: tuple[Client, ...] = ()
