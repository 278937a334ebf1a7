"""`gpuwhy releases NAME [VERSION]`: which CUDA, cuDNN, Python and GPUs a release was built for."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from typing import TYPE_CHECKING, Any

from gpuwhy.cli import HEALTHY, UsageError, refused
from gpuwhy.cli.terminal import paper, write

if TYPE_CHECKING:
    from gpuwhy.knowledge.fitting import Judged, Machine
    from gpuwhy.knowledge.naming import Asked
    from gpuwhy.knowledge.releases import Releases


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("releases", help="which CUDA, cuDNN, Python and GPUs a release was built for")
    parser.add_argument(
        "name",
        nargs="?",
        default="",
        metavar="NAME",
        help="for example tensorflow, torch==2.6, cudnn; without one, every project",
    )
    parser.add_argument(
        "version",
        nargs="?",
        default="",
        metavar="VERSION",
        help="one release, with its evidence; 1.15 is the newest 1.15.x",
    )
    parser.add_argument(
        "--platform", default="", metavar="P", help="linux-x86_64, windows-x86_64 …, all (default: this one)"
    )
    parser.add_argument(
        "--works-with",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="only what fits: driver=535 gpu=sm_89 python=3.10 cuda=10.1 cudnn=7.6.5; without NAME, the newest of each",
    )
    parser.add_argument("--json", action="store_true", help="the rows as JSON (gpuwhy.releases/1)")
    parser.set_defaults(go=go, every=False)


def go(options: argparse.Namespace) -> int:
    """Look up, filter, print."""
    from gpuwhy.knowledge import fitting, naming

    with refused(fitting.BadMachineError, "--works-with "):
        machine = fitting.machine(options.works_with)
    if options.works_with and not options.platform and sys.platform == "win32":
        options.platform = "windows-x86_64"
    if options.platform == "all":
        options.platform = ""
        options.every = True
    if not options.name:
        return _projects(options, machine)
    wanted = naming.asked(options.name, options.version)
    if wanted is None:
        raise UsageError(f"{options.name!r} is no package's name; for example torch, or torch==2.6")
    names = naming.meant(wanted.name)
    if len(names) > 1:
        return _several(options, wanted, names, machine)
    return _family(options, wanted, names[0] if names else wanted.name, machine)


def _family(options: argparse.Namespace, wanted: Asked, name: str, machine: Machine) -> int:
    """The table of one project, or the pages of the releases that were named."""
    from gpuwhy.knowledge import fitting, releases
    from gpuwhy.render.releases import as_json

    known = releases.family(name)
    if known is None:
        raise UsageError(f"nothing is known of {wanted.name!r}{_near(wanted.name, list(releases.projects()))}")
    rows, line = _rows(known, wanted, options)
    judged = [(row, fitting.fits(row, machine)) for row in rows]
    kept = [(row, verdict) for row, verdict in judged if verdict.fits != "no"]
    if options.json:
        write(as_json(known.describe(row) for row, _ in kept))
        return HEALTHY
    shown, others = (kept, []) if options.platform or options.every else _here_first(kept)
    _write_family(known, shown, paged=bool(wanted.spec) and len({row.version for row in rows}) == 1)
    if not kept:
        row, verdict = judged[-1]
        write(f"none fits; {row.version} on {row.platform}: {verdict.why}\n")
    _write_notes(_elsewhere(others), _with_cuda(shown), f"{known.name} {line}" if line else "")
    return HEALTHY


def _write_notes(*texts: str) -> None:
    for text in filter(None, texts):
        write("\n".join(paper().wrap(text, "", "  ")) + "\n")


def _write_family(known: Releases, shown: list[Judged], paged: bool) -> None:
    from gpuwhy.render.releases import page, table

    if paged:
        write(page((known.describe(row) for row, _ in shown), paper()))
    else:
        write(table(known.name, shown, known.header.newest, paper()))


def _rows(known: Releases, wanted: Asked, options: argparse.Namespace) -> tuple[list[Any], str]:
    """The rows of the releases that are meant, on the platform that is asked for; and what had to be chosen."""
    from gpuwhy.knowledge import naming

    versions = list(dict.fromkeys(row.version for row in known.rows))
    chosen, line = naming.chosen(wanted.spec, versions)
    rows = [r for r in known.rows if options.platform in ("", r.platform) and r.version in set(chosen)]
    if not rows:
        raise UsageError(_nothing(known, wanted.spec, bool(chosen), options))
    return rows, line


def _here_first(kept: list[Judged]) -> tuple[list[Judged], list[Any]]:
    """Only the rows of this platform, where there are any; the others are named."""
    mine = [one for one in kept if one[0].platform in (_here(), "any")]
    return (mine, [row for row, _ in kept if row.platform not in (_here(), "any")]) if mine else (kept, [])


def _with_cuda(shown: list[Judged]) -> str:
    """Where the same release has its CUDA build under another name."""
    from gpuwhy.knowledge import releases

    row = shown[-1][0] if shown else None
    other = releases.find(f"{row.name}-gpu", row.version, row.platform) if row and row.cuda is None else None
    return (
        f"the build with CUDA is {other.name} {other.version}: gpuwhy releases {other.name} {other.version}"
        if other
        else ""
    )


def _here() -> str:
    """This platform as the rows name it."""
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
    name = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "AMD64")
    known = {"amd64": "x86_64", "arm64": "arm64" if system == "macos" else "aarch64"}
    return f"{system}-{known.get(name.lower(), name.lower())}"


def _elsewhere(others: list[Any]) -> str:
    platforms = sorted({row.platform for row in others})
    return f"also for {', '.join(platforms)}: --platform all, or the name of one" if platforms else ""


def _several(options: argparse.Namespace, wanted: Asked, names: list[str], machine: Machine) -> int:
    """A library that is published once for each CUDA: the newest fitting release of each of its projects."""
    from gpuwhy.knowledge import fitting, naming, releases
    from gpuwhy.render.releases import as_json, projects

    found = []
    platform = options.platform or ("" if options.every or options.json else _here())
    for known in filter(None, map(releases.family, names)):
        chosen, _ = naming.chosen(wanted.spec, list(dict.fromkeys(row.version for row in known.rows)))
        kept = known.only(set(chosen))
        found += [(known, *one) for one in [fitting.newest(kept, machine, platform)] if one]
    if not found:
        raise UsageError(f"{wanted.name} {wanted.spec} is not known in {', '.join(names[:6])}".replace("  ", " "))
    if options.json:
        write(as_json(known.describe(row) for known, row, _ in found))
        return HEALTHY
    write(projects([(row, verdict) for _, row, verdict in found], len(names), paper()))
    write(f"{wanted.name} has several packages; gpuwhy releases {found[-1][0].name} lists one of them\n")
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


def _nothing(known: Releases, spec: str, exists: bool, options: argparse.Namespace) -> str:
    versions = list(dict.fromkeys(row.version for row in known.rows))
    if not exists:
        bare = spec.lstrip("=<>~!")
        return f"{known.name} {spec} is not known{_near(bare, versions)}"
    platforms = sorted(
        {row.platform for row in known.rows if spec in ("", row.version)} or {r.platform for r in known.rows}
    )
    return f"{known.name} is not known for {options.platform}; there is {', '.join(platforms)}"
