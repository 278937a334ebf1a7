"""The table of demands: what people ask, what an expert answers, and how the expert knows.

python -m tests.choose.table [FILE] [-v]      score a table; with -v, print the answer of what fails
"""

from __future__ import annotations

import re
import shlex
import sys
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from gpuwhy.answer import terminal
from gpuwhy.choose.choice import Choice, Pick
from gpuwhy.choose.chooser import choose
from gpuwhy.choose.demand import allows
from gpuwhy.cli import UsageError
from gpuwhy.cli import plan as command
from gpuwhy.cli.parser import parsed
from gpuwhy.plan.describe import BadMachineError
from gpuwhy.plan.document import document
from gpuwhy.plan.requirements import RequirementError, check

FILES = sorted(Path(__file__).parent.glob("*.txt"))
_KINDS = ("ok", "conflict", "usage")
_STANDS_FOR = {"tensorflow": "tensorflow-gpu", "tensorrt": "tensorrt-cu12"}


class Row(NamedTuple):
    """One line of a table."""

    place: str
    words: tuple[str, ...]
    holds: tuple[str, ...]
    source: str


class Given(NamedTuple):
    """What was answered: its kind, the text of -v in long lines, the choice."""

    kind: str
    text: str
    choice: Choice | None = None


def rows(path: Path) -> list[Row]:
    """Every demand of a table."""
    out = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            words, rest = line.split(" | ", 1)
            holds, source = rest.rsplit(" | ", 1)
            said = tuple(part.strip() for part in holds.split("; ") if part.strip())
            out.append(Row(f"{path.name}:{number}", tuple(shlex.split(words)), said, source))
    return out


@lru_cache(maxsize=8)
def answer(words: tuple[str, ...]) -> Given:
    """What `gpuwhy plan` says to these words, for a machine that is described."""
    described = ("--driver", "--gpu", "--os", "--arch", "--glibc")
    more = () if any(word.split("=")[0] in described for word in words) else ("--os", "linux")
    options = parsed(["plan", *words, *more])
    try:
        demand, _ = command._demand(options)
        check(demand)
    except (RequirementError, BadMachineError, UsageError) as error:
        return Given("usage", str(error))
    choice = choose(demand)
    text = terminal.write(document(choice, 2), terminal.Paper(10_000))
    return Given("ok" if choice.fits else "conflict", text, choice)


def wrong(row: Row) -> list[str]:
    """What does not hold of the answer to a demand."""
    given = answer(row.words)
    return [hold for hold in row.holds if not _holds(hold, given)]


def _holds(hold: str, given: Given) -> bool:
    word, _, rest = hold.partition(" ")
    near = given.choice.nearest if given.choice else None
    if hold in _KINDS:
        return given.kind == hold
    if hold == "certain" or hold == "unsure":
        return bool(given.choice and given.choice.certain == (hold == "certain"))
    if word == "says":
        return bool(re.search(rest, given.text))
    if word == "never":
        return not re.search(rest, given.text)
    if word == "gives":
        return bool(near and re.search(rest, near.text))
    return (
        _release(rest, near.to if near else None)
        if word == "near"
        else _release(hold, given.choice)
    )


def _release(hold: str, choice: Choice | None) -> bool:
    """A release, a CUDA, an index or a limit of a set."""
    if choice is None or not choice.fits:
        return False
    word, _, rest = hold.partition(" ")
    picks = [*choice.picks, *(one for one in choice.libraries if one.asked)]
    if word == "cap":
        return rest in {bound.requirement for bound in choice.bounds}
    if word == "python":
        return bool(re.fullmatch(rest, choice.python))
    if word == "backend":
        return rest in {pick.backend for pick in picks}
    if word == "cuda":
        name, wanted = rest.split(" ")
        return any(re.match(wanted, pick.cuda) for pick in picks if _is(pick, name))
    found = [pick.version for pick in picks if _is(pick, word)]
    return bool(found) and allows(rest, found[0])


def _is(pick: Pick, name: str) -> bool:
    return pick.package in (name, _STANDS_FOR.get(name)) or pick.package.startswith(f"{name}-cu")


def main(argv: list[str]) -> int:
    """Score tables and print what fails."""
    named = [Path(word) for word in argv if word != "-v"]
    table = [row for path in named or FILES for row in rows(path)]
    failed = [(row, said) for row in table if (said := wrong(row))]
    for row, said in failed:
        print(f"{row.place}: {shlex.join(row.words)}\n    not: {'; '.join(said)}   ({row.source})")
        text = answer(row.words).text
        print(text if "-v" in argv else "    " + text.splitlines()[0][:200])
    print(f"{len(table) - len(failed)} of {len(table)} demands are answered as an expert would")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
