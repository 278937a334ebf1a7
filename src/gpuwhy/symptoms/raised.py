"""Raised: what an exception says by its type, its words and the place it was raised at, taken together.

No signature of one line can tell these: a library that imports a module and gets the user's file, a value that a
framework reads and cannot convert, a cache folder that it cannot make, a compiler that it cannot start.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache

import msgspec

from gpuwhy.knowledge.modules import FAMILIES, STANDARD_MODULES
from gpuwhy.knowledge.tables import load
from gpuwhy.model.ending import PYTHON, USER, Ending, Frame
from gpuwhy.model.symptom import Symptom
from gpuwhy.symptoms.blocks import owner_of
from gpuwhy.symptoms.wording import FRAMEWORKS

IDS = ("shadow.attribute", "shadow.hollow", "shadow.in_part", "packages.in_part", "setting.unread", "setting.warnings")
"""Symptoms that no signature finds, beside those whose messages it reads better."""
NEAR = 5
"""How many frames from the raised one still tell what was being done."""
ALWAYS = {
    "torch": "nn cuda tensor Tensor optim utils save load no_grad float32 device zeros ones randn backends",
    "jax": "numpy jit grad vmap devices lax",
    "cupy": "array ndarray fft linalg cuda asarray zeros arange random",
    "numpy": "array ndarray zeros ones arange asarray linalg random dtype",
    "tensorflow": "constant Variable nn float32 Tensor",
    "triton": "jit language cdiv",
    "numba": "jit njit vectorize",
    "onnxruntime": "InferenceSession get_available_providers SessionOptions",
}
"""Names that every release of a package has: where one is missing, another module goes by the package's name."""
COMPILERS = re.compile(r"(?:^|[\\/])(?:(?:x86_64-linux-gnu-)?(?:gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?)(?:-\d+)?|cl\.exe)$")
PLACES = (
    "FileExistsError",
    "NotADirectoryError",
    "PermissionError",
    "FileNotFoundError",
    "OSError",
    "IsADirectoryError",
)

_FROM = re.compile(r"cannot import name '(?P<what>\w{1,80})' from '(?P<name>\w{1,60})' \((?P<path>[^)\n]{1,300})\)")
_LACKS = re.compile(r"module '(?P<name>\w{1,60})' has no attribute '(?P<what>\w{1,80})'")
_OF_ANOTHER = re.compile(
    r"module '(?P<name>\w{1,60}(?:\.\w{1,60}){0,6})' has no attribute '(?P<what>\w{1,80})'"
    r"|No module named '(?P<name2>\w{1,60}(?:\.\w{1,60}){0,6})\.(?P<what2>\w{1,60})'(?!; )"
)
_PART = re.compile(r"No module named '(?P<part>(?P<name>\w{1,60})\.[\w.]{1,100})'(?!; )")
_UNREAD = re.compile(
    r"(?:could not convert string to float|invalid literal for int\(\) with base \d+): '(?P<value>[^'\n]{0,100})'"
    r"|must have value from [\d.-]+ to [\d.-]+ but was (?P<value2>[^\s,]{1,60}?)\.?$"
)
_OPTION = re.compile(r"env|flag|option|config|limit|port\b|port |fraction|parse|setting", re.IGNORECASE)
_LACKING = ("AttributeError", "ModuleNotFoundError", "ImportError")
_QUOTED = re.compile(r"'(?P<path>[^'\n]{1,300})'")
_CACHE = re.compile(r"cache", re.IGNORECASE)


def raised(endings: Iterable[Ending]) -> Iterator[Symptom]:
    """What exceptions say that ended the program, or that it outlived."""
    for ending in endings:
        for one in (ending, *ending.chain):
            if one.kind == "exception" and one.line:
                yield from _told(one)


def with_raised(symptoms: tuple[Symptom, ...], endings: Iterable[Ending]) -> tuple[Symptom, ...]:
    """The symptoms with these among them, by line; Python's plain words on the same line say less."""
    more = {one.line: one for one in raised(endings)}
    parts = {f"'{one.fields['part']}'" for one in more.values() if "part" in one.fields}
    kept = [one for one in symptoms if not (_said_better(one, more) or _repeats(one, parts))]
    known = {(one.line, one.speaker) for one in kept}
    merged = [*kept, *(one for one in more.values() if (one.line, one.speaker) not in known)]
    ordered = sorted(merged, key=lambda one: (one.line, one.order))
    return tuple(msgspec.structs.replace(one, order=at) for at, one in enumerate(ordered)) if more else symptoms


def _said_better(one: Symptom, more: Mapping[int, Symptom]) -> bool:
    return one.line in more and one.speaker in ("python", "pairs", "packages")


def _repeats(one: Symptom, parts: Collection[str]) -> bool:
    """Whether it tells in plain words of a part of a package whose lack is read better elsewhere."""
    return one.speaker in ("python", "packages", "build") and any(part in one.text for part in parts)


def _told(ending: Ending) -> Iterator[Symptom]:
    for look in (_shadowed, _in_part, _of_another, _unread, _as_errors, _no_compiler, _closed_cache):
        found = look(ending)
        if found is not None:
            name, fields = found
            text = f"{ending.type}: {ending.message.splitlines()[0] if ending.message else ''}"
            yield Symptom(name, ending.line, text[:400], fields=fields)
            return


