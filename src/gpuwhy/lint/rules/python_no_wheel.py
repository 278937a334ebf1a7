"""A release without a wheel for the Python that is used."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import product

from gpuwhy.knowledge import asked, compiled, held, published
from gpuwhy.knowledge.guests import guests, is_guest
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.knowledge.tables import source
from gpuwhy.lint import through
from gpuwhy.lint.index import JUDGED, from_index, rows_name
from gpuwhy.lint.scope import Scope, span
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, ON_LINUX, PYTHONS, allowed, allows, parsed, specifier, where
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, numbers

RULE = Rule("python-no-wheel", "error", "a release without a wheel for the Python that is used")


def check(scope: Scope) -> Iterator[Mistake]:
    """No wheel of any allowed release for the Python that the file itself names."""
    yield from _named(scope)
    yield from _guests(scope)
    yield from _refusing(scope)
    yield from _without_sources(scope)
    yield from _compiled(scope)
    yield from _brought(scope)
    yield from _demanding(scope)
    yield from _of_pytorch(scope)
    yield from _project(scope)
    yield from _two(scope)
    yield from _by_conda(scope)
    for pin in scope.environment.pins:
        if pin.name not in JUDGED or not from_index(scope, pin) or pin.limits:
            continue
        used = [python for python in _told(scope)[0] if _applies(pin, python)]
        found = [row for row in allowed(rows_name(pin), pin.specifier) if row.platform in (LINUX, "any")]
        if used and found and not any(has_python(row, python) for row, python in product(found, used)):
            yield _mistake(scope, pin, used, found[-1])


def _told(scope: Scope) -> tuple[tuple[str, ...], str]:
    """The Pythons that the file or, for a list of packages, other files beside it name, and what says so."""
    stage, others = scope.environment, scope.repository
    if stage.pythons or stage.in_image or scope.kind not in ("requirements", "conda") or not others.pythons:
        return stage.pythons, stage.python_from
    return others.pythons, f"{posixpath.basename(others.naming)} names it"


def _mistake(scope: Scope, pin: Pin, used: list[str], row: Release) -> Mistake:
    named = f"Python {span(tuple(used))}" + (" …" if len(used) > 1 else "")
    has = f"{rows_name(pin)} {row.version} has wheels for Python {span(row.pythons)}"
    text = f"{has}, none for {named} ({_told(scope)[1]})"
    return RULE.mistake(pin.place, text, _wheel(row), _other(pin, used, row))


def _named(scope: Scope) -> Iterator[Mistake]:
    """A wheel that is named by its file, for another Python."""
    used = scope.environment.pythons
    for pin in scope.environment.pins:
        found = re.fullmatch(r"cp3(\d+)", pin.tag)
        if found and used and f"3.{found[1]}" not in used and scope.kind != "pyproject" and not pin.marker:
            why = f"{span(used)} ({scope.environment.python_from})"
            text = f"the wheel of {pin.name} is for Python 3.{found[1]}, not for {why}"
            yield RULE.mistake(pin.place, text, _TAGS, f"use Python 3.{found[1]}, or the wheel for {span(used)}")


def _guests(scope: Scope) -> Iterator[Mistake]:
    """A package on a framework that is compiled, has no sources, and ended before the Python that is used."""
    used = scope.environment.pythons
    for pin in scope.pins:
        rows = guests(pin.name) if pin.name in _ENDED and pin.origin == "pip" and not pin.reference else []
        newest = next((row for row in reversed(rows) if allows(pin.specifier, row.version)), None)
        if used and newest and newest.tags and not set(used) & set(newest.tags):
            has = f"{pin.name} {newest.version} has wheels for Python {span(newest.tags)} and no sources"
            text = f"{has}: none for {span(used)} ({scope.environment.python_from})"
            yield RULE.mistake(pin.place, text, _INDEX, f"use Python {newest.tags[-1]}, or do without {pin.name}")


def _refusing(scope: Scope) -> Iterator[Mistake]:
    """A pinned release that takes no Python of the file, by its own Requires-Python."""
    used = [python for python in _told(scope)[0] if python in PYTHONS]
    for pin in scope.pins if used and not scope.environment.locked else ():
        here = [python for python in used if _applies(pin, python)]
        if _is_read(pin) and here and not any(_takes(pin, python) for python in here):
            text = f"{pin.name}=={pin.version} does not take Python {span(tuple(here))} ({_told(scope)[1]})"
            yield RULE.mistake(pin.place, text, asked.SOURCE, f"use another Python, or another {pin.name}")


def _without_sources(scope: Scope) -> Iterator[Mistake]:
    """A pinned release with wheels for older Pythons alone, and nothing that pip could build."""
    (used, said), stage = _told(scope), scope.environment
    if not used or stage.locked or stage.other_index or not scope.for_gpus:
        return
    for pin in filter(_is_plain, scope.pins):
        last = published.last_python(pin.name, pin.version)
        if last and all(numbers(python)[:2] > numbers(last) for python in used):
            has = f"{pin.name} {pin.version} has wheels up to Python {last} and no sources"
            text = f"{has}: none for {span(used)} ({said})"
            yield RULE.mistake(pin.place, text, published.SOURCE, f"use Python {last}, or a newer {pin.name}")


def _is_plain(pin: Pin) -> bool:
    """Whether a pin names one release of the default index, and no other check here reads its wheels."""
    plain = pin.installed and pin.name not in JUDGED and not pin.marker and not pin.arms and not pin.indexes
    return plain and bool(pin.version)


def _compiled(scope: Scope) -> Iterator[Mistake]:
    """A pinned neighbour (NumPy, SciPy, Numba …) whose wheels ended before the Python of the file; once."""
    used = scope.environment.pythons
    if not used or scope.environment.locked or scope.environment.other_index or not any(map(_is_for_gpus, scope.pins)):
        return
    found = [(pin, newest) for pin in scope.pins if (newest := _last_python(pin, used))]
    if found:
        pin, newest = found[0]
        others = list(dict.fromkeys(other.name for other, _ in found if other.name != pin.name))
        more = f" (nor have {', '.join(others[:3])}{' …' if len(others) > 3 else ''})" if others else ""
        where = f"{span(used)} ({scope.environment.python_from})"
        text = f"{pin.name} {pin.version} has wheels up to Python {newest}, none for {where}{more}: pip compiles it"
        fix = f"use Python {newest}, or a newer {pin.name}"
        yield RULE.mistake(pin.place, f"{text}, and that fails as a rule", compiled.SOURCE, fix, "warning")


def _brought(scope: Scope) -> Iterator[Mistake]:
    """A pinned release whose own demand (transformers: tokenizers<0.13) ended before the Python of the file; once."""
    used, stage = scope.environment.pythons, scope.environment
    if not used or stage.locked or stage.other_index:
        return
    for pin in scope.pins:
        found = through.ended(pin, frozenset(scope.names)) if not pin.marker and not pin.arms else None
        if found and all(numbers(python)[:2] > numbers(found.newest) for python in used):
            has = f"{pin.name} {pin.version} takes {found.name} {found.version}, which has wheels up to Python"
            text = f"{has} {found.newest}, none for {span(used)} ({stage.python_from}): pip compiles it"
            fix = f"use Python {found.newest}, or a newer {pin.name}"
            yield RULE.mistake(pin.place, f"{text}, and that fails as a rule", compiled.SOURCE, fix, "warning")
            return


def _demanding(scope: Scope) -> Iterator[Mistake]:
    """A pinned release of any package of the index whose Requires-Python excludes the Python of the file; once."""
    (used, said), stage = _told(scope), scope.environment
    if not used or stage.locked or stage.other_index or not any(map(_is_for_gpus, scope.pins)):
        return
    for pin in scope.pins:
        demand = _demand(pin)
        wanted = specifier(demand) if demand else None
        if wanted and not any(wanted.contains(f"{python}.99") for python in used):
            text = f"{pin.name}=={pin.version} asks for Python {demand}; {_of(used, said)}: pip finds no such release"
            yield RULE.mistake(pin.place, text, published.SOURCE, f"use another Python, or another {pin.name}")
            return


def _of(used: tuple[str, ...], said: str) -> str:
    """Which Python it is, where what says so does not name it."""
    return said if any(python in said for python in used) else f"{span(used)} is used ({said})"


def _demand(pin: Pin) -> str:
    """The Requires-Python of a pinned release that no other check here reads."""
    plain = pin.installed and not pin.marker and not pin.arms and not pin.indexes and pin.name not in JUDGED
    version = parsed(pin.version) if plain and not _is_read(pin) else None
    row = published.releases(pin.name).get(version) if version else None
    return row.python if row else ""


def _of_pytorch(scope: Scope) -> Iterator[Mistake]:
    """A build of PyTorch's own index, which has the Pythons that its release has everywhere."""
    used, stage = scope.environment.pythons, scope.environment
    for pin in filter(_is_build, scope.environment.pins if used and not stage.other_index else ()):
        here = [python for python in used if _applies(pin, python)]
        rows = allowed(pin.name, f"=={pin.version.partition('+')[0]}")
        found = [row for row in rows if row.platform == LINUX]
        if here and found and not any(has_python(row, python) for row, python in product(found, here)):
            yield _mistake(scope, pin, here, found[-1])
            return


