"""`gpuwhy prove -- CMD…`: runs a failing program again with one thing changed at a time."""

from __future__ import annotations

import argparse
import os
import re
import sys
from contextlib import ExitStack

from gpuwhy.cli import FOUND, HEALTHY, INTERRUPTED, UsageError, output, refused
from gpuwhy.cli.run import program
from gpuwhy.cli.terminal import read_bytes, write
from gpuwhy.prove import page
from gpuwhy.prove.proof import Proof
from gpuwhy.proving import given, record, stage
from gpuwhy.proving.answer import proof_of
from gpuwhy.proving.bench import Bench
from gpuwhy.proving.looks import looks
from gpuwhy.proving.packages import packages
from gpuwhy.proving.plan import Plan
from gpuwhy.proving.session import Session

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?\Z")
_SECONDS = {"s": 1, None: 1, "m": 60, "h": 3600}


def go(options: argparse.Namespace) -> int:
    """Prove, or replay, or list."""
    output.ready(options)
    if options.replay:
        with refused(record.BadRecordError, f"{options.replay} is no record of a proof: "):
            return _printed(options, proof_of(record.replay(read_bytes(options.replay))))
    plan = _plan(options)
    length = f"{plan.budget:.0f} s" if plan.budget else "30 times its own length"
    if options.dry_run:
        write(output.text(page.plan_document(given.listed(plan), plan.runs, length)))
        return HEALTHY
    with ExitStack() as stack:
        with refused(OSError, "nothing was run: "):
            session = _session(options, plan, stack)
        session.go()
        proof = proof_of(session)
    if options.record:
        output.keep(options.record, record.record_of(session))
    return _printed(options, proof)


def _printed(options: argparse.Namespace, proof: Proof) -> int:
    document = page.document(proof, output.shares(options))
    output.put(options, document, page.values(proof), lambda: page.notes(proof))
    if proof.interrupted:
        return INTERRUPTED
    return HEALTHY if proof.status == "not_failing" else FOUND


def _plan(options: argparse.Namespace) -> Plan:
    argv = program(options, "prove what? gpuwhy prove -- python train.py")
    if options.seconds and options.timeout:
        raise UsageError("--seconds makes a long run a success, --timeout a failure: choose one")
    with refused(re.error, f"--ok {options.ok}: "):
        re.compile(options.ok)
    for one in options.hook:
        if "=" not in one:
            raise UsageError(f"--hook {one}: expected NAME=VALUE")
    if not stage.found_program(argv, os.environ):
        raise UsageError(f"cannot run {argv[0]}: there is no such program")
    limits = stage.limits_now()
    stage.own_room()
    return Plan(
        argv=tuple(argv),
        environ={**os.environ, **dict(one.split("=", 1) for one in options.hook)},
        folder=os.getcwd(),
        budget=_seconds(options.budget),
        runs=max(4, options.runs),
        ok=options.ok,
        seconds=options.seconds,
        timeout=options.timeout,
        quiet=options.idle,
        python=os.path.expanduser(options.python),
        packages=not options.no_packages,
        loud=not options.no_loud,
        ask_to_go=options.may_end,
        limits=limits,
    )


def _seconds(text: str) -> float:
    found = _TIME.match(text.strip())
    if text and (not found or not float(found[1])):
        raise UsageError(f"--budget {text}: expected a time, as in 90s, 5m, 1h")
    return float(found[1]) * _SECONDS[found[2]] if found else 0.0


def _session(options: argparse.Namespace, plan: Plan, stack: ExitStack) -> Session:
    shared = stack.enter_context(stage.fresh_folder())
    bench = Bench(plan, stage.kept_input(0, shared))

    def note(text: str) -> None:
        if not options.quiet:
            write(f"gpuwhy: {text}\n", sys.stderr)

    long = "30 times its own length (5 to 30 min)"
    length = f"{plan.budget:.0f} s" if plan.budget else long
    name = os.path.basename(plan.argv[0])
    note(f"this runs {name} again, at most {plan.runs} times and for at most {length}")
    note("Ctrl-C ends it with the answer so far")
    session = Session(plan, bench, note)
    if options.recording:
        session.given = given.given(read_bytes(options.recording), options.recording)
    session.more = [looks, packages] if plan.packages else [looks]
    return session
