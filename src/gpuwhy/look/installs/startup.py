"""What runs before a program's first line: start-up files of Python, and the environment's
activation; and whether its Python starts at all. Everything is read as text, nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

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
_NAME = rf"\s*['\"](?P<name>(?:{_READERS})_[A-Z0-9_]+)['\"]\s*"
_VALUE = r"\s*['\"](?P<value>[^'\"\\]*)['\"]"
_BEGINS = r"(?:import\s[^#]*;\s*)?"
_ASSIGNED = rf"{_BEGINS}(?:os\.)?environ\[{_NAME}\]\s*={_VALUE}\s*(?:;|#|$)"
_DEFAULT = rf"{_BEGINS}(?:os\.)?environ\.setdefault\({_NAME},{_VALUE}\s*\)"
"""Statements that no condition guards: they begin their line."""
_BLOCKED = r"sys\.modules\[\s*['\"]([\w.]+)['\"]\s*\]\s*=\s*None"
_SECRET = r"TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH"
_NO_TEXT = "[\0\udc80-\udcff]"  # what decoding leaves of bytes that are not UTF-8
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
    path = f"{folder}/{name}"
    said = text(machine, path)
    readable = re.search(_NO_TEXT, said) is None
    every = tuple(printable(said).splitlines())
    code = tuple(line for line in every if re.match(r"import[ \t]", line))
    if name.endswith(".pth") and not code and readable:
        return None
    packages = value_or(facts.environment.packages, ())
    owners = (one.owner for one in packages if one.site == folder and one.files.find(name))
    shown = every if name.endswith(".py") else code
    return StartFile(
        path=printable(path),
        owner=next(owners, None),
        code=() if name.endswith(".py") else tuple(line[:400] for line in code),
        sets=tuple(_sets(shown)),
        blocks=tuple(dict.fromkeys(one for line in shown for one in re.findall(_BLOCKED, line))),
        readable=readable,
    )


def _sets(shown: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The variables of the GPU stack that lines of Python set, whatever was set before."""
    found: dict[str, str] = {}
    for line in shown:
        if said := re.match(_ASSIGNED, line):
            found[said["name"]] = said["value"]
        elif said := re.match(_DEFAULT, line):
            found.setdefault(said["name"], said["value"])
    yield from (pair for pair in found.items() if not re.search(_SECRET, pair[0]))


# ------------------------------------------------------------ whether Python starts


def start(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Start, ...]]:
    """What keeps the environment's Python from starting, or from finding its packages."""
    python = facts.environment.python.need()
    if python is None or python.gone:
        return absent("env", "PATH", "no Python that could be started")
    found = [*_no_config(machine, facts, python), *_other_python(machine, facts, python)]
    found += [*_variables(machine, python), *_no_libpython(machine, python)]
    return known(tuple(found), "file", python.path, "by its files and variables")


def _no_config(machine: Machine, facts: Facts, python: Python) -> Iterator[Start]:
    """Frameworks beside a Python that does not look there: an environment without pyvenv.cfg."""
    above = python.path.rpartition("/bin/")[0]
    own = f"{above}/lib/python{major_minor(python.version)}/site-packages"
    sites = value_or(facts.environment.sites, ())
    searched = {real(machine, site.path) for site in sites}
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
    now = said[1] if said else ""
    if now and now != major_minor(python.version):
        modules = {one.path.rpartition("/")[2] for one in value_or(facts.frameworks.installed, ())}
        lost = tuple(sorted(name for name in modules if name.isidentifier()))
        yield Start(StartProblem.OTHER_PYTHON, path=python.path, version=now, lost=lost)


def _no_libpython(machine: Machine, python: Python) -> Iterator[Start]:
    """The library in which all of Python is lies in no folder that its executable searches."""
    file = real(machine, python.path)
    elf = machine.elf(file)
    if not isinstance(elf, Known):
        return
    named = f"{elf.value.rpath}:{elf.value.runpath}".replace("$ORIGIN", file.rpartition("/")[0])
    folders = [*named.split(":"), *environ(machine).get("LD_LIBRARY_PATH", "").split(":")]
    folders += ["/lib", "/usr/lib", "/lib64", "/usr/lib64"]
    for name in (one for one in elf.value.needed if one.startswith("libpython")):
        beside = any(exists(machine, f"{folder}/{name}") for folder in folders if folder)
        cache = value_or(machine.ldcache(), ())
        if not beside and all(entry.name != name for entry in cache):
            yield Start(StartProblem.NO_LIBPYTHON, path=name)


def _variables(machine: Machine, python: Python) -> Iterator[Start]:
    """Variables with which Python ends before its first line, or looks for itself elsewhere."""
    variables = environ(machine)
    for name, takes in _VALUES.items():
        value = variables.get(name, "")
        if value and not takes(value):
            yield Start(StartProblem.VARIABLE, variable=name, value=value)
    home = variables.get("PYTHONHOME", "").split(":")[0].rstrip("/")
    if home:
        lib = f"{home}/lib/python{major_minor(python.version)}"
        if not exists(machine, f"{lib}/encodings") and not exists(machine, f"{lib}/os.py"):
            yield Start(StartProblem.VARIABLE, path=home, variable="PYTHONHOME", value=home)


