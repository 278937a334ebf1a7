"""The founding questions: the right thing in the first four lines, short, nothing foreign."""

import re
import sys
from pathlib import Path

import pytest

from gpuwhy.answer import blocks, terminal
from gpuwhy.api.text import answer_of
from gpuwhy.log.read import read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROWS = tomllib.loads((Path(__file__).parent / "rows.toml").read_text(encoding="utf-8"))["row"]
FOREIGN = {"PyTorch": r"torch", "JAX": r"\bjax", "TensorFlow": r"tensor ?flow|\btf\b|keras"}
COMMAND = re.compile(r" {13,}\S|  Run ")  # what is copied is not broken
LINUX = r"\bapt\b|\bsudo\b|ldconfig|LD_LIBRARY_PATH|\bexport "


def shown(row: dict) -> tuple[str, int]:
    asked = "ask" in row
    answer = answer_of(read(row["ask"] if asked else row["text"]), command="ask" if asked else "explain")
    return terminal.write(blocks.document(answer)), answer.exit_code


def faults(row: dict) -> list[str]:
    """What is wrong with the answer to a row."""
    given = row.get("ask") or row["text"]
    text, code = shown(row)
    lines = [line for line in text.split("\n") if line.strip()]
    head = "\n".join(lines[:4])
    out = [f"not said: {one}" for one in row.get("says", ()) if not found(one, head)]
    out += [f"said: {one}" for one in row.get("never", ()) if found(one, text)]
    out += [f"{len(lines)} lines"] if len(lines) > 16 else []
    out += [f"exit {code}"] if code not in row.get("exit", [0, 1, 4]) else []
    out += [f"wide: {line}" for line in lines if len(line) > 80 and not COMMAND.match(line)]
    for name in ("PyTorch", "JAX"):
        foreign = FOREIGN[name]
        if (
            found(FOREIGN["TensorFlow"], given)
            and not found(foreign, given)
            and found(foreign, "\n".join(lines[:6]))
        ):
            out.append(f"foreign: {name}")
    if found(r"[A-Z]:\\|\.dll|windows", given) and found(LINUX, text):
        out.append("Linux command for Windows")
    return out


def found(pattern: str, text: str) -> bool:
    return bool(re.search(pattern, text, re.IGNORECASE))


@pytest.mark.parametrize("row", ROWS, ids=[(r.get("ask") or r["text"]).strip()[:60] for r in ROWS])
def test_a_founding_question_is_answered(row):
    assert faults(row) == []
