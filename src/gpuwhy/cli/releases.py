"""`gpuwhy releases NAME [VERSION]`: what a published release was built for, and which file says so."""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import TYPE_CHECKING

from gpuwhy.cli import HEALTHY, UsageError
from gpuwhy.cli.terminal import paper, write

if TYPE_CHECKING:
    from gpuwhy.knowledge.fitting import Machine
    from gpuwhy.knowledge.releases import Releases


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("releases", help="what a published release was built for, and which file says so")
    parser.add_argument(
        "name",
        nargs="?",
        default="",
        metavar="NAME",
        help="for example tensorflow, nvidia-cudnn-cu12; without one, every project",
    )
    parser.add_argument("version", nargs="?", default="", metavar="VERSION", help="one release, with its evidence")
    parser.add_argument("--platform", default="", metavar="P", help="linux-x86_64, linux-aarch64, windows-x86_64 …")
    parser.add_argument(
        "--works-with",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="only what fits: driver=535 gpu=sm_89 python=3.10; without NAME, the newest of each project",
    )
    parser.add_argument("--json", action="store_true", help="the rows as JSON (gpuwhy.releases/1)")
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Look up, filter, print."""
    from gpuwhy.knowledge import fitting, releases
    from gpuwhy.render.releases import as_json, page, table

    try:
        machine = fitting.machine(options.works_with)
    except fitting.BadMachineError as error:
        raise UsageError(f"--works-with {error}") from error
    if options.works_with and not options.platform and sys.platform == "win32":
        options.platform = "windows-x86_64"
    if not options.name:
        return _projects(options, machine)
    known = releases.family(options.name)
    if known is None:
        raise UsageError(f"nothing is known of {options.name!r}{_near(options.name, list(releases.projects()))}")
    rows = [r for r in known.rows if options.platform in ("", r.platform) and options.version in ("", r.version)]
    if not rows:
        raise UsageError(_nothing(known, options))
    judged = [(row, fitting.fits(row, machine)) for row in rows]
    kept = [(row, verdict) for row, verdict in judged if verdict.fits != "no"]
    if options.json:
        write(as_json(known.describe(row) for row, _ in kept))
    elif options.version:
        write(page((known.describe(row) for row, _ in kept), paper()))
    else:
        write(table(known.name, kept, known.header.newest, paper()))
    if not kept and not options.json:
        row, verdict = judged[-1]
        write(f"none fits; {row.version} on {row.platform}: {verdict.why}\n")
    return HEALTHY


def _projects(options: argparse.Namespace, machine: Machine) -> int:
    """Every project; with a filter or as JSON, the newest release of each that fits."""
    from gpuwhy.knowledge import fitting, releases
    from gpuwhy.render.releases import as_json, projects

    names = sorted(releases.projects())
    if not (options.works_with or options.platform or options.json):
        write("\n".join(names) + "\n")
        return HEALTHY
    families = [known for known in map(releases.family, names) if known is not None]
    found = [(known, *one) for known in families if (one := fitting.newest(known, machine, options.platform))]
    if not found and options.platform:
        raise UsageError(f"nothing that fits is known for {options.platform}")
    if options.json:
        write(as_json(known.describe(row) for known, row, _ in found))
    else:
        write(projects([(row, verdict) for _, row, verdict in found], len(names), paper()))
    return HEALTHY


def _near(word: str, choices: list[str]) -> str:
    close = difflib.get_close_matches(word, choices, 3, 0.5)
    return f"; did you mean {', '.join(close)}?" if close else ""


def _nothing(known: Releases, options: argparse.Namespace) -> str:
    versions = list(dict.fromkeys(row.version for row in known.rows))
    platforms = sorted({row.platform for row in known.rows if options.version in ("", row.version)})
    if options.version and options.version not in versions:
        return f"{known.name} {options.version} is not known{_near(options.version, versions)}"
    return f"{known.name} is not known for {options.platform}; there is {', '.join(platforms)}"
