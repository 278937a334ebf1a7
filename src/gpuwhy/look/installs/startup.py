"""What runs before a program's first line: start-up files of Python; and whether its Python starts
at all. Everything is read as text, nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpuwhy.facts.environment import Python
from gpuwhy.facts.fact import Fact, absent, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Start, StartFile, StartProblem
from gpuwhy.facts.version import major_minor
from gpuwhy.look.environment.python import FRAMEWORK_FOLDERS
from gpuwhy.look.files import environ, exists, names, real, text
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Machine, printable

_READERS = (
    "CUBLAS|CUDA|CUPY|JAX|KERAS|NCCL|NUMBA|NVIDIA|PROTOCOL_BUFFERS|PYTORCH|TF|TORCH|TRITON|XLA"
)
_SET = (
    rf"(?:import\s[^#]*;\s*)?(?:os\.)?environ(?P<default>\.setdefault)?[\[(]"
    rf"\s*['\"](?P<name>(?:{_READERS})_[A-Z0-9_]+)['\"]\s*(?:\]\s*=|,)"
    rf"\s*['\"](?P<value>[^'\"\\]*)['\"]\s*\)?\s*(?:;|#|$)"
)
"""Statements that no condition guards: they begin their line."""
_BLOCKED = r"sys\.modules\[\s*['\"]([\w.]+)['\"]\s*\]\s*=\s*None"
_SECRET = r"TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH"
_MOST = 50


def start_files(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[StartFile, ...]]:
    """The files of the environment that Python runs before any program."""
    if facts.environment.python.need() is None:
        return absent("env", "PATH", "no Python")
    found: dict[str, StartFile] = {}
    sites = value_or(facts.environment.sites, ())
    ordered = sorted(sites, key=lambda site: site.kind != "PYTHONPATH")  # first when Python runs
    for site in ordered:
        match = r"(site|user)customize\.py$"
        if site.kind != "PYTHONPATH":
            match = rf".*\.pth$|{match}"
        for name in names(machine, site.path, match)[:_MOST]:
            plain, file = name.endswith(".py"), f"{site.path}/{name}"
            code = printable(text(machine, file)).splitlines()
            if not plain:
                code = [line for line in code if re.match(r"import[ \t]", line)]
            sets: dict[str, str] = {}
            for said in filter(None, (re.match(_SET, line) for line in code)):
                if not said["default"] or said["name"] not in sets:
                    sets[said["name"]] = said["value"]
            blocks = dict.fromkeys(one for line in code for one in re.findall(_BLOCKED, line))
            shown = tuple(pair for pair in sets.items() if not re.search(_SECRET, pair[0]))
            if plain or code:  # of two sitecustomize.py the first one is run
                one = StartFile(printable(file), shown, tuple(blocks))
                found.setdefault(name if plain else file, one)
    return known(tuple(found.values()), "folder", ", ".join(site.path for site in ordered))


# ------------------------------------------------------------ whether Python starts

_ALLOCATORS = r"default|debug|((py)?malloc|mimalloc)(_debug)?"
_TAKEN = {
    "PYTHONHASHSEED": r"random|\d{1,10}",
    "PYTHONUTF8": r"[01]",
    "PYTHONMALLOC": _ALLOCATORS,
    "PYTHONTRACEMALLOC": r"\d{1,5}",
}
"""Variables with a value at which Python stops, and which values it takes."""


def start(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Start, ...]]:
    """What keeps the environment's Python from starting, or from finding its packages."""
    python = facts.environment.python.need()
    if python is None or python.gone:
        return absent("env", "PATH", "no Python that could be started")
    found = tuple(_problems(machine, facts, python))
    return known(found, "file", python.path, "by its files and variables")


def _problems(machine: Machine, facts: Facts, python: Python) -> Iterator[Start]:
    """No pyvenv.cfg any more, another Python behind the link, variables that it refuses."""
    above, release = python.path.rpartition("/bin/")[0], major_minor(python.version)
    own = f"{above}/lib/python{release}/site-packages"
    searched = {real(machine, site.path) for site in value_or(facts.environment.sites, ())}
    if above and python.kind != "conda" and real(machine, own) not in searched:
        lost = tuple(one for one in names(machine, own, FRAMEWORK_FOLDERS) if one != "nvidia")
        if lost:
            kind = StartProblem.NO_CONFIG
            yield Start(kind, path=own, version=python.version, lost=lost)
    said = re.search(r"/python(\d+\.\d+)t?$", value_or(machine.real(python.path), ""))
    config = text(machine, f"{python.prefix}/pyvenv.cfg")
    said = said or re.search(r"(?m)^version(?:_info)?\s*=\s*(\d+\.\d+)", config)
    if said and said[1] != release:  # the system's Python was upgraded
        modules = {one.path.rpartition("/")[2] for one in value_or(facts.frameworks.installed, ())}
        lost = tuple(sorted(name for name in modules if name.isidentifier()))
        yield Start(StartProblem.OTHER_PYTHON, path=python.path, version=said[1], lost=lost)
    variables = environ(machine)
    for name, taken in _TAKEN.items():
        value = variables.get(name, "")
        if value and not re.fullmatch(taken, value):
            yield Start(StartProblem.VARIABLE, variable=name, value=value)
    home = variables.get("PYTHONHOME", "").split(":")[0].rstrip("/")
    lib = f"{home}/lib/python{release}"
    if home and not any(exists(machine, f"{lib}/{one}") for one in ("encodings", "os.py")):
        yield Start(StartProblem.VARIABLE, path=home, variable="PYTHONHOME", value=home)


def presets(facts: Facts) -> Mapping[str, tuple[str, str]]:
    """The variables of the GPU stack that start-up files set: name → value, file."""
    files = value_or(facts.installs.start_files, ())
    return {name: (value, file.path) for file in files for name, value in file.sets}
