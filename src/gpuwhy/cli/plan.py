"""`gpuwhy plan`: which releases work together here, or on a described machine, and how to install them."""

from __future__ import annotations

import argparse
import os
import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gpuwhy.border import reading
from gpuwhy.border.writing import create
from gpuwhy.cli import FOUND, HEALTHY, UsageError, forms, refused, say
from gpuwhy.cli.terminal import paper, read_bytes, write

if TYPE_CHECKING:
    from gpuwhy.plan.answer import Machine, Plan, Proposal, Wish

MOST = 4 << 20
"""The largest file of requirements that is read."""
_DESCRIBES = ("driver", "gpu", "os", "arch", "glibc")


class Once(argparse.Action):
    """An option that a machine has one value of: said twice it contradicts itself."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take the value, or say that there was one."""
        before = getattr(namespace, self.dest)
        if before and before != values:
            parser.error(f"{option_string} is given twice: {before} and {values}")
        setattr(namespace, self.dest, values)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("plan", help="which versions work together here, and the commands to install them")
    parser.add_argument(
        "wishes", nargs="*", metavar="REQUIREMENT", help='for example tensorflow, "torch>=2.4", flash-attn'
    )
    parser.add_argument("-r", "--requirement", action="append", default=[], metavar="FILE", help="a requirements file")
    parser.add_argument("-c", "--constraint", action="append", default=[], metavar="FILE", help="a constraints file")
    parser.add_argument("--driver", action=Once, default="", metavar="V", help="plan for this driver: 535, 470.82")
    parser.add_argument(
        "--gpu", action="append", default=[], metavar="G", help='plan for this GPU: "GTX 1080", or sm_61'
    )
    parser.add_argument(
        "--python", action=Once, default="", metavar="V", help="for this Python: 3.8, or an environment's folder"
    )
    parser.add_argument("--os", action=Once, default="", metavar="OS", help="linux, windows or wsl")
    parser.add_argument("--arch", action=Once, default="", metavar="A", help="x86_64 or aarch64")
    parser.add_argument(
        "--glibc", action=Once, default="", metavar="V", help="for this C library: 2.17 (RHEL 7), 2.28 (RHEL 8)"
    )
    parser.add_argument(
        "--keep", default="", metavar="PARTS", help="what the nearest plan must not change: driver,python"
    )
    parser.add_argument("--least-change", action="store_true", help="keep installed releases as far as they work")
    parser.add_argument("--all", action="store_true", help="every way to install: conda, Docker, apt, Windows …")
    parser.add_argument(
        "--write", default="", metavar="FOLDER", help="write constraints.txt, environment.yml, Dockerfile …"
    )
    parser.add_argument("--json", action="store_true", help="the plan as JSON (gpuwhy.plan/1)")
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="also every version that was not chosen, with the reason, and every wheel",
    )
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Understand, resolve, print; the machine is looked at while the rest is loaded."""
    forms.ready(options)
    looked = _looking(options)
    from gpuwhy.plan.answer import plan
    from gpuwhy.plan.machine import BadMachineError
    from gpuwhy.plan.wishes import WishError

    try:
        wishes = _wishes(options)
        made = plan(wishes, _machine(options, looked), options.least_change)
    except (WishError, BadMachineError) as error:
        raise UsageError(str(error)) from error
    if options.write:
        _write(made, options.write)
    if not (forms.asked(options) and forms.shown(options, made)):
        write(_text(made, options))
    return HEALTHY if made.proposal else FOUND


def _text(made: Plan, options: argparse.Namespace) -> str:
    if options.json:
        from gpuwhy.render.plan import as_json

        return as_json(made)
    from gpuwhy.render.plan import render

    return render(made, paper(), options.all, options.verbose)


def _wishes(options: argparse.Namespace) -> list[Wish]:
    from gpuwhy.plan.wishes import from_file, from_words

    out = from_words(options.wishes)
    for path in options.requirement:
        out += from_file(path, _open)
    for path in options.constraint:
        out += from_file(path, _open, constraint=True)
    if not out:
        raise UsageError("nothing to plan: name a package, as in gpuwhy plan tensorflow, or a file with -r")
    return out


def _open(path: str) -> str:
    if path == "-":
        return read_bytes("-").decode(errors="replace")
    return reading.read(path, MOST).decode(errors="replace")


def _version(options: argparse.Namespace) -> str:
    """--python as a version; '' where it is a path."""
    return options.python if re.fullmatch(r"\d.*", options.python) and not os.path.exists(options.python) else ""


def _looking(options: argparse.Namespace) -> Callable[[], Any] | None:
    """Start to observe this machine; None for one that is described."""
    if any(getattr(options, name) for name in _DESCRIBES):
        return None
    from gpuwhy import app

    folder = os.path.expanduser(options.python) if options.python and not _version(options) else ""
    if folder and not os.path.exists(folder):
        raise UsageError(f"--python {options.python}: neither a version nor a file or folder")
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(app.facts_for_plan(app.live_host(), folder)), daemon=True)
    thread.start()

    def wait() -> Any:
        thread.join()
        return found[0]

    return wait


def _machine(options: argparse.Namespace, looked: Callable[[], Any] | None) -> Machine:
    from gpuwhy.plan import machine

    keep = tuple(filter(None, options.keep.split(",")))
    version = _version(options)
    if looked is None:
        if options.python and not version:
            raise UsageError(f"--python {options.python}: with a described machine, give a version such as 3.12")
        given = (options.driver, tuple(options.gpu), version, options.os, options.arch, keep, options.glibc)
        return machine.described(*given)
    return machine.seen(looked(), version, keep)


def _write(made: Plan, folder: str) -> None:
    proposal: Proposal | None = made.proposal or (made.conflict.nearest if made.conflict else None)
    if proposal is None:
        raise UsageError("--write: nothing works, so there is nothing to write")
    files = {way.file: way.text for way in proposal.ways if way.file}
    present = [name for name in files if os.path.exists(os.path.join(folder, name))]
    if present:
        raise UsageError(f"--write {folder}: {', '.join(present)} would be overwritten; name another folder")
    with refused(OSError, f"--write {folder}: "):
        os.makedirs(folder, exist_ok=True)
        for name, text in files.items():
            create(os.path.join(folder, name), text.encode())
    say(f"gpuwhy: wrote {', '.join(files)} to {folder}")
