"""`gpuwhy fix`: the remedies of check's answer as steps; `--apply` carries them out."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING

from gpuwhy.cli import FOUND, HEALTHY, PERHAPS, UsageError, forms, output, refused, say
from gpuwhy.cli.target import add_elsewhere, add_imports, add_target
from gpuwhy.cli.terminal import write

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer
    from gpuwhy.api.machine import Seen
    from gpuwhy.facts.facts import Facts
    from gpuwhy.fix.apply import Call
    from gpuwhy.fix.outcome import Outcome
    from gpuwhy.fix.steps import Steps

INTERRUPTED = 130
_FLAGS = {"recording": "--from"}
STUCK = 5  # it changed something and could not take it back


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "fix", help="how to fix what check finds, step by step; --apply does it"
    )
    add_to = parser.add_argument
    add_to("causes", nargs="*", metavar="CAUSE", help="only for these causes of gpuwhy check")
    add_target(parser)
    add_imports(parser)
    add_to("--from", dest="recording", metavar="FILE", help="the steps for a recorded machine")
    add_to(
        "--root",
        metavar="PATH",
        help="the steps for another machine: a folder, an OCI layout or an archive",
    )
    add_to("--image", default="", metavar="NAME", help="which image, where --root holds several")
    add_elsewhere(parser)
    take = "take remedy number N of this cause"
    add_to("--take", action="append", default=[], metavar="CAUSE=N", help=take)
    add_to("--json", action="store_true", help="steps and outcome as JSON (gpuwhy.fix/1)")
    add_to("-v", "--verbose", action="store_true", help="every step, however many")
    add_to("--apply", action="store_true", help="carry out what changes the Python environment")
    add_to("--yes", action="store_true", help="with --apply: do not ask first")
    add_to("--in-place", action="store_true", help="change the environment itself, not a copy")
    into = "the copy's folder (default: NAME-gpuwhy beside it)"
    add_to("--into", default="", metavar="PATH", help=into)
    installer = "the installer (default: uv if it is installed)"
    add_to("--installer", choices=("uv", "pip"), help=installer)
    limit = "end an installer call after so many seconds (3600)"
    add_to("--time-limit", type=float, default=3600, metavar="SECONDS", help=limit)
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Diagnose, choose, print; with --apply ask, carry out, look again."""
    forms.ready(options)
    _sensible(options)
    from msgspec.structs import replace

    from gpuwhy.cli.machine import seen
    from gpuwhy.fix.steps import steps_of

    found = seen(options)
    take = _take(options)
    _named(options, found, take)
    steps = steps_of(found.report, found.facts, take, options.causes)
    steps = replace(steps, here=not (options.recording or options.root))
    if options.apply:
        return _apply(options, found, steps)
    _print(options, steps)
    return _code(found, steps)


def _print(options: argparse.Namespace, steps: Steps) -> None:
    from gpuwhy.fix.document import document

    output.put(options, document(steps, options.verbose, _typed(options)), steps)


def _typed(options: argparse.Namespace) -> str:
    """This call once more, as far as it chooses a machine and causes."""
    words = ["gpuwhy", "fix", *options.causes]
    for name in ("python", "recording", "root", "image", "driver", "like"):
        given = getattr(options, name) or ""
        words += [_FLAGS.get(name, f"--{name}"), given] if given else []
    words += [word for one in options.gpu for word in ("--gpu", one)]
    words += [word for one in options.take for word in ("--take", one)]
    return shlex.join(words)


def _code(found: Seen, steps: Steps) -> int:
    """What the steps say where none is carried out."""
    if any(step.sure for step in steps.steps):
        return FOUND
    return PERHAPS if steps.steps else found.report.exit_code


def _sensible(options: argparse.Namespace) -> None:
    if not options.apply:
        for name in ("yes", "in_place", "into", "installer"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} goes with --apply")
        return
    if options.recording or options.root:
        given = "--from" if options.recording else "--root"
        text = f"--apply changes the machine it runs on, and {given} is another one"
        raise UsageError(f"{text}: run gpuwhy fix --apply there")
    if options.in_place and options.into:
        raise UsageError("--in-place changes the environment itself, --into makes a copy")
    if options.time_limit <= 0:
        raise UsageError(f"--time-limit {options.time_limit:g}: expected a number of seconds")


def _take(options: argparse.Namespace) -> dict[str, int]:
    out = {}
    for one in options.take:
        name, _, number = one.partition("=")
        if not number.isdigit() or int(number) < 1:
            raise UsageError(f"--take {one}: expected CAUSE=N, as in install.conflict=2")
        out[name] = int(number)
    return out


def _named(options: argparse.Namespace, found: Seen, take: dict[str, int]) -> None:
    """Causes and numbers that the diagnosis does not have are a mistake."""
    from gpuwhy.answer.text import counted

    causes = {cause.id: len(cause.fixes) for cause in reversed(found.report.causes)}
    for name in (*options.causes, *take):
        if name not in causes:
            shown = ", ".join(causes) or "none"
            raise UsageError(f"{name} is not among the causes of this diagnosis ({shown})")
    for name, number in take.items():
        if number > causes[name]:
            has = counted(causes[name], "remedy", "remedies")
            raise UsageError(f"--take {name}={number}: it has {has}")


def _apply(options: argparse.Namespace, found: Seen, steps: Steps) -> int:
    """Carry out what can be, and say what came of it."""
    from msgspec.structs import replace

    from gpuwhy.fix import apply

    mine = apply.doable(steps.steps, bool(options.causes))
    if not mine:
        _print(options, steps)
        if steps.steps:
            say("gpuwhy: no step can be carried out in the environment; nothing was changed")
        return _code(found, steps)
    call = _call(options)
    with refused(apply.RefusedError):
        folder = apply.prepare(found.facts, call)
        if not _agreed(options, steps, [step.number for step in mine], folder):
            return FOUND
        outcome = apply.carried_out(found.facts, mine, call)
    _print(options, replace(steps, applied=outcome))
    return _code_of(outcome)


def _code_of(outcome: Outcome) -> int:
    if outcome.stuck:
        return STUCK
    if outcome.interrupted:
        return INTERRUPTED
    return HEALTHY if outcome.worked else FOUND


def _call(options: argparse.Namespace) -> Call:
    """How it is carried out, and how the environment is looked at."""
    import copy

    from gpuwhy.cli.machine import seen
    from gpuwhy.fix.apply import Call

    def look(python: str, imports: bool) -> Seen:
        asked = copy.copy(options)
        asked.python, asked.imports = python, imports
        asked.deep = asked.verify = asked.probe = asked.gentle = False
        return seen(asked)

    into = os.path.abspath(os.path.expanduser(options.into)) if options.into else ""
    environ = dict(os.environ)
    return Call(
        environ=environ,
        look=lambda python, imports: _both(look(python, imports)),
        say=lambda text: write(f"{text}\n", sys.stderr),
        in_place=options.in_place,
        into=into,
        seconds=options.time_limit,
        installer=options.installer or "",
    )


def _both(found: Seen) -> tuple[Answer, Facts]:
    return found.report, found.facts


def _agreed(options: argparse.Namespace, steps: Steps, numbers: list[int], folder: str) -> bool:
    from gpuwhy.fix.document import question

    if not options.yes and not sys.stdin.isatty():
        raise UsageError("--apply asks first, and there is no terminal to ask: add --yes")
    asked = question(steps, numbers, folder, options.in_place)
    write(output.text(asked, sys.stderr), sys.stderr)
    if options.yes:
        return True
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
