"""Start a new cause: the whole room, each file with the questions to answer, and its line in the registry.

    python tools/new_cause.py driver.too_old "the driver is older than the CUDA runtime needs"
    python tools/new_cause.py program.fork "CUDA is used in a forked child" --told

`--told`: only what a program prints can show it, no fact of a machine. `pytest tests/rooms/test_rooms.py` then names
what the room still lacks.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from gpuwhy.model.cause import LAYERS
from gpuwhy.rooms.pages import SECTIONS

ROOT = Path(__file__).resolve().parent.parent

CODE = '''"""{id}: {title}."""

from __future__ import annotations

from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw


def {sign}(case: Case) -> Finding | None:
    """Say in one sentence what this sign looks at."""
    fact = case.facts.driver.module_version
    value = fact.need()
    if value:
        return against(f"subject, requirement, observation: {{value}}", saw(str(value), fact))
    return proof("subject, requirement, observation, with numbers", saw("what was seen", fact))


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (Fix("Say what to do", "command to copy"),)


CAUSE = Cause(
    id="{id}",
    title="{title}",
    signs=({sign},),
    fixes=fixes,
)
'''

TOLD = '''"""{id}: {title}."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="{id}",
    title="{title}",
    effect="Say in a headline what follows from it",
    needs_log=True,
)
'''

TEXT = r'''"""{id} in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text
from gpuwhy.model.signature import error

TEXT = Text(
    "{id}",
    signatures=(
        error("{name}.message", r"the expression of the message: (?P<what>\w+)", "a literal of each such line"),
    ),
    clues=(
        ("{name}.message", 4.0, "what the message says of this cause, with its {{what}}"),
    ),
    remedies=(
        meant("Say what to do", "command to copy"),
    ),
)  # fmt: skip
'''

ASKED = {
    "What you see": "the literal messages that real programs print, one a line",
    "Why it happens": "how a machine gets into this state",
    "How gpuwhy tells": "which observations decide, and where they come from",
    "Fix": "what to know first, in words, or nothing: the commands below it are quoted from the room by tools/docs.py",
    "When it is something else": "the neighbouring causes, and what tells them apart",
    "Sources": "where this is documented, or where it was seen",
}

WHY = {
    "shown": "say which observation leaves no other reading",
    "ruled-out": "say which observation excludes it",
    "undetermined": "say what could not be seen, and why that leaves it open",
    "shown-log": "say which message leaves no other reading",
}
LOG = "the output of a program that failed for this cause, as it prints it"

UNFILLED = (
    "Say in one sentence what this sign looks at", "subject, requirement, observation", "Say what to do",
    "Say in a headline what follows", "the expression of the message", "what the message says of this cause",
    "<!--", *WHY.values(), LOG,
)  # fmt: skip
"""What the skeleton says where its author has something to say."""


def page(cause_id: str, title: str) -> str:
    """The page's skeleton: the tests refuse a section that is still empty."""
    sections = "\n".join(f"## {name}\n\n<!-- {ASKED[name]} -->\n" for name in SECTIONS)
    return f"# {cause_id}\n\n{title[:1].upper()}{title[1:]}.\n\n{sections}"


def fixture(kind: str) -> str:
    """A fixture that states only its difference from the healthy machine; or the output of a program."""
    value = {
        "shown": {"absent": "where we looked"},
        "ruled-out": {"known": "550.54.15"},
        "undetermined": {"unknown": "why not"},
    }
    facts = {"driver.module_version": value[kind]} if kind in value else {}
    said = {} if facts else {"log": LOG}
    return json.dumps({"why": WHY[kind], "facts": facts, **said}, indent=1) + "\n"


def files(root: Path, cause_id: str, title: str, told: bool) -> dict[Path, str]:
    """Everything a cause consists of."""
    layer, name = cause_id.split(".")
    source = root / "src" / "gpuwhy" / "rooms" / layer
    tests = root / "tests" / "rooms" / layer / name
    package = {source / "__init__.py": f'"""Causes in the {layer} layer."""\n'}
    fixtures = {kind: fixture(kind) for kind in WHY if not told}
    if told:  # without a log it stays open, and a log of something else excludes it
        other = {"why": WHY["ruled-out"], "facts": {}, "log": LOG}
        fixtures = {"shown": fixture("shown-log"), "ruled-out": json.dumps(other, indent=1) + "\n"}
        fixtures["undetermined"] = json.dumps({"why": WHY["undetermined"], "facts": {}}, indent=1) + "\n"
    return {
        **({} if (source / "__init__.py").exists() else package),
        source / f"{name}.py": (TOLD if told else CODE).format(id=cause_id, title=title, sign=f"shows_{name}"),
        source / f"{name}_text.py": TEXT.format(id=cause_id, name=name),
        source / f"{name}.md": page(cause_id, title),
        **{tests / f"{kind}.json": text for kind, text in fixtures.items()},
    }


def registered(text: str, cause_id: str) -> str:
    """The registry with one line more, in its sorted place."""
    head, rows, tail = re.split(r"(?<=^IDS = \(\n)((?:    \"[\w.]+\",\n)*)", text, maxsplit=1, flags=re.MULTILINE)
    lines = sorted({*rows.splitlines(), f'    "{cause_id}",'})
    return head + "\n".join(lines) + "\n" + tail


def problem(cause_id: str, title: str) -> str:
    """What is wrong with the arguments, or nothing."""
    if not re.fullmatch(r"[a-z]+\.[a-z][a-z0-9_]*", cause_id):
        return f"{cause_id!r} is not layer.name in lower case"
    if cause_id.split(".")[0] not in LAYERS:
        return f"there is no layer {cause_id.split('.')[0]!r}; there are {', '.join(LAYERS)}"
    if not title or title.endswith(".") or '"' in title or "\n" in title:
        return "a title is the state of the machine: one line, no full stop, no quotes"
    return ""


def main(argv: list[str]) -> int:
    """Write the files; touch none that exists but the registry."""
    parser = argparse.ArgumentParser(description="Start a new cause.")
    parser.add_argument("id", help="layer.name")
    parser.add_argument("title", help="the state of the machine, lower case, no full stop")
    parser.add_argument("--told", action="store_true", help="only what a program prints can show it")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: the one this script is in)")
    options = parser.parse_args(argv)
    wrong = problem(options.id, options.title)
    todo = {} if wrong else files(options.root, options.id, options.title, options.told)
    there = next((file for file in todo if file.exists()), None)
    if wrong or there:
        print(f"new_cause: {wrong or f'{there} exists already'}", file=sys.stderr)
        return 2
    for file, text in todo.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        print(f"wrote {file.relative_to(options.root)}")
    registry = options.root / "src" / "gpuwhy" / "rooms" / "__init__.py"
    if registry.exists():
        registry.write_text(registered(registry.read_text(encoding="utf-8"), options.id), encoding="utf-8")
        print(f"added its line to {registry.relative_to(options.root)}")
    print(f"what is left to do: pytest -n0 tests/rooms -k {options.id}; at the end, python tools/docs.py")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
