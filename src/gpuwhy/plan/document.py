"""A plan as a document: the set, the commands, how to see that it worked; at most 20 lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Union

from gpuwhy.answer.blocks import fold, item, items, pair, pairs
from gpuwhy.answer.terminal import height
from gpuwhy.answer.tree import (
    Block,
    Code,
    Command,
    Document,
    Heading,
    Language,
    Mark,
    Pair,
    Soft,
)
from gpuwhy.choose.choice import Change, Choice, Passed, Pick
from gpuwhy.plan.commands import Way, check, ways
from gpuwhy.plan.contract import Line, assumed, given, known

MOST = 20
Confirmed = tuple[Union[bool, None], str]
"""What an installer said of the pins: yes, no or nothing, and the sentence."""
NOT_ASKED: Confirmed = (None, "")
_FILES = ("requirements", "constraints", "conda", "docker")
_LANGUAGE: dict[str, Language] = {"windows": "bat", "conda": "text", "docker": "text"}


def document(
    choice: Choice, detail: int = 0, seen: Sequence[Line] = (), confirmed: Confirmed = NOT_ASKED
) -> Document:
    """The plan as it is printed: 0 in at most 20 lines, 1 with -v, 2 with every way."""
    for notes in (3, 2, 1, 0):
        made = _document(choice, detail, seen, confirmed, notes)
        if detail or height(made) <= MOST:
            break
    return made


def _document(
    choice: Choice, detail: int, seen: Sequence[Line], confirmed: Confirmed, notes: int
) -> Document:
    if choice.fits:
        certain = choice.certain if confirmed[0] is None else _settled(choice, confirmed[0])
        mark: Mark = "ok" if certain else "unknown"
        body = [_title(choice, mark, confirmed), *_set(choice, notes, seen)]
    else:
        body = [Heading((choice.why_not,), "bad"), *_nearest(choice, notes, seen)]
    body += _folds(choice, detail, seen) if detail else ()
    return Document(tuple(body), title="gpuwhy plan")


def _title(choice: Choice, mark: Mark, confirmed: Confirmed = NOT_ASKED) -> Heading:
    names = ", ".join(map(_named, choice.picks)) or ", ".join(
        _named(one) for one in choice.libraries if one.asked
    )
    doubt = next(iter(choice.doubts), "")
    if confirmed[1]:
        return Heading((f"{names} on Python {choice.python}",), mark, under=(confirmed[1],))
    if choice.unplanned:
        left = ", ".join(choice.unplanned[:4])
        doubt = f"{left}: not in gpuwhy's tables; gpuwhy plan --resolve asks the installer"
    under = (doubt,) if doubt else ()
    return Heading((f"{names} on Python {choice.python}",), mark, under=under)


def _settled(choice: Choice, resolves: bool) -> bool:
    """Whether ✓ stands once an installer was asked; it knows packages, and no GPU."""
    return resolves and not choice.doubts and not choice.unplanned


def _named(pick: Pick) -> str:
    return f"{pick.package} {pick.version}" + (f" ({pick.backend})" if pick.backend else "")


def _set(choice: Choice, notes: int, seen: Sequence[Line]) -> tuple[Block, ...]:
    """Commands, the check, what is needed outside Python, and what is worth knowing."""
    every = ways(choice)
    typed = next(way for way in every if way.kind == (choice.demand.manager or "pip"))
    system = [way for way in every if way.kind in ("apt", "archive", "windows")]
    rows: list[Pair | None] = [pair("Do this", _command(typed, choice))]
    for way in system:
        note = (Soft(way.note),) if way.note and notes > 1 else ""
        rows.append(pair("First", f"{way.title}:", _command(way, choice), note))
    proof = check(choice)
    rows.append(pair("Worked if", (Code(proof, copy=True), " shows the GPU")) if proof else None)
    rows += [
        pair("Needs", _need(part.name, part.version, part.why))
        for part in choice.needs
        if part.name not in ("CUDA", "cuDNN")
    ]
    rows.append(pair("Because", *_because(choice)[: max(notes - 1, 1)]))
    guess = " and ".join(line.text for line in assumed(choice.demand, bool(seen)))
    rows.append(pair("Assumed", guess) if guess and notes else None)
    rows.append(pair("Note", *(choice.notes[:notes])) if notes else None)
    told = [one for one in choice.passed if one.kind not in ("preview", "yanked", "gone")]
    rows.append(pair("Passed", _passed(told[:1])) if notes > 1 and told else None)
    rows.append(pair("More", (Code("-v"), " evidence and files · ", Code("--json"))))
    return (pairs(*rows),)


def _need(name: str, version: str, why: str) -> str:
    newer = " or newer" if name == "driver" else ""
    return f"{name} {version}{newer}: {why}"


def _because(choice: Choice) -> list[str]:
    """What it was built for, and which code runs on the GPU, in one line a framework."""
    out = []
    for pick in choice.picks:
        if pick.role == "framework" and pick.cuda:
            cudnn = f", cuDNN {pick.cudnn}" if pick.cudnn and pick.system else ""
            driver = f", driver {pick.driver} or newer" if pick.driver else ""
            known = pick.runs and not pick.doubt
            runs = f"; {choice.demand.gpus[0]} runs {pick.runs}" if known else ""
            out.append(f"{pick.package}: CUDA {pick.cuda}{cudnn}{driver}{runs}")
    out += [f"{bound.requirement}: {bound.because}" for bound in choice.bounds]
    return out


def _passed(groups: Iterable[Passed]) -> str:
    return "; ".join(f"{one.package} {one.span} {one.why}" for one in groups)


def _command(way: Way, choice: Choice) -> Command:
    windows = choice.demand.system == "windows"
    return Command(way.text, _LANGUAGE.get(way.kind, "bat" if windows else "sh"))


def _nearest(choice: Choice, notes: int, seen: Sequence[Line]) -> tuple[Block, ...]:
    """The change that helps, and what can then be installed."""
    near = choice.nearest
    beside = [pair("Or", text) for text, _ in choice.beside]
    if near is None:
        return (pairs(pair("Nearest", "nothing that is known works on this machine"), *beside),)
    nearest = pairs(pair("Nearest", _then(near)), *beside)
    return (nearest, *_set(near.to, min(notes, 1), seen))


def _then(near: Change) -> str:
    """The change, and what of the set it does not name itself."""
    rest = [named for named in map(_named, near.to.picks) if named not in near.text]
    then = f": then {', '.join(rest)}" if rest else ""
    where = "" if "python" in near.parts else f" on Python {near.to.python}"
    return f"{near.text}{then}{where}"


# What -v adds


def _folds(choice: Choice, detail: int, seen: Sequence[Line]) -> tuple[Block, ...]:
    demand = choice.demand
    basis = choice if choice.fits or not choice.nearest else choice.nearest.to
    lines = [*(seen or given(demand)), *assumed(demand, bool(seen)), *known(basis)]
    others = [way for way in ways(basis) if way.kind not in _FILES or detail > 1]
    others = [way for way in others if way.kind != (demand.manager or "pip")]  # printed above
    if not basis.fits:
        others = []
    also = ", ".join(one for one in basis.pythons if one != basis.python)
    wheels = ", ".join(f"{one.package} {one.version}" for one in basis.libraries)
    return (
        *fold("Evidence", pairs(*(pair(line.kind, _with_source(line)) for line in lines))),
        *fold("Notes", items(item(note) for note in basis.notes)),
        *fold("Passed over", items(item(_passed([one])) for one in choice.passed)),
        *fold(
            "Also",
            pairs(
                pair("Pythons", also) if also else None,
                pair("Wheels", wheels) if wheels else None,
            ),
        ),
        *(part for way in others for part in fold(_heading(way), *_body(way, choice))),
    )


def _with_source(line: Line) -> tuple[str | Soft, ...]:
    return (line.text, Soft(f" [{line.source}]")) if line.source else (line.text,)


def _heading(way: Way) -> str:
    return f"{way.title} ({way.file})" if way.file and way.file != way.title else way.title


def _body(way: Way, choice: Choice) -> tuple[Block, ...]:
    note = (items([item((Soft(way.note),))]),) if way.note else ()
    return (_command(way, choice), *note)