def _is_build(pin: Pin) -> bool:
    """Whether a pin names a release of PyTorch's, for one CUDA or the CPU."""
    return pin.name in PYTORCH_BUILDS and bool(pin.version and pin.variant) and pin.installed and not pin.arms


PYTORCH_BUILDS = ("torch", "torchvision", "torchaudio")


def _last_python(pin: Pin, used: tuple[str, ...]) -> str:
    """The newest Python of a pinned release's wheels, where all of the file's are newer."""
    newest = compiled.newest_python(pin.name, pin.version) if _is_plain(pin) else ""
    return newest if newest and all(numbers(p)[:2] > numbers(newest) for p in used) else ""


def _is_for_gpus(pin: Pin) -> bool:
    return is_guest(pin.name) or family(pin.name) is not None


def _project(scope: Scope) -> Iterator[Mistake]:
    """A project that does not take the Python of the image that it is installed in."""
    used, found = scope.environment.pythons, scope.requires_python
    if len(used) == 1 and found and not any(found[0].contains(f"{used[0]}.{patch}") for patch in _PATCHES):
        text = f"the project asks for Python {found[0]}; {scope.environment.python_from}: its installation fails"
        yield RULE.mistake(found[1], text, _REQUIRES, "take an image with such a Python, or widen requires-python")


