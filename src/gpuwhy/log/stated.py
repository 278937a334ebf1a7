"""Stated: the Case of a text, from the rows of knowledge/reader/case.toml and from its messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gpuwhy.causes.load import Catalogue
from gpuwhy.log.case import Case, GpuProcess, NamedGpu, Os, Release, Stated
from gpuwhy.log.commands import Shell, commands_of, done_of, variables_of
from gpuwhy.log.endings import Course
from gpuwhy.log.expressions import Expression, Expressions, names, table
from gpuwhy.log.memory import figures_of, size_of
from gpuwhy.log.message import Message, Standing
from gpuwhy.log.page import Page, group
from gpuwhy.log.programs import Speakers
from gpuwhy.log.raised import OWNERS

_E = Expressions("stated")

VERSIONS = table("stated.table_versions")
ALIASES = table("stated.table_aliases")
FRAMEWORKS = ("torch", "tensorflow", "jax", "onnxruntime", "cupy")
OF_FAMILY = table("stated.table_of_family")
PARTS = table("stated.table_parts")
SHARED = names("stated.names_shared")
_WORDS = (
    ("onnxruntime", r"onnxruntime"),
    ("jax", r"\bjax(?:lib)?\b|\bxla/(?:python|pjrt)/|Execution of replica \d"),
    (
        "tensorflow",
        r"tensorflow|stream_executor|dso_loader|physical_device:"
        r"|\btf\.(?:config|Session|compat|keras|test)\b|(?:Virtual|Physical) devices cannot"
        r"|/job:localhost|BFC|ResourceExhausted|cuda_dnn\.cc",
    ),
    (
        "torch",
        r"torch\b|torchaudio|torchvision|\b_ZN\w*5torch|\bc10\b"
        r"|CUDA error: CU(?:BLAS|DNN|SOLVER|FFT|SPARSE)_STATUS|when calling `cu"
        r"|^(?:RuntimeError: )?cuDNN error: |RuntimeError: CUDA error: |TORCH_USE_CUDA_DSA"
        r"|CUDA kernel errors might be",
    ),
    ("cupy", r"\bcupy"),
)
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
    ending = course.ending
    stated["os"] = _os(messages)
    stated["wsl"] = stated.get("wsl") or _first(messages, "told.wsl", 2)
    stated["container"] = stated.get("container") if _in_container(messages, stated) else None
    if stated["container"] is None:
        stated["container"] = _first(messages, "told.container container.run", "container")
    return Case(
        frameworks=_frameworks(page, messages, course, packages),
        programs=tuple(Stated(name, line) for name, line in speakers.names),
        packages=packages,
        gpus=_gpus(page),
        processes=_processes(page, messages),
        memory=figures_of(page, messages),
        variables=variables_of(page, shell),
        libraries=_values(page, _E.says_library),
        files=_files(messages),
        ports=tuple(Stated(int(one.value), one.line) for one in _values(page, _E.says_port)),
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

    def add(name: str, version: str, line: int) -> None:
        name = ALIASES.get(name.lower().replace("_", "-"), name.lower().replace("_", "-"))
        known = found.get(name)
        if known is None or (known.version != version and version.startswith(known.version)):
            found[name] = Release(name, version.rstrip("."), line)

    for pattern in (_E.says_shown, _E.says_package, _E.says_attribute, _E.says_wheel):
        for one in page.finditer(pattern):
            add(group(one, "name"), group(one, "version"), page.line(one.start()))
    for one in page.finditer(_E.says_installed):
        line = page.line(one.start())
        for each in (one["list"] or "").split():
            if part := _E.listed.match(each):
                add(part["name"], part["version"], line)
        if one["name"]:
            add(one["name"], one["version"], line)
    for told in messages:
        name = told.get("name") if told.id == "told.package" else VERSIONS.get(told.id, "")
        if name and told.get("version"):
            add(name, told.get("version"), told.line)
    return tuple(found.values())[: 5 * LIMIT]


def _frameworks(
    page: Page, messages: Sequence[Message], course: Course, packages: Sequence[Release]
) -> tuple[Release, ...]:
    """The frameworks, the one whose words decide first, each with its stated version."""
    versions = {PARTS.get(one.name, one.name): one for one in reversed(packages)}
    named: dict[str, int] = {}
    deciding = [
        one
        for one in messages
        if one.standing in (Standing.DECIDES, Standing.NOTED) and one.role in ("error", "echo")
    ]
    jax = bool({"jax", "jaxlib"} & {one.name for one in packages}) or _E.jax.search(page.text)
    by_jax = bool(jax) and "tensorflow" not in _E.borrowed.sub("", page.lower)
    for one in deciding:
        for name, pattern in _WORDS:
            if re.search(pattern, one.text, re.IGNORECASE):
                named.setdefault("jax" if name == "tensorflow" and by_jax else name, one.line)
        if one.id.startswith(SHARED):
            named.setdefault("jax" if by_jax else "tensorflow", one.line)
    for frame in reversed(course.ending.stack):
        if frame.owner in OWNERS:
            named.setdefault(OWNERS[frame.owner], course.ending.first)
    for one in messages:
        if one.family in OF_FAMILY:
            name = OF_FAMILY[one.family]
            named.setdefault("jax" if name == "tensorflow" and by_jax else name, one.line)
    for name in FRAMEWORKS:
        if name in versions:
            named.setdefault(name, versions[name].line)
    if not named:
        spoken = [(name, found) for name, words in _WORDS if (found := page.search(words))]
        named = {name: page.line(found.start()) for name, found in spoken[:1] if len(spoken) == 1}
    return tuple(
        Release(name, versions[name].version if name in versions else "", line)
        for name, line in named.items()
    )


def _gpus(page: Page) -> tuple[NamedGpu, ...]:
    """The GPUs that are named; each name once, in the order of the text."""
    named: dict[str, int] = {}
    rows = [
        one for pattern in (_E.says_gpu_row, _E.says_gpu_list) for one in page.finditer(pattern)
    ]
    for found in rows or page.finditer(_E.says_gpu_named):
        named.setdefault(" ".join(found["name"].split()), page.line(found.start()))
    stated = page.search(_E.says_capability)
    capability = group(stated, "value") if stated else ""
    gpus = list(_known(named))
    if not gpus and stated:
        return (NamedGpu("", capability, 0, page.line(stated.start())),)
    return tuple(gpus)


def _known(named: dict[str, int]) -> Iterator[NamedGpu]:
    if not named:
        return
    from gpuwhy.knowledge import gpus  # its tables take time: only where a GPU is named
    from gpuwhy.knowledge.gpu_memory import size_of as memory_of

    seen: set[str] = set()
    for name, line in list(named.items())[:LIMIT]:
        spaced = re.sub(r"(?i)(?<=tx)(?=\d)|(?<=\d)(?=ti\b|super\b)", " ", name)
        row = gpus.by_name(spaced)
        title = row.name if row else name
        if row is None and not re.search(r"(?i)nvidia|geforce|tesla|quadro|rtx|gtx", name):
            continue
        if title not in seen:
            seen.add(title)
            memory = memory_of(name) or memory_of(title) or 0
            yield NamedGpu(title, (row.capability or "") if row else "", memory, line)


def _processes(page: Page, messages: Sequence[Message]) -> tuple[GpuProcess, ...]:
    """The processes that hold memory of a GPU."""
    found: dict[int, GpuProcess] = {}
    for one in page.finditer(_E.says_process):
        pid, held = int(one["pid"]), int(one["held"]) << 20
        found.setdefault(pid, GpuProcess(pid, one["name"], held, page.line(one.start())))
    for one in page.finditer(_E.says_holder):
        pid = int(group(one, "pid"))
        held = size_of(group(one, "held")) or 0
        found.setdefault(pid, GpuProcess(pid, "", held, page.line(one.start())))
    return tuple(found.values())[:LIMIT]


def _values(page: Page, pattern: Expression) -> tuple[Stated[str], ...]:
    found: dict[str, int] = {}
    for one in page.finditer(pattern):
        found.setdefault(group(one, "value"), page.line(one.start()))
    return tuple(Stated(value, line) for value, line in list(found.items())[:LIMIT])


def _files(messages: Sequence[Message]) -> tuple[Stated[str], ...]:
    listed = (one for one in messages if one.id in ("told.file", "told.listed", "loader.resolved"))
    found = {one.get("path"): one.line for one in listed if one.get("path")}
    return tuple(Stated(path, line) for path, line in list(found.items())[:LIMIT])
