"""Requirements: the words of a command line and the lines of requirements files, read."""

import difflib
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from gpuwhy.choose.candidates import known_versions
from gpuwhy.choose.demand import Demand, Wanted, allows, parsed, specifier
from gpuwhy.choose.names import NAMES, framework, is_planned, planned_as
from gpuwhy.choose.search import applies
from gpuwhy.knowledge.floors import notes
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.releases import projects

Opener = Callable[[str], str]
"""Reads a file that a requirements file names; raises OSError."""

_FILES, _LINES = 50, 20_000
_OPTIONS = re.compile(
    r"(-i|--index-url|--extra-index-url|--no-index|-f|--find-links|--no-binary|--only-binary"
    r"|--prefer-binary|--require-hashes|--pre|--trusted-host|--use-feature)(\s|=|$)"
)
_SERIES = re.compile(r"^==\d+\.\d+$")
_LABELLED = ("torch", "torchvision", "torchaudio", "xformers")
_LABEL = re.compile(r"(?<=\d)\+([a-z]+[\w.]*)")
_OWN_INDEX = re.compile(r"download\.pytorch\.org/whl/(?:nightly/)?(cu\d{2,3})\b")
_HASH = re.compile(r"\s--(hash|config-settings?|global-option)[= ]\S+")
_URL = re.compile(r"(git|hg|svn|bzr)\+|https?:|file:|ftp:|\.|/|[A-Za-z]:\\|.*\.(whl|zip|tar\.gz)$")
_EXAMPLE = (
    "name packages as pip does and the machine by options, as in: "
    'gpuwhy plan torch "tensorflow>=2.15" --gpu "RTX 3090" --driver 535'
)


class RequirementError(ValueError):
    """What was asked for cannot be understood or cannot exist; begins with file and line."""


def from_words(words: Iterable[str]) -> list[Wanted]:
    """The requirements of a command line, where ==1.15 means any 1.15."""
    read = [_requirement(word.strip(), "", False) for word in words if word.strip()]
    return [replace(one, specifier=_SERIES.sub(r"\g<0>.*", one.specifier)) for one in read]


def from_file(path: str, opener: Opener, constraint: bool = False) -> list[Wanted]:
    """The requirements of a file and of those that it includes."""
    return list(_file(path, opener, constraint, [], "-r"))


def _file(
    path: str, opener: Opener, constraint: bool, opened: list[str], asked: str
) -> Iterator[Wanted]:
    if path in opened:
        return
    opened.append(path)
    if len(opened) > _FILES:
        raise RequirementError(f"{asked}: more than {_FILES} files include each other")
    try:
        text = opener(path)
    except OSError as error:
        raise RequirementError(f"{asked}: cannot read {path}: {error.strerror or error}") from error
    for number, line in _lines(text):
        where = f"{path}:{number}"
        option = re.match(r"(-e|--editable|-r|--requirement|-c|--constraint)[\s=]*(\S.*)$", line)
        own_index = _OWN_INDEX.search(line)
        if option and option[1] in ("-e", "--editable"):
            yield replace(_reference(option[2], where), text=f"-e {option[2]}")
        elif option:
            beside = posixpath.join(posixpath.dirname(path), option[2].strip("'\""))
            limits = constraint or option[1] in ("-c", "--constraint")
            yield from _file(posixpath.normpath(beside), opener, limits, opened, where)
        elif not line.startswith("-"):
            yield _requirement(_HASH.sub("", " " + line).strip(), where, constraint)
        elif not _OPTIONS.match(line):
            said = f"{line.split()[0]!r} is not an option that requirements files have"
            raise RequirementError(f"{where}: {said}")
        elif own_index:
            yield Wanted("torch", where=where, constraint=True, build=own_index[1])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Logical lines with the number of their first: continuations joined, comments removed."""
    held, start = "", 0
    for number, raw in enumerate(text.lstrip("\ufeff").splitlines()[:_LINES], 1):
        start = start if held else number
        line = re.sub(r"(^|\s)#.*$", "", raw).rstrip()
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        whole, held = (held + line).strip(), ""
        if whole:
            yield start, whole
    if held.strip():
        yield start, held.strip()


def _requirement(text: str, where: str, constraint: bool) -> Wanted:
    at = f"{where}: " if where else ""
    try:
        read = Requirement(text)
    except InvalidRequirement as error:
        if _URL.match(text):
            return _reference(text, where)
        sentence = not where and len(text.split()) > 2
        why = _EXAMPLE if sentence else str(error).splitlines()[0].rstrip(".:")
        raise RequirementError(f"{at}{text!r} is not a requirement: {why}") from error
    name = canonicalize_name(read.name)
    _check_name(name, at, read.name)
    spec = str(read.specifier)
    label = _LABEL.search(spec) if name in _LABELLED else None
    marker = str(read.marker or "")
    bare = text.partition(";")[0].strip()
    return Wanted(
        name,
        _LABEL.sub("", spec) if label else spec,
        tuple(sorted(read.extras)),
        marker,
        read.url or "",
        where,
        constraint,
        f"{bare}; {marker.replace(chr(34), chr(39))}" if marker else text,
        label[1] if label else "",
    )


def _reference(text: str, where: str) -> Wanted:
    """A URL, a path or a folder: its name is in #egg=, or in the wheel's file name, or unknown."""
    egg = re.search(r"[#&]egg=([\w.-]+)", text)
    wheel = re.search(r"([\w.]+)-[\w.!+]+(-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl", text)
    found = egg or wheel
    name = canonicalize_name(found[1]) if found else ""
    return Wanted(name, url=text.split(" ")[0], where=where, text=text)


