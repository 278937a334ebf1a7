"""The tools: a row each; what they may be asked are the options of their commands."""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gpuwhy.cli import table
from gpuwhy.cli.table import Option

WORD, TEXT = 4096, 8 << 20
"""Characters of one value, and of a log."""
_HERE = Path(__file__).parent
_TABLES: dict[str, Any] = msgspec.toml.decode((_HERE / "tools.toml").read_bytes())
INSTRUCTIONS: str = _TABLES["instructions"]


class Tool(NamedTuple):
    """One tool, as tools.toml describes it."""

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

    @property
    def beside(self) -> dict[str, int]:
        """Its fields that are no options, and how long they may be."""
        folder = {"folder": WORD} if self.folder else {}
        return folder | ({"text": TEXT} if self.text else {})


TOOLS = tuple(Tool(**row) for row in _TABLES["tool"])


class Command(NamedTuple):
    """A command line of gpuwhy, what it reads, where it runs and how long it may take."""

    argv: list[str]
    stdin: str = ""
    folder: str = ""
    seconds: float = 120.0


def fields(tool: Tool, allow_run: bool) -> dict[str, Option]:
    """Field → the option that it stands for."""
    known: dict[str, Option] = {}
    for one in table.command(tool.name).rows:
        known.update(dict.fromkeys((flag.lstrip("-") for flag in one.flags), one))
        known.setdefault(one.name, one)
    offered = f"{tool.options} {tool.positional} {tool.if_allowed if allow_run else ''}".split()
    return {name.replace("-", "_"): known[name] for name in offered}


def described(tool: Tool, allow_run: bool = False) -> dict[str, Any]:
    """The tool as clients list it."""
    properties: dict[str, Any] = {}
    for name, option in fields(tool, allow_run).items():
        one: dict[str, Any] = {"type": "string", "maxLength": WORD}
        if not option.value:
            one = {"type": "boolean"}
        elif option.values:
            count = option.type == "count"
            one = {"enum": [int(value) if count else value for value in option.values]}
        elif option.type:
            one = {"type": ["number", "string"]}  # "24GB": the command reads it
        if option.many:
            one = {"type": "array", "items": one, "maxItems": 1000}
        properties[name] = {**one, "description": option.help or name}
    for name, most in tool.beside.items():
        about = _TABLES["beside"][name]
        properties[name] = {"type": "string", "maxLength": most, "description": about}
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
            "readOnlyHint": not tool.runs,
            "destructiveHint": tool.runs,
            "idempotentHint": not tool.runs,
            "openWorldHint": tool.runs,
        },
    }


def command(tool: Tool, given: Any, allow_run: bool = False) -> Command:
    """The command line for arguments; raises ValueError that says what is wrong.

    A value never becomes an option: it stands behind `--` or in `--name=value`.
    """
    known = fields(tool, allow_run)
    _check(tool, given, [*known, *tool.beside])
    argv, behind = [tool.name], []
    for name, option in known.items():
        values = _words(name, option, given.get(name))
        flag = next((one for one in option.flags if one.startswith("--")), "")
        if not flag:
            behind += values
        elif not option.value:
            argv += [flag] * len(values)
        elif " …" in option.value and values:
            if any(one.startswith("-") for one in values):
                raise ValueError(f"{name}: a value does not begin with a dash")
            argv[1:1] = [flag, *values]
        else:
            argv += [f"{flag}={one}" for one in values]
    if tool.name != "run":  # its JSON would go where the program's output goes
        argv.append("--json")
    beside = {name: _word(name, given.get(name, ""), most) for name, most in tool.beside.items()}
    rest = ["--", *behind] if behind else []
    return Command([*argv, *rest], beside.get("text", ""), beside.get("folder", ""), tool.seconds)


def _check(tool: Tool, given: Any, valid: list[str]) -> None:
    """Raise ValueError for fields that do not exist, that lack, or that exclude each other."""
    if not isinstance(given, dict):
        raise ValueError("the arguments are an object")
    if unknown := [name for name in given if name not in valid]:
        hint = "; start the server with --allow-run for it" if unknown[0] in tool.if_allowed else ""
        has = ", ".join(valid)
        raise ValueError(f"{tool.name} has no field {unknown[0][:60]!r}; it has {has}{hint}")
    if lacking := [name for name in tool.needed if not given.get(name)]:
        raise ValueError(f"{tool.name} needs {lacking[0]!r}")
    both = bool(given.get("text")) == bool(given.get(tool.positional))
    if tool.text and both and "from" not in given:
        raise ValueError("give either text or words (a file)")


def _words(name: str, option: Option, given: Any) -> list[str]:
    """The values of one field as words of a command line; a switch that is on has one, ""."""
    if given is None or given is False or given == "":
        return []
    if not option.value:
        if given is not True:
            raise ValueError(f"{name} is true or false")
        return [""]
    most = TEXT if option.value.startswith("--") else WORD
    several = given if isinstance(given, list) and option.many else [given]
    words = [_word(name, one, most) for one in several]
    if wrong := [one for one in words if option.values and one not in option.values]:
        raise ValueError(f"{name} is one of {', '.join(option.values)}, not {wrong[0]!r}")
    return words


def _word(name: str, given: Any, most: int) -> str:
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise ValueError(f"{name} is a text, or a list of texts where several are possible")
    if len(str(given)) > most:
        raise ValueError(f"{name} is longer than {most:,} characters")
    return str(given)


@cache
def _contract(name: str) -> dict[str, Any]:
    """The schema of a contract as it ships, an object at the top, without what explains it."""
    file = _HERE / "schemas" / f"{name}.schema.json"  # a checkout has it in docs alone
    file = file if file.is_file() else _HERE.parents[2] / "docs" / file.name
    value: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    inner = str(value.pop("$ref", "")).removeprefix("#/$defs/")
    bare: dict[str, Any] = _bare({**value, **value["$defs"][inner]} if inner else value)
    return bare


def _bare(value: Any) -> Any:
    if isinstance(value, list):
        return [_bare(one) for one in value]
    if not isinstance(value, dict):
        return value
    words = ("description", "title", "$id", "$schema")
    kept = {k: v for k, v in value.items() if not (k in words and isinstance(v, str))}
    return {name: _bare(one) for name, one in kept.items()}
