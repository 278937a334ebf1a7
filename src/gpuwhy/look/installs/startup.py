"""What runs before a program's first line: start-up files of Python, and the environment's
activation; and whether its Python starts at all. Everything is read as text, nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpuwhy.facts.environment import Exported, Python
from gpuwhy.facts.fact import Fact, Known, Source, absent, known, value_or
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
            key = name if name.endswith(".py") else f"{site.path}/{name}"
            one = None if key in found else _start_file(machine, facts, site.path, name)
            if one:
                found[key] = one
    return known(tuple(found.values()), "folder", ", ".join(site.path for site in ordered))


def _start_file(machine: Machine, facts: Facts, folder: str, name: str) -> StartFile | None:
    every = tuple(printable(text(machine, f"{folder}/{name}")).splitlines())
    code = tuple(line for line in every if re.match(r"import[ \t]", line))
    plain = name.endswith(".py")
    if not plain and not code:
        return None
    packages = value_or(facts.environment.packages, ())
    owners = (one.owner for one in packages if one.site == folder and one.files.find(name))
    shown = every if plain else code
    found: dict[str, str] = {}
    for said in filter(None, (re.match(_SET, line) for line in shown)):
        if not said["default"]:
            found[said["name"]] = said["value"]
        found.setdefault(said["name"], said["value"])
    return StartFile(
        path=printable(f"{folder}/{name}"),
        owner=next(owners, None),
        code=() if plain else tuple(line[:400] for line in code),
        sets=tuple(pair for pair in found.items() if not re.search(_SECRET, pair[0])),
        blocks=tuple(dict.fromkeys(one for line in shown for one in re.findall(_BLOCKED, line))),
    )


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
    found = [*_no_config(machine, facts, python), *_other_python(machine, facts, python)]
    found += _variables(machine, python)
    return known(tuple(found), "file", python.path, "by its files and variables")


def _no_config(machine: Machine, facts: Facts, python: Python) -> Iterator[Start]:
    """Frameworks beside a Python that does not look there: an environment without pyvenv.cfg."""
    above = python.path.rpartition("/bin/")[0]
    own = f"{above}/lib/python{major_minor(python.version)}/site-packages"
    searched = {real(machine, site.path) for site in value_or(facts.environment.sites, ())}
    if not above or python.kind == "conda" or real(machine, own) in searched:
        return
    lost = tuple(one for one in names(machine, own, FRAMEWORK_FOLDERS) if one != "nvidia")
    if lost:
        yield Start(StartProblem.NO_CONFIG, path=own, version=python.version, lost=lost)


def _other_python(machine: Machine, facts: Facts, python: Python) -> Iterator[Start]:
    """A link to another release than the packages are for: the system's Python was upgraded."""
    said = re.search(r"/python(\d+\.\d+)t?$", value_or(machine.real(python.path), ""))
    config = text(machine, f"{python.prefix}/pyvenv.cfg")
    said = said or re.search(r"(?m)^version(?:_info)?\s*=\s*(\d+\.\d+)", config)
    if said and said[1] != major_minor(python.version):
        modules = {one.path.rpartition("/")[2] for one in value_or(facts.frameworks.installed, ())}
        lost = tuple(sorted(name for name in modules if name.isidentifier()))
        yield Start(StartProblem.OTHER_PYTHON, path=python.path, version=said[1], lost=lost)


def _variables(machine: Machine, python: Python) -> Iterator[Start]:
    """Variables with which Python ends before its first line, or looks for itself elsewhere."""
    variables = environ(machine)
    for name, taken in _TAKEN.items():
        value = variables.get(name, "")
        if value and not re.fullmatch(taken, value):
            yield Start(StartProblem.VARIABLE, variable=name, value=value)
    home = variables.get("PYTHONHOME", "").split(":")[0].rstrip("/")
    lib = f"{home}/lib/python{major_minor(python.version)}"
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
    files = [
        file
        for folder, match, kinds in _ACTIVATION
        if python.kind in kinds
        for file in sorted(paths(machine, f"{python.prefix}/{folder}", match))
    ]
    found = [one for file in files for one in _exports(machine, file)]
    if not found:
        return absent("file", files[0] if files else "activate", "nothing of its own")
    return Known(tuple(found), Source("file", found[0].file))


def _exports(machine: Machine, file: str) -> Iterator[Exported]:
    """Each variable once, with the value that is set last."""
    found: dict[str, str] = {}
    kept = file.endswith("/state")
    for line in lines(machine, file, '": "' if kept else "="):
        first = re.match(_EXPORT, line)
        for said in re.finditer(_KEPT, line) if kept else filter(None, [first]):
            found[said["name"]] = printable(said["value"])
    for name, value in found.items():
        if not re.fullmatch(_STOCK, name) and not re.search(_SECRET, name):
            yield Exported(name, file, value)


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
