"""Keep docs/ current: cause pages and the answers of commands that pages show.

python tools/docs.py            writes docs/causes and every replayed answer
python tools/docs.py --check    changes nothing, exits 1 and names the files that differ

In a page, `<!-- replay -->` stands before a console block; its command runs in docs/logs.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

INDEX_HEAD = """# Causes

One page per cause; `gpuwhy cause ID` prints the same page.

These pages are copies of `src/gpuwhy/causes/*.md`: edit them there, then run `python tools/docs.py`.
"""
REPLAY = re.compile(r"<!-- replay -->\n```console\n\$ (gpuwhy [^\n]+)\n.*?```\n", re.DOTALL)
LONGEST = 24
"""Lines of an answer that a page shows."""


def pages(root: Path) -> dict[str, str]:
    """The pages beside the causes, by id, sorted."""
    files = sorted((root / "src" / "gpuwhy" / "causes").glob("*.md"))
    return {file.name.removesuffix(".md"): file.read_text(encoding="utf-8") for file in files}


def index(by_id: dict[str, str]) -> str:
    """The list of all pages, by layer."""
    lines = [INDEX_HEAD]
    for layer in dict.fromkeys(name.partition(".")[0] for name in by_id):
        lines.append(f"## {layer}\n")
        for name, page in by_id.items():
            if name.startswith(f"{layer}."):
                first = " ".join(page.split("\n\n", 2)[1].split())
                lines.append(f"- [{name}]({name}.md): {first}")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def replayed(text: str, root: Path) -> str:
    """A page with the answers that its commands give now."""

    def again(found: re.Match[str]) -> str:
        answer = run(found[1], root).rstrip().splitlines()
        shown = [*answer[:LONGEST], "…"] if len(answer) > LONGEST else answer
        block = "\n".join([f"$ {found[1]}", *shown])
        return f"<!-- replay -->\n```console\n{block}\n```\n"

    return REPLAY.sub(again, text)


def run(command: str, root: Path) -> str:
    """What a command prints in docs/logs, 80 columns wide."""
    environ = {"PATH": os.environ.get("PATH", ""), "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    environ |= {"PYTHONPATH": str(root / "src"), "PYTHONIOENCODING": "utf-8"}
    words = [sys.executable, "-m", *shlex.split(command)]
    folder = root / "docs" / "logs"
    done = subprocess.run(
        words, cwd=folder, env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    return done.stdout or done.stderr


def wanted(root: Path) -> dict[Path, str]:
    """Every file that this tool makes, with the text it should have."""
    folder, by_id = root / "docs" / "causes", pages(root)
    made = {folder / f"{name}.md": text for name, text in by_id.items()}
    shown = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    shown += sorted((root / "docs" / "commands").glob("*.md"))
    texts = {one: one.read_text(encoding="utf-8") for one in shown if one.is_file()}
    live = {one: replayed(text, root) for one, text in texts.items() if REPLAY.search(text)}
    return {folder / "README.md": index(by_id), **made, **live}


def differences(root: Path) -> list[str]:
    """The files that are missing, stale, or nobody's."""
    files = wanted(root)
    out = [
        f"{file.relative_to(root)}: {'differs from its source' if file.is_file() else 'missing'}"
        for file, text in files.items()
        if not file.is_file() or file.read_text(encoding="utf-8") != text
    ]
    left = [one for one in sorted((root / "docs" / "causes").glob("*.md")) if one not in files]
    return out + [f"{file.relative_to(root)}: there is no such cause" for file in left]


def write(root: Path) -> None:
    """Make docs/ what it should be."""
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
    parser = argparse.ArgumentParser(description="Keep docs/ current.")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 on differences"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
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
