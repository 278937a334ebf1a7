"""Stated: the Case of a text, from the rows of knowledge/reader/case.toml and from its messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gpuwhy.causes.load import Catalogue
from gpuwhy.log.case import Case, Figures, GpuProcess, NamedGpu, Os, Release, Stated
from gpuwhy.log.commands import Shell, commands_of, done_of, variables_of
from gpuwhy.log.endings import Course
from gpuwhy.log.expressions import Expressions, entry, names, says
from gpuwhy.log.message import Message, Standing
from gpuwhy.log.programs import Speakers
from gpuwhy.log.raised import OWNERS
from gpuwhy.log.scan import Page, group

_MEMORY = Expressions("memory")
_E = Expressions("stated")

VERSIONS: dict[str, str] = entry("stated.table_versions")
ALIASES: dict[str, str] = entry("stated.table_aliases")
FRAMEWORKS = ("torch", "tensorflow", "jax", "onnxruntime", "cupy")
OF_FAMILY: dict[str, str] = entry("stated.table_of_family")
PARTS: dict[str, str] = entry("stated.table_parts")
SHARED = names("stated.names_shared")
WORDS: dict[str, str] = entry("stated.table_frameworks")
LIMIT = 40
"""How many values of one kind are kept."""


def case_of(
    page: Page,
    messages: Sequence[Message],
    course: Course,
    speakers: Speakers,
    catalogue: Catalogue,
) -> Case:
    """What the text states."""
    stated = _rows(page, catalogue.reader.get("case", {}).get("stated", ()))
    shell: Shell = commands_of(page)
    packages = _packages(page, messages)
    stated["os"] = _os(messages)
    stated["wsl"] = stated.get("wsl") or _first(messages, "told.wsl", 2)
    stated["container"] = stated.get("container") if _in_container(messages, stated) else None
    if stated["container"] is None:
        stated["container"] = _first(messages, "told.container container.run", "container")
    return Case(
        frameworks=_frameworks(page, messages, course, packages),
        programs=_programs(messages, speakers),
        packages=packages,
        gpus=_gpus(page),
        processes=_processes(page, messages),
        memory=figures_of(page, messages),
        variables=variables_of(page, shell),
        libraries=_values(page, says("stated.library")),
        files=_files(messages),
        ports=tuple(Stated(int(one.value), one.line) for one in _values(page, says("stated.port"))),
        ranks=tuple(Stated(rank, line) for rank, line in course.ranks),
        commands=shell.commands,
        done=done_of(page, shell),
        **{field: value for field, value in stated.items() if value is not None},
    )


def _rows(page: Page, rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The fields that rows of the data state; the first row that is found decides."""
    out: dict[str, Any] = {}
    for row in rows:
        field = row["field"]
        if field in out:
            continue
        for found in page.finditer(row["says"]):
            value = row.get("value", _value(found))
            if value != "":
                out[field] = Stated(value, page.line(found.start()))
                break
    return out


def _value(found: re.Match[str]) -> Any:
    """What an expression states: a value, a number, a packed version (121: 12.1), a minor."""
    if number := group(found, "number"):
        return int(number)
    if packed := group(found, "packed"):
        return f"{packed[:-1]}.{packed[-1]}"
    if minor := group(found, "minor"):
        return f"3.{minor}"
    return group(found, "value").strip().lower()


def _programs(messages: Sequence[Message], speakers: Speakers) -> tuple[Stated[str], ...]:
    """The known programs, the one whose failure decides first."""
    lines = dict(speakers.names)
    failed = [one.program for one in messages if one.decides and one.role == "error"]
    order = dict.fromkeys(name for name in (*failed, *lines) if name in lines)
    return tuple(Stated(name, lines[name]) for name in order)


def _first(messages: Sequence[Message], names: str, value: Any) -> Stated[Any] | None:
    ids = tuple(names.split())
    line = next((one.line for one in messages if one.id in ids), 0)
    return Stated(value, line) if line else None


def _os(messages: Sequence[Message]) -> Stated[Os] | None:
    """The system that the text is from; WSL is Linux."""
    wsl = _first(messages, "told.wsl", "linux")
    if wsl:
        return wsl
    if windows := _first(messages, "told.windows", "windows"):
        return windows
    if mac := _first(messages, "told.macos", "macos"):
        return mac
    loader = next((one.line for one in messages if one.family in ("windows", "shell")), 0)
    return Stated("windows", loader) if loader else _first(messages, "told.linux", "linux")


def _in_container(messages: Sequence[Message], stated: dict[str, Any]) -> bool:
    told = ("told.container", "container.run", "container.generic")
    named = stated.get("container")
    return named is not None and (
        named.value == "compose" or any(one.id in told for one in messages)
    )


