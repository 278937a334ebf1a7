"""`gpuwhy fleet`: which node differs, and does that explain the failure?"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from gpuwhy.cli import FOUND, HEALTHY, PERHAPS, UsageError, output, refused, say
from gpuwhy.cli.terminal import lines_of, read_bytes, write
from gpuwhy.fleet import compare, facts, names, read
from gpuwhy.fleet.answer import Silent, contract
from gpuwhy.fleet.ray_cluster import Cluster, NoRayError, ask
from gpuwhy.fleet.read import Heard
from gpuwhy.fleet.report import document
from gpuwhy.machine import writing
from gpuwhy.machine.process import Launched
from gpuwhy.machine.redact import machine_name

if TYPE_CHECKING:
    from gpuwhy.api.machine import Seen
    from gpuwhy.machine.machine import Machine

ASK = ("gpuwhy", "check", "--jsonl", "--exit-zero")
"""What a launcher starts on each node; mpirun ends all ranks when one ends with another code."""
RAY_ENDS = 5.0
"""Seconds that the process which speaks to Ray has to say what has come, and to end."""
_GENERIC = re.compile(r"(nodes?|fleet|all|out|output|answers?|stdin|-|\d+)", re.IGNORECASE)
_ENDING = re.compile(r"(\.jsonl.*)?(\.json)?(\.out)?(\.log)?$")


def go(options: argparse.Namespace) -> int:
    """Have the nodes asked, or read what they answered; compare."""
    if options.ray_child:
        with refused(NoRayError):
            for one in ask(options.ray_child, options.seconds):
                print(one, flush=True)
        return HEALTHY
    if options.action == "collect":
        return launch(options)
    if options.action != "compare":
        return ray(options)
    heard = Heard()
    for path in options.files:
        before, stem = len(heard.answers), _ENDING.sub("", os.path.basename(path))
        read.of_lines(lines_of(path, read.MOST), path, heard)
        alone = len(heard.answers) == before + 1 and not heard.answers[-1].label
        if alone and not _GENERIC.fullmatch(stem):  # the file is named for its node
            heard.answers[-1].label = read.clean_name(stem)
    return _finish(options, heard, ", ".join(options.files[:3]))


def node_line(machine: Machine, seen: Seen, node: str = "") -> str:
    """This machine's answer in one line; its name is an alias unless it is given."""
    compared = facts.compared(machine, seen.facts)
    name = read.clean_name(node) if node else names.alias(machine_name())
    report = msgspec.to_builtins(seen.report)
    return read.encoded(name, time.time(), report, compared, facts.families(seen.facts)) + "\n"


def launch(options: argparse.Namespace) -> int:
    """Have a launcher ask, and compare what comes."""
    argv, heard = options.rest, Heard(keep=True)
    if not argv:
        raise UsageError("collect with what? gpuwhy fleet collect -- srun -N4 --ntasks-per-node=1")
    if not any("gpuwhy" in word for word in argv):  # who names gpuwhy knows better
        argv = [*argv, *ASK]
    launched = _started(argv, options.seconds, read.MOST)
    for number, one in enumerate(launched.lines(), 1):
        heard.take(one.data, f"line {number} of {argv[0]}")
    if launched.out_of_time:
        say(f"gpuwhy: {argv[0]} was ended after {options.seconds:g} s; what had come is compared")
    if not heard.answers:
        last = f"; its last words: {heard.noise[-1]}" if heard.noise else ""
        said = f"no node answered (exit code {launched.code}){last}"
        raise UsageError(f"{shlex.join(argv)[:200]}: {said}")
    return _finish(options, heard, argv[0])


def ray(options: argparse.Namespace) -> int:
    """Ask every node of a Ray cluster; Ray itself runs in a child that cannot hold us."""
    if not options.ray:
        known = "compare FILE…, collect -- LAUNCHER…, or --ray [ADDRESS]"
        raise UsageError(f"fleet what? {known}; see gpuwhy fleet --help")
    inner = max(1.0, options.seconds - RAY_ENDS)
    cluster, called = Cluster(), [sys.executable, "-m", "gpuwhy", "fleet"]
    argv = [*called, f"--ray-child={options.ray}", f"--seconds={inner:g}"]
    for one in _started(argv, options.seconds, read.MOST * 2).lines():
        cluster.take(one.data)
    if not cluster.nodes:
        why = cluster.why or f"no Ray cluster answered within {options.seconds:g} s"
        raise UsageError(f"--ray {options.ray}: {why}")
    return _finish(options, cluster.heard, "Ray", cluster.silent(options.seconds))


def _started(argv: list[str], seconds: float, most: int) -> Launched:
    with refused(OSError, f"cannot start {argv[0]}: "):
        return Launched(argv, seconds, most)


def _finish(
    options: argparse.Namespace, heard: Heard, where: str, also: Sequence[Silent] = ()
) -> int:
    """Keep what was heard where that is wanted, compare it, print.

    1: a node is silent, broken, or differs in what can fail a job. 4: it differs otherwise.
    """
    if getattr(options, "output", ""):
        with refused(OSError, f"cannot write {options.output}: "):
            writing.keep(options.output, b"".join(heard.kept()))
    given, baseline = options.nodes, []
    if os.path.isfile(given) or given == "-":
        given = read_bytes(given).decode("utf-8", "replace")
    with refused(names.TooManyError, "--nodes: "):
        asked = names.expand(given)
    quiet = [*also, *read.silent(heard, asked)]
    if not heard.answers and not quiet:
        why = heard.bad[0] if heard.bad else "it should hold what `gpuwhy check --jsonl` prints"
        raise UsageError(f"no node's answer in {where}; {why}")
    read.name(heard.answers, asked)
    if options.baseline:
        baseline = read.of_lines(lines_of(options.baseline, read.MOST), options.baseline).answers
        if not baseline:
            raise UsageError(f"--baseline {options.baseline}: no answer in it")
    fleet = compare.compare(heard.answers, quiet, baseline, options.baseline)
    fleet = replace(fleet, unreadable=tuple(heard.bad), unreadable_count=heard.bad_count)
    if options.exclude:
        write(excluded(fleet.bad, options.exclude))
    else:
        output.put(options, document(fleet, bool(options.verbose)), contract(fleet), nodes=True)
    if fleet.bad or any(group.status == "broken" for group in fleet.groups):
        return FOUND
    return PERHAPS if fleet.odd else HEALTHY


def excluded(given: Iterable[str], form: str) -> str:
    """The names as a scheduler reads them; raises UsageError where only aliases are known."""
    nodes = list(given)
    if unnamed := [name for name in nodes if re.fullmatch(r"node-[0-9a-f]{12}", name)]:
        raise UsageError(f"--exclude: {unnamed[0]} is an alias; name the nodes with --nodes LIST")
    if form == "kubernetes":
        row = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": nodes}
        return json.dumps(row) + "\n"
    text = names.fold(nodes) if form == "slurm" else ("," if form == "comma" else "\n").join(nodes)
    return f"{text}\n" if text else ""
