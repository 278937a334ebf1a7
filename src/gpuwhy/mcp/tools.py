"""The tools: a row each; what they may be asked are the options of their commands."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from gpuwhy.cli.parser import commands_of, program

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ONE = threading.Lock()
WORD, TEXT = 4096, 8 << 20
"""Characters of one value, and of a log."""


def _rows() -> list[dict[str, Any]]:
    text = files("gpuwhy.mcp").joinpath("tools.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["tool"]
    return rows


class Tool(NamedTuple):
    """One tool; the fields of `here` are no options: the folder, the text on standard input."""

    name: str
    title: str
    description: str
    options: str = ""  # those of the command's that are offered
    positional: str = ""  # the command's other arguments, in order
    contract: str = "report"
    needed: tuple[str, ...] = ()
    runs: bool = False  # it starts a program of the user
    if_allowed: str = ""  # options that are offered only where programs may be started
    folder: bool = True
    text: bool = False
    seconds: float = 300.0


TOOLS = tuple(Tool(**{**row, "needed": tuple(row.get("needed", ()))}) for row in _rows())
MORE = {
    "name": "more",
    "title": "Read the rest of an answer",
    "description": "The rest of an earlier answer of this session, page by page.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "answer": {"type": "string", "description": "the name at the end of the answer: a3"},
            "part": {"type": "string", "description": "facts.devices, causes.0, text; empty: all"},
            "start": {"type": "integer", "minimum": 0, "description": "the character to begin at"},
        },
        "required": ["answer"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
}


class Command(NamedTuple):
    """A command line of gpuwhy, what it reads, where it runs and how long it may take."""

    argv: list[str]
    stdin: str = ""
    folder: str = ""
    seconds: float = 120.0


def actions(command: str) -> dict[str, argparse.Action]:
    """The arguments of a command by their names."""
    with _ONE:  # its module may be imported for the first time, and requests come in threads
        return _actions(command)


@cache
def _actions(command: str) -> dict[str, argparse.Action]:
    parser = next(one for name, _, one in commands_of(program([command])) if name == command)
    found: dict[str, argparse.Action] = {}
    for action in parser._actions:
        names = [one[2:] for one in action.option_strings if one.startswith("--")]
        found.update(dict.fromkeys(names or [action.dest], action))
    return found


def fields(tool: Tool, allow_run: bool) -> dict[str, argparse.Action]:
    """Field → the argument that it stands for."""
    known = actions(tool.name)
    offered = f"{tool.options} {tool.positional} {tool.if_allowed if allow_run else ''}".split()
    return {name.replace("-", "_"): known[name] for name in offered}


def described(tool: Tool, allow_run: bool = False) -> dict[str, Any]:
    """The tool as clients list it."""
    properties = {
        name: {**_schema(action), "description": str(action.help or name) % {}}
        for name, action in fields(tool, allow_run).items()
    }
    if tool.folder:
        about = "the project's folder: relative paths and what lies there count"
        properties["folder"] = {"type": "string", "maxLength": WORD, "description": about}
    if tool.text:
        about = "the error with what was printed before it, instead of a file"
        properties["text"] = {"type": "string", "maxLength": TEXT, "description": about}
    reads = not tool.runs
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": list(tool.needed),
            "additionalProperties": False,
        },
        "outputSchema": _contract(tool.contract),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": reads,
            "destructiveHint": not reads,
            "idempotentHint": reads,
            "openWorldHint": not reads,
        },
    }


def _schema(action: argparse.Action) -> dict[str, Any]:
    """What a value of an argument may be."""
    if action.nargs == 0:
        return {"type": "boolean"}
    one: dict[str, Any] = {"type": "string", "maxLength": WORD}
    if action.type is not None:
        one = {"type": ["number", "string"]}  # "24GB": the command reads it
    if action.choices is not None:
        one = {"enum": list(action.choices)}
    return {"type": "array", "items": one, "maxItems": 1000} if _many(action) else one


def _many(action: argparse.Action) -> bool:
    several = action.nargs in ("*", "+", "...")
    return several or isinstance(action, argparse._AppendAction)


def command(tool: Tool, given: dict[str, Any], allow_run: bool = False) -> Command:
    """The command line for arguments; raises ValueError that says what is wrong.

    A value never becomes an option: it stands behind `--` or in `--name=value`.
    """
    known = fields(tool, allow_run)
    beside = ("folder",) * tool.folder + ("text",) * tool.text
    if unknown := [name for name in given if name not in known and name not in beside]:
        hint = "; start the server with --allow-run for it" if unknown[0] in tool.if_allowed else ""
        valid = ", ".join([*known, *beside])
        raise ValueError(f"{tool.name} has no field {unknown[0][:60]!r}; it has {valid}{hint}")
    if lacking := [name for name in tool.needed if not given.get(name)]:
        raise ValueError(f"{tool.name} needs {lacking[0]!r}")
    if (
        tool.text
        and bool(given.get("text")) == bool(given.get(tool.positional))
        and "from" not in given
    ):
        raise ValueError("give either text or words (a file)")
    argv, behind = [tool.name], []
    for name, action in known.items():
        values = list(_values(name, action, given.get(name)))
        if not action.option_strings:
            behind += values
        elif action.nargs == 0:
            argv += [_long(action)] * bool(values)
        elif action.nargs == "+" and values:
            if any(one.startswith("-") for one in values):
                raise ValueError(f"{name}: a value does not begin with a dash")
            argv[1:1] = [_long(action), *values]
        else:
            argv += [f"{_long(action)}={one}" for one in values]
    if not tool.runs or tool.name == "prove":
        argv.append("--json")
    text = _one("text", given.get("text", ""), TEXT) if tool.text else ""
    folder = _one("folder", given.get("folder", ""))
    rest = ["--", *behind] if behind else []
    return Command([*argv, *rest], text, folder, tool.seconds)


def _long(action: argparse.Action) -> str:
    return next(one for one in action.option_strings if one.startswith("--"))


def _values(name: str, action: argparse.Action, given: Any) -> Iterator[str]:
    """The values of one field as words of a command line."""
    if given is None or given is False or given == "":
        return
    if action.nargs == 0:
        if given is not True:
            raise ValueError(f"{name} is true or false")
        yield ""
        return
    several = given if isinstance(given, list) and _many(action) else [given]
    for one in several:
        word = _one(name, one, TEXT if action.nargs == "..." else WORD)
        if action.choices is not None and word not in map(str, action.choices):
            raise ValueError(
                f"{name} is one of {', '.join(map(str, action.choices))}, not {word!r}"
            )
        yield word


def _one(name: str, given: Any, most: int = WORD) -> str:
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise ValueError(f"{name} is a text, or a list of texts where several are possible")
    if len(str(given)) > most:
        raise ValueError(f"{name} is longer than {most:,} characters")
    return str(given)


@cache
def _contract(name: str) -> dict[str, Any]:
    """The schema of a contract as it ships, an object at the top, without what explains it."""
    path = files("gpuwhy").joinpath(f"schemas/{name}.schema.json")
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    inner = str(value.pop("$ref", "")).removeprefix("#/$defs/")
    bare: dict[str, Any] = _bare({**value, **value["$defs"][inner]} if inner else value)
    return bare


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        words = ("description", "title", "$id", "$schema")
        kept = {k: v for k, v in value.items() if not (k in words and isinstance(v, str))}
        return {name: _bare(one) for name, one in kept.items()}
    return [_bare(one) for one in value] if isinstance(value, list) else value
