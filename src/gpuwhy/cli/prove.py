"""`gpuwhy prove -- CMD…`: runs a failing program again with one thing changed at a time, and says what the cause is."""

from __future__ import annotations

import argparse
import os
import re
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from gpuwhy.cli import FOUND, HEALTHY, UsageError, forms, refused, say
from gpuwhy.cli.terminal import read_bytes, write

if TYPE_CHECKING:
    from gpuwhy.prove.proof import Proof
    from gpuwhy.proving.plan import Plan
    from gpuwhy.proving.session import Session

INTERRUPTED = 130
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?\Z")
_SECONDS = {"s": 1, None: 1, "m": 60, "h": 3600}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "prove",
        help="run a failing program again with one thing changed at a time, until the cause is proven",
        usage="gpuwhy prove [options] -- CMD [ARG ...]",
        epilog="The program runs many times: leave out what must not be repeated. --dry-run lists the experiments.",
    )
    parser.add_argument("--budget", default="", metavar="TIME", help="5m, 90s: all time that may be spent")
    parser.add_argument("--runs", type=int, default=60, metavar="N", help="the most reruns (default: 60)")
    parser.add_argument("--ok", default="", metavar="REGEX", help="a run that prints this succeeded, and is ended then")
    parser.add_argument(
        "--seconds", type=float, default=0.0, metavar="N", help="still running after N seconds is a success"
    )
    parser.add_argument(
        "--timeout", type=float, default=0.0, metavar="N", help="still running after N seconds is a failure"
    )
    parser.add_argument(
        "--idle", type=float, default=60.0, metavar="N", help="N seconds without output and work: it hangs"
    )
    parser.add_argument("--hook", action="append", default=[], metavar="NAME=VALUE",
                        help="set this variable in every run, so that it stops early: MAX_STEPS=1")  # fmt: skip
    parser.add_argument(
        "--from", dest="recording", metavar="FILE", help="take the failure from `gpuwhy run --record FILE`"
    )
    parser.add_argument("--record", metavar="FILE", help="keep every run, for --replay elsewhere")
    parser.add_argument("--replay", metavar="FILE", help="judge again what --record wrote into FILE; nothing is run")
    parser.add_argument(
        "--python", default="", metavar="PATH", help="the Python that CMD uses, if gpuwhy does not find it"
    )
    parser.add_argument(
        "--no-packages", action="store_true", help="do not test other package versions in a copy of the environment"
    )
    parser.add_argument("--no-loud", action="store_true", help="do not run it once more with all debug messages on")
    parser.add_argument(
        "--may-end", type=int, default=0, metavar="PID", help="this process may be ended, to free GPU memory"
    )
    parser.add_argument("--dry-run", action="store_true", help="list the experiments, run nothing")
    parser.add_argument("--json", action="store_true", help="the answer as JSON (gpuwhy.proof/1)")
    forms.add_forms(parser)
    forms.add_ci(parser)
    parser.add_argument("--quiet", action="store_true", help="do not print a line for each run")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="CMD", help="the program and its arguments")
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Prove, or replay, or list."""
    forms.ready(options)
    if options.replay:
        return _replayed(options)
    plan = _plan(options)
    if options.dry_run:
        return _listed(plan)
    from gpuwhy.proving.answer import proof_of

    with ExitStack() as stack:
        try:
            session = _session(options, plan, stack)
        except OSError as error:
            raise UsageError(f"nothing was run: {error}") from error
        session.go()
        proof = proof_of(session)
    _print(options, proof)
    if options.record:
        _kept(options, session)
    if proof.interrupted:
        return INTERRUPTED
    return HEALTHY if proof.status == "not_failing" else FOUND


def _plan(options: argparse.Namespace) -> Plan:
    argv: list[str] = [*options.program, "--", *options.rest] if options.program and options.rest else options.rest
    argv = argv or options.program
    if not argv:
        raise UsageError("prove what? gpuwhy prove -- python train.py")
    if not sys.platform.startswith("linux"):
        raise UsageError("gpuwhy prove works on Linux")
    if options.seconds and options.timeout:
        raise UsageError("--seconds says that a long run is a success, --timeout that it is a failure: choose one")
    with refused(re.error, f"--ok {options.ok}: "):
        re.compile(options.ok)
    from gpuwhy.proving.plan import Plan
    from gpuwhy.proving.stage import found_program, limits_now, own_room

    if not found_program(argv, os.environ):
        raise UsageError(f"cannot run {argv[0]}: there is no such program")
    limits = limits_now()
    own_room()
    return Plan(
        tuple(argv), {**os.environ, **_hooks(options)}, os.getcwd(), _seconds(options.budget), max(4, options.runs),
        options.ok, options.seconds, options.timeout, options.idle, os.path.expanduser(options.python),
        not options.no_packages, not options.no_loud, options.may_end, limits,
    )  # fmt: skip


def _hooks(options: argparse.Namespace) -> dict[str, str]:
    for one in options.hook:
        if "=" not in one:
            raise UsageError(f"--hook {one}: expected NAME=VALUE")
    return dict(one.split("=", 1) for one in options.hook)


def _seconds(text: str) -> float:
    if not text:
        return 0.0
    found = _TIME.match(text.strip())
    if not found or not float(found[1]):
        raise UsageError(f"--budget {text}: expected a time, as in 90s, 5m, 1h")
    return float(found[1]) * _SECONDS[found[2]]


def _session(options: argparse.Namespace, plan: Plan, stack: ExitStack) -> Session:
    from gpuwhy.proving.bench import Bench
    from gpuwhy.proving.given import given
    from gpuwhy.proving.looks import looks
    from gpuwhy.proving.packages import packages
    from gpuwhy.proving.session import Session
    from gpuwhy.proving import stage

    shared = stack.enter_context(stage.fresh_folder())
    bench = Bench(plan, stage.kept_input(0, shared))

    def say(text: str) -> None:
        if not options.quiet:
            write(f"gpuwhy: {text}\n", sys.stderr)

    how_long = (
        f"for at most {plan.budget:.0f} s" if plan.budget else "for at most 30 times its own length (5 to 30 min)"
    )
    say(f"this runs {os.path.basename(plan.argv[0])} again, at most {plan.runs} times and {how_long}; "
        "Ctrl-C ends it with the answer so far")  # fmt: skip
    session = Session(plan, bench, say)
    if options.recording:
        session.given = given(read_bytes(options.recording), options.recording)
    session.more = [looks, packages] if plan.packages else [looks]
    return session


def _listed(plan: Plan) -> int:
    from gpuwhy.cli.output import text
    from gpuwhy.prove.page import plan_document
    from gpuwhy.proving.given import listed

    budget = f"{plan.budget:.0f} s" if plan.budget else "30 times its own length"
    write(text(plan_document(listed(plan), plan.runs, budget)))
    return HEALTHY


def _replayed(options: argparse.Namespace) -> int:
    from gpuwhy.proving.answer import proof_of
    from gpuwhy.proving.record import BadRecordError, replay

    with refused(BadRecordError, f"{options.replay} is no record of a proof: "):
        session = replay(read_bytes(options.replay))
    proof = proof_of(session)
    _print(options, proof)
    return HEALTHY if proof.status == "not_failing" else FOUND


def _print(options: argparse.Namespace, proof: Proof) -> None:
    from gpuwhy.cli.output import put
    from gpuwhy.prove import page

    document = page.document(proof, forms.asked(options))
    put(options, document, page.values(proof), page.notes(proof))


def _kept(options: argparse.Namespace, session: Session) -> None:
    from gpuwhy.machine.writing import keep
    from gpuwhy.proving.record import record_of

    data = record_of(session)
    with refused(OSError, f"cannot write {options.record}: "):
        keep(options.record, data)
    say(f"gpuwhy: wrote {options.record} ({len(data):,} bytes); read it before you send it")
