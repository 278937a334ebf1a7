"""Conditions of clues: small questions about a symptom and the text around it."""

from __future__ import annotations

import re

from gpuwhy.knowledge.xid import meaning
from gpuwhy.model.ending import OUTSIDERS
from gpuwhy.model.symptom import Condition, Reading, Symptom
from gpuwhy.rooms.text.libraries import Kind, kind_of


def asks(*kinds: Kind) -> Condition:
    """The library that was asked for is of one of these families."""
    return lambda s, r: kind_of(s.get("library")) in kinds


def wants(*kinds: Kind) -> Condition:
    """The library that the loader missed, behind the one that was asked for."""
    return lambda s, r: kind_of(s.get("wanted")) in kinds


def field(name: str, pattern: str) -> Condition:
    """A field matches an expression from its start, case ignored."""
    wanted = re.compile(pattern, re.IGNORECASE)
    return lambda s, r: bool(wanted.match(s.get(name)))


of_the_system: Condition = field("number", r"(?:2|3|5|8|14|87|193|206|225|998|1114|1450|1455|4551|14001)$")
"""A number of LoadLibrary that says nothing of a library's release: no file, no memory, a policy, a crash."""


def line(pattern: str) -> Condition:
    """The quoted line holds an expression."""
    wanted = re.compile(pattern, re.IGNORECASE)
    return lambda s, r: bool(wanted.search(s.text))


def stacks_own(s: Symptom, r: Reading) -> bool:
    """Some word of the text may be meant of the GPU stack."""
    return not r.mute


def differ(one: str, other: str) -> Condition:
    """Two fields of the message have different values."""
    return lambda s, r: bool(s.get(one)) and s.get(one) != s.get(other)


def whole(pattern: str) -> Condition:
    """The text holds an expression, on any of its lines."""
    wanted = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    return lambda s, r: bool(wanted.search(r.excerpt))


def all_of(*conditions: Condition) -> Condition:
    """Every condition holds."""
    return lambda s, r: all(c(s, r) for c in conditions)


def any_of(*conditions: Condition) -> Condition:
    """One condition holds."""
    return lambda s, r: any(c(s, r) for c in conditions)


def no(condition: Condition) -> Condition:
    """The condition does not hold."""
    return lambda s, r: not condition(s, r)


def with_(*prefixes: str) -> Condition:
    """The text has another message that starts so."""
    return lambda s, r: any(o.signature.startswith(prefixes) and o.order != s.order for o in r.symptoms)


def unix_stack(symptom: Symptom, reading: Reading) -> bool:
    """The traceback runs through files of Linux."""
    return any(f.file.startswith("/") and not f.file.startswith("/Users/") for f in reading.ending.stack)


def in_packages(symptom: Symptom, reading: Reading) -> bool:
    """The file that the message names lies among installed packages or in Python's own library."""
    return bool(re.search(r"(?:site|dist)-packages|[/\\]lib(?:64)?[/\\]python\d|[/\\]Lib[/\\]", symptom.get("path")))


def by_package(symptom: Symptom, reading: Reading) -> bool:
    """An installed package's own code raised the exception that ended the program, not the user's."""
    owner = getattr(getattr(reading, "ending", None), "owner", "")
    return owner not in ("", "user", "python")


_READING = re.compile(r"\b(?:listdir|scandir|iterdir|glob|walk|im?read\w*|load\w*|open\((?![^)]{0,200}['\"][wax]))")


def users_reading(symptom: Symptom, reading: Reading) -> bool:
    """The user's own code, or a package for data, could not read something: no other has a frame below it."""
    ending = reading.ending
    readers = ("user", *OUTSIDERS)
    last = next((f for f in reversed(ending.stack) if f.owner in readers), None)
    own = ending.owner in (*readers, "python") and last is not None and symptom.within(ending)
    return own and last is not None and bool(_READING.search(last.code))


_COMPILES = re.compile(r"cpp_extension|inductor|triton|compil|cache|subprocess|nvrtc|numba", re.IGNORECASE)


def users_file(symptom: Symptom, reading: Reading) -> bool:
    """The user's own code asked for the very file that is not there, and nothing below it compiles or keeps a cache."""
    stack = reading.ending.stack
    asked = next((n for n in range(len(stack) - 1, -1, -1) if stack[n].owner == "user"), -1)
    if asked < 0 or not symptom.within(reading.ending):
        return False
    return bool(_READING.search(stack[asked].code)) and not any(_COMPILES.search(f.file) for f in stack[asked + 1 :])


_LINES = re.compile(r"sock|conn|send|recv|\bdist|store|queue|rpc|mpi|pool|worker", re.IGNORECASE)


def own_output(symptom: Symptom, reading: Reading) -> bool:
    """The user's own code wrote to a pipe whose reader is gone: output that somebody stopped to read, no peer."""
    ending = reading.ending
    frame = ending.frame
    own = frame is not None and frame.owner == "user" and ending.name == "BrokenPipeError" and symptom.within(ending)
    return own and not any(_LINES.search(f"{one.code} {one.file}") for one in ending.stack)


