"""Narrow: of files that people write into, only what some look needs goes further; the rest never leaves them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

_CONFIG = ("home", "version", "version_info", "include-system-site-packages", "implementation", "base-prefix", "uv")
_INSTALLERS = re.compile(
    r"(?:pip|uv|conda|mamba|poetry|pdm|hatch|rye|pixi|flit|setuptools|bazel|distutils|rpm)(?:[ -][a-z0-9.]{1,12})?"
)

_FREE = re.compile(
    r"""((?:git|user|host|e?mail|author|commit|branch|machine|builder)\w{0,40}['"]?\s{0,5}[:=,]\s{0,5})(['"])[^'"\n]{0,4000}\2""",
    re.IGNORECASE,
)
_BUILT_FOR = ("cuda", "cudnn", "nccl", "cutensor", "packaging")


def narrowed(path: str, text: str) -> str:
    """A file's text as it may be kept: of known kinds only what is looked for in them."""
    name = path.rpartition("/")[2]
    keep = _KINDS.get(name)
    return keep(text) if keep else text


def _config(text: str) -> str:
    """pyvenv.cfg without prompt and command line."""
    pairs = (line.partition("=") for line in text.splitlines())
    return "".join(
        f"{name.strip()} = {value.strip()}\n" for name, tie, value in pairs if tie and name.strip() in _CONFIG
    )


def _kernel(text: str) -> str:
    """kernel.json: which program the kernel starts; neither its arguments nor its variables nor its name."""
    try:
        argv = json.loads(text).get("argv")
    except (ValueError, RecursionError, AttributeError):
        return "{}"
    return json.dumps({"argv": [one for one in argv[:1] if isinstance(one, str)]} if isinstance(argv, list) else {})


def _installer(text: str) -> str:
    word = text.strip()
    return word if _INSTALLERS.fullmatch(word) else "another"


def _module(text: str) -> str:
    """A generated Python module without its comments and free text."""
    code = "\n".join(line.partition("#")[0].rstrip() for line in text.splitlines() if not line.lstrip().startswith("#"))
    return _FREE.sub(r"\1\2\2", code)


def _wheel(text: str) -> str:
    """CuPy's note of what it was built for."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return "{}"
    return json.dumps(
        {key: value for key, value in said.items() if key in _BUILT_FOR} if isinstance(said, dict) else {}
    )


_KINDS: dict[str, Callable[[str], str]] = {
    "pyvenv.cfg": _config,
    "kernel.json": _kernel,
    "INSTALLER": _installer,
    "_wheel.json": _wheel,
    "version.py": _module,
    "build_info.py": _module,
    "build_and_package_info.py": _module,
    "_pybind_state.py": _module,
}


def line_narrowed(path: str, line: str) -> str:
    """A line of a file as it may be kept: of a requirement on an address, the name alone."""
    if path.endswith("METADATA") and " @ " in line:
        return f"{line.partition(' @ ')[0]} @ elsewhere"
    return line


def lines_with(data: bytes, wanted: list[bytes]) -> list[bytes]:
    """The lines that hold one of some strings, found without splitting the rest (RECORD files have 30,000 lines)."""
    spans = set()
    for text in wanted:
        place = data.find(text)
        while place >= 0:
            start, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)
            end = end if end >= 0 else len(data)
            spans.add((start, end))
            place = data.find(text, end)
    return [data[start:end].rstrip(b"\r") for start, end in sorted(spans)]


MAX_SCAN, MAX_FOUND = 2 << 30, 1000
"""How much of a file is searched for strings, and how many are kept."""


def strings_of(parts: Iterable[bytes], match: str) -> tuple[str, ...]:
    """The strings of at most 100 bytes that match a pattern, each once."""
    found: dict[str, None] = {}
    search, end, got = re.compile(match.encode()), b"", 0
    for part in parts:
        window, got = end + part, got + len(part)
        for one in search.finditer(window):
            found[one[0].decode("ascii", "replace")] = None
        if got > MAX_SCAN or len(found) > MAX_FOUND:
            break
        end = window[-100:]
    return tuple(sorted(found))
