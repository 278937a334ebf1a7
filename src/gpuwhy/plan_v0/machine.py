"""Machine: what the set has to work on, seen here or described, each value with how it is known."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from gpuwhy.knowledge import archs, gpus
from gpuwhy.knowledge.drivers import cuda_of_driver
from gpuwhy.model.fact import Known, Source, value_or
from gpuwhy.model.plan import Gpu, Line, Machine, System
from gpuwhy.model.version import numbers

if TYPE_CHECKING:
    from gpuwhy.model.facts import Facts

PYTHONS = ("3.12", "3.13", "3.11", "3.10", "3.14", "3.9", "3.8", "3.7", "3.6", "3.5", "3.15")
"""In the order they are tried when none is asked for: those with most wheels of other packages first."""

_MACHINES = {"amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64", "arm64": "aarch64"}


_ON_ARM = re.compile(r"jetson|orin|xavier|thor|tegra|gh200|gb[23]00|gb10|dgx spark")


class BadMachineError(ValueError):
    """A part of a description that makes no sense."""


def described(
    driver: str = "",
    names: tuple[str, ...] = (),
    python: str = "",
    system: str = "",
    machine: str = "",
    keep: tuple[str, ...] = (),
    glibc: str = "",
) -> Machine:
    """The machine of a description; raises BadMachineError."""
    libc = _libc(glibc, system) if glibc else ""
    told = [*_told(driver, names, python, system, machine), *filter(None, (libc,))]
    name: System = _system(system or "linux")
    cards = tuple(gpu(name) for name in names)
    arm = next((card.name for card in cards if _ON_ARM.search(card.name.lower())), "")
    cpu = _machine(machine or ("aarch64" if arm else "x86_64"))
    driver = _driver(driver) if driver else ""
    python = _python(python) if python else ""
    assumed = {
        "Linux, because no --os is given": not system,
        f"aarch64, which {arm} has": bool(arm) and not machine,
        "a driver that is new enough: --driver says which one (nvidia-smi shows it)": not driver,
        "a GPU that every release has code for: --gpu says which one": not cards,
    }
    lines = (*(Line("told", text) for text in told), *(Line("assumed", text) for text, so in assumed.items() if so))
    return Machine(name, cpu, driver, cards, python, bool(python), _keep(keep), lines=lines, libc=libc)


def flags(machine: Machine) -> list[str]:
    """The options that describe a machine again; of one that was looked at, what was told of it."""
    told = [f"--python={machine.python}"] if machine.python and machine.fixed_python else []
    if any(line.kind == "saw" for line in machine.lines):
        return told
    system = [f"--os={machine.system}"] if machine.system != "linux" else []
    cpu = [f"--arch={machine.machine}"] if machine.machine != "x86_64" else []
    libc = [f"--glibc={machine.libc.removeprefix('glibc ')}"] if machine.libc else []
    driver = [f"--driver={machine.driver}"] if machine.driver else []
    return [*(f"--gpu={_called(card)}" for card in machine.gpus), *driver, *told, *system, *cpu, *libc]


def _called(card: Gpu) -> str:
    """The name of a GPU as it is understood again."""
    row = gpus.by_name(card.name)
    return card.name if row and row.capability == card.capability else f"sm_{card.capability.replace('.', '')}"


def seen(facts: Facts, python: str = "", keep: tuple[str, ...] = ()) -> Machine:
    """The machine that was observed; what could not be seen is assumed, and said."""
    lines: list[Line] = []
    cards = _cards(facts, lines)
    interpreter, libc = value_or(facts.target.interpreter, None), facts.surroundings.libc
    here = ".".join(str(n) for n in numbers(interpreter.version)[:2]) if interpreter else ""
    lines += _driver_line(facts)
    if python:
        lines.append(Line("told", f"Python {python}"))
    elif here:
        lines.append(Line("saw", f"Python {here}", _source(facts.target.interpreter)))
    if isinstance(libc, Known):
        lines.append(Line("saw", libc.value, libc.source))
    cpu = interpreter.machine if interpreter else "x86_64"
    return Machine(
        _system_of(facts),
        _MACHINES.get(cpu, cpu or "x86_64"),
        _value(facts.driver.module_version),
        cards,
        _python(python) if python else here,
        bool(python) or "python" in keep,
        _keep(keep),
        {one.name: one.version for one in value_or(facts.target.distributions, ())},
        tuple(lines),
        _value(libc),
    )


def _driver_line(facts: Facts) -> list[Line]:
    driver = _value(facts.driver.module_version)
    if driver:
        return [Line("saw", f"driver {driver}", _source(facts.driver.module_version))]
    return [Line("assumed", "a driver that is new enough: none is loaded here; --driver says which one to plan for")]


def _system_of(facts: Facts) -> System:
    if _value(facts.surroundings.system) == "windows":
        return "windows"
    return "wsl" if isinstance(facts.surroundings.wsl, Known) else "linux"


def gpu(text: str) -> Gpu:
    """A GPU by name, `sm_89` or `8.9`; raises BadMachineError with the nearest names."""
    plain = re.fullmatch(r"(?:sm_|compute_)?(\d{1,2})\.?(\d)[af]?", text.strip().lower())
    if plain:
        return _by_capability(text, f"{plain[1]}.{plain[2]}")
    row = gpus.by_name(text)
    other = gpus.other_maker(text) if row is None else None
    if other:
        raise BadMachineError(f"--gpu {text}: a GPU of {other[0]}. {other[1]}")
    if row is None:
        near = difflib.get_close_matches(text.lower(), gpus.names(), 3, 0.6)
        hint = f"; did you mean {', '.join(near)}?" if near else "; give its compute capability, as in --gpu sm_89"
        raise BadMachineError(f"--gpu {text}: {_sold_twice(text) or f'no such GPU is known{hint}'}")
    if row.capability is None:
        raise BadMachineError(f"--gpu {text}: its compute capability is not known; give it, as in --gpu sm_89")
    return Gpu(row.name.removeprefix("NVIDIA "), row.capability)


def _by_capability(text: str, capability: str) -> Gpu:
    arch = archs.of(capability)
    if arch is None:
        known = ", ".join("sm_" + row.capability.replace(".", "") for row in archs.ARCHS)
        raise BadMachineError(f"--gpu {text}: no such compute capability; known are {known}")
    return Gpu(f"{'an' if arch.name[0] in 'AEIOU' else 'a'} {arch.name} GPU", capability)


def _sold_twice(text: str) -> str:
    """What to say of a name that was sold with different chips; "" for others."""
    found = next((gpus.SOLD_WITH[word] for word in text.lower().split() if word in gpus.SOLD_WITH), ())
    either = " or ".join("sm_" + capability.replace(".", "") for capability in found)
    return f"sold with different chips; give its compute capability, {either}" if found else ""


def _cards(facts: Facts, lines: list[Line]) -> tuple[Gpu, ...]:
    devices, pci = facts.devices.devices, facts.devices.pci
    if isinstance(devices, Known) and devices.value:
        found = [(d.name, _value(d.capability)) for d in devices.value]
        where = devices.source
    elif isinstance(pci, Known) and pci.value:
        found = [(_value(d.name), _value(d.capability)) for d in pci.value]
        where = pci.source
    else:
        lines.append(Line("assumed", "a GPU that every release has code for: none is seen here; --gpu says which one"))
        return ()
    cards = tuple(dict.fromkeys(Gpu(name.removeprefix("NVIDIA "), cap) for name, cap in found if cap))
    lines += [Line("saw", f"{card.name}, compute capability {card.capability}", where) for card in cards]
    return cards


def _told(driver: str, names: tuple[str, ...], python: str, system: str, machine: str) -> list[str]:
    out = [f"driver {driver}"] if driver else []
    out += [f"{g.name}, compute capability {g.capability}" for g in (gpu(name) for name in names)]
    out += [f"Python {python}"] if python else []
    out += (
        [" on ".join(filter(None, (system and {"wsl": "WSL 2"}.get(system, system), machine)))]
        if system or machine
        else []
    )
    return out


def _driver(text: str) -> str:
    if not re.fullmatch(r"\d{3}(\.\d+)*", text):
        raise BadMachineError(f"--driver {text}: expected a driver version such as 535 or 535.183.01")
    if cuda_of_driver(text) is None and numbers(text)[0] < 346:
        raise BadMachineError(f"--driver {text}: older than every driver that is known (346 came with CUDA 7.0)")
    return text


def _python(text: str) -> str:
    found = re.fullmatch(r"(3|2)\.(\d{1,2})(\.\d+)?(t?)", text)
    if not found:
        raise BadMachineError(f"--python {text}: expected a version such as 3.12")
    short = f"{found[1]}.{found[2]}{found[4]}"
    if short.rstrip("t") not in (*PYTHONS, "2.7", "3.4", "3.3"):
        raise BadMachineError(f"--python {text}: no release has a wheel for it; known are 2.7 and 3.3 to 3.15")
    return short


def _system(text: str) -> System:
    names: dict[str, System] = {"linux": "linux", "windows": "windows", "win": "windows", "wsl": "wsl", "wsl2": "wsl"}
    if text.lower() not in names:
        apple = gpus.other_maker(text)
        if apple and apple[0] == "Apple":
            raise BadMachineError(f"--os {text}: {apple[1]}")
        raise BadMachineError(f"--os {text}: expected linux, windows or wsl")
    return names[text.lower()]


def _machine(text: str) -> str:
    name = _MACHINES.get(text.lower(), text.lower())
    if name not in ("x86_64", "aarch64"):
        raise BadMachineError(f"--arch {text}: expected x86_64 or aarch64")
    return name


def _libc(text: str, system: str) -> str:
    if system and _system(system) == "windows":
        raise BadMachineError(f"--glibc {text}: Windows has no glibc")
    found = re.fullmatch(r"(?:glibc[ -]?)?(2\.\d{1,2})|(musl)", text.strip().lower())
    if not found:
        raise BadMachineError(f"--glibc {text}: expected a version such as 2.28 (ldd --version shows it), or musl")
    return f"glibc {found[1]}" if found[1] else "musl"


def _keep(parts: tuple[str, ...]) -> tuple[str, ...]:
    for part in parts:
        if part not in ("driver", "python"):
            raise BadMachineError(f"--keep {part}: expected driver, python or both, with a comma")
    return parts


def _value(fact: object) -> str:
    return str(fact.value) if isinstance(fact, Known) else ""


def _source(fact: object) -> Source | None:
    return fact.source if isinstance(fact, Known) else None