def beside_missing(*kinds: Kind) -> Condition:
    """A library of one of these families is not found either."""
    return lambda s, r: any(
        o.role == "error" and o.order != s.order and kind_of(o.get("library")) in kinds for o in r.symptoms
    )


def in_container(s: Symptom, r: Reading) -> bool:
    """The text speaks of a container."""
    return r.told.container


def in_wsl(s: Symptom, r: Reading) -> bool:
    """The text speaks of WSL."""
    return r.told.os == "wsl"


def on_windows(s: Symptom, r: Reading) -> bool:
    """The text is from Windows."""
    return r.told.os == "windows"


def on_macos(s: Symptom, r: Reading) -> bool:
    """The text is from macOS."""
    return r.told.os == "macos"


def no_errors(s: Symptom, r: Reading) -> bool:
    """Nothing in the text is an error."""
    return not any(o.role in ("error", "echo") and o.signature != "title.trouble" for o in r.symptoms)


def alone(s: Symptom, r: Reading) -> bool:
    """No other error decides."""
    return all(o.signature == s.signature or o.speaker == "title" for o in r.errors)


def alone_beside(*prefixes: str) -> Condition:
    """No other error decides, but for those that start so."""
    mine = ("title.", *prefixes)
    return lambda s, r: all(o.signature == s.signature or o.signature.startswith(mine) for o in r.errors)


def xid(*numbers: int) -> Condition:
    """The Xid is one of these."""
    return lambda s, r: int(s.get("xid") or 0) in numbers


def xid_of_hardware(s: Symptom, r: Reading) -> bool:
    """The Xid tells of hardware that failed and did not recover by itself."""
    row = meaning(int(s.get("xid") or 0))
    return row is not None and row.hardware and not row.recovered


_COUNTS = re.compile(r"getdevicecount|numcudadevices|cuinit\b|device_count", re.IGNORECASE)


def counting(s: Symptom, r: Reading) -> bool:
    """The status came back while devices were counted: by the line, or by the function that raised it."""
    last = r.ending.stack[-2:] if s.within(r.ending) else ()
    return bool(_COUNTS.search(s.text)) or any(_COUNTS.search(f"{f.function} {f.code}") for f in last)


def only_titles(s: Symptom, r: Reading) -> bool:
    """No program speaks in the text, only a person."""
    return all(o.speaker == "title" for o in r.errors)


_LIBRARIES = re.compile(
    r"\b(?:torch|pytorch|tensorflow|jax|jaxlib|cupy|numba|triton|onnxruntime|paddle|mxnet|tensorrt|vllm|ggml|llama|xgboost|rapids"
    r"|cudf|thrust|opencv|ffmpeg|gromacs|lammps|namd|openmm|blender|kokkos|petsc|arrayfire)\w*",
    re.IGNORECASE,
)


_CALLED = re.compile(r"\bcu(?:da)?[A-Z]\w{2,60}\(|\bcu[A-Z]\w{2,60} (?:returned|failed|gave)\b")
"""A call of CUDA in the words of a program that tells which one failed."""


def own_call(s: Symptom, r: Reading) -> bool:
    """A program of its own tells which call failed, and no framework or library has a part in the text."""
    told = r.ending.kind == "status" and s.within(r.ending)
    return (told or bool(_CALLED.search(s.text))) and not _LIBRARIES.search(r.excerpt)


_RAW = re.compile(r"\bRawModule\b|cupy/_core/raw|pycuda[^\n]{0,80}module|module_from_(?:file|buffer)", re.IGNORECASE)
_MODULE = re.compile(r"\bcuModule(?:Load\w*|GetFunction)\b|\bcuLibraryLoad\w*", re.IGNORECASE)


def own_module(s: Symptom, r: Reading) -> bool:
    """The program loads GPU code of its own, a module by its file or source; no framework loads its code there."""
    return bool(_RAW.search(r.excerpt)) or (bool(_MODULE.search(r.excerpt)) and not _LIBRARIES.search(r.excerpt))


driver_call: Condition = line(
    r"\bcu(?!init\b|da)[a-z]\w{2,60} (?:returned|failed|gave)\b|\bcu(?!init\b|da)[a-z]\w{2,60}\([^\n]{0,120}\) ?(?:->|:|=|returned|failed)"
)
"""A program of its own tells which call of the driver, other than the first, failed."""


def own_symbol(s: Symptom, r: Reading) -> bool:
    """A library lacks a symbol that it defines itself: the version that is asked for is its own."""
    stem = re.search(r"lib([a-z]+)[\w.+-]*$", s.get("object"), re.IGNORECASE)
    asked = s.get("version").lower()
    return stem is not None and bool(asked) and asked in (stem[1].lower(), stem[0].lower())


def with_framework(s: Symptom, r: Reading) -> bool:
    """A framework or a library of the stack is named in the text."""
    return bool(_LIBRARIES.search(r.excerpt))
