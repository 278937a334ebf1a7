"""`gpuwhy fleet`: which node differs, and does that explain the failure?"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gpuwhy.cli import FOUND, HEALTHY, PERHAPS, UsageError, forms, refused, say
from gpuwhy.cli.terminal import write

if TYPE_CHECKING:
    from gpuwhy.api.machine import Seen
    from gpuwhy.fleet.answer import Answer, Fleet, Silent
    from gpuwhy.fleet.read import Heard
    from gpuwhy.machine.launch import Launched
    from gpuwhy.machine.machine import Machine

ASK = ("gpuwhy", "check", "--jsonl", "--exit-zero")
"""What a launcher starts on each node; mpirun ends all ranks when one ends with another code than 0."""
RAY_ENDS = 5.0
"""Seconds that the process which speaks to Ray has to say what has come, and to end."""
FORMS = ("slurm", "comma", "lines", "kubernetes")
_GENERIC = re.compile(r"(nodes?|fleet|all|out|output|answers?|stdin|-|\d+)", re.IGNORECASE)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("fleet", help="compare machines: which node differs, and does that explain a failure?")
    parser.add_argument("--ray", nargs="?", const="", metavar="ADDRESS", help="ask every node of a Ray cluster")
    parser.add_argument("--ray-child", metavar="ADDRESS", help=argparse.SUPPRESS)
    add_asking(parser)
    parser.set_defaults(go=ray)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    compare = actions.add_parser("compare", help="compare what `gpuwhy check --jsonl` printed on each node")
    compare.add_argument("files", nargs="+", metavar="FILE", help="lines of any launcher; - is standard input")
    add_comparison(compare)
    compare.set_defaults(go=go)
    _add_node(actions)
    collect = actions.add_parser(
        "collect",
        help="have a launcher ask every node, and compare: "
        "gpuwhy fleet collect -- srun -N4 --ntasks-per-node=1",
        usage="gpuwhy fleet collect [options] -- LAUNCHER [ARG ...]",
    )
    add_asking(collect)
    collect.set_defaults(go=launch)


def _add_node(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from gpuwhy.cli.check import node
    from gpuwhy.cli.target import add_target

    parser = actions.add_parser("node", help="this machine's line, as `gpuwhy check --jsonl` prints it")
    add_target(parser)
    parser.add_argument("--from", dest="recording", metavar="FILE", help="a recording's line")
    parser.add_argument("--node", default="", metavar="NAME", help="the name of this machine")
    parser.add_argument("--exit-zero", action="store_true", help="always end with 0")
    parser.set_defaults(go=node)


def add_asking(parser: argparse.ArgumentParser) -> None:
    """The options of what asks the nodes itself."""
    parser.add_argument("-o", "--output", metavar="FILE", help="keep the answers too, for `fleet compare`")
    parser.add_argument("--seconds", type=float, default=120.0, metavar="S", help="how long to wait for answers (120)")
    add_comparison(parser)


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """The options of every comparison."""
    parser.add_argument("--baseline", metavar="FILE", help="compare every node with this answer (or these)")
    parser.add_argument(
        "--nodes", metavar="LIST", help="the nodes that were asked: gpu[001-016], or a file of names: who is silent"
    )
    parser.add_argument(
        "--exclude", choices=FORMS, help="print only the nodes to keep a job away from, as the scheduler reads them"
    )
    parser.add_argument("--json", action="store_true", help="the comparison as JSON (gpuwhy.fleet/1)")
    forms.add_forms(parser)
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show every node that differs, every difference, every name"
    )


def node_line(machine: Machine, seen: Seen, node: str = "") -> str:
    """This machine's answer in one line; its name is an alias unless it is given."""
    import time

    import msgspec

    from gpuwhy.fleet import facts, line, look
    from gpuwhy.fleet.names import alias
    from gpuwhy.machine.redact import machine_name

    compared = {**facts.of_machine(seen.facts), **look.at_machine(machine)}
    name = line.clean_name(node) if node else alias(machine_name())
    report = msgspec.to_builtins(seen.report)
    return line.encoded(name, time.time(), report, compared, facts.families(seen.facts)) + "\n"


def go(options: argparse.Namespace) -> int:
    """Read, compare, print."""
    from gpuwhy.fleet.read import Heard

    heard = Heard()
    for path in options.files:
        _hear(path, heard)
    return finish(options, heard, ", ".join(options.files[:3]))


def launch(options: argparse.Namespace) -> int:
    """Have a launcher ask, and compare what comes."""
    from gpuwhy.fleet.line import MOST
    from gpuwhy.fleet.read import Heard

    argv = command(options.rest)
    heard = Heard()
    launched = _started(argv, options.seconds, MOST)
    for number, line in enumerate(launched.lines(), 1):
        heard.take(line.data, f"line {number} of {argv[0]}", line.time)
    if launched.out_of_time:
        say(f"gpuwhy: {argv[0]} was ended after {options.seconds:g} s; what had come is compared")
    if not heard.answers:
        last = f"; its last words: {heard.noise[-1]}" if heard.noise else ""
        raise UsageError(f"{shlex.join(argv)[:200]}: no node answered (exit code {launched.code}){last}")
    _keep(options.output, heard)
    return finish(options, heard, argv[0])


def command(rest: list[str]) -> list[str]:
    """The launcher with what it has to start on each node; somebody who names gpuwhy knows better."""
    if not rest:
        raise UsageError("collect with what? gpuwhy fleet collect -- srun -N4 --ntasks-per-node=1")
    return rest if any("gpuwhy" in word for word in rest) else [*rest, *ASK]


def _started(argv: list[str], seconds: float, most: int) -> Launched:
    from gpuwhy.machine.launch import Launched

    with refused(OSError, f"cannot start {argv[0]}: "):
        return Launched(argv, seconds, most)