Found = tuple[str, dict[str, str]] | None
_UNIX_ONLY = re.compile(
    r"SIG(?:KILL|ALRM|USR[12]|HUP|QUIT|CHLD|PIPE|STOP|CONT|TSTP)|alarm|setitimer|pthread_kill"
    r"|(?:get|set)e?[ug]id|uname|fork|forkpty|killpg|(?:get|set)pgrp|setsid|getpgid|getloadavg|sched_[gs]etaffinity|mkfifo|chown"
)
"""What the modules signal and os lack on Windows, where nothing shadows them."""


def _shadowed(ending: Ending) -> Found:
    """A module that is not the one its name promises."""
    if found := _FROM.search(ending.message):
        inside = _whose(found["path"]) not in (USER,)
        by_library = bool(ending.stack) and _owner(ending.stack[-1]) != USER
        standard = found["name"] in STANDARD_MODULES
        return None if inside or not (standard or by_library) else ("shadow.from_file", found.groupdict())
    if ending.name == "AttributeError" and (found := _LACKS.search(ending.message)):
        if found["what"] == "__path__":  # what every package has, and no single file
            return "shadow.not_package", found.groupdict()
        if found["what"] in _standard().get(found["name"], "").split() and not _UNIX_ONLY.fullmatch(found["what"]):
            return "shadow.attribute", found.groupdict()
        if ending.stack and found["what"] in ALWAYS.get(found["name"], "").split():
            return "shadow.hollow", {**found.groupdict(), "by": _owner(ending.stack[-1])}
    return None


def _in_part(ending: Ending) -> Found:
    """A package that was found and lacks a part which its own code, or that of its framework, imports."""
    found = _PART.search(ending.message) if ending.name in ("ModuleNotFoundError", "ImportError") else None
    if found is None or found["name"] not in FAMILIES or not ending.stack:
        return None
    name, fields = found["name"], found.groupdict()
    beside = re.compile(rf".*[\\/]{name}(?=[\\/])")
    outside = [m[0] for f in ending.stack if (m := beside.match(f.file)) and _whose(f.file) == USER]
    if outside:
        return "shadow.in_part", {**fields, "path": outside[-1]}
    asker = _owner(ending.stack[-1])
    if FAMILIES.get(asker) != FAMILIES[name]:
        return None
    return "packages.in_part", {**fields, "by": "" if asker == name else asker}


def _of_another(ending: Ending) -> Found:
    """A framework lacks what an installed package takes from it while that is imported: one of them is too new."""
    found = _OF_ANOTHER.search(ending.message) if ending.name in _LACKING else None
    if found is None or not ending.stack or "getattr(" in ending.stack[-1].code:
        return None
    name, what = found["name"] or found["name2"], found["what"] or found["what2"]
    family, asker = FAMILIES.get(name.partition(".")[0]), _owner(ending.stack[-1])
    imported = any(frame.function == "<module>" and _owner(frame) == asker for frame in ending.stack)
    if family is None or asker in (USER, PYTHON) or FAMILIES.get(asker, asker) == family or not imported:
        return None
    return "pairs.between", {"name": name, "what": what, "path": ""}


def _unread(ending: Ending) -> Found:
    """A value that a framework took from its surroundings and could not convert."""
    frame, found = ending.frame, _UNREAD.search(ending.message)
    if found is None or frame is None or _owner(frame) not in FRAMEWORKS:
        return None
    if not _OPTION.search(f"{frame.function} {frame.code} {ending.message}"):
        return None
    value = found["value"] or found["value2"] or ""
    return "setting.unread", {"value": value, "by": _owner(frame), "where": f"{frame.base}:{frame.line}"}


def _as_errors(ending: Ending) -> Found:
    """A warning that was raised: somebody has made warnings errors."""
    if not ending.name.endswith("Warning") or not ending.stack or _owner(ending.stack[-1]) == USER:
        return None
    return "setting.warnings", {"name": ending.name, "by": _owner(ending.stack[-1])}


def _no_compiler(ending: Ending) -> Found:
    """A compiler that a framework starts, and that is not there."""
    path = _QUOTED.search(ending.message)
    if (
        ending.name not in ("FileNotFoundError", "PermissionError")
        or path is None
        or not COMPILERS.search(path["path"])
    ):
        return None
    started = any(frame.base == "subprocess.py" for frame in ending.stack[-NEAR:])
    return ("triton.compiler", {"path": path["path"]}) if started else None


def _closed_cache(ending: Ending) -> Found:
    """A cache folder that a framework cannot make or write to."""
    path = _QUOTED.search(ending.message)
    numbered = ending.name not in ("OSError", "EnvironmentError") or ending.message.startswith("[")
    if ending.name not in PLACES or path is None or not numbered:
        return None
    near = [
        f for f in ending.stack[-NEAR:] if _owner(f) in FRAMEWORKS and _CACHE.search(f"{f.base} {f.function} {f.code}")
    ]
    return ("limit.cache", {"path": path["path"], "by": _owner(near[-1])}) if near else None


def _owner(frame: Frame) -> str:
    """Whose code a frame is; compiled modules name their source without a folder (cupy/cuda/memory.pyx)."""
    top = frame.file.split("/", 1)[0]
    return top if frame.owner == USER and frame.file.endswith((".pyx", ".pxd", ".pxi")) and top else frame.owner


def _whose(path: str) -> str:
    return PYTHON if path.startswith(("unknown", "<")) else owner_of(path)


@cache
def _standard() -> dict[str, str]:
    return load("standard_names.json", dict[str, str])