def _check_name(name: str, at: str, written: str) -> None:
    """A placeholder on the index, or what looks like a slip of a name that is known."""
    if said := notes().not_there.get(name):
        raise RequirementError(f"{at}{written!r} {said}")
    if framework(name) or name in projects() or is_guest(name) or name in NAMES.real:
        return
    known = ("tensorflow", "torch", "jax", "cupy", *(n for n in projects() if "nvidia" not in n))
    near = difflib.get_close_matches(name, known, 1, 0.84)
    if near:
        raise RequirementError(f"{at}{written!r} is not known; did you mean {near[0]!r}?")


def check(demand: Demand) -> None:
    """Raise for a demand that no machine can meet: no package that is known, or no such release."""
    wanted = [one for one in demand.packages if not one.constraint]
    known = [one for one in wanted if is_planned(one.name) and not one.url]
    bare = next((one.name for one in wanted if one.name in NAMES.no_backend), "")
    if not known and bare:
        need = "name the one it runs on too, tensorflow, torch or jax"
        raise RequirementError(f"{bare} brings no framework: {need}")
    if not known:
        names = [one.name or one.url for one in wanted] or ["nothing"]
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        none = "no package that uses a GPU is among them (gpuwhy releases lists those it knows)"
        raise RequirementError(f"{', '.join(names[:8])}{more}: {none}")
    if not any(applies(one, demand, python) for one in known for python in demand.pythons):
        marker = known[0].marker.replace(chr(34), chr(39))
        only = f"is asked for only where {marker}, which does not hold on this machine"
        raise RequirementError(f"{known[0].name} {only}: nothing that uses a GPU is left")
    limits: dict[str, list[Wanted]] = {}
    for one in demand.packages:
        guest = is_guest(one.name) and one.name not in projects()  # its previews were not read
        if one.specifier and is_planned(one.name) and not one.marker and not guest:
            limits.setdefault(planned_as(one.name), []).append(one)
    for root, ones in limits.items():
        versions, spec = known_versions(root), ",".join(one.specifier for one in ones)
        if versions and not any(allows(spec, version) for version in versions):
            beside = notes().beside_the_index.get(root)
            more = f" on the package index. {beside[0]}" if beside else _near(spec, versions)
            at = f"{ones[-1].where}: " if ones[-1].where else ""
            said = " and ".join(f"{one.name}{one.specifier}" for one in ones)
            raise RequirementError(f"{at}no release meets {said}{more}")


def _near(spec: str, versions: tuple[str, ...]) -> str:
    """The releases on both sides of a version that does not exist."""
    clauses = list(specifier(spec))
    if len(clauses) != 1:
        return ""
    pin = parsed(clauses[0].version.removesuffix(".*"))
    if pin < parsed(versions[0]):
        return f" in gpuwhy's tables, which begin with {versions[0]}"
    below = [version for version in versions if parsed(version) < pin][-1:]
    above = [version for version in versions if parsed(version) > pin][:1]
    both = below + above
    return f"; nearest {'are' if len(both) > 1 else 'is'} {' and '.join(both)}" if both else ""
