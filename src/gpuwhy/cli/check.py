"""`gpuwhy check`: is this machine and environment able to run GPU work, and if not, why?"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from gpuwhy.cli import FOUND, HEALTHY, PERHAPS, UsageError, forms
from gpuwhy.cli.target import add_elsewhere, add_imports, add_target, diagnose
from gpuwhy.cli.terminal import paper, write

FORMS = ("slurm", "nhc", "npd", "prometheus", "kubernetes")
"""Whose reader --health writes for."""

if TYPE_CHECKING:
    from gpuwhy.app import Report, Run


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("check", help="is this machine able to run GPU work, and if not, why? (the default)")
    add_target(parser)
    add_imports(parser)
    parser.add_argument("--from", dest="recording", metavar="FILE", help="diagnose a recording made by `gpuwhy record`")
    parser.add_argument(
        "--root", metavar="PATH", help="diagnose another machine's files: a folder, an OCI layout or an archive"
    )
    parser.add_argument(
        "--image", default="", metavar="NAME", help="which image or platform, where --root holds several"
    )
    add_elsewhere(parser)
    parser.add_argument("--json", action="store_true", help="the report as JSON (gpuwhy.report/1)")
    parser.add_argument("--jsonl", action="store_true", help="one line for `gpuwhy fleet compare` (gpuwhy.node/1)")
    parser.add_argument(
        "--exit-zero", action="store_true", help="with --jsonl: always end with 0 (or some launchers stop the job)"
    )
    parser.add_argument(
        "--health", choices=FORMS, help="the node's health for a scheduler; exit code 0 well, 1 not, 2 unknown"
    )
    parser.add_argument(
        "--expect-gpus", type=int, default=0, metavar="N", help="with --health: fewer than N GPUs is a fault"
    )
    parser.add_argument("--node", default="", metavar="NAME", help="with --jsonl: the name of this machine")
    parser.add_argument("-v", "--verbose", action="store_true", help="every fact with its source, and every verdict")
    forms.add_forms(parser)
    forms.add_ci(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Observe, judge, print."""
    forms.ready(options)
    if options.jsonl and not options.recording:
        options.recording = os.environ.get("GPUWHY_FROM")  # a node that answers as a recorded machine
    run = diagnose(options)
    if options.python and not run.found_python:
        raise UsageError(f"--python {options.python}: {run.why_no_python}")
    report = run.report()
    if options.jsonl:
        from gpuwhy.cli.fleet import node_line

        write(node_line(run, report, options.node))
        return HEALTHY if options.exit_zero else exit_code(report)
    if options.health:
        return _health(options, run, report)
    if report.causes:
        from gpuwhy.settling import settled

        report = settled(report, run.facts)
    if forms.told_ci(options, report) or (forms.asked(options) and forms.shown(options, report)):
        return exit_code(report)
    if options.json:
        from gpuwhy.render.json import render as as_json

        write(as_json(report))
    else:
        from gpuwhy.render.terminal import render as as_text

        write(as_text(run.typed(report), paper(), options.verbose))
    return exit_code(report)


def _health(options: argparse.Namespace, run: Run, report: Report) -> int:
    """For a prolog, a probe, a detector or a collector: their text, their exit code."""
    import time

    from gpuwhy.render import health

    devices = run.facts.devices.devices
    gpus = len(devices.value) if hasattr(devices, "value") else None
    judged = health.judged(report, gpus, options.expect_gpus)
    write(health.render(report, judged, options.health, gpus, time.time()))
    return judged.code


def exit_code(report: Report) -> int:
    """1: a cause was found, or something fails. 4: only a possible one, or with a GPU; or nothing to judge. 0: none."""
    if report.status == "broken" or any(c.found and not c.with_gpu for c in report.causes):
        return FOUND
    return PERHAPS if report.causes or _nothing_to_judge(report) else HEALTHY


def _nothing_to_judge(report: Report) -> bool:
    """Whether the environment that was named holds no framework, and is one that could be run."""
    target, around = report.facts.get("target", {}), report.facts.get("surroundings", {})
    python, frameworks = target.get("interpreter", {}), target.get("frameworks", {})
    named = (python.get("value") or {}).get("chosen_by") == "--python"
    empty = frameworks.get("state") == "known" and not frameworks.get("value")
    return report.status == "unknown" and named and empty and around.get("offline", {}).get("state") != "known"
