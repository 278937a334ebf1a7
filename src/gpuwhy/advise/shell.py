"""How variables, paths and commands are typed in each shell."""

import re

from gpuwhy.advise.place import Place
from gpuwhy.advise.remedy import Command, Set, Unset

_SAFE = re.compile(r"[\w@%+=:,./\\~-]+")
_UNIX_PATH = re.compile(
    r"(?<![\w.:\\])/(?:usr|etc|dev|proc|sys|var|tmp|opt|home|lib|lib64|mnt|run|root)\b"
)


def quoted(word: str) -> str:
    """A word of a command, in double quotes where it needs them."""
    return word if _SAFE.fullmatch(word) else f'"{word}"'


def set_variable(action: Set, place: Place) -> str:
    """The line that gives a variable its value; "" where the place has none for it."""
    name, to = action.name, action.to
    if action.kind == "path":
        return _put_in_front(name, to, place)
    if place.shell == "dockerfile":
        return f"ENV {name}={quoted(to)}"
    if place.shell == "notebook":
        return f"%env {name}={to}"
    if place.os == "windows":
        if _UNIX_PATH.search(to):
            return ""
        value = to or "-1"
        return f'$env:{name} = "{value}"' if place.shell == "powershell" else f"set {name}={value}"
    return f"export {name}={quoted(to) if to else ''}"


def _put_in_front(name: str, to: str, place: Place) -> str:
    if place.os == "windows":
        if _UNIX_PATH.search(to) or name.startswith("LD_"):
            return ""
        if place.shell == "powershell":
            return f'$env:{name} = "{to};$env:{name}"'
        return f'set "{name}={to};%{name}%"'
    if place.shell == "dockerfile":
        return f"ENV {name}={to}:${name}"
    return f"export {name}={to}:${name}"


def unset_variables(action: Unset, place: Place) -> str:
    """The line that takes variables, or one entry of a list of folders, away."""
    if action.entry:
        name, entry = action.names[0], action.entry
        rest = f"$(echo ${name} | tr ':' '\\n' | grep -vxF {entry} | paste -sd:)"
        return "" if place.os == "windows" else f"export {name}={rest}"
    if place.os == "windows":
        if all(name.startswith("LD_") for name in action.names):
            return ""
        if place.shell == "powershell":
            return "; ".join(f"Remove-Item Env:{name}" for name in action.names)
        return " & ".join(f"set {name}=" for name in action.names)
    if place.shell == "notebook":
        lines = (f"os.environ.pop('{name}', None)" for name in action.names)
        return "\n".join(("import os", *lines))
    return f"unset {' '.join(action.names)}"


def command_at(command: Command, place: Place) -> str | None:
    """A command as it is typed at a place; None where it is another system's."""
    if isinstance(command, str):
        return command
    if place.os == "windows":
        if place.shell == "powershell" and "powershell" in command:
            return command["powershell"]
        return command.get("windows") or command.get("powershell")
    if place.os == "macos":
        return command.get("macos") or command.get("any")
    known = command.get("linux") or command.get("any")
    if known is None and not place.os:
        return command.get("windows") or command.get("powershell")
    return known