def _keep(path: str | None, heard: Heard) -> None:
    """The answers as they came, with who and when, for another comparison."""
    if not path:
        return
    from gpuwhy.machine.writing import keep

    with refused(OSError, f"cannot write {path}: "):
        keep(path, b"".join(heard.kept()))


def ray(options: argparse.Namespace) -> int:
    """Ask every node of a Ray cluster; Ray itself runs in a child that cannot hold us."""
    if options.ray_child is not None:
        return _ray_child(options)
    if options.ray is None:
        raise UsageError("fleet what? compare FILE…, collect -- LAUNCHER…, or --ray [ADDRESS]; see gpuwhy fleet --help")
    from gpuwhy.fleet.line import MOST
    from gpuwhy.fleet.ray_cluster import Cluster

    inner = max(1.0, options.seconds - RAY_ENDS)
    child = [f"--ray-child={options.ray}", f"--seconds={inner:g}"]
    cluster = Cluster()
    argv = [sys.executable, "-m", "gpuwhy", "fleet", *child]
    launched = _started(argv, options.seconds, MOST * 2)
    for line in launched.lines():
        cluster.take(line.data, line.time)
    if not cluster.nodes:
        why = cluster.why or f"no Ray cluster answered within {options.seconds:g} s"
        raise UsageError(f"--ray {options.ray or 'auto'}: {why}")
    _keep(options.output, cluster.heard)
    return finish(options, cluster.heard, "Ray", cluster.silent(options.seconds))


def _ray_child(options: argparse.Namespace) -> int:
    from gpuwhy.fleet.ray_cluster import NoRayError, ask

    with refused(NoRayError):
        for line in ask(options.ray_child, options.seconds):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    return HEALTHY


def finish(options: argparse.Namespace, heard: Heard, where: str, also: Sequence[Silent] = ()) -> int:
    """Compare what was heard, print it, and say by the exit code what came of it."""
    from msgspec.structs import replace

    from gpuwhy.fleet.compare import compare
    from gpuwhy.fleet.read import name, silent

    asked = expected(options.nodes) if options.nodes else []
    quiet = [*also, *silent(heard, asked)]
    if not heard.answers and not quiet:
        why = f"; {heard.bad[0]}" if heard.bad else "; it should hold what `gpuwhy check --jsonl` prints"
        raise UsageError(f"no node's answer in {where}{why}")
    name(heard.answers, asked)
    fleet = compare(heard.answers, quiet, _baseline(options.baseline), options.baseline or "")
    fleet = replace(fleet, unreadable=tuple(heard.bad), unreadable_count=heard.bad_count)
    _show(options, fleet)
    return exit_code(fleet)


def exit_code(fleet: Fleet) -> int:
    """1: a node is silent, broken, or differs in what can fail a job. 4: it differs otherwise. 0: equal and well."""
    if fleet.bad or any(group.status == "broken" for group in fleet.groups):
        return FOUND
    return PERHAPS if fleet.odd else HEALTHY


def _show(options: argparse.Namespace, fleet: Fleet) -> None:
    """Print as was asked for."""
    from gpuwhy.cli.output import put
    from gpuwhy.fleet.answer import contract
    from gpuwhy.fleet.report import document

    if options.exclude:
        write(excluded(fleet.bad, options.exclude))
    else:
        put(options, document(fleet, options.verbose), contract(fleet), nodes=True)


def excluded(names: Iterable[str], form: str) -> str:
    """The names as a scheduler reads them; raises UsageError where only aliases are known."""
    import json

    from gpuwhy.fleet.names import fold

    names = list(names)
    if unnamed := [name for name in names if re.fullmatch(r"node-[0-9a-f]{12}", name)]:
        raise UsageError(f"--exclude: {unnamed[0]} is an alias; name the nodes that were asked with --nodes LIST")
    if form == "kubernetes":
        return json.dumps({"key": "kubernetes.io/hostname", "operator": "NotIn", "values": names}) + "\n"
    text = {"slurm": fold(names), "comma": ",".join(names), "lines": "\n".join(names)}[form]
    return f"{text}\n" if text else ""


def _hear(path: str, heard: Heard) -> None:
    """One file; where it holds one answer and no name, the file's own name is the node's."""
    from gpuwhy.fleet.line import clean_name
    from gpuwhy.fleet.read import of_lines

    before = len(heard.answers)
    of_lines(_lines(path), path, heard)
    stem = os.path.basename(path).split(".jsonl")[0].removesuffix(".json").removesuffix(".out").removesuffix(".log")
    if len(heard.answers) == before + 1 and not heard.answers[-1].label and not _GENERIC.fullmatch(stem):
        heard.answers[-1].label = clean_name(stem)


def _lines(path: str) -> Iterator[bytes | None]:
    from gpuwhy.cli.explain import _opened
    from gpuwhy.fleet.line import MOST
    from gpuwhy.machine import reading

    with refused(OSError, f"cannot read {path}: "), _opened(path) as file:
        yield from reading.lines(file, MOST)


def expected(given: str) -> list[str]:
    """The names of a list, or of a file of names."""
    from gpuwhy.cli.terminal import read_bytes
    from gpuwhy.fleet.names import TooManyError, expand

    text = read_bytes(given).decode("utf-8", "replace") if os.path.isfile(given) or given == "-" else given
    with refused(TooManyError, "--nodes: "):
        return expand(text)


def _baseline(path: str | None) -> list[Answer]:
    from gpuwhy.fleet.read import of_lines

    if not path:
        return []
    heard = of_lines(_lines(path), path)
    if not heard.answers:
        raise UsageError(f"--baseline {path}: no answer in it{'; ' + heard.bad[0] if heard.bad else ''}")
    return heard.answers
