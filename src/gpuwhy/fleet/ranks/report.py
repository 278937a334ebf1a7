"""The job as a document: who failed first, how that is known, then that rank's own report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from gpuwhy.answer import blocks
from gpuwhy.answer.blocks import item, items, pair, pairs
from gpuwhy.answer.text import clip
from gpuwhy.answer.tree import Block, Document, Heading, Mark
from gpuwhy.fleet.ranks.decide import Job

MOST = 12
_WORDS = {
    "failed": "failed",
    "killed": "killed",
    "waited": "waited for another",
    "silent": "just end",
    "well": "ended well",
    "stopped": "were told to stop",
}


def document(job: Job, detail: int = 0) -> Document:
    """The whole answer; every rank with -v."""
    mark: Mark = "bad" if job.first else "ok" if job.ranks and not job.failed else "unknown"
    evidence = pairs(*(pair(name, text) for name, text in _evidence(job)))
    made: list[Block] = [Heading((headline(job),), mark), evidence]
    if detail:
        said = (f"{r.name} {_WORDS[r.ended]}{f': {r.text}' if r.text else ''}" for r in job.ranks)
        made.append(items(map(item, said)))
    own = job.first and job.ranks[job.first[0]].ended == "failed"
    if job.report and (own or detail):
        head, *rest = blocks.document(job.report, detail).blocks
        made += [replace(head, level=2) if isinstance(head, Heading) else head, *rest]
    return Document(tuple(made), title=headline(job))


def headline(job: Job) -> str:
    """The answer in one sentence."""
    if job.first:
        more = f" and {len(job.first) - 4} more" if len(job.first) > 4 else ""
        names = ", ".join(job.names(job.first[:4])) + more
        head = job.ranks[job.first[0]]
        if head.ended not in ("failed", "killed"):
            return f"{names} {'is' if len(job.first) == 1 else 'are'} what the others waited for"
        return f"{names} failed first" + (f": {clip(head.text, 90)}" if head.text else "")
    if job.failed:
        return "which rank failed first cannot be told from these logs"
    if job.ranks:
        return f"none of the {len(job.ranks)} ranks tells of a failure"
    return "no rank's log was found"


def _evidence(job: Job) -> Iterator[tuple[str, str]]:
    """What is known beside the answer, each with its name."""
    if job.why:
        yield "how", job.why
    count = Counter(rank.ended for rank in job.ranks)
    ends = " · ".join(f"{number} {_WORDS[ended]}" for ended, number in count.items())
    yield "ranks", f"{len(job.ranks)}: {ends}"
    if job.behind:
        late = [job.ranks[place] for place in job.behind[:MOST]]
        yield "behind", ", ".join(f"{rank.name} at step {rank.step}" for rank in late)
    if job.absent:
        yield "absent", f"no log of rank {', '.join(map(str, job.absent[:MOST]))}"
    skewed = [f"{rank.name} {rank.offset:+.0f} s" for rank in job.ranks if rank.offset]
    if skewed:
        yield "clocks", f"corrected: {', '.join(skewed[:MOST])}"
    for xid in job.xids[:MOST]:
        yield "Xid", " ".join(filter(None, (xid.host, xid.pci, xid.text)))
    yield from (("note", note) for note in job.notes[:MOST])
