"""What runs before a program's first line: start-up files of Python, and the environment's
activation; and whether its Python starts at all. Everything is read as text, nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpuwhy.facts.environment import Exported, Python
from gpuwhy.facts.fact import Fact, absent, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Start, StartFile, StartProblem
from gpuwhy.facts.version import major_minor
from gpuwhy.look.environment.python import FRAMEWORK_FOLDERS
from gpuwhy.look.files import environ, exists, lines, names, paths, real, text
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


# ------------------------------------------------------------ activation

_STOCK = r"_OLD_.*|VIRTUAL_ENV.*|PATH|PS1|CONDA_.*|SCRIPT_PATH|BASH.*|OSTYPE|_"
"""What every activation sets."""
_EXPORT = (
    r"\s*(?:export\s+|declare -x\s+)?(?P<name>[A-Za-z_]\w*)="
    r"(?P<q>['\"]?)(?P<value>[^'\"\s#;$`]*)(?P=q)\s*(?:[#;]|$)"
)
_KEPT = r'"(?P<name>[A-Za-z_]\w*)"\s*:\s*"(?P<value>[^"]*)"'
_ACTIVATION = (
    ("bin", r"(post)?activate$", ("venv",)),
    ("conda-meta", r"state$", ("venv", "conda")),
    ("etc/conda/activate.d", r".*\.sh$", ("venv", "conda")),
)
"""What a shell reads when an environment is activated, in its order."""


def activation(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Exported, ...]]:
    """The variables that the environment's activation sets beyond the usual ones."""
    python = facts.environment.python.need()
    if python is None:
        return absent("env", "PATH", "no Python")
    found = []
    for folder, match, kinds in _ACTIVATION if python.kind in ("venv", "conda") else ():
        listed = paths(machine, f"{python.prefix}/{folder}", match) if python.kind in kinds else []
        for file in sorted(listed):
            sets: dict[str, str] = {}  # each with the value that is set last
            kept = file.endswith("/state")
            for line in lines(machine, file, '": "' if kept else "="):
                first = re.match(_EXPORT, line)
                for said in re.finditer(_KEPT, line) if kept else filter(None, [first]):
                    sets[said["name"]] = printable(said["value"])
            for name, value in sets.items():
                if not re.fullmatch(_STOCK, name) and not re.search(_SECRET, name):
                    found.append(Exported(name, file, value))
    if not found:
        return absent("file", f"{python.prefix}/bin/activate", "nothing of its own")
    return known(tuple(found), "file", found[0].file)


def presets(machine: Machine, facts: Facts) -> Mapping[str, tuple[str, str]]:
    """The variables of the GPU stack that files set: name → value, file."""
    python = value_or(facts.environment.python, None)
    variables = environ(machine)
    found: dict[str, tuple[str, str]] = {}
    active = (variables.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    own = real(machine, python.prefix) if python else ""
    if python and all(real(machine, one) != own for one in active if one):
        for one in value_or(facts.environment.activation, ()):
            if re.match(rf"({_READERS})_", one.name) and one.name not in variables:
                found[one.name] = (one.value, one.file)
    for file in value_or(facts.installs.start_files, ()):
        for name, value in file.sets:
            found[name] = (value, file.path)
    return found
