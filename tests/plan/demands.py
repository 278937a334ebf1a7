"""Demands: the judge of demands.txt, a growing table of what people ask and what an expert answers.

python -m tests.plan.demands [FILE] [-v]      score a table; with -v, print the whole answer of what fails
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from gpuwhy.cli import UsageError
from gpuwhy.cli import plan as command
from gpuwhy.model.plan import Choice, Plan, Proposal
from gpuwhy.plan.answer import plan
from gpuwhy.plan.machine import BadMachineError, described
from gpuwhy.plan.wishes import WishError
from gpuwhy.render.plan import render
from gpuwhy.render.terminal import Paper

KEPT = Path(__file__).parent / "demands.txt"
_KINDS = ("ok", "conflict", "usage")


class Demand(NamedTuple):
    """One line of the table."""

    number: int
    words: tuple[str, ...]
    holds: tuple[str, ...]
    source: str

    @property
    def name(self) -> str:
        return shlex.join(self.words)


class Answer(NamedTuple):
    """What was answered: its kind, the plan where there is one, and the text a person sees."""

    kind: str
    text: str
    made: Plan | None = None


def demands(path: Path = KEPT) -> list[Demand]:
    """Every demand of a table."""
    out = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            words, rest = line.split(" | ", 1)
            holds, source = rest.rsplit(" | ", 1)
            said = tuple(part.strip() for part in holds.split("; ") if part.strip())
            out.append(Demand(number, tuple(shlex.split(words)), said, source.strip()))
    return out


@lru_cache(maxsize=8)
def answer(words: tuple[str, ...]) -> Answer:
    """What `gpuwhy plan` says to these words, for a machine that is described."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    command.add(parser.add_subparsers())
    options = parser.parse_args(["plan", *words])
    try:
        wishes = command._wishes(options)
        keep = tuple(filter(None, options.keep.split(",")))
        parts = (options.driver, tuple(options.gpu), options.python, options.os, options.arch, keep, options.glibc)
        made = plan(wishes, described(*parts), options.least_change)
    except (WishError, BadMachineError, UsageError) as error:
        return Answer("usage", str(error))
    paper = Paper()
    paper.width = 10_000  # sentences in one line, for the expressions
    text = render(made, paper, options.all, options.verbose)
    return Answer("ok" if made.proposal else "conflict", text, made)


def wrong(demand: Demand) -> list[str]:
    """What does not hold of a demand's answer."""
    given = answer(demand.words)
    return [hold for hold in demand.holds if not _holds(hold, given)]


def _holds(hold: str, given: Answer) -> bool:
    word, _, rest = hold.partition(" ")
    if hold in _KINDS:
        return given.kind == hold
    if word == "says":
        return bool(re.search(rest, given.text))
    if word == "never":
        return not re.search(rest, given.text)
    conflict = given.made.conflict if given.made else None
    if word == "gives":
        return bool(conflict and re.search(rest, conflict.gives_up))
    if word == "near":
        return _release(rest, conflict.nearest if conflict else None)
    return _release(hold, given.made.proposal if given.made else None)


def _release(hold: str, proposal: Proposal | None) -> bool:
    """A release, a CUDA, an index or a limit of a proposal."""
    if proposal is None:
        return False
    word, _, rest = hold.partition(" ")
    if word == "cap":
        return rest in {cap.requirement for cap in proposal.caps}
    if word == "python":
        return bool(re.fullmatch(rest, proposal.python))
    if word == "backend":
        return rest in {choice.backend for choice in proposal.choices}
    if word == "cuda":
        name, wanted = rest.split(" ")
        return any(re.match(wanted, choice.cuda) for choice in proposal.choices if _named(choice, name))
    found = [choice.version for choice in proposal.choices if _named(choice, word)]
    return bool(found) and SpecifierSet(rest).contains(Version(found[0]), prereleases=True)


def _named(choice: Choice, name: str) -> bool:
    return choice.package == name or (name == "tensorflow" and choice.package == "tensorflow-gpu")


def main(argv: list[str]) -> int:
    """Score a table and print what fails."""
    path = Path(next((word for word in argv if word != "-v"), KEPT))
    table = demands(path)
    failed = [(demand, said) for demand in table if (said := wrong(demand))]
    for demand, said in failed:
        print(f"{path.name}:{demand.number}: {demand.name}\n    not: {'; '.join(said)}   ({demand.source})")
        print(answer(demand.words).text if "-v" in argv else "    " + answer(demand.words).text.splitlines()[0][:200])
    print(f"{len(table) - len(failed)} of {len(table)} demands are answered as an expert would")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