_PATCHES = range(40)  # which patch it is, a Dockerfile seldom says


def _two(scope: Scope) -> Iterator[Mistake]:
    """An image whose framework is in Python 2, and commands of Python 3."""
    base, stage = scope.base, scope.environment
    third = next((c for c in stage.commands if re.match(r"(\S*/)?(pip3|python3)( |$)", c.text)), None)
    if base.python == "2.7" and third and not any(pin.name.startswith("tensorflow") for pin in scope.pins):
        text = f"image {base.name} holds its TensorFlow in Python 2; {third.words[0]} is another Python, without it"
        fix = f"write {base.name}-py3" if base.framework == "tensorflow" else "take the image for Python 3"
        yield RULE.mistake(Place(stage.path, third.lines[0]), text, held.IMAGES, fix)


def _by_conda(scope: Scope) -> Iterator[Mistake]:
    """conda's tensorflow-gpu, which ended before the Python of the environment."""
    used = scope.environment.pythons
    for pin in scope.pins:
        if pin.origin == "conda" and pin.name == "tensorflow-gpu" and used and at_least(used[0], "3.12"):
            text = f"conda's tensorflow-gpu has no build for Python {used[0]} ({scope.environment.python_from})"
            yield RULE.mistake(pin.place, text, _CHANNELS, "make an environment with python=3.11 or older, or use pip")
        elif pin.origin == "conda" and pin.name in _BY_CONDA and len(used) == 1:
            yield from _too_old(scope, pin, used[0])


