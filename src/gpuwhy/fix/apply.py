"""`--apply`: the steps in a copy of the environment, or in place; then look again and compare."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType

import msgspec
from msgspec.structs import replace

from gpuwhy.advise.shell import quoted
from gpuwhy.answer.answer import Answer
from gpuwhy.facts.facts import Facts
from gpuwhy.fix.copying import (
    Copy,
    Environment,
    RefusedError,
    copied,
    environment,
    free_name,
    held,
    lock_file,
    sweep,
)
from gpuwhy.fix.installer import FailedError, Installer, Say
from gpuwhy.fix.outcome import Outcome, Seen, changed, compare, look_of
from gpuwhy.fix.steps import Step

__all__ = ["Call", "RefusedError", "carried_out", "doable", "prepare"]

Looked = tuple[Answer, Facts]


class Call(msgspec.Struct, frozen=True):
    """How the steps are carried out."""

    environ: Mapping[str, str]
    look: Callable[[str, bool], Looked]
    """The diagnosis of an environment by its Python; whether its packages are imported."""
    say: Say
    in_place: bool = False
    into: str = ""
    seconds: float = 3600.0
    installer: str = ""


def doable(steps: Sequence[Step], named: bool = False) -> list[Step]:
    """The steps that `--apply` carries out; of possible causes only where they were named."""
    return [step for step in steps if step.by == "gpuwhy" and (step.sure or named)]


def prepare(facts: Facts, call: Call) -> str:
    """Where it will be done; raises RefusedError before anything is touched."""
    target = environment(facts, call.in_place)
    Installer(target.python, call.environ, call.seconds, call.say, call.installer)
    return target.prefix if call.in_place else free_name(target.prefix, call.into)


def carried_out(facts: Facts, steps: Sequence[Step], call: Call) -> Outcome:
    """What came of it; raises RefusedError where it cannot begin."""
    begun = time.monotonic()
    target = environment(facts, call.in_place)
    with _handled(_ENDING, _interrupt):  # so that nothing half-made is left
        for gone in sweep(target.prefix):
            call.say(f"removed {gone}, which a killed call left unfinished")
        if lock := lock_file(target.prefix):
            call.say(f"{lock} brings the old releases back at its next sync: change it too")
        call.say("importing the frameworks as they are now")
        before = _seen(target.python, call)
        work = _in_place if call.in_place else _in_copy
        outcome = work(target, before, steps, call)
    return replace(outcome, took=round(time.monotonic() - begun, 1))


def _in_copy(target: Environment, before: Seen, steps: Sequence[Step], call: Call) -> Outcome:
    """A copy that is kept where it helped, and removed where it did not."""
    folder = free_name(target.prefix, call.into)
    python = folder + target.python[len(target.prefix) :]
    outcome = _begun(steps, before, folder, python, call)
    copy = Copy(folder)
    try:
        call.say(f"copying {target.prefix} to {folder}")
        copy.begin()
        copied(target.prefix, copy)
        tool = Installer(python, call.environ, call.seconds, call.say, call.installer)
        tool.carry_out([action for step in steps for action in step.do])
        outcome = _looked_again(outcome, before, python, target.releases, steps, call)
    except (FailedError, OSError, KeyboardInterrupt) as error:
        text = f"{_said(error)}. {target.prefix} was not changed"
        outcome = replace(outcome, failed=text, interrupted=isinstance(error, KeyboardInterrupt))
    except BaseException:
        copy.give_up()
        raise
    if outcome.helped:
        copy.finish()
        use = _use(target.prefix, folder, call.environ)
        return replace(outcome, use=use, undo=(f"rm -r {quoted(folder)}",))
    with _handled((signal.SIGINT, *_ENDING), signal.SIG_IGN):  # nothing stops the tidying
        gone = copy.give_up()
    if gone:
        return replace(outcome, taken_back=True)
    failed = f"{outcome.failed or 'It did not help'}; {folder} could not be removed"
    return replace(outcome, stuck=True, failed=failed)


def _in_place(target: Environment, before: Seen, steps: Sequence[Step], call: Call) -> Outcome:
    """The environment itself, after a list for the way back; what does not help is taken back."""
    tool = Installer(target.python, call.environ, call.seconds, call.say, call.installer)
    outcome = _begun(steps, before, target.prefix, target.python, call)
    with held(target.prefix):
        kept = f"{target.prefix}/gpuwhy-before-{time.strftime('%Y%m%d-%H%M%S')}.txt"
        with open(kept, "x", encoding="utf-8") as file:
            file.write("# what was installed before gpuwhy fix --apply --in-place\n")
            file.writelines(f"{name}=={version}\n" for name, version in target.releases.items())
        call.say(f"{kept} lists what is installed now")
        try:
            tool.carry_out([action for step in steps for action in step.do])
            outcome = _looked_again(outcome, before, target.python, target.releases, steps, call)
        except (FailedError, OSError, KeyboardInterrupt) as error:
            stopped = isinstance(error, KeyboardInterrupt)
            outcome = replace(outcome, failed=_said(error), interrupted=stopped)
        if not outcome.helped:
            with _handled((signal.SIGINT, *_ENDING), signal.SIG_IGN):  # nothing stops the tidying
                return _taken_back(target, outcome, tool, kept, call)
    undo = tool.undo_command(target.releases, _releases(call, target))
    return replace(outcome, undo=tuple(undo))


def _taken_back(
    target: Environment, outcome: Outcome, tool: Installer, kept: str, call: Call
) -> Outcome:
    """The releases of before again; how that ended is looked at, not assumed."""
    try:
        now = _releases(call, target)
        if now != target.releases:
            call.say("taking it back")
            tool.remove([name for name in now if name not in target.releases])
            other = {n: v for n, v in target.releases.items() if now.get(n) != v}
            tool.exactly(other)
        now = _releases(call, target)
    except (FailedError, OSError) as error:
        now, said = {}, str(error)
    else:
        said = ", ".join(changed(target.releases, now))
    if now == target.releases:
        os.unlink(kept)
        text = f"{outcome.failed}. {target.prefix} has its old releases" if outcome.failed else ""
        return replace(outcome, taken_back=True, failed=text)
    undo = tuple(tool.undo_command(target.releases, now))
    start = outcome.failed or "It did not help"
    text = f"{start}, and it could not be taken back: {said}"
    return replace(outcome, stuck=True, failed=text, undo=undo)


def _releases(call: Call, target: Environment) -> dict[str, str]:
    return call.look(target.python, False)[1].environment.releases


def _begun(steps: Sequence[Step], before: Seen, folder: str, python: str, call: Call) -> Outcome:
    done = tuple(step.number for step in steps)
    return Outcome(done, folder, python, call.in_place, look_of(before))


def _looked_again(
    outcome: Outcome,
    before: Seen,
    python: str,
    was: dict[str, str],
    steps: Sequence[Step],
    call: Call,
) -> Outcome:
    """The second look, and what follows from both."""
    call.say(f"$ gpuwhy check --import --python {python}")
    after = _seen(python, call)
    about = [cause for step in steps for cause in step.causes]
    return replace(
        outcome,
        after=look_of(after),
        changed=changed(was, after.facts.environment.releases),
        compared=compare(before, after, about),
    )


def _seen(python: str, call: Call) -> Seen:
    return Seen(call.look(python, False)[0], *call.look(python, True))


def _use(prefix: str, folder: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """How to use the copy in a shell."""
    lines = [f"source {quoted(folder)}/bin/activate"]
    path = environ.get("LD_LIBRARY_PATH", "")
    led = [
        folder + one[len(prefix) :] if one.startswith(f"{prefix}/") else one
        for one in path.split(":")
    ]
    if led != path.split(":"):  # it names folders of the old environment
        lines.append(f"export LD_LIBRARY_PATH={quoted(':'.join(led))}")
    return tuple(lines)


def _said(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted"
    if isinstance(error, OSError):
        return f"{error.filename or 'the disk'}: {error.strerror or error}"
    return str(error)


_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def _handled(
    numbers: Sequence[signal.Signals],
    handler: Callable[[int, FrameType | None], None] | signal.Handlers,
) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, was in before.items():
            signal.signal(number, was)
