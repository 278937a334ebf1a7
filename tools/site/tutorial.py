"""Fill the tutorial with what gpuwhy really says: `python -m tools.site.tutorial [--check]`.

In docs/tutorial.md, `<!-- log ID -->` is followed by a log that a real program printed (tests/symptoms/captured), and
`<!-- $ gpuwhy … -->` by the answer of that command; `LOG:ID` among its words is the file of such a log.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
_BLOCK = re.compile(r"(<!-- (log \S+|\$ [^\n]*?) -->\n)(?:```\w*\n.*?\n```\n)?", re.DOTALL)


@cache
def logs() -> dict[str, str]:
    """The captured logs by id."""
    rows = (line for file in (ROOT / "tests/symptoms/captured").glob("*.jsonl") for line in file.open(encoding="utf-8"))
    return {row["id"]: row["log"] for row in map(json.loads, rows)}


def filled(text: str) -> str:
    """The page with every block as it is today."""
    return _BLOCK.sub(lambda found: found[1] + _block(found[2]), text)


def _block(order: str) -> str:
    if order.startswith("log "):
        return _fenced("text", logs()[order.split()[1]].strip())
    return _fenced("console", f"{_shown(order)}\n{_answer(order.removeprefix('$ '))}")


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```\n"


def _shown(order: str) -> str:
    return re.sub(r"LOG:\S+", "train.log", order)


def _answer(command: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        words = [_file(word, folder) if word.startswith("LOG:") else word for word in shlex.split(command)[1:]]
        environ = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "gpuwhy", *words],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
        )
    return done.stdout.replace(folder, "").strip() or done.stderr.strip()


def _file(word: str, folder: str) -> str:
    Path(folder, "train.log").write_text(logs()[word.removeprefix("LOG:")], encoding="utf-8")
    return "train.log"


def main(argv: list[str]) -> int:
    """Write, or say that it is stale."""
    before = PAGE.read_text(encoding="utf-8")
    after = filled(before)
    if argv == ["--check"]:
        print("up to date" if before == after else "docs/tutorial.md is stale: python -m tools.site.tutorial")
        return int(before != after)
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
