"""Write docs/causes from the pages that live beside the causes; `--check` says whether they are up to date.

Where only texts show a cause, the Fix section of its page quotes the remedies of its room: the list there is written by
this script, up to the sentence that begins "Then run the program again"; what follows that is the page's own.

python tools/docs.py            writes docs/causes/<id>.md and docs/causes/README.md
python tools/docs.py --check    exits 1 and names the files that differ
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from gpuwhy.causes import CAUSES
from gpuwhy.causes.text.meant import Meant
from gpuwhy.causes.text.rooms import rooms

ROOT = Path(__file__).resolve().parent.parent
INDEX_HEAD = """# Causes

One page per cause. `gpuwhy cause ID` prints the same page in the terminal.

These pages are generated from `src/gpuwhy/causes/` by `python tools/docs.py`: edit them there.
"""


AGAIN = "Then run the program again; if it fails differently: `gpuwhy explain LOG`."
TOLD = [cause.id for cause in CAUSES if cause.needs_log]


def quoted(cause_id: str, page: str) -> str:
    """A page whose Fix section quotes the remedies of its room, where no fact shows the cause."""
    if cause_id not in TOLD:
        return page
    head, _, rest = page.partition("## Fix\n\n")
    fix, _, tail = rest.partition("\n## ")
    return f"{head}## Fix\n\n{remedies(rooms()[cause_id].remedies)}\n\n{AGAIN}{fix.partition(AGAIN)[2]}\n## {tail}"


def remedies(rows: tuple[Meant, ...]) -> str:
    """What to do in any case, numbered; then what there is for single messages."""
    always = [line(row) for row in rows if not row.said and not row.line]
    single = dict.fromkeys(line(row) for row in rows if row.said or row.line)
    out = "\n".join(f"{place}. {text}" for place, text in enumerate(always, 1))
    return out + (
        "\n\nBy the message that was printed:\n\n" + "\n".join(f"- {one}" for one in single) if single else ""
    )


def line(row: Meant) -> str:
    """A remedy as one line of a list."""
    commands = [one.partition("    #")[0] for one in row.fix.command.splitlines()]
    text = row.fix.text + (f": `{'`, `'.join(commands)}`" if commands else "")
    return re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), text.replace("{cu}", "-cu12"))


def pages(root: Path) -> dict[str, str]:
    """The pages beside the causes, by id, sorted."""
    source = root / "src" / "gpuwhy" / "causes"
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
    """Every file of docs/causes, and every page that quotes remedies, with the text it should have."""
    folder, source, by_id = root / "docs" / "causes", root / "src" / "gpuwhy" / "causes", pages(root)
    beside = {source / f"{name.replace('.', '/')}.md": text for name, text in by_id.items() if name in TOLD}
    made = {folder / f"{name}.md": text for name, text in by_id.items()}
    return {folder / "README.md": index(by_id), **made, **beside}


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