_BY_CONDA = {"tensorflow": "tensorflow", "tensorflow-gpu": "tensorflow", "pytorch": "torch"}


def _too_old(scope: Scope, pin: Pin, python: str) -> Iterator[Mistake]:
    """A Python that a release had left, or that came after it: conda's builds follow the wheels at both ends."""
    found = re.match(r"={1,2}\s*(\d+\.\d+(?:\.\d+)?)", pin.specifier)
    rows = [row for row in allowed(_BY_CONDA[pin.name], f"=={found[1]}.*") if row.platform == LINUX] if found else []
    built = sorted(numbers(p.rstrip("t")) for row in rows for p in row.pythons)
    if not found or not built:
        return
    told = scope.environment.python_from or "python"
    told += "" if python in told else f" is {python}"
    first, last = (".".join(map(str, one)) for one in (built[0], built[-1]))
    more = 1  # conda builds for one Python more than there were wheels for
    if numbers(python) < built[0]:
        text = f"{pin.name} {found[1]} needs Python {first} or newer; {told}"
        yield RULE.mistake(pin.place, text, _CHANNELS, f"use Python {first}, or an older {pin.name}")
    elif numbers(python)[1] - built[-1][1] > more:
        text = f"{pin.name} {found[1]} was built up to Python {last}; {told}"
        yield RULE.mistake(pin.place, text, _CHANNELS, f"use Python {last}, or a newer {pin.name}")


def _is_read(pin: Pin) -> bool:
    """Whether a pin names a release whose demands were read, of a package that runs on a framework."""
    named = pin.installed and bool(pin.version) and pin.name not in JUDGED
    return named and (is_guest(pin.name) or family(pin.name) is not None) and asked.knows(pin.name) and _bits(pin) > 0


def _bits(pin: Pin) -> int:
    return asked.allowed(pin.name, f"=={pin.version.partition('+')[0]}")


def _takes(pin: Pin, python: str) -> bool:
    return bool(_bits(pin) & asked.on_python(pin.name, python))


_ENDED = ("tensorflow-addons",)
_REQUIRES = source("pyproject.toml beside the file", "pip compares requires-python with its own Python")
_CHANNELS = source("channels defaults and conda-forge", "tensorflow-gpu ended with TensorFlow 2.15 and Python 3.11")
_INDEX = source("the files of the package index", "November 2026")
_TAGS = source("binary distribution format", "cp310 in a wheel's name: for CPython 3.10 alone")


def _applies(pin: Pin, python: str) -> bool:
    if not pin.marker:
        return True
    spots = where(pin.marker) & ON_LINUX
    return python in PYTHONS and any(spot % len(PYTHONS) == PYTHONS.index(python) for spot in spots)


def _wheel(row: Release) -> Source:
    return Source("know", row.file, f"and its siblings on the index, uploaded {row.uploaded}")


def _other(pin: Pin, used: list[str], row: Release) -> str:
    """The first later release with such a wheel, else the last one before."""
    stable = [r for r in allowed(rows_name(pin), "") if r.platform == LINUX and any(has_python(r, p) for p in used)]
    asked = parsed(row.version)
    later = [r for r in stable if asked and (found := parsed(r.version)) and found > asked]
    use = f"use Python {span(row.pythons)}"
    if later:
        return f"{use}, or write {pin.name}>={later[0].version}"
    return f"{use}, or write {pin.name}=={stable[-1].version}" if stable else use
