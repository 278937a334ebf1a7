"""`gpuwhy plan`: which releases work together here, or on a described machine."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from gpuwhy.machine import reading
from gpuwhy.machine.writing import create
from gpuwhy.cli import FOUND, HEALTHY, UsageError, forms, output, refused, say
from gpuwhy.cli.terminal import read_bytes

if TYPE_CHECKING:
    from gpuwhy.choose import Choice, Demand, Wanted
    from gpuwhy.plan.evidence import Line

MOST = 4 << 20
"""The largest file of requirements that is read."""
_DESCRIBES = ("driver", "gpu", "os", "arch", "glibc")


class Once(argparse.Action):
    """An option that a machine has one value of: given twice it contradicts itself."""

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
    parser = commands.add_parser(
        "plan", help="which versions work together, and how to install them"
    )
    one: dict[str, Any] = {"action": Once, "default": ""}
    many: dict[str, Any] = {"action": "append", "default": []}
    add_to = parser.add_argument
    add_to(
        "packages", nargs="*", metavar="REQUIREMENT", help='tensorflow, "torch>=2.4", flash-attn'
    )
    add_to("-r", "--requirement", **many, metavar="FILE", help="a requirements file")
    add_to("-c", "--constraint", **many, metavar="FILE", help="a constraints file")
    add_to("--driver", **one, metavar="V", help="for this driver: 535, 470.82")
    add_to("--gpu", **many, metavar="G", help='for this GPU: "GTX 1080", or sm_61')
    add_to("--python", **one, metavar="V", help="for this Python: 3.8, or an environment's folder")
    add_to("--os", **one, metavar="OS", help="linux, windows or wsl")
    add_to("--arch", **one, metavar="A", help="x86_64 or aarch64")
    add_to("--glibc", **one, metavar="V", help="for this C library: 2.17 (RHEL 7), 2.28 (RHEL 8)")
    add_to("--keep", default="", metavar="PARTS", help="what must not change: driver,python")
    add_to(
        "--least-change", action="store_true", help="keep installed releases as far as they work"
    )
    add_to("--manager", default="pip", choices=("pip", "uv"), help="whose commands are printed")
    add_to("--resolve", action="store_true", help="hand the pins to uv or pip (uses the network)")
    add_to("--all", action="store_true", help="every way to install: conda, Docker, files …")
    add_to("--write", default="", metavar="FOLDER", help="write constraints.txt, Dockerfile …")
    add_to("--json", action="store_true", help="the plan as JSON (gpuwhy.plan/1)")
    add_to("-v", "--verbose", action="store_true", help="also evidence, and what was passed over")
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Read the demand, choose, print."""
    forms.ready(options)
    from gpuwhy.choose import choose
    from gpuwhy.plan.contract import plan_of
    from gpuwhy.plan.describe import BadMachineError
    from gpuwhy.plan.document import document
    from gpuwhy.plan.requirements import RequirementError, check

    with refused(BadMachineError), refused(RequirementError):
        demand, seen = _demand(options)
        check(demand)
    choice = choose(demand)
    confirmed = _confirmed(choice) if options.resolve and choice.fits else (None, "")
    if options.write:
        _write(choice, options.write)
    detail = 2 if options.all else int(options.verbose or bool(options.html))
    made = document(choice, detail, seen, confirmed)
    output.put(options, made, plan_of(choice, seen, confirmed[1]))
    return HEALTHY if choice.fits else FOUND


def _demand(options: argparse.Namespace) -> tuple[Demand, tuple[Line, ...]]:
    """What is wanted, and the machine: described by options, or this one."""
    from gpuwhy.plan.describe import described, keep_of

    packages = tuple(_packages(options))
    keep = tuple(filter(None, options.keep.split(",")))
    is_version = re.fullmatch(r"\d.*", options.python) and not os.path.exists(options.python)
    if any(getattr(options, name) for name in _DESCRIBES):
        if options.python and not is_version:
            text = "with a described machine, give a version such as 3.12"
            raise UsageError(f"--python {options.python}: {text}")
        machine = (options.driver, tuple(options.gpu), options.python, options.os, options.arch)
        return described(packages, *machine, options.glibc, keep, options.manager), ()
    from gpuwhy.cli.plan_here import here

    folder = "" if is_version else os.path.expanduser(options.python)
    if folder and not os.path.exists(folder):
        raise UsageError(f"--python {options.python}: neither a version nor a file or folder")
    version = options.python if is_version else ""
    return here(packages, folder, version, keep_of(keep), options.least_change, options.manager)


def _packages(options: argparse.Namespace) -> list[Wanted]:
    from gpuwhy.plan.requirements import from_file, from_words

    out = from_words(options.packages)
    for path in options.requirement:
        out += from_file(path, _open)
    for path in options.constraint:
        out += from_file(path, _open, constraint=True)
    if not out:
        raise UsageError("nothing to plan: name a package, as in gpuwhy plan tensorflow")
    return out


def _open(path: str) -> str:
    if path == "-":
        return read_bytes("-").decode(errors="replace")
    return reading.read(path, MOST).decode(errors="replace")


def _confirmed(choice: Choice) -> tuple[bool | None, str]:
    """What uv, else pip, says of the pins; it builds and downloads nothing but metadata."""
    from gpuwhy.plan import confirm

    uv = shutil.which("uv")
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if uv:
        command, tool = [uv, *confirm.with_uv(choice)[1:]], "uv"
    elif choice.python == own:
        command, tool = confirm.with_pip(choice, sys.executable), "pip"
    else:
        return None, f"uv is not installed, and pip can only speak for Python {own}"
    text = "\n".join(confirm.pins(choice)) + "\n"
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            timeout=confirm.SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"{tool} gave no answer within {confirm.SECONDS} s"
    except OSError as error:
        return None, f"{tool} could not be started: {error.strerror or error}"
    return confirm.judged(tool, done.returncode, done.stdout, done.stderr)


def _write(choice: Choice, folder: str) -> None:
    from gpuwhy.plan.commands import ways

    basis = choice if choice.fits else choice.nearest.to if choice.nearest else None
    if basis is None:
        raise UsageError("--write: nothing works, so there is nothing to write")
    files = {way.file: way.text for way in ways(basis) if way.file}
    present = [name for name in files if os.path.exists(os.path.join(folder, name))]
    if present:
        said = f"{', '.join(present)} would be overwritten; name another folder"
        raise UsageError(f"--write {folder}: {said}")
    with refused(OSError, f"--write {folder}: "):
        os.makedirs(folder, exist_ok=True)
        for name, text in files.items():
            create(os.path.join(folder, name), text.encode())
    say(f"gpuwhy: wrote {', '.join(files)} to {folder}")
