"""`gpuwhy fix`: the remedies of check's answer as steps; `--apply` carries them out."""

import argparse
import copy
import os
import shlex
import sys

from msgspec.structs import replace

from gpuwhy.cli import FOUND, HEALTHY, INTERRUPTED, PERHAPS, UsageError, output, refused, say
from gpuwhy.cli.machine import seen
from gpuwhy.cli.terminal import write
from gpuwhy.facts.facts import Facts
from gpuwhy.fix import apply
from gpuwhy.fix.document import document, question
from gpuwhy.fix.steps import Step, Steps, steps_of

STUCK = 5  # it changed something and could not take it back


def go(options: argparse.Namespace) -> int:
    """Diagnose, choose, print; with --apply ask, carry out, look again."""
    if options.time_limit <= 0:
        raise UsageError(f"--time-limit {options.time_limit:g}: expected a number of seconds")
    found = seen(options)
    take = _take(options, {one.id: len(one.fixes) for one in reversed(found.report.causes)})
    steps = steps_of(found.report, found.facts, take, options.causes)
    steps = replace(steps, here=not (options.recording or options.root))
    mine = apply.doable(steps.steps, bool(options.causes)) if options.apply else []
    if mine:
        return _apply(options, found.facts, steps, mine)
    _print(options, steps)
    if options.apply and steps.steps:
        say("gpuwhy: no step can be carried out in the environment; nothing was changed")
    if any(step.sure for step in steps.steps):
        return FOUND
    return PERHAPS if steps.steps else found.report.exit_code


def _print(options: argparse.Namespace, steps: Steps) -> None:
    """The steps, with this call once more as far as it chooses a machine and causes."""
    words = ["gpuwhy", "fix", *options.causes]
    for name in ("python", "from", "root", "image", "driver", "like", "gpu", "take"):
        given = getattr(options, "recording" if name == "from" else name)
        for one in given if isinstance(given, list) else filter(None, [given]):
            words += [f"--{name}", one]
    output.put(options, document(steps, bool(options.verbose), shlex.join(words)), steps)


def _take(options: argparse.Namespace, causes: dict[str, int]) -> dict[str, int]:
    """Cause → the number of its remedy; what the diagnosis does not have is a mistake."""
    take = {}
    for one in options.take:
        name, _, number = one.partition("=")
        if not number.isdecimal() or int(number) < 1:
            raise UsageError(f"--take {one}: expected CAUSE=N, as in install.conflict=2")
        take[name] = int(number)
    for name in (*options.causes, *take):
        if name not in causes:
            shown = ", ".join(causes) or "none"
            raise UsageError(f"{name} is not among the causes of this diagnosis ({shown})")
        if take.get(name, 0) > causes[name]:
            raise UsageError(f"--take {name}={take[name]}: it has {causes[name]}")
    return take


def _apply(options: argparse.Namespace, facts: Facts, steps: Steps, mine: list[Step]) -> int:
    """Ask, carry out what can be, and say what came of it."""

    def look(python: str, imports: bool) -> apply.Looked:
        asked = copy.copy(options)
        asked.python, asked.imports = python, imports
        asked.deep = asked.verify = asked.probe = asked.gentle = False
        now = seen(asked)
        return now.report, now.facts

    call = apply.Call(
        environ=dict(os.environ),
        look=look,
        say=lambda text: write(f"{text}\n", sys.stderr),
        in_place=options.in_place,
        into=os.path.abspath(os.path.expanduser(options.into)) if options.into else "",
        seconds=options.time_limit,
        installer=options.installer,
    )
    with refused(apply.RefusedError):
        folder = apply.prepare(facts, call)
        if not options.yes and not sys.stdin.isatty():
            raise UsageError("--apply asks first, and there is no terminal to ask: add --yes")
        asked = question(steps, [step.number for step in mine], folder, options.in_place)
        write(output.text(asked, sys.stderr), sys.stderr)
        if not options.yes:
            write("Go on? [y/N] ", sys.stderr)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                return FOUND
        outcome = apply.carried_out(facts, mine, call)
    _print(options, replace(steps, applied=outcome))
    if outcome.stuck or outcome.interrupted:
        return STUCK if outcome.stuck else INTERRUPTED
    return HEALTHY if outcome.worked else FOUND
