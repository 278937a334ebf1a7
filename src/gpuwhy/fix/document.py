"""The steps, and what came of them, as a document of at most 20 lines."""

from collections.abc import Sequence

from gpuwhy.answer.blocks import item, items, pair, pairs
from gpuwhy.answer.terminal import height
from gpuwhy.answer.text import clip, listed
from gpuwhy.answer.tree import Block, Command, Document, Heading, Item, Mark, Pair, Paragraph, Soft
from gpuwhy.fix.outcome import Outcome
from gpuwhy.fix.steps import Step, Steps

MOST = 20
MARKS: dict[str, Mark] = {"healthy": "ok", "broken": "bad", "degraded": "bad", "unknown": "unknown"}
_SIGNS: dict[str, Mark] = {"worse": "bad", "left": "warn", "better": "ok", "same": ""}


def document(steps: Steps, all_of_it: bool = False, typed: str = "gpuwhy fix") -> Document:
    """The answer as it is printed; `typed` is the call that it answers."""
    whole = len(steps.steps)
    made = _steps(steps, whole, typed) if steps.applied is None else _applied(steps)
    for most in () if all_of_it or steps.applied else range(whole - 1, 0, -1):
        if height(made) <= MOST:
            break
        made = _steps(steps, most, typed)
    return Document(made.blocks, title=f"gpuwhy fix: {steps.headline}", made_by="gpuwhy")


def question(steps: Steps, numbers: Sequence[int], folder: str, in_place: bool) -> Document:
    """What is about to happen."""
    mine = [step for step in steps.steps if step.number in numbers]
    names = listed(tuple(str(one) for one in numbers))
    where = (
        f"In {folder} itself; a list for the way back is written first."
        if in_place
        else f"In a copy, {folder}; {steps.environment.prefix} is not changed."
    )
    head = Heading((f"Step {names} will be carried out",))
    return Document((head, items(map(_row, mine)), Paragraph((where,))))


def _steps(steps: Steps, most: int, typed: str) -> Document:
    """The first steps, and how to go on."""
    head = Heading((steps.headline,), MARKS[steps.status])
    notes = [pair("Note", note) for note in steps.notes[:3]]
    if not steps.steps:
        said = "Nothing to fix." if steps.status == "healthy" else "No remedy is known for this."
        return _of(head, Paragraph((said,)), pairs(*notes))
    rest = len(steps.steps) - most
    more = pair("More", f"{rest} more steps:", Command(f"{typed} -v")) if rest else None
    rows = pairs(_by_gpuwhy(steps, typed), more, *notes)
    return _of(head, items(map(_row, steps.steps[:most]), numbered=True), rows)


def _of(*blocks: Block) -> Document:
    return Document(tuple(one for one in blocks if getattr(one, "rows", True)))


def _row(step: Step) -> Item:
    perhaps = "" if step.sure else "perhaps: "
    asked = (("root", step.root), ("a reboot", step.reboot))
    needs = tuple(word for word, on in asked if on)
    about = [", ".join(step.causes)]
    about += [f"needs {listed(needs)}"] if needs else []
    about += [step.note] if step.note else []
    about += ["--apply can do it"] if step.by == "gpuwhy" else []
    command = (Command(step.command, step.language),) if step.command else ()
    return item(f"{perhaps}{step.text}", *command, (Soft(" · ".join(about)),))


def _by_gpuwhy(steps: Steps, typed: str) -> Pair | None:
    """What `--apply` would do; nothing for another machine's recording or files."""
    if not steps.here:
        return None
    mine = [step for step in steps.steps if step.by == "gpuwhy"]
    sure = tuple(str(step.number) for step in mine if step.sure)
    if sure:
        word = "steps" if len(sure) > 1 else "step"
        said = f"carries out {word} {listed(sure)} in a copy"
        return pair("Apply", Command(f"{typed} --apply"), (Soft(said),))
    if mine:
        return pair("Apply", Command(f"{typed} --apply {mine[0].causes[0]}"))
    return None


def _applied(steps: Steps) -> Document:
    """Whether it helped, what changed, how to use it and how to take it back."""
    outcome = steps.applied
    assert outcome is not None
    mark: Mark = "ok" if outcome.worked else "warn" if outcome.helped else "bad"
    order = ("worse", "left", "better")  # what works as before is counted, not listed
    telling = [one for verdict in order for one in outcome.compared if one.verdict == verdict]
    rows = []
    for one in telling[:6]:
        was, now = clip(one.before, 60), clip(one.after, 60)
        rows.append(item(f"{one.what}: {was} → {now}", mark=_SIGNS[one.verdict]))
    left = [step for step in steps.steps if step.number not in outcome.done]
    todo = f"step {listed(tuple(str(one.number) for one in left))}: gpuwhy fix" if left else ""
    more = len(outcome.changed) - 6
    changed = ", ".join(outcome.changed[:6]) + (f" and {more} more" if more > 0 else "")
    use = Command("\n".join(outcome.use)) if outcome.use else ""
    undo = Command("\n".join(outcome.undo)) if outcome.undo else ""
    return _of(
        Heading((_verdict(outcome),), mark),
        items(rows),
        pairs(
            pair("Changed", changed),
            pair("Use it", use),
            pair("Undo", undo),
            pair("To do", todo) if outcome.helped else None,
        ),
    )


def _verdict(outcome: Outcome) -> str:
    """What came of it, in one sentence."""
    where = "" if outcome.in_place else " in the copy"
    if outcome.failed:
        return outcome.failed
    if outcome.worked:
        return f"Fixed{where}: nothing wrong is left"
    if outcome.helped:
        return f"It helped{where}, and something is left"
    worse = any(one.verdict == "worse" for one in outcome.compared)
    said = "It made something worse" if worse else "It did not help: as before"
    if outcome.stuck:
        return f"{said}, and it could not be taken back"
    return f"{said}, and it was taken back"
