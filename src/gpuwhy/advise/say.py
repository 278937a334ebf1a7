"""Say: the only place where a remedy becomes a sentence and a command."""

from collections.abc import Callable
from typing import Any

from gpuwhy.advise.install import install_command, remove_command
from gpuwhy.advise.place import Place
from gpuwhy.advise.remedy import (
    Action,
    Change,
    Choose,
    Edit,
    Install,
    Link,
    Look,
    Remedy,
    Remove,
    Restart,
    Run,
    Said,
    Set,
    Tell,
    Unset,
)
from gpuwhy.advise.shell import command_at, quoted, set_variable, unset_variables
from gpuwhy.causes.load import catalogue

_STARTED = {
    "kernel": "Restart the notebook kernel",
    "program": "Start the program again",
    "container": "Restart the container",
    "service": "Restart the service",
    "wsl": "Restart WSL",
    "machine": "Restart the machine",
    "process": "Stop the process",
}


def say(remedy: Remedy, place: Place) -> Said:
    """A remedy in words for one place."""
    text = remedy.text or _sentence(remedy)
    commands = [command(one, place) for one in remedy.do]
    typed = "\n".join(dict.fromkeys(one for one in commands if one))
    cause = catalogue().causes.get(remedy.cause)
    worked_if = remedy.worked_if or (cause.worked_if if cause else "")
    return Said(_on(remedy, place, text), typed, worked_if, remedy.if_not)


def can_be_typed(remedy: Remedy, place: Place) -> bool:
    """Whether every step that has a command has one at this place."""
    if any(isinstance(one, Install) and one.manager == "driver" for one in remedy.do):
        return True
    said = ("kernel", "program")  # there is nothing to type for their restart anywhere
    wanted = [one for one in remedy.do if getattr(one, "what", "") not in said]
    wanted = [one for one in wanted if not isinstance(one, (Choose, Tell))]
    return not wanted or any(command(one, place) for one in wanted)


def command(action: Action, place: Place) -> str:
    """What is typed for one action; "" where there is nothing to type."""
    typed = _TYPED.get(type(action))
    return typed(action, place) if typed else ""


def _set(action: Set, place: Place) -> str:
    if action.kind in ("variable", "path"):
        return set_variable(action, place)
    if action.kind == "option":
        start = action.of or "your command"
        return f"{start} {action.name} {action.to}".rstrip()
    if action.kind == "limit":
        return "" if place.os == "windows" else f"ulimit {action.name} {action.to}"
    return f"{action.name} = {action.to}"


def _restart(action: Restart, place: Place) -> str:
    if action.what == "machine":
        return "shutdown /r /t 0" if place.os == "windows" else "sudo reboot"
    if action.what == "wsl":
        return "wsl --shutdown"
    if action.what == "service" and action.name:
        return "" if place.os == "windows" else f"sudo systemctl restart {action.name}"
    if action.what == "container":
        engine = place.engine if place.engine in ("docker", "podman") else "docker"
        if place.engine == "kubernetes":
            return f"kubectl delete pod {action.name or 'POD'}"
        return f"{engine} restart {action.name or 'CONTAINER'}"
    if action.what == "process" and action.name:
        if place.os == "windows":
            return f"taskkill /F /PID {action.name}"
        return f"kill {action.name}"
    return ""


_TYPED: dict[type, Callable[[Any, Place], str]] = {
    Install: install_command,
    Remove: remove_command,
    Set: _set,
    Unset: unset_variables,
    Change: lambda action, place: action.code,
    Edit: lambda action, place: "\n".join(action.add),
    Link: lambda action, place: (
        "" if place.os == "windows" else f"sudo ln -sf {action.to} {action.path}"
    ),
    Run: lambda action, place: command_at(action.command, place) or "",
    Look: lambda action, place: command_at(action.command, place) or "",
    Tell: lambda action, place: command_at(action.command, place) or "",
    Restart: _restart,
}
"""What is typed for an action; only the person can do what is not here."""


def _on(remedy: Remedy, place: Place, text: str) -> str:
    """Where it is typed, if that is another machine than the one the program runs on."""
    where = {getattr(one, "where", "here") for one in remedy.do}
    start = ""
    if not remedy.placed and "host" in where and place.container:
        start = "On the host: "
    elif not remedy.placed and "windows" in where and place.wsl:
        start = "In Windows: "
    elif remedy.root and place.root is False:
        start = "Ask the administrator: "
    return f"{start}{_small(text)}" if start else text


def _small(text: str) -> str:
    """A sentence that goes on after a colon; names keep their case."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _sentence(remedy: Remedy) -> str:
    """The sentence of a remedy whose row has none: its actions, and why."""
    parts = [_WORDS[type(one)](one) for one in remedy.do]
    said = "; ".join(one if at == 0 else _small(one) for at, one in enumerate(parts))
    return f"{said}: {remedy.why}" if remedy.why else said


def _installed(action: Install) -> str:
    if action.manager == "driver":
        return "Install the NVIDIA driver"
    names = ", ".join(action.packages)
    if action.new_environment:
        return f"Install {names} in an environment of its own"
    return f"Reinstall {names}" if action.reinstall else f"Install {names}"


def _given(action: Set) -> str:
    if action.kind == "path":
        return f"Put {action.to} in front of {action.name}"
    what = f"{action.name} of {action.of}" if action.of else action.name
    return f"Set {what} to {quoted(action.to)}" if action.to else f"Use {what}"


def _unset(action: Unset) -> str:
    names = " and ".join(action.names)
    return f"Remove {action.entry} from {names}" if action.entry else f"Unset {names}"


_WORDS: dict[type, Callable[[Any], str]] = {
    Install: _installed,
    Remove: lambda action: f"Remove {', '.join((*action.packages, *action.files))}",
    Set: _given,
    Unset: _unset,
    Edit: lambda action: f"Change {action.file}",
    Change: lambda action: f"Change your program{f' at {action.at}' if action.at else ''}",
    Link: lambda action: f"Link {action.path} to {action.to}",
    Run: lambda action: "Run this",
    Restart: lambda action: f"{_STARTED[action.what]} {action.name}".rstrip(),
    Choose: lambda action: f"Choose one: {'; '.join(action.options)}",
    Look: lambda action: action.shows or "Look at what this prints",
    Tell: lambda action: action.text,
}
"""What an action is called where its row has no sentence."""
