"""Write docs/causes from the pages that live beside the causes, and the shipped schemas; `--check` says what is stale.

The Fix section of a page quotes its room: what `fixes` says on the fixtures that facts show, then the remedies for
texts, up to the sentence that says how to check. What stands before and after that is the page's own, without commands.

python tools/docs.py            writes docs/causes/<id>.md and docs/causes/README.md
python tools/docs.py --check    exits 1 and names the files that differ
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gpuwhy.model.cause import Fix
from gpuwhy.reason.judge import judge
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.text.meant import Meant
from gpuwhy.rooms.text.rooms import rooms

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.rooms.facts import load, log_of  # noqa: E402

INDEX_HEAD = """# Causes

One page per cause. `gpuwhy cause ID` prints the same page in the terminal.

These pages are generated from `src/gpuwhy/rooms/` by `python tools/docs.py`: edit them there.
"""


AGAIN = "Then run the program again; if it fails differently: `gpuwhy explain LOG`."
BY_FACTS = "What `gpuwhy check` advises, by what it finds (on the machines of the tests):"
BY_TEXTS = "What `gpuwhy explain` advises, whatever the message:"
_LONG = re.compile(r"\b_Z\w{20,}")  # a name that no line holds
CHECKED = "Check with `gpuwhy check`."
TOLD = [cause.id for cause in CAUSES if cause.needs_log]


def quoted(cause_id: str, page: str) -> str:
    """A page whose Fix section quotes its room: between the page's own words, what facts and texts have it say."""
    head, found, rest = page.partition("## Fix\n")
    if not found:
        return page
    own, _, tail = rest.partition("\n## ")
    before, after = own_words(own)
    parts = [before, *by_facts(cause_id), remedies(rooms()[cause_id].remedies, given(cause_id))]
    parts += [AGAIN if cause_id in TOLD else CHECKED, after]
    fix = "\n\n".join(one for one in parts if one)
    return f"{head}## Fix\n\n{fix}\n\n## {tail}"


def own_words(fix: str) -> tuple[str, str]:
    """What a page itself says before and after what is written here."""
    end = next((one for one in (CHECKED, AGAIN) if one in fix), "")
    made, _, after = fix.partition(end) if end else (fix, "", "")
    begin = next((one for one in (BY_FACTS, BY_TEXTS) if one in made), "")
    before = made.partition(begin)[0] if begin else made
    return before.strip(), after.strip()


def by_facts(cause_id: str) -> Iterator[str]:
    """The fixes on the machines of the tests, each below the sentence that says what was found there."""
    by_finding: dict[str, list[str]] = {}
    for found, fixes in shown(cause_id):
        told = [text for texts in by_finding.values() for text in texts]
        new = [text for fix in fixes if (text := one_line(fix.text, fix.command)) not in told]
        by_finding.setdefault(found, []).extend(new)
    if by_finding:
        yield BY_FACTS
    for found, texts in by_finding.items():
        if texts:
            said = _LONG.sub(r"`\g<0>`", found)
            yield "\n".join([f"- {said}", *(f"  {place}. {text}" for place, text in enumerate(texts, 1))])


@cache
def shown(cause_id: str) -> list[tuple[str, tuple[Fix, ...]]]:
    """For every fixture that facts alone show: what was found, and the fixes."""
    cause = next(one for one in CAUSES if one.id == cause_id)
    files = sorted((ROOT / "tests" / "rooms").joinpath(*cause_id.split(".")).glob("shown*.json"))
    verdicts = [v for file in files if not log_of(file) for v in judge((cause,), load(file)[1])]
    return [(v.findings[0].text, v.fixes) for v in verdicts if v.state == "shown" and v.findings]


def given(cause_id: str) -> set[str]:
    """The commands that facts have it print."""
    return {fix.command for _, fixes in shown(cause_id) for fix in fixes if fix.command}


