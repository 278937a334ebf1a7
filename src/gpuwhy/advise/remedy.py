"""Remedy: one thing to do, as a value.

`say` alone makes sentences and commands of it; `fix` carries out the same value.
"""

from typing import Literal, Union

import msgspec

Command = Union[str, dict[str, str]]
"""A command, or one per system: {"linux": …, "windows": …}.

{names} are filled from the message or the Case.
"""

Where = Literal["here", "host", "engine", "windows", "wsl", "program"]
"""On which machine: where the program runs; the Linux machine itself, its kernel and services; the
machine that starts containers; Windows of a WSL; inside WSL; in the lines of the user's own
program."""


class _Action(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="action"
):
    """What is done; the key `action` names it in data and in JSON."""


class Install(_Action, frozen=True, tag="install"):
    """Install packages, or other releases of them."""

    packages: tuple[str, ...]  # requirements: "torch==2.4.1", "nvidia-cudnn-cu12>=8.6,<9"
    manager: str = ""  # the environment's own; "conda", "system", "driver", "toolkit"
    index: str = ""  # a framework's own package index
    reinstall: bool = False  # the files again, past every cache
    no_deps: bool = False
    upgrade: bool = False
    new_environment: str = ""  # in an environment of its own, by this name
    where: Where = "here"


class Remove(_Action, frozen=True, tag="remove"):
    """Remove packages, or files."""

    packages: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    manager: str = ""
    where: Where = "here"


class Set(_Action, frozen=True, tag="set"):
    """Give a variable, an option of a program, a limit or a setting a value."""

    name: str
    to: str
    # path: put in front of a list
    kind: Literal["variable", "option", "limit", "setting", "path"] = "variable"
    of: str = ""  # the program whose option it is
    file: str = ""  # the file that sets it now, where that is known
    where: Where = "here"


class Unset(_Action, frozen=True, tag="unset"):
    """Unset variables, or take one folder out of a variable that lists folders."""

    names: tuple[str, ...]
    entry: str = ""
    file: str = ""
    where: Where = "here"


class Edit(_Action, frozen=True, tag="edit"):
    """Change a file: Dockerfile, compose file, requirements, settings."""

    file: str
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    where: Where = "here"


class Change(_Action, frozen=True, tag="change"):
    """Change lines of the user's program."""

    code: str
    instead_of: str = ""
    at: str = ""  # "train.py:41"


class Link(_Action, frozen=True, tag="link"):
    """Make a link to a file."""

    path: str
    to: str
    where: Where = "here"


class Run(_Action, frozen=True, tag="run"):
    """Run a command that is none of the other actions."""

    command: Command
    where: Where = "here"


class Restart(_Action, frozen=True, tag="restart"):
    """Start something again: kernel (notebook), program, container, service, wsl, machine."""

    what: Literal["kernel", "program", "container", "service", "wsl", "machine", "process"]
    name: str = ""
    where: Where = "here"


class Choose(_Action, frozen=True, tag="choose"):
    """One of several, which only the person can choose."""

    options: tuple[str, ...]


class Look(_Action, frozen=True, tag="look"):
    """Look at something; it changes nothing."""

    command: Command
    shows: str = ""
    where: Where = "here"


class Tell(_Action, frozen=True, tag="tell"):
    """A sentence, where no action has words for it; with the command that goes with it."""

    text: str
    command: Command = ""
    where: Where = "here"


Action = Union[Install, Remove, Set, Unset, Edit, Change, Link, Run, Restart, Choose, Look, Tell]


def can_be_undone(actions: tuple[Action, ...]) -> bool:
    """Whether actions change nothing outside this shell or Python environment, and leave a way
    back.
    """
    for one in actions:
        if getattr(one, "where", "here") != "here":
            return False
        if isinstance(one, (Remove, Link, Restart, Edit)):
            return False
        if isinstance(one, Install):
            pinned = all("==" in name for name in one.packages)
            if one.manager not in ("", "conda") or (one.reinstall and not pinned):
                return False
    return True


def restarts(actions: tuple[Action, ...]) -> bool:
    """Whether one of the actions restarts the machine."""
    return any(isinstance(one, Restart) and one.what == "machine" for one in actions)


class Remedy(msgspec.Struct, frozen=True, omit_defaults=True):
    """Steps, what they need, how to see that they worked, and how it is known."""

    do: tuple[Action, ...]
    cause: str = ""
    text: str = ""  # what to do; where the row says nothing, `say` makes it of the actions
    placed: bool = False  # its text says already on which machine it is done
    why: str = ""
    worked_if: str = ""
    if_not: str = ""
    root: bool = False
    reboot: bool = False
    reversible: bool = True  # with nothing changed outside this shell or Python environment
    verified: bool = False  # carried out on a real break, and the program ran afterwards
    fits: int = 0  # how closely it belongs to this very message: what `order` compares first
    source: str = ""  # where it is known from

    @property
    def changes(self) -> bool:
        """Whether it changes anything, rather than only look or tell."""
        return any(not isinstance(one, (Look, Tell)) for one in self.do)


class Said(msgspec.Struct, frozen=True):
    """A remedy in words for one place."""

    text: str  # one sentence: what it does
    command: str = ""  # "" where there is nothing to type
    worked_if: str = ""
    if_not: str = ""
