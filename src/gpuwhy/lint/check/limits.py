"""A neighbour newer than a release can use, which it does not forbid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gpuwhy.facts.version import at_least, numbers
from gpuwhy.knowledge import asked, needs
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.lint.mistakes import Edit, Mistake
from gpuwhy.lint.read.dockerfile import is_second
from gpuwhy.lint.rules import pattern, table, told
from gpuwhy.lint.scope import Scope, is_of_gpus
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import PYTHONS, allowed, allows, is_pinned, parsed, solve, together

_TRIED: dict[str, tuple[str, ...]] = table("limits.tried")
"""Releases that stand for the others of a neighbour."""
_FLOORS = {"numpy": (3, 9), "protobuf": (3, 7), "h5py": (3, 6)}
"""The oldest Python that has a neighbour past the limits."""
_WRITTEN_ALONE = "h5py<3"  # it comes with TensorFlow too, and matters to who loads weights
_FOR_A_MACHINE = re.compile(
    r"(^|[^a-z])(ngc|nvcr|colab|kaggle|sagemaker|databricks|jetson|l4t|jetpack)([^a-z]|$)"
)
_BRINGS_PROTOBUF = pattern("limits.brings_protobuf")
_FULL = ("ngc", "pytorch", "tensorflow", "aws", "framework")


class Need(NamedTuple):
    """What the release of a pin needs of a neighbour."""

    pin: Pin
    version: str
    name: str
    limit: str  # <2
    row: Any
    pythons: tuple[str, ...]

    @property
    def said(self) -> str:
        """torch 2.1.2 needs numpy<2."""
        return f"{self.pin.name} {self.version}".strip() + f" needs {self.name}{self.limit}"


def check(scope: Scope) -> Iterator[Mistake]:
    """A neighbour that is written without the limit; one that comes and is not written at all."""
    if is_second(scope.environment):
        return
    named: set[str] = set()
    for need in sorted(_needs(scope), key=lambda one: family(one.pin.name) is None):
        if not is_of_gpus(need.pin.name) or not _can_meet(scope, need) or _is_settled(scope, need):
            continue
        pins = [p for p in scope.environment.pins if p.name == need.name]
        others = [other for other in pins if together(need.pin, other)]
        wanted = need.name + need.limit
        if others:
            yield from _written(scope, need, others)
        elif wanted not in (*named, _WRITTEN_ALONE) and _comes(scope, need):
            named.add(wanted)
            values = {"said": need.said, "because": need.row.because, "wanted": wanted}
            edit, source = _added(scope, need), need.row.source
            yield told("unstated-limit.comes", need.pin, source, edit=edit, values=values)


def _needs(scope: Scope) -> Iterator[Need]:
    for pin in scope.pins:
        if pin.origin == "conda":
            found = re.fullmatch(r"={1,2}([\d.]+?)(\.\*)?", pin.specifier)
            rows = needs.limits(f"conda:{pin.name}", found[1]) if found else ()
            yield from _limits(pin, found[1] if found else "", rows, ())
        elif not pin.reference or pin.version:
            yield from _of_pip(scope, pin)


def _of_pip(scope: Scope, pin: Pin) -> Iterator[Need]:
    row = scope.taken(pin)
    if row is None and pin.reference:
        row = next(iter(allowed(pin.name, f"=={pin.public}")), None)
    version = row.version if row else pin.public
    pythons = tuple(p for p in PYTHONS if has_python(row, p)) if row else ()
    if re.fullmatch(r"cp3\d+", pin.tag):
        pythons = (f"3.{pin.tag[3:]}",)
    rows = _rows(pin.name, version, bool(row) or not family(pin.name))
    newest = allowed(pin.name, pin.specifier) if pin.specifier and not pin.version else ()
    if newest:  # of a range, what its newest release needs too
        always = {one.requirement for one in _rows(pin.name, newest[-1].version)}
        rows = [one for one in rows if one.requirement in always]
    yield from _limits(pin, version, rows, pythons)


def _rows(name: str, version: str, tried: bool = True) -> list[Any]:
    """The rows of a release, those of frameworks that were tried in every version included."""
    framework = "tensorflow" if name in ("tensorflow-gpu", "tensorflow-cpu") else name
    found = needs.caps(framework, version) if version and tried else ()
    capped = [one for one in found if not one.requirement.startswith("setuptools")]
    return [*needs.limits(name, version), *capped]


def _limits(pin: Pin, version: str, rows: Any, pythons: tuple[str, ...]) -> Iterator[Need]:
    for row in rows:
        name, sign, limit = row.requirement.partition("<")
        if sign:
            yield Need(pin, version, name, f"<{limit}", row, pythons)


def _can_meet(scope: Scope, need: Need) -> bool:
    """Whether some Python has both the release and a neighbour past the limit."""
    floor = (3, 8) if need.limit == "<1.24" else _FLOORS.get(need.name)
    pythons = scope.hinted or need.pythons
    both = [p for p in pythons if not need.pythons or p in need.pythons]
    return floor is None or not pythons or any(numbers(p)[:2] >= floor for p in both)


def _is_settled(scope: Scope, need: Need) -> bool:
    """Whether a lock decides."""
    held = scope.repository.locked(need.name)
    return bool(held) and all(allows(need.limit, version) for version in held)


def _added(scope: Scope, need: Need) -> Edit | None:
    """In a requirements file the limit is a line of its own."""
    pin = need.pin
    own = scope.kind == "requirements" and pin.place.path == scope.environment.path
    if not own or not pin.version or pin.marker:
        return None
    written = f"{pin.name}{pin.specifier}"
    return Edit(written, f"{written}\n{need.name}{need.limit}")


def _written(scope: Scope, need: Need, others: list[Pin]) -> Iterator[Mistake]:
    """The neighbour as the file has it: forced past the limit, or free to go there."""
    other = next((pin for pin in others if not pin.limits), None)
    if other is None or other.reference or other.origin != need.pin.origin:
        return
    if any(_is_within(pin, need) for pin in others) or _is_kept(scope, other, need):
        return
    found = _found(scope, need)
    if found and all(allows(need.limit, version) for version in found):
        return  # the other packages hold it back
    limit = f"{need.name}{need.limit}"
    written = f"{need.name}{other.specifier}" if other.specifier else f"{need.name} without a limit"
    values = {"said": need.said, "written": written, "because": need.row.because}
    if _forces(other, need):
        yield told("unstated-limit.forced", other, need.row.source, values=values, wanted=limit)
        return
    both = f"{other.name}{other.specifier}{',' if other.specifier else ''}{need.limit}"
    in_shell = other.step and not other.place.path.endswith((".txt", ".in"))
    edit = Edit(f"{other.name}{other.specifier}", f'"{both}"' if in_shell else both)
    yield told("unstated-limit", other, need.row.source, edit=edit, values=values, wanted=both)


def _is_within(pin: Pin, need: Need) -> bool:
    """Whether the newest that a pin allows keeps to the limit."""
    if pin.version:
        return parsed(pin.version) is None or allows(need.limit, pin.version)
    tries = _TRIED.get(need.name, (f"{need.limit.lstrip('<')}.99", "9999"))
    past = [version for version in tries if not allows(need.limit, version)]
    return not any(allows(pin.specifier, version) for version in past)


def _forces(pin: Pin, need: Need) -> bool:
    """Whether a pin allows nothing within the limit."""
    both = f"{pin.specifier},{need.limit}".strip(",")
    tries = _TRIED.get(need.name, ())
    return bool(pin.version) or (bool(tries) and not any(allows(both, one) for one in tries))


def _is_kept(scope: Scope, other: Pin, need: Need) -> bool:
    """Whether a neighbour may be there already, and stays because its pin lets it."""
    judged = scope.kind == "requirements" and scope.environment.in_image
    old = scope.base.family == "tensorflow" and not at_least(scope.base.version or "3", "2.5")
    there = _is_intermediate(scope) or f"python3-{other.name}" in scope.environment.apt or judged
    return (there or (old and other.name == "h5py")) and not _forces(other, need)


def _is_intermediate(scope: Scope) -> bool:
    """Whether an image is made to be built upon, or nobody here knows what it starts from."""
    image = scope.environment.image
    unnamed = image is None or image.text.startswith("$") or not scope.environment.runs
    return scope.over_unknown or (scope.kind == "dockerfile" and unnamed)


def _comes(scope: Scope, need: Need) -> bool:
    """Whether the neighbour is installed without being named, and nothing holds it back."""
    if need.name == "mkl":
        return _mkl_comes(scope, need)
    if not is_pinned(need.pin) or _may_be_there(scope, need):
        return False
    by_conda = [pin.name for pin in scope.pins if pin.origin == "conda"]
    if need.name == "protobuf":
        own = any(name.startswith("tensorflow") for name in scope.names)
        if (own and need.pin.name == "tensorboard") or any(map(_BRINGS_PROTOBUF.match, by_conda)):
            return False
    elif not scope.pip_alone:
        return False
    limiting = (p for p in scope.pins if p.specifier and p.name in needs.limiting(need.name))
    if any(_is_unread(pin) for pin in limiting):
        return False
    found = _found(scope, need)
    if not found:  # sources, whose demands nobody here has read
        return need.name in ("torchvision", "pillow")
    return any(not allows(need.limit, version) for version in found)


def _is_unread(pin: Pin) -> bool:
    """Whether nobody here knows what a release asks for."""
    return not asked.knows(pin.name) or bool(pin.version and not asked.has(pin.name, pin.public))


def _mkl_comes(scope: Scope, need: Need) -> bool:
    """PyTorch's own channel leaves MKL open, and conda-forge has the newer one."""
    channels, pin = scope.environment.channels, need.pin
    own = ("defaults", "anaconda", "main", "pkgs/main")
    first = next((one for one in channels if one in ("pytorch", "conda-forge", *own)), "")
    forge = next((one for one in channels if one in ("conda-forge", *own)), "") == "conda-forge"
    forge = forge or any("forge" in run.text.lower() for run in scope.environment.commands)
    of_pytorch = pin.channel == "pytorch" or (not pin.build and first == "pytorch")
    built = bool(re.match(r"py3\.\d+_(cuda|cpu)", pin.build))
    return (of_pytorch or built) and forge and len(scope.pins) < 60


def _may_be_there(scope: Scope, need: Need) -> bool:
    """Whether something else may bring the neighbour, or limit it."""
    stage = scope.environment
    name = stage.path.rsplit("/", 1)[-1].lower()
    return (
        scope.installs_project
        or _is_intermediate(scope)
        or scope.kind == "notebook"  # its machine has a NumPy already
        or bool(_FOR_A_MACHINE.search(name))
        or (scope.kind == "dockerfile" and not stage.pythons and not need.pin.tag)
        or stage.includes_unknown
        or stage.in_image  # judged there, with what else is installed
        or scope.base.family in _FULL
    )


def _found(scope: Scope, need: Need) -> list[str]:
    """What pip takes of the neighbour on each Python that has the release."""
    out = []
    for python in need.pythons or scope.pythons:
        if python not in scope.pythons:
            continue
        pins = scope.together(need.pin.step)
        found = solve([*pins, need.pin] if need.pin.arms else pins, python)
        if found.clash:  # told by another rule: the rest of it hides nothing here
            rest = [pin for pin in pins if pin.name not in (found.clash.name, found.clash.by)]
            found = solve([need.pin, *rest], python)
        if need.name in found.releases and not found.clash:
            out.append(found.releases[need.name])
    return out
