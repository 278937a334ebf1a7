"""Activation: what an environment's own activation exports, which reaches every program that is started in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.host.activated import PYTHON
from gpuwhy.host.base import Entry
from gpuwhy.model.fact import NOT_TRIED, Absent, Fact, Known, Source, Unknown, absent, value_or
from gpuwhy.model.facts import Exported, Interpreter, Sourced
from gpuwhy.observe.scene import Scene

_SETS = re.compile(r"(?:^\s*|\b(?:export|declare -x)\s+)(?:(?:export|declare -x)\s+)?(?P<name>[A-Za-z_]\w*)\+?=")
_KEPT = re.compile(r'"(?P<name>[A-Za-z_]\w*)"\s*:\s*"')
_STOCK = re.compile(r"_OLD_.*|VIRTUAL_ENV.*|PATH|PS1|CONDA_.*|SCRIPT_PATH|BASH.*|OSTYPE|_")
"""What every activation sets."""
_MORE = re.compile(r"\s*(?:export\s+)?PATH=|(?!\s*#)(?:.*?(?:[;&|]|\bdo\b|\bthen\b))?\s*(?:\.|source)\s+[^\s#]")
_USUAL = re.compile(
    r"""\s*(export\s+)?PATH=["']?(\$\{?_OLD_VIRTUAL_PATH|\$\{?VIRTUAL_ENV\}?["']?/["']?(bin|Scripts)\b)"""
)
"""How every activation changes PATH."""
_OWN = re.compile(r"\s*(?:export\s+)?VIRTUAL_ENV=(?P<q>['\"]?)(?P<path>[/~][^'\"$`]*)(?P=q)\s*$")


def activation(scene: Scene) -> Fact[tuple[Exported, ...]]:
    """The variables that it sets, with the files that do so; what is looked at later is as in an activated shell."""
    python = value_or(scene.facts.target.interpreter, None)
    files = list(activation_files(scene, python)) if python is not None else []
    sets = [one for file in files for one in (*_sets(scene, file), *_of_another(scene, python, file))]
    if python is None or not (sets or any(_does_more(scene, file) for file in files)):
        return absent("file", files[0] if files else "activate", "nothing but what every activation sets")
    if is_activated(scene, python, value_or(scene.host.environ(), {})):
        return Known(tuple(sets), Source("file", files[0]))
    if scene.options.imports not in ("yes", "deep"):
        return NOT_TRIED
    return _run(scene, python, files, sets)


def sourced(scene: Scene) -> Fact[tuple[Sourced, ...]]:
    """What goes wrong where a shell runs it: its complaints, limits that it lowers, another `python`."""
    python = value_or(scene.facts.target.interpreter, None)
    files = list(activation_files(scene, python)) if python is not None else []
    if python is None or not files or python.gone:
        return absent("file", "activate", "no activation")
    if is_activated(scene, python, value_or(scene.host.environ(), {})):
        return absent("file", files[0], "the shell is activated already")
    if scene.options.imports not in ("yes", "deep") or not isinstance(scene.host.offline(), Absent):
        return NOT_TRIED
    said = scene.host.sourced(*files)
    if not isinstance(said, Known):
        return said if isinstance(said, Unknown) else Unknown("the environment's activation was not run")
    found = [_as_sourced(one.split("\t"), files) for one in said.value]
    return Known(tuple(one for one in found if one.kind != "python" or _leads(scene, python, one.text)), said.source)


def _as_sourced(words: list[str], files: list[str]) -> Sourced:
    """A line of host/activated.py as a value."""
    if words[0] == "limit":
        return Sourced("limit", files[0], words[1], value=int(words[2]))
    if words[0] in ("said", "unbound"):
        return Sourced(words[0], words[1], "\t".join(words[3:]), int(words[2]))  # type: ignore[arg-type]
    return Sourced("ends", words[1], "") if words[0] == "ends" else Sourced("python", files[0], words[-1])


def _leads(scene: Scene, python: Interpreter, told: str) -> bool:
    """Whether `python` is then another than the environment's."""
    folder = value_or(scene.host.real(told.rpartition("/")[0]), "")
    own = [value_or(scene.host.real(f"{one}/bin"), "") for one in (python.prefix, python.path.rpartition("/bin/")[0])]
    return python.kind == "venv" and folder not in own


