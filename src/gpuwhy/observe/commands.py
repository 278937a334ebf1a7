"""Commands: what lies in an environment beside its packages: commands that do not start, folders that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import COMMAND_GONE, COMMAND_LOST, NOT_RUN, OTHER_PYTHON, Damage, Distribution, Interpreter
from gpuwhy.model.version import major_minor
from gpuwhy.observe.scene import Scene

_RECORDED = re.compile(r"(?:\.\./){1,4}(?P<name>bin/[^/,\"]+),")
_FIRST = re.compile(r"(?:#!|'''exec' \"?)(?P<python>/[^\s\"]+)")
_SHELLS = re.compile(r"/(env|sh|bash|dash)$")
_PYTHON = re.compile(r"/python(\d+\.\d+)t?$")
_PYTHONS = r"python(3|3\.\d+)?$"


def dead_commands(scene: Scene, among: Sequence[Distribution]) -> Iterator[Damage]:
    """The commands of some distributions that were installed and do not start; then names of the Python itself."""
    python = scene.facts.target.interpreter
    if not isinstance(python, Known) or python.value.gone or python.value.kind not in ("venv", "conda"):
        return
    for dist in among:
        if dist.location.startswith(f"{python.value.prefix}/"):
            yield from _of(scene, dist, python.value)
    yield from _other_pythons(scene, python.value)


def _of(scene: Scene, dist: Distribution, python: Interpreter) -> Iterator[Damage]:
    """One by one; where all of them are gone, somebody made the environment small."""
    lines = value_or(scene.host.lines(f"{dist.location}/RECORD", "../bin/"), ())
    names = dict.fromkeys(found["name"] for line in lines if (found := _RECORDED.match(line)))
    paths = [f"{python.prefix}/{name}" for name in names]
    gone = [path for path in paths if isinstance(scene.host.stat(path), Absent)]
    owner = f"{dist.name} {dist.version}"
    for path in paths:
        if path in gone:
            wrong = (COMMAND_GONE, "no file") if len(gone) < len(paths) else None
        else:
            wrong = _wrong(scene, path, python)
        if wrong:
            yield Damage(path, owner, wrong[0], "", wrong[1])


def _wrong(scene: Scene, path: str, python: Interpreter) -> tuple[str, str] | None:
    """What keeps a command from starting with the environment's Python."""
    stat = scene.host.stat(path)
    if isinstance(stat, Known) and stat.value.kind == "file" and "x" not in stat.value.mode:
        return NOT_RUN, stat.value.mode
    for line in value_or(scene.host.lines(path, "#!/", "'''exec' "), ())[:2]:
        named = _FIRST.match(line)
        if named and not _SHELLS.search(named["python"]):
            return _of_another(scene, named["python"], python)
    return None


def _of_another(scene: Scene, named: str, python: Interpreter) -> tuple[str, str] | None:
    """A Python that is gone, or that does not look at this environment's packages."""
    if isinstance(scene.host.stat(named), Absent):
        return COMMAND_LOST, named
    folder = value_or(scene.host.real(named.rpartition("/")[0]), "")
    own = value_or(scene.host.real(f"{python.prefix}/bin"), "")
    return (OTHER_PYTHON, named) if folder and own and folder != own else None


def _other_pythons(scene: Scene, python: Interpreter) -> Iterator[Damage]:
    """python3 beside python, where it is another release: the packages are not for it."""
    here = f"{python.prefix}/bin"
    wanted = major_minor(python.version)
    for entry in value_or(scene.host.list(here, _PYTHONS), ()):
        path = f"{here}/{entry.name}"
        real = _PYTHON.search(value_or(scene.host.real(path), ""))
        if path != python.path and real and real[1] != wanted and not isinstance(scene.host.stat(path), Absent):
            yield Damage(path, f"Python {wanted}", OTHER_PYTHON, wanted, f"Python {real[1]}")


def no_site(scene: Scene) -> Iterator[Damage]:
    """The environment's folder of packages as a link that leads nowhere."""
    python = scene.facts.target.interpreter
    if not isinstance(python, Known) or python.value.kind not in ("venv", "conda"):
        return
    one = python.value
    folder = f"{one.prefix}/lib/python{major_minor(one.version)}/site-packages"
    for path in (folder, folder.rpartition("/")[0], f"{one.prefix}/lib"):
        link = scene.host.link(path)
        if isinstance(link, Known) and isinstance(scene.host.stat(path), Absent):
            yield Damage(path, f"Python {one.version}", "dangling link", "", f"points to {link.value}")
            return
