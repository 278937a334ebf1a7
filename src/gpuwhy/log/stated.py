"""Stated: the Case of a text, from the rows of knowledge/reader/case.toml and from its messages."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gpuwhy.causes.load import Catalogue
from gpuwhy.log.case import Case, Figures, GpuProcess, NamedGpu, Release, Stated
from gpuwhy.log.commands import commands_of, done_of, variables_of
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
    stated = {**_where(messages), **_rows(page, catalogue.reader["case"]["stated"])}
    container = ("told.container", "container.run", "container.generic")
    named = stated.get("container")
    if named and named.value != "compose" and not any(one.id in container for one in messages):
        del stated["container"]  # it is only mentioned
    if "container" not in stated and (line := _line(messages, container[:2])):
        stated["container"] = Stated("container", line)
    ran = commands_of(page)
    packages = _packages(page, messages)
    failed = [one.program for one in messages if one.decides and one.role == "error"]
    programs = dict.fromkeys((*failed, *speakers.names))  # the one whose failure decides first
    files = (one for one in messages if one.id in ("told.file", "told.listed", "loader.resolved"))
    return Case(
        frameworks=_frameworks(page, messages, course, packages),
        programs=tuple(Stated(n, speakers.names[n]) for n in programs if n in speakers.names),
        packages=packages,
        gpus=_gpus(page),
        processes=_processes(page, messages),
        memory=figures_of(page, messages),
        variables=variables_of(page, ran),
        libraries=_values(_stated(page, "library")),
        files=_values((one.get("path"), one.line) for one in files),
        ports=tuple(Stated(int(one.value), one.line) for one in _values(_stated(page, "port"))),
        ranks=tuple(Stated(rank, line) for rank, line in course.ranks),
        commands=tuple(one.typed for one in ran),
        done=done_of(page, ran),
        **stated,
    )


def _rows(page: Page, rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The fields that rows of the data state; the first row that is found decides."""
    out: dict[str, Any] = {}
    for row in rows:
        if row["field"] in out:
            continue
        for found in page.finditer(row["says"]):
            value = row.get("value", _value(found))
            if value != "":
                out[row["field"]] = Stated(value, page.line(found.start()))
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


def _where(messages: Sequence[Message]) -> dict[str, Any]:
    """The system that the text is from; WSL is Linux."""
    wsl = _line(messages, ("told.wsl",))
    of_windows = (one.line for one in messages if one.family in ("windows", "shell"))
    systems = (
        ("linux", wsl),
        ("windows", _line(messages, ("told.windows",))),
        ("macos", _line(messages, ("told.macos",))),
        ("windows", next(of_windows, 0)),
        ("linux", _line(messages, ("told.linux",))),
    )
    found = next((Stated(name, line) for name, line in systems if line), None)
    return {"os": found, **({"wsl": Stated(2, wsl)} if wsl else {})}


def _line(messages: Sequence[Message], ids: Sequence[str]) -> int:
    return next((one.line for one in messages if one.id in ids), 0)


def _stated(page: Page, name: str) -> Iterator[tuple[str, int]]:
    for one in page.finditer(says(f"stated.says_{name}")):
        yield group(one, "value"), page.line(one.start())


def _values(found: Iterable[tuple[str, int]]) -> tuple[Stated[str], ...]:
    """Each value once, where it stands first."""
    first: dict[str, int] = {}
    for value, line in found:
        first.setdefault(value, line)
    return tuple(Stated(value, line) for value, line in list(first.items())[:LIMIT] if value)


def _packages(page: Page, messages: Sequence[Message]) -> tuple[Release, ...]:
    """Everything whose version is stated; of one package its first version."""
    found: dict[str, Release] = {}
    for name, version, line in _listed(page, messages):
        plain = name.lower().replace("_", "-")
        plain = ALIASES.get(plain, plain)
        known = found.get(plain)
        if known is None or (known.version != version and version.startswith(known.version)):
            found[plain] = Release(plain, version.rstrip("."), line)
    return tuple(found.values())[: 5 * LIMIT]


