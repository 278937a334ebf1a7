"""The steps of a fix and what came of them: for a person, and as the contract `gpuwhy.fix/1` (docs/fix.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpuwhy.border.shared import as_json as shared_json
from gpuwhy.border.shared import shareable
from gpuwhy.model.repair import SCHEMA, Look, Outcome, Step, Steps
from gpuwhy.render.terminal import Paper, put

NO_STEP = "No step is known that would mend this."
_IN = "     "
_FIELD = "            "


def render(steps: Steps, outcome: Outcome | None, paper: Paper) -> str:
    """The whole answer as text."""
    lines = [paper.tint("1", line) for line in paper.wrap(steps.headline, "", "")]
    if not steps.steps:
        lines += ["", "Nothing to fix." if steps.status == "healthy" else NO_STEP, *_notes(steps, paper)]
    elif outcome is None:
        lines += [*_steps(steps.steps, paper), *_closing(steps, paper)]
    else:
        lines += ["", *_done(steps.steps, outcome, paper), "", *_outcome(outcome, paper)]
        left = [step for step in steps.steps if step.number not in outcome.done and _is_left(step, outcome)]
        lines += ["", "still to do", *_steps(left, paper)] if left and outcome.done else []
    return put(lines, paper)


def _is_left(step: Step, outcome: Outcome) -> bool:
    """Whether the second look still shows a cause that a step is for; without one, nobody knows better."""
    if outcome.after is None or outcome.failed:
        return True
    was, now = ({one.partition(" (")[0] for one in look.causes} for look in (outcome.before, outcome.after))
    return not was.issuperset(step.causes) or not now.isdisjoint(step.causes)


def render_question(steps: Steps, numbers: Sequence[int], folder: str, in_place: bool, paper: Paper) -> str:
    """What is about to happen."""
    mine = [step for step in steps.steps if step.number in numbers]
    which = "step " + ", ".join(map(str, numbers))
    where = (
        f"{which} will be carried out in {folder} itself; a list for the way back is written first"
        if in_place
        else f"{which} will be carried out in a copy, {folder}; {steps.prefix} stays as it is"
    )
    return put([*_steps(mine, paper), "", *paper.wrap(where, "", "")], paper)


def _done(steps: Sequence[Step], outcome: Outcome, paper: Paper) -> Iterator[str]:
    for step in steps:
        if step.number in outcome.done:
            yield from paper.wrap(step.text, f"{step.number:>2} ✓ ", _IN)


def _steps(steps: Sequence[Step], paper: Paper) -> Iterator[str]:
    for step in steps:
        yield ""
        yield from _step(step, paper)


def _step(step: Step, paper: Paper) -> Iterator[str]:
    perhaps = "" if step.sure else "perhaps: "
    head = f"{step.number:>2} · {perhaps}{step.text}"
    yield from (paper.tint("1", line) for line in paper.wrap(head, "", _IN))
    yield from paper.wrap(f"{step.why} ({', '.join(step.causes)})", f"{_IN}why    ", _FIELD)
    yield from _field("needs", ", ".join(_needs(step)), paper)
    yield from _field("loads", step.downloads, paper)
    who = "gpuwhy fix --apply, or you" if step.by == "gpuwhy" else "you"
    yield f"{_IN}by     {who}{':' if step.command else ''}"
    yield from (f"{_FIELD}{paper.tint('1', line)}" for line in step.command.splitlines())
    for name, text in (("check", step.check), ("undo", step.undo), ("note", step.note)):
        yield from _field(name, text, paper)
    yield from _field("or", "; ".join(text.removeprefix("Or ") for text in step.alternatives), paper)


def _field(name: str, text: str, paper: Paper) -> list[str]:
    """A row of a step; none where nothing is to be said."""
    return paper.wrap(text, f"{_IN}{name:<7}", _FIELD) if text else []


def _needs(step: Step) -> list[str]:
    return [word for word, on in (("root", step.root), ("a reboot", step.reboot)) if on]


def _notes(steps: Steps, paper: Paper) -> Iterator[str]:
    for note in steps.notes:
        yield from paper.wrap(note, "note: ", "      ")


def _closing(steps: Steps, paper: Paper) -> Iterator[str]:
    yield ""
    yield from _notes(steps, paper)
    mine = [step for step in steps.steps if step.by == "gpuwhy"]
    sure = [step for step in mine if step.sure]
    if sure:
        numbers = ", ".join(str(step.number) for step in sure)
        text = f"gpuwhy fix --apply carries out step {numbers} in a copy of the environment, and looks again"
        yield from paper.wrap(text, "", "")
    elif mine:
        text = f"gpuwhy fix {mine[0].causes[0]} --apply would carry it out in a copy of the environment"
        yield from paper.wrap(text, "", "")
    if len(mine) < len(steps.steps):
        yield from paper.wrap("What needs root, a reboot, a shell or the program itself is left to you", "", "")


def _outcome(outcome: Outcome, paper: Paper) -> Iterator[str]:
    if outcome.failed:
        yield from (paper.tint("1;31", line) for line in paper.wrap(outcome.failed, "✗ ", "  "))
    if outcome.instead:
        yield from paper.wrap(f"that did not help, and was undone; instead: {outcome.instead}", "  ✓ ", "    ")
    for text in outcome.then:
        yield from paper.wrap(f"then, since that brought it to light: {text}", "  ✓ ", "    ")
    if outcome.after is not None:
        yield from _look("before", outcome.before, paper)
        yield from _look("after", outcome.after, paper)
        changes = ", ".join(outcome.changed) or "no release: the same ones, written anew"
        yield from paper.wrap(changes, "  changed ", "          ")
        yield from _compared(outcome, paper)
    names = {"use": outcome.use, "undo": outcome.undo}
    for name, rows in names.items():
        for number, line in enumerate(rows):
            yield f"  {name if number == 0 else '':<7} {line}"


_SIGNS = {"worse": "✗ worse", "left": "✗ as before", "better": "✓ better"}


def _compared(outcome: Outcome, paper: Paper) -> Iterator[str]:
    """What got worse, what is as bad as it was, what is better; then what was found to be the same."""
    for verdict, sign in _SIGNS.items():
        for one in (one for one in outcome.compared if one.verdict == verdict):
            yield from paper.wrap(f"{sign}: {one.what}: {one.before} → {one.after}", "  ", "          ")
    same = [one for one in outcome.compared if one.verdict == "same" and one.module]
    for one in same:
        if one.after != "works":
            yield from paper.wrap(f"– as before, not of this fix: {one.what}: {one.after}", "  ", "          ")
    names = [one.module for one in same if one.after == "works"]
    if names:
        yield from paper.wrap(f"✓ imported before and after: {', '.join(names)}", "  ", "          ")


def _look(name: str, look: Look, paper: Paper) -> Iterator[str]:
    causes = f" ({', '.join(look.causes)})" if look.causes else ""
    yield from paper.wrap(f"{look.headline}{causes}", f"  {name:<7} ", "          ")


def render_json(steps: Steps, outcome: Outcome | None) -> str:
    """Indented JSON, ending in a newline."""
    plainly: dict[str, Any] = {
        "schema": SCHEMA,
        "status": steps.status,
        "headline": steps.headline,
        "environment": {"python": steps.python, "prefix": steps.prefix, "kind": steps.kind},
        "steps": [msgspec.to_builtins(step) for step in steps.steps],
        "notes": list(steps.notes),
        "applied": msgspec.to_builtins(outcome) if outcome else None,
    }
    text = shared_json(plainly)
    return _with_paths(text, outcome) if outcome else text


def _with_paths(text: str, outcome: Outcome) -> str:
    """What was made, by its real paths: whoever asked for it has to find it, in a folder of any name."""
    told = json.loads(text)
    names = ("environment", "python", "failed", "undo", "use")
    made = {name: getattr(outcome, name) for name in names}
    told["applied"].update(shareable(msgspec.to_builtins(made), paths=True))
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"
