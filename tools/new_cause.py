"""Start a new cause: its code, its page and its three fixtures, each with the questions to answer.

    python tools/new_cause.py driver.too_old "the driver is older than the CUDA runtime needs"

The tests fail until every file says something of its own: that is the list of what is left to do.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from gpuwhy.causes.pages import SECTIONS
from gpuwhy.model.cause import LAYERS

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

TEXT = '''"""{id} in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.causes.text.meant import meant
from gpuwhy.causes.text.room import Text

TEXT = Text(
    "{id}",
    clues=(
        ("speaker.message", 3.0, "what the message says of this cause, with its {{fields}}"),
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
    "Fix": "numbered, the most reversible first; end with how to check",
    "When it is not this": "the neighbouring causes, and what tells them apart",
    "Sources": "where this is documented, or where it was seen",
}

WHY = {
    "shown": "say which observation leaves no other reading",
    "ruled-out": "say which observation excludes it",
    "undetermined": "say what could not be seen, and why that leaves it open",
}


def page(cause_id: str, title: str) -> str:
    """The page's skeleton: the tests refuse a section that is still empty."""
    sections = "\n".join(f"## {name}\n\n<!-- {ASKED[name]} -->\n" for name in SECTIONS)
    return f"# {cause_id}\n\n{title[:1].upper()}{title[1:]}.\n\n{sections}"


def fixture(kind: str) -> str:
    """A fixture that states only its difference from the healthy machine."""
    value = {
        "shown": {"absent": "where we looked"},
        "ruled-out": {"known": "550.54.15"},
        "undetermined": {"unknown": "why not"},
    }
    return json.dumps({"why": WHY[kind], "facts": {"driver.module_version": value[kind]}}, indent=1) + "\n"


def files(root: Path, cause_id: str, title: str) -> dict[Path, str]:
    """Everything a cause consists of."""
    layer, name = cause_id.split(".")
    source = root / "src" / "gpuwhy" / "causes" / layer
    tests = root / "tests" / "causes" / layer / name
    package = {source / "__init__.py": f'"""Causes in the {layer} layer."""\n'}
    return {
        **({} if (source / "__init__.py").exists() else package),
        source / f"{name}.py": CODE.format(id=cause_id, title=title, sign=f"shows_{name}"),
        source / f"{name}_text.py": TEXT.format(id=cause_id),
        source / f"{name}.md": page(cause_id, title),
        **{tests / f"{kind}.json": fixture(kind) for kind in WHY},
    }


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
    """Write the files; touch none that exists."""
    parser = argparse.ArgumentParser(description="Start a new cause.")
    parser.add_argument("id", help="layer.name")
    parser.add_argument("title", help="the state of the machine, lower case, no full stop")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: the one this script is in)")
    options = parser.parse_args(argv)
    wrong = problem(options.id, options.title)
    todo = {} if wrong else files(options.root, options.id, options.title)
    there = next((file for file in todo if file.exists()), None)
    if wrong or there:
        print(f"new_cause: {wrong or f'{there} exists already'}", file=sys.stderr)
        return 2
    for file, text in todo.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        print(f"wrote {file.relative_to(options.root)}")
    print("add to IDS in src/gpuwhy/causes/__init__.py, in its sorted place:")
    print(f'  "{options.id}",')
    print(f"then: pytest tests/causes -k {options.id}, and python tools/docs.py")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
