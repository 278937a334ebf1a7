"""The answer for a job: as JSON (`gpuwhy.ranks/1`, docs/ranks.schema.json) and for a person."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from gpuwhy.answer import blocks, terminal
from gpuwhy.border.secrets import of_values
from gpuwhy.border.shared import as_json
from gpuwhy.model.ranks import SCHEMA, Job, Rank
from gpuwhy.model.words import and_more
from gpuwhy.render.terminal import Paper, put

MOST = 12
_WORDS = {
    "failed": "failed",
    "killed": "killed",
    "waited": "waited for another",
    "silent": "just end",
    "well": "ended well",
    "stopped": "were told to stop",
}


def job_dict(job: Job) -> dict[str, Any]:
    """The job in plain values, in the contract's shape."""
    return {
        "schema": SCHEMA,
        "first": [job.ranks[place].name for place in job.first],
        "why": job.why,
        "ranks": [_rank(rank) for rank in job.ranks],
        "behind": [job.ranks[place].name for place in job.behind],
        "absent": list(job.absent),
        "mismatches": [
            {"group": one.group, "collective": one.number, "kind": one.kind, "ranks": list(one.ranks), "text": one.text}
            for one in job.mismatches
        ],
        "xids": [{"xid": one.number, "host": one.host, "pci": one.pci, "text": one.text} for one in job.xids],
        "notes": list(job.notes),
        "report": msgspec.to_builtins(job.report) if job.report else None,
    }


def _rank(rank: Rank) -> dict[str, Any]:
    return {
        "name": rank.name,
        "rank": rank.number if rank.number >= 0 else None,
        "host": rank.host or None,
        "ended": rank.ended,
        "text": rank.text,
        "cause": rank.cause or None,
        "time": rank.time,
        "last": rank.last,
        "clock_ahead": rank.offset,
        "step": rank.step,
    }


def render_json(job: Job, hosts: bool = True) -> str:
    """Indented JSON, ending in a newline; without `hosts` for what is passed on: nodes are numbered, not named."""
    return as_json(job_dict(job), nodes=True) if hosts else as_json(of_values(job_dict(job), _numbered(job)))


def _numbered(job: Job) -> Callable[[str], str]:
    """What writes `node-1` for the first node's name, wherever it stands."""
    named = [rank.host for rank in job.ranks] + [xid.host for xid in job.xids]
    numbers = {host: f"node-{n}" for n, host in enumerate(dict.fromkeys(filter(None, named)), 1)}
    longest = sorted((one for one in numbers if len(one) > 2), key=len, reverse=True)
    word = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, longest))})(?![\w-])") if longest else None

    def hide(text: str) -> str:
        if text in numbers:
            return numbers[text]
        return word.sub(lambda found: numbers[found[0]], text) if word else text

    return hide


def headline(job: Job) -> str:
    """The answer in one sentence."""
    if job.first:
        names = ", ".join(job.ranks[place].name for place in job.first[:4])
        more = and_more(len(job.first), 4)
        head = job.ranks[job.first[0]]
        if head.ended not in ("failed", "killed"):
            return f"{names}{more} {'is' if len(job.first) == 1 else 'are'} what the others waited for"
        return f"{names}{more} failed first" + (f": {head.text}" if head.text else "")
    if not any(rank.ended in ("failed", "killed", "waited") for rank in job.ranks):
        return f"none of the {len(job.ranks)} ranks tells of a failure" if job.ranks else "no rank's log was found"
    return "which rank failed first cannot be told from these logs"


def render(job: Job, paper: Paper, why: bool = False) -> str:
    """The whole answer as text: who, how that is known, then that rank's own report."""
    mark, colour = _mark(job)
    lines = [paper.tint(colour, line) for line in paper.wrap(headline(job), f"{mark} ", "  ")]
    lines += list(_evidence(job, paper))
    text = put(lines, paper)
    if why:
        text += "\n" + put([row for rank in job.ranks for row in _row(rank, paper)], paper)
    own = job.first and job.ranks[job.first[0]].ended == "failed"
    return text + ("\n" + terminal.write(blocks.document(job.report, int(why)), terminal.Paper(paper.width, paper.colour)) if job.report and (own or why) else "")


def _mark(job: Job) -> tuple[str, str]:
    if job.first:
        return "✗", "1;31"
    fine = job.ranks and not any(rank.ended in ("failed", "killed", "waited") for rank in job.ranks)
    return ("✓", "1;32") if fine else ("?", "1;36")


def _evidence(job: Job, paper: Paper) -> Iterator[str]:
    for name, text in _fields(job):
        yield from paper.wrap(text, f"  {name:<7}", "         ")


def _fields(job: Job) -> Iterator[tuple[str, str]]:
    """What is known beside the answer, each with its name."""
    if job.why:
        yield "how", job.why
    count = Counter(rank.ended for rank in job.ranks)
    yield "ranks", f"{len(job.ranks)}: {' · '.join(f'{number} {_WORDS[ended]}' for ended, number in count.items())}"
    yield from (("parted", f"{one.text} (flight recorder, group {one.group})") for one in job.mismatches[:MOST])
    yield from _out_of_step(job)
    yield from (("Xid", " ".join(filter(None, (xid.host, f"{xid.pci} {xid.text}")))) for xid in job.xids[:MOST])
    yield from (("note", note) for note in job.notes[:MOST])


def _out_of_step(job: Job) -> Iterator[tuple[str, str]]:
    """Who is behind, of whom there is no log, whose clock was wrong."""
    if job.behind:
        late = [job.ranks[place] for place in job.behind[:MOST]]
        yield "behind", ", ".join(f"{rank.name} at step {rank.step}" for rank in late)
    if job.absent:
        yield "absent", f"no log of rank {', '.join(map(str, job.absent[:MOST]))}"
    skewed = [f"{rank.name} {rank.offset:+.0f} s" for rank in job.ranks if rank.offset]
    if skewed:
        yield "clocks", f"set right: {', '.join(skewed[:MOST])}"


def _row(rank: Rank, paper: Paper) -> list[str]:
    said = f": {rank.text}" if rank.text else ""
    return paper.wrap(f"{rank.name} {_WORDS[rank.ended]}{said}", "  ", "    ")
