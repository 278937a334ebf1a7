"""A plan as a document: the set, the commands, how to see that it worked; at most 20 lines."""

from collections.abc import Sequence
from typing import Union

from gpuwhy.answer.blocks import fold, item, items, pair, pairs
from gpuwhy.answer.terminal import height
from gpuwhy.answer.tree import Block, Code, Command, Document, Heading, Language, Mark, Pair, Soft
from gpuwhy.choose.choice import Choice, Passed, Pick
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
    folds = _folds(choice, detail, seen) if detail else ()
    for notes in (3, 2, 1, 0):
        if choice.fits:
            body = [_title(choice, confirmed), *_set(choice, notes, seen)]
        else:
            body = [Heading((choice.why_not,), "bad"), *_nearest(choice, notes, seen)]
        made = Document((*body, *folds), title="gpuwhy plan")
        if detail or height(made) <= MOST:
            break
    return made


def _title(choice: Choice, confirmed: Confirmed) -> Heading:
    named = choice.picks or [one for one in choice.libraries if one.asked]
    doubt, certain = next(iter(choice.doubts), ""), choice.certain
    if choice.unplanned:
        left = ", ".join(choice.unplanned[:4])
        doubt = f"{left}: not in gpuwhy's tables; gpuwhy plan --resolve asks the installer"
    if confirmed[0] is not None:  # an installer knows packages, and no GPU
        certain = confirmed[0] and not choice.doubts and not choice.unplanned
    text = f"{', '.join(map(_named, named))} on Python {choice.python}"
    mark: Mark = "ok" if certain else "unknown"
    return Heading((text,), mark, under=tuple(filter(None, (confirmed[1] or doubt,))))


def _named(pick: Pick) -> str:
    return f"{pick.package} {pick.version}" + (f" ({pick.backend})" if pick.backend else "")


def _set(choice: Choice, notes: int, seen: Sequence[Line]) -> tuple[Block, ...]:
    """Commands, the check, what is needed outside Python, and what is worth knowing."""
    every = ways(choice)
    typed = next(way for way in every if way.kind == (choice.demand.manager or "pip"))
    rows: list[Pair | None] = [pair("Do this", _command(typed, choice))]
    for way in every:
        if way.kind in ("apt", "archive", "windows"):
            note = (Soft(way.note),) if way.note and notes > 1 else ""
            rows.append(pair("First", f"{way.title}:", _command(way, choice), note))
    proof = check(choice)
    rows.append(pair("Worked if", (Code(proof, copy=True), " shows the GPU")) if proof else None)
    for part in choice.needs:
        if part.name not in ("CUDA", "cuDNN"):
            newer = " or newer" if part.name == "driver" else ""
            rows.append(pair("Needs", f"{part.name} {part.version}{newer}: {part.why}"))
    rows.append(pair("Because", *_because(choice)[: max(notes - 1, 1)]))
    guess = " and ".join(line.text for line in assumed(choice.demand, bool(seen)))
    rows.append(pair("Assumed", guess) if guess and notes else None)
    rows.append(pair("Note", *(choice.notes[:notes])) if notes else None)
    told = [one for one in choice.passed if one.kind not in ("preview", "yanked", "gone")]
    rows.append(pair("Passed", _passed(told[0])) if notes > 1 and told else None)
    rows.append(pair("More", (Code("-v"), " evidence and files · ", Code("--json"))))
    return (pairs(*rows),)


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
    return [*out, *(f"{bound.requirement}: {bound.because}" for bound in choice.bounds)]


def _passed(one: Passed) -> str:
    return f"{one.package} {one.span} {one.why}"


def _command(way: Way, choice: Choice) -> Command:
    windows = choice.demand.system == "windows"
    return Command(way.text, _LANGUAGE.get(way.kind, "bat" if windows else "sh"))


def _nearest(choice: Choice, notes: int, seen: Sequence[Line]) -> tuple[Block, ...]:
    """The change that helps, and what can then be installed."""
    near = choice.nearest
    beside = [pair("Or", text) for text, _ in choice.beside]
    if near is None:
        return (pairs(pair("Nearest", "nothing that is known works on this machine"), *beside),)
    rest = [named for named in map(_named, near.to.picks) if named not in near.text]
    then = f": then {', '.join(rest)}" if rest else ""
    where = "" if "python" in near.parts else f" on Python {near.to.python}"
    moves = [pair("In code", move) for move in choice.migration[:notes]]
    rows = (pair("Nearest", f"{near.text}{then}{where}"), *moves, *beside)
    return (pairs(*rows), *_set(near.to, min(notes, 1), seen))


# What -v adds


def _folds(choice: Choice, detail: int, seen: Sequence[Line]) -> tuple[Block, ...]:
    demand = choice.demand
    basis = choice if choice.fits or not choice.nearest else choice.nearest.to
    evidence = []
    for line in (*(seen or given(demand)), *assumed(demand, bool(seen)), *known(basis)):
        source = (Soft(f" [{line.source}]"),) if line.source else ()
        evidence.append(pair(line.kind, (line.text, *source)))
    also = ", ".join(one for one in basis.pythons if one != basis.python)
    wheels = ", ".join(f"{one.package} {one.version}" for one in basis.libraries)
    more = (pair("Pythons", also) if also else None, pair("Wheels", wheels) if wheels else None)
    out = [
        *fold("Evidence", pairs(*evidence)),
        *fold("Notes", items(item(note) for note in basis.notes)),
        *fold("Passed over", items(item(_passed(one)) for one in choice.passed)),
        *fold("Also", pairs(*more)),
    ]
    for way in ways(basis) if basis.fits else ():
        printed = way.kind == (demand.manager or "pip")
        if not printed and (way.kind not in _FILES or detail > 1):
            note = (items([item((Soft(way.note),))]),) if way.note else ()
            title = way.title + (f" ({way.file})" if way.file not in ("", way.title) else "")
            out += fold(title, _command(way, choice), *note)
    return tuple(out)
