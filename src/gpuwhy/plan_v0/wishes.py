"""Wishes: requirement strings and requirements files, with the line of everything that cannot be understood."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import msgspec
from packaging.markers import InvalidMarker, Marker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from gpuwhy.knowledge.releases import projects
from gpuwhy.model.plan import Machine, Wish
from gpuwhy.plan_v0.names import NEIGHBOURS, PLACEHOLDERS, ROOTS

Opener = Callable[[str], str]
"""Reads a file that a requirements file names; raises OSError."""

_DEPTH, _LINES = 20, 20_000
_SKIPPED = re.compile(
    r"(-i|--index-url|--extra-index-url|--no-index|-f|--find-links|--no-binary|--only-binary|--prefer-binary"
    r"|--require-hashes|--pre|--trusted-host|--use-feature)(\s|=|$)"
)
_FILES = 500
_SERIES = re.compile(r"^==\d+\.\d+$")
_LABELLED = ("torch", "torchvision", "torchaudio", "xformers")
_LABEL = re.compile(r"(?<=\d)\+([a-z]+[\w.]*)")
_OWN_INDEX = re.compile(r"download\.pytorch\.org/whl/(?:nightly/)?(cu\d{2,3})\b")
_HASH = re.compile(r"\s--hash[= ]\S+|\s--config-settings?[= ]\S+|\s--global-option[= ]\S+")
_URL = re.compile(r"(git|hg|svn|bzr)\+|https?:|file:|ftp:|\.|/|[A-Za-z]:\\|.*\.(whl|zip|tar\.gz)$")
"""What pip takes for an address or a path: what begins with a dot is one, `.` and `.[dev]` too."""


class WishError(ValueError):
    """What was asked for cannot be understood or cannot exist; the text begins with file and line."""


SPOKEN = (
    "name packages as pip does and the machine by options, as in: "
    'gpuwhy plan torch "tensorflow>=2.15" --gpu "RTX 3090" --driver 535'
)
"""What somebody is told who asks in a sentence."""


def from_words(words: Iterable[str]) -> list[Wish]:
    """The requirements of a command line, where `==1.15` means any 1.15; raises WishError."""
    wishes = [_wish(word.strip(), "", False) for word in words if word.strip()]
    return [msgspec.structs.replace(w, specifier=_SERIES.sub(r"\g<0>.*", w.specifier)) for w in wishes]


def from_file(path: str, opener: Opener, constraint: bool = False) -> list[Wish]:
    """The requirements of a file and of those it includes; raises WishError with file and line."""
    opened = 0

    def counting(name: str) -> str:
        nonlocal opened
        opened += 1
        if opened > _FILES:  # two files that name each of the next ones twice would be read 2^40 times
            raise WishError(f"{path}: it and what it includes are more than {_FILES} files")
        return opener(name)

    return list(_file(path, counting, constraint, (), "-r"))


def _file(path: str, opener: Opener, constraint: bool, inside: tuple[str, ...], asked: str) -> Iterator[Wish]:
    if path in inside:
        raise WishError(f"{asked}: {path} includes itself ({' → '.join((*inside, path))})")
    if len(inside) >= _DEPTH:
        raise WishError(f"{asked}: {path} is included {_DEPTH} files deep")
    try:
        text = opener(path)
    except OSError as error:
        raise WishError(f"{asked}: cannot read {path}: {error.strerror or error}") from error
    for number, line in _lines(text, path):
        where = f"{path}:{number}"
        yield from _line(line, where, path, opener, constraint, (*inside, path))


def _lines(text: str, path: str) -> Iterator[tuple[int, str]]:
    """Logical lines with the number of their first: continuations joined, comments removed."""
    held, start = "", 0
    lines = text.lstrip("\ufeff").splitlines()
    if len(lines) > _LINES:
        raise WishError(f"{path}: more than {_LINES} lines")
    for number, raw in enumerate(lines, 1):
        start = start if held else number
        line = re.sub(r"(^|\s)#.*$", "", raw).rstrip()
        if line.endswith("\\") and number < len(lines):
            held += line[:-1] + " "
            continue
        whole, held = (held + line).strip(), ""
        if whole:
            yield start, whole


def _line(
    line: str, where: str, path: str, opener: Opener, constraint: bool, inside: tuple[str, ...]
) -> Iterator[Wish]:
    include = re.match(r"(-r|--requirement|-c|--constraint)[\s=]*(\S.*)$", line)
    if include:
        beside = posixpath.join(posixpath.dirname(path), include[2].strip("'\""))
        limits = constraint or include[1] in ("-c", "--constraint")
        yield from _file(posixpath.normpath(beside), opener, limits, inside, where)
        return
    editable = re.match(r"(-e|--editable)[\s=]*(\S.*)$", line)
    if editable:
        yield _reference(editable[2], where, editable=True)
    elif _SKIPPED.match(line):
        named = _OWN_INDEX.search(line)
        if named:
            yield Wish("torch", where=where, constraint=True, build=named[1])
    elif line.startswith("-"):
        raise WishError(f"{where}: {line.split()[0]!r} is not an option that requirements files have")
    else:
        bad = re.search(r"\s(--hash(?![= ]\s*[\"']?[a-z0-9]+:[0-9a-fA-F]+)\S*)", line)
        if bad:
            raise WishError(f"{where}: {bad[1]!r} is not a hash: expected --hash=sha256: and hexadecimal digits")
        yield _wish(_HASH.sub("", " " + line).strip(), where, constraint)


def _wish(text: str, where: str, constraint: bool) -> Wish:
    try:
        parsed = Requirement(text)
    except InvalidRequirement as error:
        if _URL.match(text):
            return _reference(text, where)
        spoken = SPOKEN if not where and len(text.split()) > 2 else _reason(error)
        raise WishError(f"{_at(where)}{text!r} is not a requirement: {spoken}") from error
    if parsed.url and not _URL.match(parsed.url):
        raise WishError(f"{_at(where)}{text!r} is not a requirement: {parsed.url!r} is not a URL")
    if any(not clause.version for clause in parsed.specifier):
        raise WishError(f"{_at(where)}{text!r} is not a requirement: no version after the operator")
    name = canonicalize_name(parsed.name)
    _known(name, parsed.name, where)
    label = _LABEL.search(str(parsed.specifier)) if name in _LABELLED else None
    return Wish(
        name,
        _LABEL.sub("", str(parsed.specifier)) if label else str(parsed.specifier),
        tuple(sorted(parsed.extras)),
        str(parsed.marker or ""),
        parsed.url or "",
        where,
        constraint,
        _spelled(text, parsed.marker),
        label[1] if label else "",
    )


def _spelled(text: str, marker: Marker | None) -> str:
    """A requirement as it was written, its marker in single quotes, which fit into the double ones of a shell."""
    if marker is None:
        return text
    return f"{text.partition(';')[0].strip()}; {str(marker).replace(chr(34), chr(39))}"


def _reference(text: str, where: str, editable: bool = False) -> Wish:
    """A URL, a path or an editable folder: its name is in `#egg=`, or in the wheel's file name, or unknown."""
    egg = re.search(r"[#&]egg=([\w.-]+)", text)
    wheel = re.search(r"([\w.]+)-[\w.!+]+(-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl", text)
    found = egg or wheel
    name = canonicalize_name(found[1]) if found else ""
    return Wish(name, url=text.split(" ")[0], where=where, text=f"-e {text}" if editable else text)


