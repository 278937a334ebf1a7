"""`gpuwhy check`: is this machine and environment able to run GPU work, and if not, why?"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from gpuwhy.cli import HEALTHY, UsageError, forms
from gpuwhy.cli.output import put_checked
from gpuwhy.cli.target import add_elsewhere, add_imports, add_target, diagnose
from gpuwhy.cli.terminal import write
from gpuwhy.showing import answer_of

if TYPE_CHECKING:
    from gpuwhy.facts.facts import Facts


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "check", help="is this machine able to run GPU work, and if not, why? (the default)"
    )
    add_target(parser)
    add_imports(parser)
    parser.add_argument(
        "--from",
        dest="recording",
        metavar="FILE",
        help="diagnose a recording made by `gpuwhy record`",
    )
    parser.add_argument(
        "--root",
        metavar="PATH",
        help="diagnose another machine's files: a folder, an OCI layout or an archive",
    )
    parser.add_argument(
        "--image",
        default="",
        metavar="NAME",
        help="which image or platform, where --root holds several",
    )
    add_elsewhere(parser)
    parser.add_argument("--json", action="store_true", help="the report as JSON (gpuwhy.report/1)")
    parser.add_argument(
        "--jsonl", action="store_true", help="one line for `gpuwhy fleet compare` (gpuwhy.node/1)"
    )
    parser.add_argument(
        "--exit-zero",
        action="store_true",
        help="with --jsonl: always end with 0 (or some launchers stop the job)",
    )
    parser.add_argument(
        "--node", default="", metavar="NAME", help="with --jsonl: the name of this machine"
    )
    parser.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="evidence, what was ruled out; -vv: every fact with its source",
    )
    forms.add_forms(parser)
    forms.add_ci(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Observe, judge, print."""
    forms.ready(options)
    if options.jsonl:
        return _by_version_0(options)
    from gpuwhy.cli.machine import seen

    answer = seen(options).report
    put_checked(options, answer)
    return answer.exit_code


def _needs_python(options: argparse.Namespace, facts: Facts) -> None:
    """A Python that was named has to be one; the others are part of the answer."""
    from gpuwhy.facts.fact import Unknown

    python = facts.environment.python
    if options.python and isinstance(python, Unknown):
        raise UsageError(f"--python {options.python}: {python.reason}")


def _by_version_0(options: argparse.Namespace) -> int:
    """`--jsonl`, until fleet/ is written on the new facts."""
    if options.probe or options.gentle:
        raise UsageError("--jsonl does not probe: leave --probe and --gentle out")
    if not options.recording:
        options.recording = os.environ.get("GPUWHY_FROM")  # a node that answers as a recorded one
    run = diagnose(options)
    if options.python and not run.found_python:
        raise UsageError(f"--python {options.python}: {run.why_no_python}")
    report = run.report()
    answer = answer_of(report, "check")
    from gpuwhy.cli.fleet import node_line

    write(node_line(run, report, options.node))
    return HEALTHY if options.exit_zero else answer.exit_code