def remedies(rows: tuple[Meant, ...], stands: set[str]) -> str:
    """What texts have it say: to do in any case, numbered; then what there is for single messages."""
    rows = tuple(row for row in rows if row.fix.command not in stands)
    always = dict.fromkeys(line(row) for row in rows if not row.said and not row.line)
    single = dict.fromkeys(line(row) for row in rows if row.said or row.line)
    parts = [BY_TEXTS, "\n".join(f"{place}. {text}" for place, text in enumerate(always, 1))] if always else []
    parts += (
        ["What `gpuwhy explain` advises for some messages only:", "\n".join(f"- {one}" for one in single)]
        if single
        else []
    )
    return "\n\n".join(parts)


def line(row: Meant) -> str:
    """A remedy as one line of a list."""
    text = one_line(row.fix.text, row.fix.command)
    return re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), text.replace("{cu}", "-cu12"))


def one_line(text: str, command: str) -> str:
    """What to do and how, as Markdown; what a command says for itself behind its # is left out."""
    commands = [one.partition("    #")[0] for one in command.splitlines()]
    return text + (f": `{'`, `'.join(commands)}`" if commands else "")


def pages(root: Path) -> dict[str, str]:
    """The pages beside the causes, by id, sorted."""
    source = root / "src" / "gpuwhy" / "rooms"
    found = {f"{file.parent.name}.{file.stem}": file for file in source.glob("*/*.md")}
    return {name: quoted(name, found[name].read_text(encoding="utf-8")) for name in sorted(found)}


def first_sentence(page: str) -> str:
    """The paragraph under the title, on one line."""
    return " ".join(page.split("\n\n", 2)[1].split())


def index(by_id: dict[str, str]) -> str:
    """The list of all pages, by layer."""
    lines = [INDEX_HEAD]
    layer = ""
    for name, page in by_id.items():
        if name.split(".")[0] != layer:
            layer = name.split(".")[0]
            lines.append(f"## {layer}\n")
        lines.append(f"- [{name}]({name}.md): {first_sentence(page)}")
        following = next((n for n in by_id if n > name), "")
        if not following.startswith(f"{layer}."):
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def wanted(root: Path) -> dict[Path, str]:
    """Every file of docs/causes, and every page beside a cause, with the text it should have."""
    folder, source, by_id = root / "docs" / "causes", root / "src" / "gpuwhy" / "rooms", pages(root)
    beside = {source / f"{name.replace('.', '/')}.md": text for name, text in by_id.items()}
    made = {folder / f"{name}.md": text for name, text in by_id.items()}
    return {folder / "README.md": index(by_id), **made, **beside, **schemas(root)}


def schemas(root: Path) -> dict[Path, str]:
    """The JSON Schemas as they ship in the package: copies of those in docs/."""
    inside = root / "src" / "gpuwhy" / "schemas"
    return {inside / file.name: file.read_text(encoding="utf-8") for file in (root / "docs").glob("*.schema.json")}


def differences(root: Path) -> list[str]:
    """The files of docs/causes that are missing, stale, or nobody's."""
    files = wanted(root)
    out = [
        f"{file.relative_to(root)}: {'differs from its source' if file.is_file() else 'missing'}"
        for file, text in files.items()
        if not file.is_file() or file.read_text(encoding="utf-8") != text
    ]
    left = [f for f in sorted((root / "docs" / "causes").glob("*.md")) if f not in files]
    return out + [f"{file.relative_to(root)}: there is no such cause" for file in left]


def write(root: Path) -> None:
    """Make docs/causes what it should be."""
    files = wanted(root)
    (root / "docs" / "causes").mkdir(parents=True, exist_ok=True)
    for file in (root / "docs" / "causes").glob("*.md"):
        if file not in files:
            file.unlink()
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Write, or check."""
    parser = argparse.ArgumentParser(description="Generate docs/causes from the pages beside the causes.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something differs")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: the one this script is in)")
    options = parser.parse_args(argv)
    if not options.check:
        write(options.root)
        return 0
    wrong = differences(options.root)
    for line in wrong:
        print(line)
    if wrong:
        print("run: python tools/docs.py")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
