"""`gpuwhy fix`: the fix of the present diagnosis as steps; `--apply` carries out those in the target environment."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from gpuwhy.cli import FOUND, HEALTHY, PERHAPS, USAGE, UsageError, refused, say
from gpuwhy.cli.target import add_elsewhere, add_imports, add_target, diagnose
from gpuwhy.cli.terminal import paper, write

if TYPE_CHECKING:
    from gpuwhy.app import Run
    from gpuwhy.fixing import Call, Outcome, Repair, Steps

INTERRUPTED = 130
WORSE = 5  # carried out, found to make something worse, and taken back


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("fix", help="how to fix what check finds, step by step; --apply does it")
    parser.add_argument("causes", nargs="*", metavar="CAUSE", help="only for these causes (gpuwhy check names them)")
    add_target(parser)
    add_imports(parser)
    parser.add_argument("--from", dest="recording", metavar="FILE", help="the steps for a recorded machine")
    parser.add_argument(
        "--root", metavar="PATH", help="the steps for another machine's files: a folder, an OCI layout or an archive"
    )
    parser.add_argument(
        "--image", default="", metavar="NAME", help="which image or platform, where --root holds several"
    )
    add_elsewhere(parser)
    parser.add_argument(
        "--take",
        action="append",
        default=[],
        metavar="CAUSE=N",
        help="take fix number N of this cause instead of the first",
    )
    parser.add_argument("--json", action="store_true", help="steps and outcome as JSON (gpuwhy.fix/1)")
    parser.add_argument(
        "--apply", action="store_true", help="carry out the steps that change only the Python environment"
    )
    parser.add_argument("--yes", action="store_true", help="with --apply: do not ask first")
    parser.add_argument("--in-place", action="store_true", help="change the environment itself, not a copy of it")
    parser.add_argument("--into", default="", metavar="PATH", help="the copy's folder (default: NAME-gpuwhy beside it)")
    parser.add_argument("--installer", choices=("uv", "pip"), help="the installer (default: uv if it is installed)")
    parser.add_argument(
        "--time-limit",
        type=float,
        default=3600,
        metavar="SECONDS",
        help="end an installer call after so many seconds (3600)",
    )
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Diagnose, choose, show; and with --apply ask, carry out, look again."""
    _sensible(options)
    from gpuwhy import fixing

    run = diagnose(options)
    if options.python and not run.found_python:
        say(f"gpuwhy: --python {options.python}: {run.why_no_python}")
        return USAGE
    steps = fixing.steps_of(run, _take(options), options.causes)
    _named(options, run)
    if not options.apply or not steps.steps:
        _print(options, run, steps, None)
        return _without_apply(run, steps)
    idle = fixing.nothing_to_do(run, steps, options.causes)
    if idle:
        _print(options, run, steps, None)
        say(f"gpuwhy: {idle}")
        return _without_apply(run, steps)
    outcome = _apply(options, run, steps)
    if outcome is None:
        return FOUND
    _print(options, run, steps, outcome)
    return _code(outcome)


def _without_apply(run: Run, steps: Steps) -> int:
    """What the steps say where none is carried out; what is broken without any step is no health."""
    if steps.steps:
        return FOUND if any(step.sure for step in steps.steps) else PERHAPS
    causes = run.report().causes
    if any(one.found and not one.with_gpu for one in causes) or steps.status == "broken":
        return FOUND
    return PERHAPS if causes or steps.status != "healthy" else HEALTHY


def _code(outcome: Outcome) -> int:
    """Which of the ways it ended."""
    if outcome.interrupted:
        return INTERRUPTED
    if outcome.worse:
        return WORSE
    return HEALTHY if outcome.worked else FOUND


def _sensible(options: argparse.Namespace) -> None:
    if not options.apply:
        for name in ("yes", "in_place", "into", "installer"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} goes with --apply")
        return
    if options.recording or options.root:
        given = "--from" if options.recording else "--root"
        raise UsageError(
            f"--apply changes the machine it runs on, and {given} is another one: run gpuwhy fix --apply there"
        )
    if options.in_place and options.into:
        raise UsageError("--in-place changes the environment itself, --into makes a copy: choose one")
    if options.time_limit <= 0:
        raise UsageError(f"--time-limit {options.time_limit:g}: expected a number of seconds")


def _take(options: argparse.Namespace) -> dict[str, int]:
    out = {}
    for one in options.take:
        name, _, number = one.partition("=")
        if not number.isdigit() or int(number) < 1:
            raise UsageError(f"--take {one}: expected a cause and the number of its fix, as in install.conflict=2")
        out[name] = int(number)
    return out


def _named(options: argparse.Namespace, run: Run) -> None:
    """Causes and numbers that the diagnosis does not have are a mistake, not an empty answer."""
    found = {cause.id: len(cause.fixes) for cause in run.report().causes}
    for name in (*options.causes, *_take(options)):
        if name not in found:
            shown = ", ".join(found) or "none"
            raise UsageError(f"{name} is not among the causes of this diagnosis ({shown})")
    for name, number in _take(options).items():
        if number > found[name]:
            raise UsageError(f"--take {name}={number}: it has {found[name]} fixes")


def _apply(options: argparse.Namespace, run: Run, steps: Steps) -> Outcome | None:
    """The outcome; None when the user did not agree."""
    from gpuwhy import fixing

    call = _call(options)
    with refused(fixing.RefusedError):
        repair = fixing.prepare(run, steps, call, options.causes)
        if not _agreed(options, _typed(run, steps), repair, call):
            return None
        return fixing.apply_steps(run, repair, call, _say)


def _call(options: argparse.Namespace) -> Call:
    from gpuwhy.fixing import Call

    uv = {"uv": None, "pip": "", None: None}[options.installer]
    into = os.path.abspath(os.path.expanduser(options.into)) if options.into else ""
    return Call(dict(os.environ), options.in_place, into, options.time_limit, uv)


def _typed(run: Run, steps: Steps) -> Steps:
    """The steps for this machine's own terminal: every command by the real paths."""
    import msgspec

    shown = [
        msgspec.structs.replace(
            one, command=run.typed_line(one.command), check=run.typed_line(one.check), undo=run.typed_line(one.undo)
        )
        for one in steps.steps
    ]
    return msgspec.structs.replace(steps, steps=tuple(shown))


def _agreed(options: argparse.Namespace, steps: Steps, repair: Repair, call: Call) -> bool:
    from gpuwhy.render.fix import render_question

    if not options.yes and not sys.stdin.isatty():
        raise UsageError("--apply asks before it changes anything, and there is no terminal to ask: add --yes")
    numbers = [step.number for step in repair.steps]
    question = render_question(steps, numbers, repair.folder, call.in_place, paper(sys.stderr))
    write(question, sys.stderr)
    if options.yes:
        return True
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _say(text: str) -> None:
    write(text + "\n", sys.stderr)


def _print(options: argparse.Namespace, run: Run, steps: Steps, outcome: Outcome | None) -> None:
    from gpuwhy.render import fix

    if options.json:
        write(fix.render_json(steps, outcome))
        return
    write(fix.render(_typed(run, steps), outcome, paper()))
