"""Precedents: what cured others whose program said the same; one file of JSON lines per cause."""

import re
from functools import lru_cache

import msgspec

from gpuwhy.advise.fill import with_holes
from gpuwhy.advise.remedy import Action, Look, Remedy, Run, Tell, can_be_undone, restarts
from gpuwhy.diagnose.precedents import longest
from gpuwhy.knowledge.tables import rows
from gpuwhy.log.case import Case

_HOLE = re.compile(r"<([a-z_]+)>| ?\* ?")
_WORD = r"[A-Za-z0-9_](?:[A-Za-z0-9_.+-]*[A-Za-z0-9_+])?"
_PER_STEP = 20
"""Characters of its phrases by which a precedent fits one step closer."""
_LEAST, _MOST = 2, 7
_ONLY_LOOKS = 1
"""How much less a cure fits whose commands change nothing."""


class Precedent(msgspec.Struct, frozen=True, rename={"not_": "not"}, forbid_unknown_fields=True):
    """The phrases of a text, all of them, and the cure: a sentence and its actions."""

    says: tuple[str, ...]
    text: str  # what to do
    why: str = ""
    if_not: str = ""
    do: tuple[dict[str, object], ...] = ()
    not_: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # systems, tools and frameworks of the cure, not of the phrases
    root: bool = False
    placed: bool = False
    only: bool = False  # the general remedies of its cause would mislead here
    source: str = ""


class Cure(msgspec.Struct, frozen=True):
    """A precedent that a text is like, as a remedy."""

    remedy: Remedy
    names: tuple[str, ...]
    only: bool


def cures(cause: str, excerpt: str, case: Case) -> tuple[Cure, ...]:
    """The remedies of a cause's precedents that a text is like, the closest first."""
    if not excerpt:
        return ()
    said = " ".join(excerpt.split())
    low = said.lower()
    found = []
    for row in precedents(cause):
        holes = _alike(row, said, low)
        if holes is not None:
            pieces = (one for words in row.says for one in re.split(r"<[a-z_]+>|\*", words))
            found.append((sum(map(len, pieces)), row, holes))
    found.sort(key=lambda one: -one[0])
    return tuple(_cure(cause, row, holes, known) for known, row, holes in found)


def precedents(cause: str) -> tuple[Precedent, ...]:
    """The precedents of one cause."""
    try:
        return rows(f"precedents/{cause}.jsonl", Precedent)
    except FileNotFoundError:
        return ()


def _cure(cause: str, row: Precedent, holes: dict[str, str], known: int) -> Cure:
    actions = msgspec.convert(with_holes(row.do, holes), tuple[Action, ...])
    text = str(with_holes(row.text, holes))
    fits = min(_MOST, _LEAST + known // _PER_STEP)
    if actions and all(isinstance(one, Look) for one in actions):
        fits -= _ONLY_LOOKS
    remedy = Remedy(
        actions or (Tell(text),),
        cause,
        text,
        why=str(with_holes(row.why, holes)),
        if_not=str(with_holes(row.if_not, holes)),
        placed=row.placed,
        root=row.root,
        reboot=restarts(actions),
        reversible=can_be_undone(actions) and not any(isinstance(one, Run) for one in actions),
        fits=fits,
        source=row.source,
    )
    return Cure(remedy, row.names, row.only)


def _alike(row: Precedent, said: str, low: str) -> dict[str, str] | None:
    """What the places of the phrases stand for; None where a phrase is not said."""
    holes: dict[str, str] = {}
    if any(longest(words) not in low for words in row.says):
        return None
    for words in row.says:
        found = _compiled(words).search(said)
        if found is None:
            return None
        holes |= {key: value for key, value in found.groupdict().items() if key not in holes}
    barred = (words for words in row.not_ if longest(words) in low)
    return None if any(_compiled(words).search(said) for words in barred) else holes


@lru_cache(maxsize=1024)
def _compiled(words: str) -> re.Pattern[str]:
    """A phrase as an expression; a place that comes again is the same word."""
    plain = " ".join(words.split())
    out, last, named = "", 0, set[str]()
    for hole in _HOLE.finditer(plain):
        name = hole[1]
        if name is None:
            place = ".{0,80}?"
        elif name in named:
            place = f"(?P={name})"
        else:
            place = f"(?P<{name}>{_WORD})"
            named.add(name)
        out += re.escape(plain[last : hole.start()]) + place
        last = hole.end()
    return re.compile(out + re.escape(plain[last:]), re.IGNORECASE)