def _reason(error: InvalidRequirement) -> str:
    return str(error).splitlines()[0].rstrip(".:")


def _at(where: str) -> str:
    return f"{where}: " if where else ""


def _known(name: str, written: str, where: str) -> None:
    """A name that looks like a slip of a known one, or a placeholder on the index, is said at once."""
    if name in PLACEHOLDERS:
        raise WishError(f"{_at(where)}{written!r} {PLACEHOLDERS[name]}")
    if name in ROOTS or name in projects() or name in NEIGHBOURS:
        return
    near = difflib.get_close_matches(name, _of_length(len(name)), 1, 0.84)
    if near:
        raise WishError(f"{_at(where)}{written!r} is not known; did you mean {near[0]!r}?")


@lru_cache(maxsize=256)
def _of_length(length: int) -> tuple[str, ...]:
    """The known names that one of some length may be a slip of."""
    known = (name for name in (*ROOTS, *projects()) if not name.startswith("nvidia-"))
    return tuple(dict.fromkeys(name for name in known if abs(len(name) - length) <= 2))


def applies(wish: Wish, machine: Machine, python: str) -> bool:
    """Whether a wish's environment marker holds on the machine; a marker nobody can evaluate holds."""
    if not wish.marker:
        return True
    windows = machine.system == "windows"
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "win32" if windows else "linux",
        "platform_system": "Windows" if windows else "Linux",
        "platform_machine": "AMD64" if windows else machine.machine,
        "os_name": "nt" if windows else "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    try:
        return Marker(wish.marker).evaluate(environment)
    except (InvalidMarker, UndefinedEnvironmentName):
        return True


def joined(specifiers: Iterable[str], where: str = "") -> SpecifierSet:
    """Several specifiers as one; raises WishError."""
    try:
        return SpecifierSet(",".join(filter(None, specifiers)))
    except InvalidSpecifier as error:
        raise WishError(f"{_at(where)}{error}") from error
