"""`gpuwhy fleet probe`: can the nodes reach each other, and which node or pair stalls a collective?"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any

from gpuwhy.cli import FOUND, HEALTHY, UsageError, refused, say
from gpuwhy.cli.terminal import paper, write

if TYPE_CHECKING:
    from gpuwhy.fleet.halving import Outcome, Search, Tried

_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "JOB_COMPLETION_INDEX")


def add(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the action."""
    parser = actions.add_parser(
        "probe",
        help="can the nodes reach the rendezvous; or which node or pair stalls a collective, by halving",
        usage="gpuwhy fleet probe --rendezvous HOST:PORT [--listen] | --nodes LIST -- COMMAND with {nodes} and {count}",
    )
    parser.add_argument(
        "--rendezvous",
        metavar="HOST:PORT",
        help="where the nodes meet; give the same on every node: rank 0 listens, the others connect",
    )
    parser.add_argument("--exit-zero", action="store_true", help="always end with 0 (or some launchers stop the job)")
    parser.add_argument("--listen", action="store_true", help="this is the node that listens, whatever its rank")
    parser.add_argument(
        "--nodes", metavar="LIST", help="nodes to test, in groups: gpu[001-016], or a file of node names"
    )
    parser.add_argument(
        "--collective", action="store_true", help="add gpuwhy's own all-reduce to the launcher: gpuwhy fleet collective"
    )
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="end one test after S seconds (60)")
    parser.add_argument("--tries", type=int, default=200, metavar="N", help="make at most so many tests (200)")
    parser.add_argument("--json", action="store_true", help="JSON (gpuwhy.reach/1 or gpuwhy.probe/1)")
    parser.set_defaults(go=go)
    own = actions.add_parser("collective", help="one rank of an all-reduce and a ring, by the job's own torch")
    own.add_argument("--mib", type=int, default=64, metavar="N", help="how much is reduced (64)")
    own.add_argument("--python", default="", metavar="PATH", help="the Python that has torch; else the first on PATH")
    own.set_defaults(go=collective)


def collective(options: argparse.Namespace) -> int:
    """Become the rank: the launcher's signals and limits hold for it as for the job."""
    import shutil

    from gpuwhy.run.reaching import COLLECTIVE

    if not 1 <= options.mib <= 65536:
        raise UsageError(f"--mib {options.mib}: from 1 to 65536")
    python = options.python or shutil.which("python") or shutil.which("python3") or sys.executable
    if os.path.isdir(python):
        python = os.path.join(python, "bin", "python")
    with refused(OSError, f"cannot start {python}: "):
        os.execv(python, [python, COLLECTIVE, str(options.mib)])


def go(options: argparse.Namespace) -> int:
    """One of the two."""
    if options.rendezvous:
        return _reach(options)
    if options.nodes and options.rest:
        return _halve(options)
    raise UsageError("probe what? --rendezvous HOST:PORT on each node, or --nodes LIST -- COMMAND {nodes}")


def _reach(options: argparse.Namespace) -> int:
    """This node's side of the rendezvous, in one line."""
    import msgspec

    from gpuwhy.border.shared import machine_name, shareable
    from gpuwhy.fleet.names import alias
    from gpuwhy.run.reaching import reach

    host, _, port = options.rendezvous.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise UsageError(f"--rendezvous {options.rendezvous}: HOST:PORT, as the job has it (MASTER_ADDR:MASTER_PORT)")
    rank = next((os.environ[name] for name in _RANKS if name in os.environ), "")
    listens = options.listen or (rank == "0")
    told = reach("listen" if listens else "reach", host.strip("[]"), int(port), options.seconds)
    told = {"schema": "gpuwhy.reach/1", "node": alias(machine_name()), "rank": rank or None, **told}
    if options.json:
        write(msgspec.json.encode(shareable(told, nodes=True)).decode() + "\n")
    else:
        from gpuwhy.render.reach import render

        write(render(told, paper()))
    return HEALTHY if told.get("ok") or options.exit_zero else FOUND


def collected(options: argparse.Namespace) -> int:
    """A launcher has every node try the way to the rendezvous; all answers together."""
    from gpuwhy.fleet.reach import MOST, take, together
    from gpuwhy.run.launch import Launched

    if not options.rest:
        raise UsageError("collect with what? gpuwhy fleet collect --probe HOST:PORT -- srun -N4 --ntasks-per-node=1")
    tried = max(5.0, options.seconds / 2)
    more = ["fleet", "probe", "--rendezvous", options.probe, "--json", "--exit-zero", "--seconds", f"{tried:g}"]
    argv = options.rest if any("gpuwhy" in word for word in options.rest) else [*options.rest, "gpuwhy", *more]
    with refused(OSError, f"cannot start {argv[0]}: "):
        launched = Launched(argv, options.seconds + 30, MOST)
    found = [answer for line in launched.lines() if (answer := take(line.data))]
    if not found:
        raise UsageError(f"{shlex.join(argv)[:200]}: no node answered (exit code {launched.code})")
    value = together(found, options.probe)
    _shown(options, value)
    good = value["listened"] and not value["failed"] and all(one["ok"] for one in value["listened"])
    return HEALTHY if good and not value["steered"] else FOUND