def _packages(page: Page, messages: Sequence[Message]) -> tuple[Release, ...]:
    """Everything whose version is stated; of one package its first version."""
    found: dict[str, Release] = {}
    for name, version, line in (*_listed(page), *_told(messages)):
        plain = name.lower().replace("_", "-")
        known = found.get(ALIASES.get(plain, plain))
        if known is None or (known.version != version and version.startswith(known.version)):
            release = Release(ALIASES.get(plain, plain), version.rstrip("."), line)
            found[release.name] = release
    return tuple(found.values())[: 5 * LIMIT]


def _listed(page: Page) -> Iterator[tuple[str, str, int]]:
    """The packages of listings, of installers' last words, of attributes and names of wheels."""
    for kind in ("shown", "package", "attribute", "wheel"):
        for one in page.finditer(says(f"stated.{kind}")):
            yield group(one, "name"), group(one, "version"), page.line(one.start())
    for one in page.finditer(says("stated.installed")):
        line = page.line(one.start())
        for each in (one["list"] or "").split():
            if part := _E.listed.match(each):
                yield part["name"], part["version"], line
        if one["name"]:
            yield one["name"], one["version"], line


def _told(messages: Sequence[Message]) -> Iterator[tuple[str, str, int]]:
    for one in messages:
        name = one.get("name") if one.id == "told.package" else VERSIONS.get(one.id, "")
        if name and one.get("version"):
            yield name, one.get("version"), one.line


def _frameworks(
    page: Page, messages: Sequence[Message], course: Course, packages: Sequence[Release]
) -> tuple[Release, ...]:
    """The frameworks, the one whose words decide first, each with its stated version."""
    versions = {PARTS.get(one.name, one.name): one for one in reversed(packages)}
    jax = bool({"jax", "jaxlib"} & {one.name for one in packages}) or _E.jax.search(page.text)
    by_jax = bool(jax) and "tensorflow" not in _E.borrowed.sub("", page.lower)
    named: dict[str, int] = {}
    for name, line in _spoken(messages, course):
        named.setdefault("jax" if name == "tensorflow" and by_jax else name, line)
    for name in FRAMEWORKS:
        if name in versions:
            named.setdefault(name, versions[name].line)
    if not named:
        found = [(name, one) for name, words in WORDS.items() if (one := page.search(words))]
        named = {name: page.line(one.start()) for name, one in found if len(found) == 1}
    return tuple(
        Release(name, versions[name].version if name in versions else "", line)
        for name, line in named.items()
    )


def _spoken(messages: Sequence[Message], course: Course) -> Iterator[tuple[str, int]]:
    """Whose words decide, whose code raised it, who else prints."""
    for one in messages:
        if one.role not in ("error", "echo") or one.standing is Standing.QUOTED:
            continue
        for name, words in WORDS.items():
            if re.search(words, one.text, re.IGNORECASE):
                yield name, one.line
        if one.id.startswith(SHARED):
            yield "tensorflow", one.line
    for frame in reversed(course.ending.stack):
        if frame.owner in OWNERS:
            yield OWNERS[frame.owner], course.ending.first
    yield from ((OF_FAMILY[one.family], one.line) for one in messages if one.family in OF_FAMILY)


def _gpus(page: Page) -> tuple[NamedGpu, ...]:
    """The GPUs that are named; each name once, in the order of the text."""
    named: dict[str, int] = {}
    rows = [
        one for kind in ("gpu_row", "gpu_list") for one in page.finditer(says(f"stated.{kind}"))
    ]
    for found in rows or page.finditer(says("stated.gpu_named")):
        named.setdefault(" ".join(found["name"].split()), page.line(found.start()))
    stated = page.search(says("stated.capability"))
    capability = group(stated, "value") if stated else ""
    gpus = list(_known(named))
    if not gpus and stated:
        return (NamedGpu("", capability, 0, page.line(stated.start())),)
    return tuple(gpus)


def _known(named: dict[str, int]) -> Iterator[NamedGpu]:
    if not named:
        return
    from gpuwhy.knowledge import gpus  # its tables take time: only where a GPU is named

    seen: set[str] = set()
    for name, line in list(named.items())[:LIMIT]:
        spaced = re.sub(r"(?i)(?<=tx)(?=\d)|(?<=\d)(?=ti\b|super\b)", " ", name)
        row = gpus.by_name(spaced)
        title = row.name if row else name
        if row is None and not re.search(r"(?i)nvidia|geforce|tesla|quadro|rtx|gtx", name):
            continue
        if title not in seen:
            seen.add(title)
            memory = gpus.size_of(name) or gpus.size_of(title) or 0
            yield NamedGpu(title, (row.capability or "") if row else "", memory, line)


def _processes(page: Page, messages: Sequence[Message]) -> tuple[GpuProcess, ...]:
    """The other processes that hold memory of a GPU: in a container a process does not know its
    own number there, and PyTorch lists the program itself among them."""
    own = max((size_of(one.get("allocated")) or 0 for one in messages), default=0)
    found: dict[int, GpuProcess] = {}
    for one in page.finditer(says("stated.process")):
        pid, held = int(one["pid"]), int(one["held"]) << 20
        found.setdefault(pid, GpuProcess(pid, one["name"], held, page.line(one.start())))
    for one in page.finditer(says("stated.holder")):
        pid = int(group(one, "pid"))
        held = size_of(group(one, "held")) or 0
        found.setdefault(pid, GpuProcess(pid, "", held, page.line(one.start())))
    others = (one for one in found.values() if own == 0 or own < 0.8 * one.memory)
    return tuple(others)[:LIMIT]