def _listed(page: Page, messages: Sequence[Message]) -> Iterator[tuple[str, str, int]]:
    """The packages of listings, of attributes and names of wheels, of installers' last words."""
    for kind in ("shown", "package", "attribute", "wheel"):
        for one in page.finditer(says(f"stated.says_{kind}")):
            yield group(one, "name"), group(one, "version"), page.line(one.start())
    for one in page.finditer(says("stated.says_installed")):
        line = page.line(one.start())
        for each in (one["list"] or "").split():
            if part := _E.listed.match(each):
                yield part["name"], part["version"], line
        if one["name"]:
            yield one["name"], one["version"], line
    for told in messages:
        name = told.get("name") if told.id == "told.package" else VERSIONS.get(told.id, "")
        if name and told.get("version"):
            yield name, told.get("version"), told.line


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
    none = Release("")
    return tuple(
        Release(name, versions.get(name, none).version, line) for name, line in named.items()
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
    kinds = ("gpu_row", "gpu_list")
    rows = [one for kind in kinds for one in page.finditer(says(f"stated.says_{kind}"))]
    named: dict[str, int] = {}
    for found in rows or page.finditer(says("stated.says_gpu_named")):
        named.setdefault(" ".join(found["name"].split()), page.line(found.start()))
    out: dict[str, NamedGpu] = {}
    for name, line in list(named.items())[:LIMIT]:
        from gpuwhy.knowledge import gpus  # its tables take time: only where a GPU is named

        row = gpus.by_name(re.sub(r"(?i)(?<=tx)(?=\d)|(?<=\d)(?=ti\b|super\b)", " ", name))
        title = row.name if row else name
        if row or re.search(r"(?i)nvidia|geforce|tesla|quadro|rtx|gtx", name):
            memory = gpus.size_of(name) or gpus.size_of(title) or 0
            capability = (row.capability or "") if row else ""
            out.setdefault(title, NamedGpu(title, capability, memory, line))
    stated = None if out else page.search(says("stated.says_capability"))
    if stated:
        return (NamedGpu("", group(stated, "value"), 0, page.line(stated.start())),)
    return tuple(out.values())


def _processes(page: Page, messages: Sequence[Message]) -> tuple[GpuProcess, ...]:
    """The other processes that hold memory of a GPU: in a container a process does not know its
    own number there, and PyTorch lists the program itself among them.
    """
    own = max((size_of(one.get("allocated")) or 0 for one in messages), default=0)
    found: dict[int, GpuProcess] = {}
    for one in page.finditer(says("stated.says_process")):
        pid, held = int(one["pid"]), int(one["held"]) << 20
        found.setdefault(pid, GpuProcess(pid, one["name"], held, page.line(one.start())))
    for one in page.finditer(says("stated.says_holder")):
        pid, held = int(group(one, "pid")), size_of(group(one, "held")) or 0
        found.setdefault(pid, GpuProcess(pid, "", held, page.line(one.start())))
    others = (one for one in found.values() if own == 0 or own < 0.8 * one.memory)
    return tuple(others)[:LIMIT]


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
    number = found["number"].replace(",", "").rstrip(".") if found else ""
    if not found or not number or number.count(".") > 1:
        return None
    return int(float(number) * (1 << _UNITS.get((found["unit"] or "b")[0].lower(), 0)))


def figures_of(page: Page, messages: Sequence[Message]) -> Figures | None:
    """What the allocator's message states, and besides what the text says of memory."""
    stated: dict[str, int] = {}
    line, device = 0, ""
    for one in messages:
        if one.family not in ("memory", "cuda") and one.id != "told.gpu_memory":
            continue
        device = device or one.get("device")
        for field, keys in FIELDS.items():
            sizes = (size_of(one.get(key)) for key in keys)
            size = next((size for size in sizes if size is not None), None)
            if size is not None and field not in stated:
                stated[field], line = size, line or one.line
    for field, (size, number) in _in_words(page).items():
        if field not in stated and field in FIELDS:
            stated[field], line = size, line or number
    if _MEMORY.nothing.search(page.text):
        stated["held"] = 0
    if not stated:
        return None
    others = None
    if {"total", "free", "held"} <= stated.keys():
        others = max(0, stated["total"] - stated["free"] - stated["held"])
    return Figures(**stated, others=others, device=device, line=line)


def _in_words(page: Page) -> dict[str, tuple[int, int]]:
    """The sizes that a text states in words of its own, with their lines; of a kind the last."""
    text = page.text[-MOST:]
    offset = len(page.text) - len(text)
    out: dict[str, tuple[int, int]] = {}
    if not _MEMORY.label.search(text):
        return out
    found = [(one, size) for one in _MEMORY.number.finditer(text) if (size := _bytes(one))]
    starts = [*(one.start() for one, _ in found[1:]), len(text)]
    end = 0
    for (one, size), start in zip(found, starts, strict=False):
        tail = _MEMORY.tail.match(text, end) if end else None
        before = text[tail.end() if tail else end : one.start()][-NEAR:]
        # what stands before a number says what it is of, else what stands behind it
        clause = _MEMORY.end.split(before.replace("()", ""))[-1]
        kinds = [label.lastgroup or "" for label in _MEMORY.label.finditer(clause)]
        if not kinds:
            after = text[one.end() : start][:NEAR].replace(" and ", ", ")
            behind = _MEMORY.label.search(_MEMORY.end.split(after)[0])
            kinds = [behind.lastgroup or ""] if behind else []
        kind = "largest" if "largest" in kinds else kinds[-1] if kinds else ""
        if kind:
            out[kind] = size, page.line(one.start() + offset)
        end = one.end()
    return out


def _bytes(found: re.Match[str]) -> int:
    """The bytes of a number; 0 for one that is none of memory."""
    number, unit = float(found["number"].replace(",", "")), (found["unit"] or "").lower()
    if unit in ("b", "bytes", ""):
        return int(number) if unit or number >= BYTES else 0
    return int(number * (1 << _UNITS[unit[0]]))