def _encoding(value: str) -> bool:
    import codecs

    name = value.partition(":")[0]
    try:
        return not name or codecs.lookup(name) is not None
    except (LookupError, ValueError):
        return False


def _number(value: str, least: int, most: int) -> bool:
    return value.isdecimal() and least <= int(value[:12]) <= most


_ALLOCATORS = r"default|debug|((py)?malloc|mimalloc)(_debug)?"
_VALUES: dict[str, Callable[[str], object]] = {
    "PYTHONHASHSEED": lambda value: value == "random" or _number(value, 0, 4294967295),
    "PYTHONUTF8": lambda value: value in ("0", "1"),
    "PYTHONMALLOC": lambda value: re.fullmatch(_ALLOCATORS, value),
    "PYTHONTRACEMALLOC": lambda value: _number(value, 0, 65535),
    "PYTHONINTMAXSTRDIGITS": lambda value: value == "0" or _number(value, 640, 1 << 40),
    "PYTHONIOENCODING": _encoding,
}
"""Variables with a value at which Python stops, and which values it takes."""


# ------------------------------------------------------------ activation

_STOCK = r"_OLD_.*|VIRTUAL_ENV.*|PATH|PS1|CONDA_.*|SCRIPT_PATH|BASH.*|OSTYPE|_"
"""What every activation sets."""
_EXPORT = (
    r"(?:^\s*|\b(?:export|declare -x)\s+)(?:(?:export|declare -x)\s+)?(?P<name>[A-Za-z_]\w*)\+?="
)
_PLAIN = r"(?:(?P<q>['\"])(?P<quoted>[^'\"$`\\]*)(?P=q)|(?P<bare>[^'\"$`\s#;\\]*))\s*(?:[#;]|$)"
_KEPT = r'"(?P<name>[A-Za-z_]\w*)"\s*:\s*"(?P<value>[^"]*)"'
_OWN = r"\s*(?:export\s+)?VIRTUAL_ENV=(?P<q>['\"]?)(?P<path>/[^'\"$`]*)(?P=q)\s*$"


def activation(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Exported, ...]]:
    """The variables that the environment's activation sets beyond the usual ones."""
    python = facts.environment.python.need()
    files = list(_activation_files(machine, python)) if python else []
    found = [
        one for file in files for one in (*_exports(machine, file), *_other(machine, python, file))
    ]
    if not found:
        return absent("file", files[0] if files else "activate", "nothing of its own")
    return Known(tuple(found), Source("file", found[0].file))


def is_activated(machine: Machine, python: Python) -> bool:
    """Whether the shell is in this environment: then its own values count."""
    variables, own = environ(machine), real(machine, python.prefix)
    named = (variables.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    return any(real(machine, one) == own for one in named if one)


def _activation_files(machine: Machine, python: Python) -> Iterator[str]:
    """What a shell reads when the environment is activated, in its order."""
    places = (
        ("bin", r"(post)?activate$", ("venv",)),
        ("conda-meta", r"state$", ("venv", "conda")),
        ("etc/conda/activate.d", r".*\.sh$", ("venv", "conda")),
    )
    for folder, match, kinds in places:
        if python.kind in kinds:
            yield from sorted(paths(machine, f"{python.prefix}/{folder}", match))


def _exports(machine: Machine, file: str) -> Iterator[Exported]:
    """Each variable once, with the value that is set last."""
    found: dict[str, Exported] = {}
    if file.endswith("/state"):
        for line in lines(machine, file, '": "'):
            for pair in re.finditer(_KEPT, line):
                found[pair["name"]] = Exported(pair["name"], file, printable(pair["value"]))
    else:
        for line in lines(machine, file, "="):
            code = line.partition(" #")[0]
            for said in re.finditer(_EXPORT, code) if "_OLD_VIRTUAL" not in line else ():
                plain = re.match(_PLAIN, code[said.end() :])
                value = (plain["quoted"] or plain["bare"] or "") if plain else code[said.end() :]
                found[said["name"]] = Exported(said["name"], file, printable(value.strip()))
    for one in found.values():
        if not re.fullmatch(_STOCK, one.name) and not re.search(_SECRET, one.name):
            yield one


def _other(machine: Machine, python: Python | None, file: str) -> Iterator[Exported]:
    """The environment that the file was written for, where that is another folder."""
    here = value_or(machine.real(python.prefix), "") if python else ""
    for line in lines(machine, file, "VIRTUAL_ENV="):
        said = re.match(_OWN, line)
        path = said["path"].rstrip("/") if said else ""
        if path and here and value_or(machine.real(path), "") != here:
            yield Exported("VIRTUAL_ENV", file, path)
            return


# ------------------------------------------------------------ variables that they set


def presets(machine: Machine, facts: Facts) -> Mapping[str, tuple[str, str]]:
    """The variables of the GPU stack that files set: name → value, file."""
    python = value_or(facts.environment.python, None)
    variables = environ(machine)
    found: dict[str, tuple[str, str]] = {}
    if python and not is_activated(machine, python):
        for one in value_or(facts.environment.activation, ()):
            if re.match(rf"({_READERS})_", one.name) and one.name not in variables:
                found[one.name] = (one.value, one.file)
    for file in value_or(facts.installs.start_files, ()):
        for name, value in file.sets:
            found[name] = (value, file.path)
    return found