def _values(page: Page, says: str) -> tuple[Stated[str], ...]:
    found: dict[str, int] = {}
    for one in page.finditer(says):
        found.setdefault(group(one, "value"), page.line(one.start()))
    return tuple(Stated(value, line) for value, line in list(found.items())[:LIMIT])


def _files(messages: Sequence[Message]) -> tuple[Stated[str], ...]:
    listed = (one for one in messages if one.id in ("told.file", "told.listed", "loader.resolved"))
    found = {one.get("path"): one.line for one in listed if one.get("path")}
    return tuple(Stated(path, line) for path, line in list(found.items())[:LIMIT])


# ---------------------------------------------------------------- sizes of memory

NEAR = 44
"""How many characters before and after a number say what it is of."""
BYTES = 1 << 22
"""A number without a unit is one of bytes from here on."""
FIELDS = {
    "asked": ("wanted",),
    "free": ("free",),
    "total": ("total",),
    "held": ("reserved", "held", "used"),
    "allocated": ("allocated",),
    "cap": ("allowed", "limit"),
}
"""The fields of Figures, and of messages that state them."""
_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}
MOST = 1 << 15


def size_of(text: str) -> int | None:
    """The bytes of "2.50 GiB"; None where it is no size."""
    found = _MEMORY.size.match(text.strip())
    if not found or not found["number"].strip(".,"):
        return None
    try:
        number = float(found["number"].replace(",", "").rstrip("."))
    except ValueError:
        return None
    shift = _UNITS.get((found["unit"] or "b")[0].lower(), 0)
    return int(number * (1 << shift))


def figures_of(page: Page, messages: Sequence[Message]) -> Figures | None:
    """What the allocator's message states, and besides what the text says of memory."""
    failed = [one for one in messages if one.family in ("memory", "cuda", "told")]
    stated: dict[str, int] = {}
    line, device = 0, ""
    for one in failed:
        if one.family == "told" and one.id != "told.gpu_memory":
            continue
        for field, keys in FIELDS.items():
            sizes = (size_of(one.get(key)) for key in keys if one.get(key))
            size = next((size for size in sizes if size is not None), None)
            if size is not None and field not in stated:
                stated[field] = size
                line = line or one.line
        device = device or one.get("device")
    for field, size, number in _in_words(page):
        if field not in stated and field in Figures.__struct_fields__:
            stated[field] = size
            line = line or number
    if _MEMORY.nothing.search(page.text):
        stated["held"] = 0
    if not stated:
        return None
    names = ("asked", "free", "total", "held", "allocated")
    total, free, held = stated.get("total"), stated.get("free"), stated.get("held")
    others = None
    if total is not None and free is not None and held is not None:
        others = max(0, total - free - held)
    figures = {name: stated.get(name) for name in names}
    return Figures(**figures, others=others, cap=stated.get("cap"), device=device, line=line)


def _in_words(page: Page) -> Iterator[tuple[str, int, int]]:
    """The sizes that a text states in words of its own; of several of a kind the last."""
    text = page.text if len(page.text) <= MOST else page.text[-MOST:]
    offset = len(page.text) - len(text)
    if not _MEMORY.label.search(text):
        return
    found = [one for one in _MEMORY.number.finditer(text) if _bytes(one) > 0]
    ends = [0, *(one.end() for one in found)]
    starts = [*(one.start() for one in found), len(text)][1:]
    last: dict[str, tuple[int, int]] = {}
    for one, end, start in zip(found, ends, starts, strict=False):
        tail = _MEMORY.tail.match(text, end) if end else None
        before = text[tail.end() if tail else end : one.start()]
        kind = _before(before[-NEAR:]) or _after(text[one.end() : start][:NEAR])
        if kind:
            last[kind] = (_bytes(one), page.line(one.start() + offset))
    for kind, (size, line) in last.items():
        yield kind, size, line


def _bytes(found: re.Match[str]) -> int:
    """The bytes of a number; 0 for one that is none of memory."""
    number, unit = float(found["number"].replace(",", "")), (found["unit"] or "").lower()
    if unit in ("b", "bytes", ""):
        return int(number) if unit or number >= BYTES else 0
    return int(number * (1 << _UNITS[unit[0]]))


def _before(words: str) -> str:
    last = _MEMORY.end.split(words.replace("()", ""))[-1]
    kinds = [one.lastgroup or "" for one in _MEMORY.label.finditer(last)]
    return "largest" if "largest" in kinds else kinds[-1] if kinds else ""


def _after(words: str) -> str:
    found = _MEMORY.label.search(_MEMORY.end.split(words.replace(" and ", ", "))[0])
    return found.lastgroup or "" if found else ""
