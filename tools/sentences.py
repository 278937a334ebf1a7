"""A seeded sample of the sentences that users read, numbered, each with where it comes from: for a cold reader.

    python -m tools.sentences 200 [--seed 7] [--from output,help,causes,readme,lint]

Sources: what `explain` says of texts of the tests, what `check` says of recorded machines, the help of every command,
the pages of causes and lint rules, the README. The same seed gives the same sample of the same sources.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARES = {"output": 0.45, "help": 0.15, "causes": 0.2, "readme": 0.1, "lint": 0.1}
_ENDS = re.compile(r"(?<=[.!?:])\s+(?=[A-Z“])")
_LABEL = re.compile(r"^(cause|because|saw|know|told|fix \d+|check|explains|not|or|also|test|from|note)\s{2,}")
_CODE = re.compile(r"```.*?```", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]{2,}")


def main(argv: list[str]) -> int:
    """Print the sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="sources", default=",".join(SHARES))
    options = parser.parse_args(argv)
    names = options.sources.split(",")
    weight = sum(SHARES[name] for name in names)
    kept: list[tuple[str, str]] = []
    for name in names:
        known = sorted(set(SOURCES[name]()))
        random.Random(f"{options.seed} {name}").shuffle(known)
        kept += _once(known)[: round(options.count * SHARES[name] / weight)]
    for number, (sentence, place) in enumerate(kept, 1):
        print(f"{number:3}. {sentence}    [{place}]")
    return 0


def _once(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """One of each sentence, whatever the numbers and names in it."""
    seen: dict[str, tuple[str, str]] = {}
    for sentence, place in rows:
        seen.setdefault(re.sub(r"[\d.]+|\S*[/_]\S*", "#", sentence).lower(), (sentence, place))
    return list(seen.values())


def _sentences(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        for part in _ENDS.split(" ".join(paragraph.split())):
            if 4 <= len(_WORD.findall(re.sub(r"`[^`]*`", "", part))) <= 80:
                yield part.strip()


def output() -> Iterator[tuple[str, str]]:
    """Headlines, reasons and fixes, as printed."""
    from gpuwhy.logs import explain_text

    for place, text in _texts():
        yield from _of_report(explain_text(text), f"explain {place}")
    from gpuwhy import app

    for path in sorted((ROOT / "tests" / "hosts").glob("*.json"))[::3]:
        try:
            host, asked = app.recorded_host(path.read_bytes(), path.name)
        except app.BadRecordingError:
            continue  # one that is kept as a difference from another
        yield from _of_report(app.Run(host, asked).report(), f"check {path.stem}")


def _texts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "tests" / "symptoms" / "captured").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
        yield from ((f"{path.stem} {row.get('id', '')}", row["log"]) for row in rows[::4] if row.get("log"))
    for path in sorted((ROOT / "tests" / "rooms").glob("*/*/shown*.json")):
        text = json.loads(path.read_text()).get("log")
        if isinstance(text, str):
            yield f"{path.parent.parent.name}.{path.parent.name}", text


def _of_report(report: object, place: str) -> Iterator[tuple[str, str]]:
    from gpuwhy.model.report import Report

    assert isinstance(report, Report)
    yield report.headline, f"{place}: headline"
    for cause in report.causes[:2]:
        yield cause.title, f"{place}: {cause.id}, title"
        yield from ((one.text, f"{place}: {cause.id}, because") for one in cause.because[:2])
        yield from ((one.text, f"{place}: {cause.id}, fix") for one in cause.fixes[:3])
    yield from ((one.because, f"{place}: not {one.id}") for one in report.ruled_out[:3])
    yield from ((one.missing, f"{place}: could not tell {one.id}") for one in report.undetermined[:2])
    if report.question:
        yield report.question.text, f"{place}: test"


def help_() -> Iterator[tuple[str, str]]:
    """What each option and command says of itself."""
    from gpuwhy.cli import examples, parser

    for name, text, one in parser.commands_of(parser.program()):
        yield text, "gpuwhy --help"
        yield from (
            (str(action.help), f"{name} {action.option_strings[0]}") for action in parser.options_of(one) if action.help
        )
        yield from ((f"{line}: {why}", f"{name}: example") for line, why in examples.EXAMPLES.get(name, ()))


def causes() -> Iterator[tuple[str, str]]:
    """The pages of causes."""
    yield from _pages(ROOT / "src" / "gpuwhy" / "rooms", "*/*.md")


def lint() -> Iterator[tuple[str, str]]:
    """The pages of lint rules."""
    yield from _pages(ROOT / "src" / "gpuwhy" / "lint" / "rules", "*.md")


def readme() -> Iterator[tuple[str, str]]:
    """README and the pages of commands."""
    yield from _pages(ROOT, "README.md")
    yield from _pages(ROOT / "docs" / "commands", "*.md")


def _pages(folder: Path, pattern: str) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob(pattern)):
        text = _CODE.sub("\n\n", path.read_text())
        text = re.sub(r"^[#|>-].*?\|\s|^\W*\|$|^[#>*-]+ ?|\[([^\]]*)\]\([^)]*\)", r"\1", text, flags=re.MULTILINE)
        text = re.sub(r"\n\s*(?:[-*]|\d+\.) ", "\n\n", text.replace("|", "\n\n"))
        yield from ((sentence, str(path.relative_to(ROOT))) for sentence in _sentences(text))


SOURCES = {"output": output, "help": help_, "causes": causes, "readme": readme, "lint": lint}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
