"""`gpuwhy check`: is this machine and environment able to run GPU work, and if not, why?"""

from __future__ import annotations

import argparse
import os

from gpuwhy.cli import HEALTHY, UsageError, forms
from gpuwhy.cli.output import put_checked
from gpuwhy.cli.target import add_elsewhere, add_imports, add_target
from gpuwhy.cli.terminal import write

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
    parser.add_argument("--node", default="", metavar="NAME", help="with --jsonl: the name of this machine")
    parser.add_argument(
        "-v", "--verbose", action="count", default=0, help="evidence, what was ruled out; -vv: every fact with its source"
    )
    forms.add_forms(parser)
    forms.add_ci(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Observe, judge, print."""
    forms.ready(options)
    if options.jsonl:
        return node(options)
    from gpuwhy.cli.machine import seen

    answer = seen(options).report
    put_checked(options, answer)
    return answer.exit_code


def node(options: argparse.Namespace) -> int:
    """One line for `gpuwhy fleet`."""
    from gpuwhy.api.machine import observe
    from gpuwhy.cli.fleet import node_line
    from gpuwhy.cli.machine import asked_for

    if options.probe or options.gentle:
        raise UsageError("--jsonl does not probe: leave --probe and --gentle out")
    if not options.recording:
        options.recording = os.environ.get("GPUWHY_FROM")  # a node that answers as a recorded one
    machine, asked = asked_for(options)
    seen = observe(machine, asked)
    write(node_line(machine, seen, options.node))
    return HEALTHY if options.exit_zero else seen.report.exit_code
