"""`gpuwhy plan`: which releases work together here, or on a described machine."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from typing import Any

from gpuwhy.choose.choice import Choice
from gpuwhy.choose.chooser import choose
from gpuwhy.choose.demand import Card, Demand, Wanted
from gpuwhy.cli import FOUND, HEALTHY, UsageError, output, refused, say
from gpuwhy.cli.terminal import read_bytes
from gpuwhy.facts.fact import Known, source_of, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.version import numbers
from gpuwhy.machine import reading
from gpuwhy.machine.writing import create
from gpuwhy.plan import confirm, describe, requirements
from gpuwhy.plan.commands import ways
from gpuwhy.plan.contract import Line, plan_of
from gpuwhy.plan.document import document

MOST = 4 << 20
"""The largest file of requirements that is read."""
_DESCRIBES = ("driver", "gpu", "os", "arch", "glibc")
_ARCHES = {"amd64": "x86_64", "arm64": "aarch64", "": "x86_64"}


def go(options: argparse.Namespace) -> int:
    """Read the demand, choose, print."""
    with refused(describe.BadMachineError), refused(requirements.RequirementError):
        demand, seen = _demand(options)
        requirements.check(demand)
    choice = choose(demand)
    confirmed = _confirmed(choice) if options.resolve and choice.fits else (None, "")
    if options.write:
        _write(choice, options.write)
    detail = 2 if options.all else int(bool(options.verbose or options.html))
    made = document(choice, detail, seen, confirmed)
    output.put(options, made, plan_of(choice, seen, confirmed[1]))
    return HEALTHY if choice.fits else FOUND


def _demand(options: argparse.Namespace) -> tuple[Demand, tuple[Line, ...]]:
    """What is wanted, and the machine: described by options, or this one."""
    wanted = requirements.from_words(options.packages)
    for path in options.requirement:
        wanted += requirements.from_file(path, _text)
    for path in options.constraint:
        wanted += requirements.from_file(path, _text, constraint=True)
    if not wanted:
        raise UsageError("nothing to plan: name a package, as in gpuwhy plan tensorflow")
    packages, keep = tuple(wanted), tuple(filter(None, options.keep.split(",")))
    if any(getattr(options, name) for name in _DESCRIBES):
        machine = (options.driver, tuple(options.gpu), options.python, options.os, options.arch)
        return describe.described(packages, *machine, options.glibc, keep, options.manager), ()
    is_version = re.fullmatch(r"\d.*", options.python) and not os.path.exists(options.python)
    folder = "" if is_version else os.path.expanduser(options.python)
    if folder and not os.path.exists(folder):
        raise UsageError(f"--python {options.python}: neither a version nor a file or folder")
    from gpuwhy.look.look import Options, look
    from gpuwhy.machine.live import LiveMachine
    from gpuwhy.machine.recording import RecordingMachine

    subjects = ("system", "environment", "driver", "devices")
    asked = Options(python=folder, folder=".")
    facts = look(RecordingMachine(LiveMachine()), asked, subjects)
    version = describe.python_of(options.python) if is_version else ""
    return _of_facts(facts, options, packages, version, describe.keep_of(keep))


def _of_facts(
    facts: Facts,
    options: argparse.Namespace,
    packages: tuple[Wanted, ...],
    version: str,
    keep: tuple[str, ...],
) -> tuple[Demand, tuple[Line, ...]]:
    """The demand for the machine of these facts, and what was seen of it."""
    interpreter = value_or(facts.environment.python, None)
    own = ".".join(map(str, numbers(interpreter.version)[:2])) if interpreter else ""
    arch = interpreter.machine.lower() if interpreter else ""
    libc = value_or(facts.system.libc, None)
    glibc = libc.version if libc and libc.name == "glibc" else ""
    driver = str(value_or(facts.driver.module_version, ""))
    seen: dict[str, Any] = {}
    cards = []
    gpus: Any = facts.devices.gpus if value_or(facts.devices.gpus, ()) else facts.devices.pci
    for one in value_or(gpus, ()):  # as the driver names them, else as the bus does
        named = (one.name, one.capability)
        name, capability = (text if isinstance(text, str) else value_or(text, "") for text in named)
        if capability:
            cards.append(Card(name.removeprefix("NVIDIA "), capability))
            seen[f"{cards[-1].name}, compute capability {capability}"] = gpus
    seen |= {f"driver {driver}": facts.driver.module_version} if driver else {}
    seen |= {f"Python {own}": facts.environment.python} if own and not version else {}
    seen |= {f"glibc {glibc}": facts.system.libc} if glibc else {}
    lines = [Line("saw", text, source_of(fact)) for text, fact in seen.items()]
    lines += [Line("told", f"Python {version}")] if version else []
    windows = value_or(facts.system.os, "") == "windows"
    wsl = isinstance(facts.system.wsl, Known)
    demand = Demand(
        packages,
        "windows" if windows else "wsl" if wsl else "linux",
        _ARCHES.get(arch, arch),
        version or own,
        bool(version) or "python" in keep,
        driver,
        tuple(dict.fromkeys(cards)),
        glibc,
        options.manager,
        {one.name: one.version for one in facts.environment.by_name.values()},
        options.least_change,
        keep,
    )
    return demand, tuple(lines)


def _text(path: str) -> str:
    data = read_bytes("-") if path == "-" else reading.read(path, MOST)
    return data.decode(errors="replace")


def _confirmed(choice: Choice) -> tuple[bool | None, str]:
    """What uv, else pip, says of the pins; it builds and downloads nothing but metadata."""
    uv = shutil.which("uv")
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if not uv and choice.python != own:
        return None, f"uv is not installed, and pip can only speak for Python {own}"
    tool, command = "pip", confirm.with_pip(choice, sys.executable)
    if uv:
        tool, command = "uv", [uv, *confirm.with_uv(choice)[1:]]
    given = "\n".join(confirm.pins(choice)) + "\n"
    limited: dict[str, Any] = {"timeout": confirm.SECONDS, "check": False}
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, **limited)
    except (subprocess.TimeoutExpired, OSError) as error:
        return None, f"{tool} gave no answer: {error}"
    return confirm.judged(tool, done.returncode, done.stdout, done.stderr)


def _write(choice: Choice, folder: str) -> None:
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
