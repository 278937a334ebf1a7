"""The remedies that change an environment, read in the causes' own code, and which of them a break has carried out.

`python -m tests.repair.remedies` lists them. A remedy is a function that makes a `Fix` with something to install, to
remove, to search first or to make anew; it is told by its words, which `lab.py` keeps of every step that was done.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

ROOMS = Path(__file__).resolve().parents[2] / "src/gpuwhy/rooms"
SCORED = Path(__file__).with_name("scored.jsonl")
MAKERS = ("change", "search_first", "export")
FIELDS = {"install", "uninstall", "folders", "anew", "wishes"}
LED = "Let the loader look into (?:its folder|their folders), in this shell"
"""What `needs.export` says, for whichever room: it tells of the remedy that rooms share, and of a room's own function
only where that says nothing else."""
_WINDOWS, _INDEX = "of Windows alone", "PyTorch's own index has the build, and was out of reach"
NOT_YET = {
    "framework/platform_dropped.py:_for_this_python": _WINDOWS,
    "shared/bringing.py:_taken_back": "a second way; --apply comes to the same by trying releases in its copy",
    "shared/lost.py:_tensorrt": "the index has no wheel of TensorRT's libraries",
    "shared/other_python.py:for_this_one": _WINDOWS,
    "shared/torch_builds.py:with_cuda": _INDEX,
}
"""Remedies that no break has carried out, and why."""
LEAST = 8
"""Letters that a text must have of its own to be told by them."""


class Remedy(NamedTuple):
    """Where a remedy is made, and the texts that it can have, as expressions."""

    where: str  # cudnn/missing.py:_whole
    texts: tuple[str, ...]
    planned: bool  # the plan chooses the releases, and says so in words of its own

    @property
    def cause(self) -> str:
        """The cause in whose room it stands; "" where several share it."""
        room = self.where.partition(".py")[0]
        return "" if room.startswith("shared/") else room.replace("/", ".")


def remedies() -> list[Remedy]:
    """All of them that `fix --apply` can be asked for, which is on Linux alone, in the order of the files."""
    files = [path for path in sorted(ROOMS.rglob("*.py")) if "_text" not in path.stem and "text" not in path.parts]
    found = [one for path in files for one in _of(path)]
    return [one for one in found if not one.where.endswith("_on_windows")]


def _of(path: Path) -> Iterator[Remedy]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name not in MAKERS]
    makers = {one.name for one in functions if _own(one) and any(arg.arg == "text" for arg in one.args.args)}
    told: set[str] = set()  # a text that two of a room have tells of the first alone
    for function in (one for one in functions if one.name not in makers):
        calls = _own(function, makers)
        if calls:
            more = ".*" if any(isinstance(node, ast.AugAssign) for node in ast.walk(function)) else ""
            texts = [f"{found}{more}" for node in _said(function) if (found := _pattern(node))]
            silent = not any(" " in each for each in texts) or "shared" in path.parts
            texts += [LED] * (silent and any(_name(call) == "export" for call in calls))
            planned = any(word.arg == "wishes" for call in calls for word in call.keywords)
            yield Remedy(
                f"{path.relative_to(ROOMS)}:{function.name}", tuple(t for t in texts if t not in told), planned
            )
            told.update(texts)


def _own(function: ast.FunctionDef, makers: Collection[str] = ()) -> list[ast.Call]:
    """The calls of a function that make a remedy; `makers` are those of its file that are given its text."""
    found = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [call for call in found if _changes(call) or _name(call) in makers]


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _changes(call: ast.Call) -> bool:
    return _name(call) in MAKERS or (_name(call) == "Fix" and any(word.arg in FIELDS for word in call.keywords))


def _said(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The texts of a function, without its docstring and without the parts of others."""
    parts: set[int] = {id(function.body[0].value)} if isinstance(function.body[0], ast.Expr) else set()
    for node in ast.walk(function):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in ast.walk(node)} - {id(node)}
        if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in parts:
            yield node


def _pattern(node: ast.expr) -> str:
    values = node.values if isinstance(node, ast.JoinedStr) else [node]
    words = [one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else "" for one in values]
    text = "".join(re.escape(word) if word else ".+" for word in words)
    known = sum(map(len, words)) >= LEAST and words[0][:1].isupper()
    return re.sub(r"^Or\\ (\w)", lambda found: f"(?:Or )?(?i:{found[1]})", text) if known else ""


def carried_out() -> list[tuple[str, str, str]]:
    """Break, causes and text of every step that a verified repair has carried out."""
    rows = [json.loads(line) for line in SCORED.read_text(encoding="utf-8").splitlines()]
    return [
        (row["id"], causes, text) for row in rows if row["ends"] == "verified" for causes, text in row.get("done", ())
    ]


def breaks_of(one: Remedy, done: list[tuple[str, str, str]]) -> list[str]:
    """The breaks that carried a remedy out."""
    return list(dict.fromkeys(name for name, causes, text in done if _is(one, causes, text)))


def _is(one: Remedy, causes: str, text: str) -> bool:
    """Whether a step is this remedy; a step that followed from the second look has no cause, and tells nothing."""
    if one.cause and one.cause not in causes.split(","):
        return False
    if one.planned and causes and text.endswith("which works here"):
        return True
    texts = [each for each in one.texts if each != LED or causes]
    return any(re.fullmatch(each, text) for each in texts)


def main() -> None:
    """A line for each remedy: its breaks, or that there is none."""
    done = carried_out()
    for one in remedies():
        print(f"{one.where:52} {', '.join(breaks_of(one, done)) or f'– {NOT_YET.get(one.where, str())}'}")


if __name__ == "__main__":
    main()
