"""`gpuwhy prove -- CMD…`: runs a failing program again with one thing changed at a time."""

import argparse
import os
import re
import resource
import shutil
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext

from gpuwhy.answer.answer import Answer
from gpuwhy.api.machine import output_of, with_recorded
from gpuwhy.api.watched import after_run
from gpuwhy.causes.load import catalogue
from gpuwhy.cli import FOUND, HEALTHY, INTERRUPTED, UsageError, machine, output, refused
from gpuwhy.cli.run import program
from gpuwhy.cli.terminal import write
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.log.ending import Ending
from gpuwhy.look.look import Options, look
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine
from gpuwhy.machine.redact import of_this_machine
from gpuwhy.prove import page, tweaks
from gpuwhy.prove.proof import FRESH, Plan, Tweak
from gpuwhy.prove.session import Session
from gpuwhy.run import stage
from gpuwhy.run.target import own_text, python_of_command
from gpuwhy.run.trial import Orders, Ran, end_process, interruptible, run_once

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)")
_SECONDS = {"s": 1, "": 1, "m": 60, "h": 3600}


def go(options: argparse.Namespace) -> int:
    """Prove, or list what would be tried."""
    plan = _plan(options)
    length = f"{plan.budget:.0f} s" if plan.budget else "30 times its own length"
    with ExitStack() as stack, refused(OSError, "nothing was run: "):
        shared = stack.enter_context(stage.fresh_folder())
        world = World(plan, stage.kept_input(0, shared), os.path.expanduser(options.python))
        if options.dry_run:
            write(output.text(page.listed(world.untried(), plan.runs, length)))
            return HEALTHY

        def note(text: str) -> None:
            if not options.quiet:
                write(f"gpuwhy: {text}\n", sys.stderr)

        name = os.path.basename(plan.argv[0])
        note(f"this runs {name} again, at most {plan.runs} times and for at most {length}")
        note("Ctrl-C ends it with the answer so far")
        session = Session(plan, world, note)
        if options.recording:
            session.given = _given(options.recording)
        if options.may_end:
            session.last = lambda session: _ended(session, options.may_end)
        with interruptible():
            session.go()
    titles = {cause.id: cause.title for cause in catalogue().causes.values()}
    proof = page.proof_of(session, titles, of_this_machine().hide)
    document = page.document(proof, session.answer, bool(options.html or options.markdown))
    output.put(options, document, proof, lambda: page.notes(proof, session.answer))
    if proof.interrupted:
        return INTERRUPTED
    return HEALTHY if proof.status == "not_failing" else FOUND


def _plan(options: argparse.Namespace) -> Plan:
    argv = program(options, "prove what? gpuwhy prove -- python train.py")
    with refused(re.error, f"--ok {options.ok}: "):
        re.compile(options.ok)
    if not shutil.which(argv[0]):
        raise UsageError(f"cannot run {argv[0]}: there is no such program")
    budget = _TIME.fullmatch(options.budget.strip())
    if options.budget and (not budget or not float(budget[1])):
        raise UsageError(f"--budget {options.budget}: expected a time, as in 90s, 5m, 1h")
    limits = {name: resource.getrlimit(number) for name, number in stage.LIMITS.items()}
    stage.own_room()
    return Plan(
        argv=tuple(argv),
        environ=dict(os.environ),
        folder=os.getcwd(),
        budget=float(budget[1]) * _SECONDS[budget[2]] if budget else 0.0,
        runs=max(4, options.runs),
        ok=options.ok,
        seconds=options.seconds,
        timeout=options.timeout,
        quiet=options.idle,
        limits=limits,
        may_exceed=stage.may_exceed(),
        gpu=any(os.path.exists(f"/dev/{name}") for name in ("nvidiactl", "nvidia0", "dxg")),
    )


def _given(path: str) -> Ran:
    """The failure that `gpuwhy run --record` kept."""
    kept, _ = machine.recorded(path)
    run = with_recorded(Facts(), kept).run
    if not run.failed:
        raise UsageError(f"{path}: no failed program; gpuwhy run --record FILE -- CMD records one")
    number = getattr(signal, value_or(run.signal, ""), 0)
    code, seconds = value_or(run.exit, 0), value_or(run.seconds, 1.0)
    return Ran.of(code, int(number), seconds, output_of(kept))


def _ended(session: Session, pid: int) -> None:
    """After the process has gone that may be ended; it cannot be brought back, so this is last."""
    if not end_process(pid):
        return
    causes, said = ("memory.other_process", "device.busy"), f"after process {pid} ended"
    one = Tweak(f"process {pid}", "process", said, str(pid), causes=causes, command=f"kill {pid}")
    if all(session.once((one,), "confirm").outcome == "passes" for _ in range(2)):
        session.found, session.proven = (one,), True


class World:
    """The user's program on this machine, run with some tweaks in place."""

    def __init__(self, plan: Plan, input_file: str, python: str) -> None:
        self._plan, self._input, self._python = plan, input_file, python
        self._program = shutil.which(plan.argv[0], path=plan.environ.get("PATH")) or ""

    def run(self, tried: Sequence[Tweak], seconds: float, sampled: bool) -> Ran:
        """One trial; whatever was made for it is gone afterwards."""
        plan = self._plan
        environ = tweaks.applied(plan.environ, tried)
        hidden = [one.value for one in tweaks.of(tried, "hide")]
        wants = hidden or any(FRESH in value for value in environ.values())
        avoid = plan.environ.get("TMPDIR", "/tmp")
        place = stage.fresh_folder(avoid=avoid) if wants else nullcontext("")
        argv, folder = list(plan.argv), plan.folder
        raised = {one.name: one.limit for one in tweaks.of(tried, "limit")}
        limits = stage.numbered({**plan.limits, **raised})
        try:
            with place as fresh:
                environ = stage.filled(environ, FRESH, fresh)
                if hidden:
                    argv, folder = stage.without_files(argv, folder, hidden, fresh)
                how = (limits, self._input, seconds, plan.quiet, plan.ok, sampled)
                return run_once(Orders(tuple(argv), self._program, environ, folder, *how))
        except OSError as error:
            return Ran.of(127, 0, 0.0, "", cannot=str(error))

    def explain(self, ran: Ran) -> tuple[Answer, list[Tweak], str]:
        """What this machine's facts and the output of a run say together, everything that this
        machine and this program allow to change, the text of the program.
        """
        argv = self._plan.argv
        watched = after_run(argv, ran.ended, self._python)
        advised = tweaks.advised(watched.answer, self._plan.environ)
        source = "\n".join((*argv, own_text(argv)[1]))
        return watched.answer, [*advised, *self._tweaks(watched.facts)], source

    def _tweaks(self, facts: Facts) -> list[Tweak]:
        plan, places = self._plan, ("script folder", "working folder")
        shadows = (one.path for one in value_or(facts.installs.shadows, ()) if one.via in places)
        return [
            *tweaks.variables(plan.environ, (os.path.dirname(self._program),)),
            *tweaks.limits(plan),
            *tweaks.shadows(shadows),
            *tweaks.settings(plan.environ, len(value_or(facts.devices.gpus, ()))),
        ]

    def untried(self) -> list[Tweak]:
        """The experiments with a program that has not run yet."""
        options = Options(self._python or python_of_command(self._plan.argv), ".")
        live = RecordingMachine(LiveMachine(dict(self._plan.environ)))
        facts = look(live, options, only=("system", "environment", "devices"))
        return tweaks.weighed(self._tweaks(facts), Ending(), "", {})
