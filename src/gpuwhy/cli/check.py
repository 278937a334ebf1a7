"""`gpuwhy check`: is this machine and environment able to run GPU work, and if not, why?"""

from __future__ import annotations

import argparse
import os

from gpuwhy.cli import HEALTHY, UsageError, output


def go(options: argparse.Namespace) -> int:
    """Observe, judge, print."""
    output.ready(options)
    if options.jsonl:
        return node(options)
    from gpuwhy.cli.machine import seen

    found = seen(options)
    if options.query:
        from gpuwhy.cli.query import queried
        from gpuwhy.cli.terminal import write

        write(queried(found, options.query.split(",")))
        return HEALTHY
    answer = found.report
    output.put_checked(options, answer)
    return answer.exit_code


def node(options: argparse.Namespace) -> int:
    """One line for `gpuwhy fleet`."""
    from gpuwhy.api.machine import observe
    from gpuwhy.cli.fleet import node_line
    from gpuwhy.cli.machine import asked_for
    from gpuwhy.cli.terminal import write

    if options.probe or options.gentle:
        raise UsageError("--jsonl does not probe: leave --probe and --gentle out")
    if not options.recording:
        options.recording = os.environ.get("GPUWHY_FROM")  # a node that answers as a recorded one
    machine, asked = asked_for(options)
    seen = observe(machine, asked)
    write(node_line(machine, seen, options.node))
    return HEALTHY if options.exit_zero else seen.report.exit_code
