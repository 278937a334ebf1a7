"""A neighbour newer than a release can use, which it does not forbid."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import asked, needs
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.lint.mistakes import Edit, Mistake
from gpuwhy.lint.read.dockerfile import is_second
from gpuwhy.lint.rules import pattern, table
from gpuwhy.lint.scope import Scope, is_of_gpus, told
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.solve import solve
from gpuwhy.lint.versions import PYTHONS, allowed, allows, parsed

_INSTALLS_PROJECT = pattern("scope.installs_project")
_TOOLS = table("scope.tools")
_BRINGS_PROTOBUF = pattern("limits.brings_protobuf")
_FULL = ("ngc", "pytorch", "tensorflow", "aws", "framework")


class Need(NamedTuple):
    """What the release of a pin needs of a neighbour."""

    pin: Pin
    version: str
    name: str
    limit: str  # <2
    row: needs.Need
    pythons: tuple[str, ...]


def check(scope: Scope) -> Iterator[Mistake]:
    """A neighbour that is written without the limit; one that comes and is not written at all."""
    if is_second(scope.environment):
        return
    named = {"h5py<3"}  # it comes with TensorFlow too, and matters to who loads weights
    for need in sorted(_needs(scope), key=lambda one: family(one.pin.name) is None):
        if not is_of_gpus(need.pin.name) or not _can_meet(scope, need):
            continue
        pins = [p for p in scope.environment.pins if p.name == need.name]
        others = [other for other in pins if need.pin.beside(other)]
        pin, wanted = need.pin, need.name + need.limit
        said = f"{pin.name} {need.version}".strip() + f" needs {wanted}"
        values: dict[str, object] = {"said": said, "because": need.row.because}
        if others:
            yield from _written(scope, need, others, values)
        elif wanted not in named and _comes(scope, need):
            named.add(wanted)
            own = scope.kind == "requirements" and pin.place.path == scope.environment.path
            written, edit = f"{pin.name}{pin.specifier}", None
            if own and pin.version and not pin.marker:  # the limit is a line of its own
                edit = Edit(written, f"{written}\n{wanted}")
            values["wanted"] = wanted
            yield told("unstated-limit.comes", pin, need.row.source, edit=edit, values=values)


def _needs(scope: Scope) -> Iterator[Need]:
    for pin in scope.pins:
        version, rows = pin.public, list[needs.Need]()
        pythons: tuple[str, ...] = ()
        if pin.origin == "conda":
            found = re.fullmatch(r"={1,2}([\d.]+?)(\.\*)?", pin.specifier)
            version = found[1] if found else ""
            rows = [*needs.limits(f"conda:{pin.name}", version)] if found else []
        elif not pin.reference or pin.version:
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
        for one in rows:
            name, sign, limit = one.requirement.partition("<")
            if sign:
                yield Need(pin, version, name, f"<{limit}", one, pythons)


def _rows(name: str, version: str, tried: bool = True) -> list[needs.Need]:
    """The rows of a release, those of frameworks that were tried in every version included."""
    framework = "tensorflow" if name in ("tensorflow-gpu", "tensorflow-cpu") else name
    found = needs.caps(framework, version) if version and tried else ()
    capped = [one for one in found if not one.requirement.startswith("setuptools")]
    return [*needs.limits(name, version), *capped]


def _can_meet(scope: Scope, need: Need) -> bool:
    """Whether some Python has both the release and a neighbour past the limit."""
    both = [p for p in scope.hinted or need.pythons if not need.pythons or p in need.pythons]
    if not (scope.hinted or need.pythons) or not asked.knows(need.name):
        return True
    past = ~asked.allowed(need.name, need.limit)
    return any(asked.on_python(need.name, python) & past for python in both)


def _written(
    scope: Scope, need: Need, others: list[Pin], values: dict[str, object]
) -> Iterator[Mistake]:
    """The neighbour as the file has it: forced past the limit, or free to go there."""
    other = next((pin for pin in others if not pin.limits), None)
    if other is None or other.reference or other.origin != need.pin.origin:
        return
    both = f"{other.specifier},{need.limit}".strip(",")
    forces = bool(other.version) or (asked.knows(need.name) and not asked.allowed(need.name, both))
    # a neighbour may be there already, and stays because its pin lets it
    old = scope.base.family == "tensorflow" and not at_least(scope.base.version or "3", "2.5")
    there = _is_intermediate(scope) or f"python3-{other.name}" in scope.environment.apt
    stays = (there or (old and other.name == "h5py")) and not forces
    if stays or any(_keeps_to(pin, need.limit) for pin in others):
        return
    found = _found(scope, need)
    if found and all(allows(need.limit, version) for version in found):
        return  # the other packages hold it back
    values["written"] = need.name + (other.specifier or " without a limit")
    if forces:
        values["wanted"] = need.name + need.limit
        yield told("unstated-limit.forced", other, need.row.source, values=values)
        return
    values["wanted"] = both = other.name + both
    in_shell = other.step and not other.place.path.endswith((".txt", ".in"))
    edit = Edit(f"{other.name}{other.specifier}", f'"{both}"' if in_shell else both)
    yield told("unstated-limit", other, need.row.source, edit=edit, values=values)


def _keeps_to(pin: Pin, limit: str) -> bool:
    """Whether a pin lets in no release past a limit."""
    if pin.version:
        return parsed(pin.version) is None or allows(limit, pin.version)
    if not asked.knows(pin.name):
        return not any(allows(pin.specifier, one) for one in (f"{limit.lstrip('<')}.99", "9999"))
    return not asked.allowed(pin.name, pin.specifier) & ~asked.allowed(pin.name, limit)


def _is_intermediate(scope: Scope) -> bool:
    """Whether an image is made to be built upon, or nobody here knows what it starts from."""
    image = scope.environment.image
    unnamed = image is None or image.text.startswith("$") or not scope.environment.runs
    return scope.over_unknown or (scope.kind == "dockerfile" and unnamed)


def _comes(scope: Scope, need: Need) -> bool:
    """Whether the neighbour is installed without being named, and nothing holds it back."""
    if need.name == "mkl":
        return _mkl_comes(scope, need.pin)
    if not need.pin.is_pinned or _may_be_there(scope, need):
        return False
    if need.name == "protobuf":
        own = any(name.startswith("tensorflow") for name in scope.names)
        by_conda = (pin.name for pin in scope.pins if pin.origin == "conda")
        if (own and need.pin.name == "tensorboard") or any(map(_BRINGS_PROTOBUF.match, by_conda)):
            return False
    elif any(p.origin != "pip" and p.name not in _TOOLS for p in scope.environment.pins):
        return False  # what conda brings
    found = _found(scope, need)
    if not found:  # sources, whose demands nobody here has read
        return need.name in ("torchvision", "pillow")
    return any(not allows(need.limit, version) for version in found)


def _mkl_comes(scope: Scope, pin: Pin) -> bool:
    """PyTorch's own channel leaves MKL open, and conda-forge has the newer one."""
    own = ("defaults", "anaconda", "main", "pkgs/main")
    known = [one for one in scope.environment.channels if one in ("pytorch", "conda-forge", *own)]
    other = [one for one in known if one != "pytorch"]
    forge = other[:1] == ["conda-forge"]
    forge = forge or any("forge" in run.text.lower() for run in scope.environment.commands)
    of_pytorch = pin.channel == "pytorch" or (not pin.build and known[:1] == ["pytorch"])
    built = bool(re.match(r"py3\.\d+_(cuda|cpu)", pin.build))
    return (of_pytorch or built) and forge and len(scope.pins) < 60


def _may_be_there(scope: Scope, need: Need) -> bool:
    """Whether something else may bring the neighbour, or limit it."""
    stage = scope.environment
    return (
        any(_INSTALLS_PROJECT.search(command.text) for command in stage.commands)
        or _is_intermediate(scope)
        or scope.kind == "notebook"  # its machine has a NumPy already
        or (scope.kind == "dockerfile" and not stage.pythons and not need.pin.tag)
        or stage.includes_unknown
        or scope.base.family in _FULL
    )


def _found(scope: Scope, need: Need) -> list[str]:
    """What pip takes of the neighbour on each Python that has the release."""
    out = []
    pins = scope.together(need.pin.step)
    for python in need.pythons or scope.pythons:
        if python not in scope.pythons:
            continue
        found = solve(pins, python)
        if found.clash:  # told by another rule: the rest of it hides nothing here
            rest = [pin for pin in pins if pin.name not in found.clash]
            found = solve([need.pin, *rest], python)
        if need.name in found.releases and not found.clash:
            out.append(found.releases[need.name])
    return out
