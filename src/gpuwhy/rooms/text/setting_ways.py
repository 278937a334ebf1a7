"""Setting ways: a variable that a program could not read, by its name, with its value put right and where the text shows it to be set."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from gpuwhy.knowledge.grammars import ALLOCATOR_OPTIONS
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import commands, variables
from gpuwhy.rooms.text.ways import tried

_READ = Later(r"os\.(?:getenv\(|environ(?:\.get\(|\[)) ?[\"']([A-Z][A-Z0-9_]{2,60})[\"']|\benvs?\.([A-Z][A-Z0-9]*_[A-Z0-9_]+)")  # fmt: skip
_SERVICE = Later(r"\b(?:tcp|udp)://[\w.-]+:\d+")
_ALLOCATOR = Later(r"(?:caching)?allocator (?:option|config)", re.IGNORECASE)
_OF_ALLOCATOR = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
_FILE = re.compile(r"^(?:type|cat|less|more|head|tail|Get-Content|gc|vim?|nano|grep [^|]*?) +(?:-\S+ +)*\"?([^\s\"|]+\.\w+|[^\s\"|]*rc|Dockerfile)\"?", re.IGNORECASE)  # fmt: skip
_QUOTED = re.compile(r"^[\"'“”](.*?)[\"'“”]?$")


def by_its_name(case: Asked) -> Iterator[Fix]:
    """The variable that the failing line reads, where it can only have come from a Service; the allocator's options, put right."""
    yield from _as_meant(case)
    named = [one[1] or one[2] for one in _READ.finditer(case.text)]
    if named and _SERVICE.search(case.lines):
        yield from _of_a_service(named[-1])
    elif _ALLOCATOR.search(case.lines):
        yield from _for_the_allocator(case)
    elif named:
        yield tried(f"The program reads {named[-1]}, and could not use its value: unset it, or give it one of the form that the message asks for", f"unset {named[-1]}")  # fmt: skip


_VALID = Later(r"\b(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)\b[^\n]*?\b(?:parsed?|invalid|value)\b[^\n]*?[\"'](?P<value>[^\"'\n]*)[\"'][^\n]*?[Vv]alid values are (?P<valid>[^\n]+)")  # fmt: skip
_MEANT = {**dict.fromkeys(("yes", "on", "y", "t", "1", "enable", "enabled"), "true"), **dict.fromkeys(("no", "off", "n", "f", "0", "disable", "disabled"), "false")}  # fmt: skip


def _as_meant(case: Asked) -> Iterator[Fix]:
    """A value that says yes or no in other words than its reader takes: what was meant, in the reader's own."""
    found = _VALID.search(case.text)
    meant = _MEANT.get(found["value"].lower(), "") if found else ""
    if found and meant and meant in found["valid"].lower():
        yield tried(f"{found['name']} holds {found['value']}, which its reader does not take, so that it counts as not set: give it the word that it takes", f"export {found['name']}={meant}")  # fmt: skip


def _of_a_service(name: str) -> Iterator[Fix]:
    """Kubernetes sets NAME_PORT to an address for every Service NAME of the namespace."""
    service = name.removesuffix("_PORT").lower().replace("_", "-")
    yield tried(f"Kubernetes set {name} itself, to an address, because a Service of the namespace is called {service}: let the pod not get such variables (in its spec, or the deployment's template)", on.code("enableServiceLinks: false"))  # fmt: skip
    yield tried(f"Or give the Service another name than {service} ({service}-svc), and start the pod anew", "kubectl get services")  # fmt: skip


def _for_the_allocator(case: Asked) -> Iterator[Fix]:
    """The same options as PyTorch reads them: name:value, a comma between two, no quotes."""
    name, value = next(((one, held) for one in _OF_ALLOCATOR if (held := _held(one, case))), ("", ""))
    right = _corrected(value)
    if not right or right == value:
        return
    why = "quotes are no part of the value" if _QUOTED.match(value) else "it is name:value, with a comma between two"
    file = _file_that_sets(name, case)
    place = f"In {file}, which sets it, " if file else ""
    line = f"set {name}={right}" if case.windows else f"export {name}={right}"
    if file:
        yield tried(f"{place}write the line so ({why}), and start the program again", on.code(line))
        return
    yield tried(f"Set {name} as PyTorch reads it ({why}); an option that it does not have is left out", f"export {name}={right}")  # fmt: skip


def _held(name: str, case: Asked) -> str:
    """A variable's value with its quotes, which cmd makes part of it."""
    found = re.search(rf"^[^\n]*\bset {name}=(\"[^\"\n]+\")", case.text, re.MULTILINE | re.IGNORECASE)
    return found[1] if found and case.windows else variables(case.text).get(name, "")


def _corrected(value: str) -> str:
    quoted = _QUOTED.match(value)
    pairs = re.split(r"[,;\s]+", quoted[1] if quoted else value)
    return ",".join(filter(None, map(_pair, pairs)))


def _pair(text: str) -> str:
    """One option with the name that it has; "" where none is near."""
    name, _, value = text.replace("=", ":").partition(":")
    near = difflib.get_close_matches(name.strip("\"'"), ALLOCATOR_OPTIONS, 1, 0.75)
    return f"{near[0]}:{value.strip(chr(34))}" if near and value else ""


def _file_that_sets(name: str, case: Asked) -> str:
    """The file that the text shows, with the line that sets a variable in it."""
    for ran in commands(case.text):
        file = _FILE.match(ran.command)
        if file and re.search(rf"\b{name}\b *[= ]", ran.outcome):
            return re.split(r"[\\/]", file[1])[-1]
    return ""