def _shown(options: argparse.Namespace, value: dict[str, Any]) -> None:
    from gpuwhy.border.shared import as_json
    from gpuwhy.render.reach import render_reached

    write(as_json(value, nodes=True) if options.json else render_reached(value, paper()))


def _halve(options: argparse.Namespace) -> int:
    """The search over groups of nodes, each try a command of the user's."""
    from gpuwhy.cli.fleet import expected
    from gpuwhy.fleet.halving import Search, TooManyTriesError

    nodes = expected(options.nodes)
    if options.collective:
        options.rest = [*options.rest, "gpuwhy", "fleet", "collective"]
    if not any("{nodes}" in word for word in options.rest):
        raise UsageError(
            "the command needs {nodes} where it names its nodes: -- srun -N {count} -w {nodes} python nccl.py"
        )
    search = Search(lambda group: _attempt(options, group), options.tries)
    try:
        found = search.culprits(nodes)
    except TooManyTriesError as error:
        raise UsageError(f"{error}: the failure may come and go") from error
    _told(options, search, found, nodes)
    return FOUND if found or search.slow() else HEALTHY


def _attempt(options: argparse.Namespace, group: Any) -> Tried:
    """Run the command for one group; what it does not do in time stalls."""
    from gpuwhy.fleet.halving import Tried, bandwidth_in
    from gpuwhy.fleet.names import fold
    from gpuwhy.run.launch import Launched

    fields = {"{nodes}": fold(group), "{list}": ",".join(group), "{count}": str(len(group))}
    argv = [_filled(word, fields) for word in options.rest]
    begun, last, bandwidth = time.monotonic(), "", None
    with refused(OSError, f"cannot start {argv[0]}: "):
        launched = Launched(argv, options.seconds, 1 << 20)
    for line in launched.lines():
        last = (line.data or b"")[:400].decode("utf-8", "replace").strip() or last
        bandwidth = bandwidth_in(last) or bandwidth
    outcome: Outcome = "stalls" if launched.out_of_time else "ok" if launched.code == 0 else "fails"
    if sys.stderr.isatty():
        say(f"{outcome:6} {fields['{nodes}']}")
    return Tried(tuple(group), outcome, round(time.monotonic() - begun, 2), bandwidth, "" if outcome == "ok" else last)


def _filled(word: str, fields: dict[str, str]) -> str:
    for name, value in fields.items():
        word = word.replace(name, value)
    return word


def over_ray(options: argparse.Namespace) -> int:
    """The same search on a Ray cluster, whose tasks are the ranks."""
    from gpuwhy.fleet.ray_answers import Cluster, Probed
    from gpuwhy.run.launch import Launched

    each = min(options.seconds, 60.0)
    argv = [sys.executable, "-m", "gpuwhy", "fleet", f"--ray-child={options.ray}", f"--seconds={each:g}", "--probe"]
    cluster, probed = Cluster(), Probed()
    for line in Launched(argv, 200 * each, 8 << 20).lines():
        if not probed.take(line.data):
            cluster.take(line.data, line.time)
    if not probed.done:
        raise UsageError(f"--ray {options.ray or 'auto'}: {cluster.why or 'the search did not end'}")
    from gpuwhy.render.reach import probe_dict

    gone = [label for label, why in cluster.nodes.items() if why]
    _probe_shown(options, probe_dict(probed.found, probed.slow, probed.tried, len(cluster.nodes), "Ray", gone))
    return FOUND if probed.found or probed.slow or gone else HEALTHY


def _told(options: argparse.Namespace, search: Search, found: list[Any], nodes: list[str]) -> None:
    from gpuwhy.render.reach import probe_dict

    _probe_shown(options, probe_dict(found, search.slow(), search.tries, len(nodes), shlex.join(options.rest)))


def _probe_shown(options: argparse.Namespace, value: dict[str, Any]) -> None:
    from gpuwhy.border.shared import as_json
    from gpuwhy.render.reach import render_probe

    write(as_json(value, nodes=True) if options.json else render_probe(value, paper()))