def _run(scene: Scene, python: Interpreter, files: list[str], sets: list[Exported]) -> Fact[tuple[Exported, ...]]:
    """With what only a shell tells that runs it."""
    given = scene.host.activated(*files)
    if not isinstance(given, Known):
        return given if isinstance(given, Unknown) else Unknown("the environment's activation was not run")
    known = (PYTHON, *(one.name for one in sets))
    read = [Exported(name, files[-1], "") for name in given.value if name not in known]
    return Known((*sets, *read, *_another_python(scene, python, files, given.value, sets)), given.source)


def _another_python(
    scene: Scene, python: Interpreter, files: list[str], given: dict[str, str], sets: list[Exported]
) -> Iterator[Exported]:
    """What `python` is in the activated shell, where that is not the environment's."""
    told = given.get(PYTHON, "")
    if python.kind == "venv" and told and not any(one.name == "VIRTUAL_ENV" for one in sets):
        folder = value_or(scene.host.real(told.rpartition("/")[0]), "")
        if folder != value_or(scene.host.real(f"{python.prefix}/bin"), ""):
            yield Exported("PATH", files[-1], told)


def _sets(scene: Scene, file: str) -> Iterator[Exported]:
    """Each variable once, with the line that sets it last."""
    pattern = _KEPT.finditer if file.endswith("/state") else _assigned
    found = {}
    for line in value_or(scene.host.lines(file, '": "' if file.endswith("/state") else "="), ()):
        for match in pattern(line):
            if not _STOCK.fullmatch(match["name"]):
                found[match["name"]] = Exported(match["name"], file, line.strip())
    yield from found.values()


def _of_another(scene: Scene, python: Interpreter | None, file: str) -> Iterator[Exported]:
    """The environment that the file was written for, where that is another folder than the one it lies in."""
    here = value_or(scene.host.real(python.prefix), "") if python is not None else ""
    for line in value_or(scene.host.lines(file, "VIRTUAL_ENV="), ()):
        said = _OWN.match(line)
        if said and here and value_or(scene.host.real(said["path"].rstrip("/")), "") != here:
            yield Exported("VIRTUAL_ENV", file, said["path"].rstrip("/"))
            return


def _does_more(scene: Scene, file: str) -> bool:
    """Whether a line changes PATH otherwise than every activation does, or has another file read."""
    lines = value_or(scene.host.lines(file, "PATH=", ". ", "source "), ())
    return any(_MORE.match(line) and not _USUAL.match(line) for line in lines)


def _assigned(line: str) -> list[re.Match[str]]:
    return list(_SETS.finditer(line.partition(" #")[0])) if "_OLD_VIRTUAL" not in line else []


def is_activated(scene: Scene, python: Interpreter, environ: dict[str, str]) -> bool:
    """Whether the shell is in this environment: then its own values tell."""
    named = (environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    own = value_or(scene.host.real(python.prefix), python.prefix)
    return any(value_or(scene.host.real(one), one) == own for one in named if one)


def activation_files(scene: Scene, python: Interpreter) -> Iterator[str]:
    """What a shell reads when the environment is activated, in its order."""
    if python.kind == "venv":
        yield from (f"{python.prefix}/bin/{one.name}" for one in _listed(scene, python, "bin", r"(post)?activate$"))
    if python.kind in ("venv", "conda"):  # some make the one within the other
        yield from (f"{python.prefix}/conda-meta/state" for _ in _listed(scene, python, "conda-meta", r"state$"))
        folder = "etc/conda/activate.d"
        yield from (f"{python.prefix}/{folder}/{one.name}" for one in _listed(scene, python, folder, r".*\.sh$"))


def _listed(scene: Scene, python: Interpreter, folder: str, pattern: str) -> list[Entry]:
    found = value_or(scene.host.list(f"{python.prefix}/{folder}", pattern), ())
    return sorted(found, key=lambda one: one.name)
