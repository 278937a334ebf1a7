"""Codes: the statuses of CUDA, its libraries and Windows, and Xids, by number, name and text.

Numbers are ambiguous: 4 is another thing to the driver, to a runtime before CUDA 10.1, to cuDNN 8,
to NCCL and to NVML. A status has one canonical word, that of the driver API in lower case
("no_device" for cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE, 100, and 38 before CUDA 10.1).
status_codes.json was read from the headers and from the libraries themselves.
"""

import re
from collections.abc import Iterator
from functools import cache

import msgspec
from msgspec.structs import replace

from gpuwhy.facts.fact import Source
from gpuwhy.knowledge.tables import load, rows

_WORDS_OF_WINDOWS = ("winerror", "win32", "ntstatus", "loadlibrary", "hresult")
_NOISE = {"error", "errors", "code", "status", "result", "nvrm", "exit"}
_NUMBER = re.compile(r"-?\d+|0[xX][0-9a-fA-F]+")
_STUB = -1
"""What a stub libcuda of CUDA 11 and older answers every call with: "stub_library"."""
_WRAP = 1 << 32
_LIBRARY_CALL = re.compile(r"cu(blas|sparse|solver|fft|rand|dnn)|nv(rtc|jitlink|ml)|nccl")
_CALL = re.compile(
    r"\b(?P<call>(?:cublas(?:Lt|Xt)?|cusparse|cusolver|cufft|curand|cudnn|nvrtc|nvJitLink|nccl"
    r"|nvml)(?!Status|Result|Error)[A-Z]\w{2,60}"
    r"|cuda(?!Error|Success|Runtime|Driver|DevAttr|LimitM|FuncAttr|MemcpyHost|MemcpyDevice"
    r"|MemcpyDefault)[A-Z][a-z]\w{2,60}|cu(?!da)[A-Z][a-z]\w{2,60})\b"
)
_WORKS = re.compile(r"create$|createhandle|handlecreate|init(?:ialize)?$|setup|plan\w*$|makeplan")
_ERRORS = Source("know", "Microsoft: System Error Codes", "winerror.h")
_STATUSES = Source(
    "know", "Microsoft: NTSTATUS Values", "ntstatus.h; 0xC06D…: delayimp.h; 0xE06D7363: Visual C++"
)


class Number(msgspec.Struct, frozen=True):
    """A number, and where it has this meaning ("" where it always has)."""

    code: int
    where: str = ""


class Code(msgspec.Struct, frozen=True):
    """One status of one API."""

    api: str  # cuda, cudnn, cublas … xid
    title: str  # CUDA driver and runtime
    names: tuple[str, ...]  # empty for an Xid
    numbers: tuple[Number, ...]
    meaning: str  # in our own words; "" where the name says it all
    causes: tuple[str, ...]  # the causes that usually stand behind it, the commonest first
    source: Source
    says: tuple[str, ...] = ()  # what the API's own function prints for it


class Api(msgspec.Struct, frozen=True):
    """An API: its title, the headers that were read, and numbers that came later than those."""

    api: str
    title: str
    source: Source | None = None
    success: tuple[str, ...] = ()
    since: dict[str, str] = {}


class CudaRow(msgspec.Struct, frozen=True):
    """One error of the CUDA runtime and driver."""

    code: int
    slug: str
    names: tuple[str, ...]
    old: tuple[int, ...]  # numbers before CUDA 10.1
    says: tuple[str, ...]  # what cudaGetErrorString prints


class StatusRow(msgspec.Struct, frozen=True):
    """One status of a library: its name, and its numbers (cuDNN 9 renumbered)."""

    name: str
    codes: tuple[int, ...]


class Table(msgspec.Struct, frozen=True):
    """status_codes.json."""

    sources: dict[str, str]
    cuda: tuple[CudaRow, ...]
    libraries: dict[str, dict[str, StatusRow]]


class XidRow(msgspec.Struct, frozen=True):
    """A number by which the NVIDIA kernel module reports a fault, in our own words."""

    number: int
    text: str
    source: Source
    hardware: bool = False  # the GPU, its memory, links or firmware failed: no program cures it
    recovered: bool = False  # the GPU went on by itself, so it does not explain a failure now


class _WindowsRow(msgspec.Struct, frozen=True):
    """An error of LoadLibrary and the system, or a status that a process ends with."""

    number: int
    name: str
    text: str


class _CallFamily(msgspec.Struct, frozen=True):
    """What calls work on, and how their names begin, without cuda or cu; the first row counts."""

    family: str
    pattern: str


def apis() -> dict[str, Api]:
    """The APIs, in the order of answers."""
    return {row.api: row for row in rows("apis.jsonl", Api)}


def table() -> Table:
    """The numbers and names that the headers have."""
    return load("status_codes.json", Table)


# ---------------------------------------------------------------- what the log reader asks


@cache
def _cuda_names() -> dict[str, str]:
    return {name.lower(): row.slug for row in table().cuda for name in row.names}


def cuda_by_name(name: str) -> str:
    """The word for cudaErrorX or CUDA_ERROR_X, whatever the case; "" without such an error."""
    return _cuda_names().get(name.lower(), "")


@cache
def cuda_messages() -> dict[str, str]:
    """What cudaGetErrorString prints, in lower case, to the word."""
    return {text.lower().rstrip("."): row.slug for row in table().cuda for text in row.says}


def cuda_by_number(number: int) -> str:
    """The word for a number; the one before CUDA 10.1 counts where the newer one has none."""
    if number == _STUB:
        return "stub_library"
    new = next((row.slug for row in table().cuda if row.code == number), "")
    return new or next((row.slug for row in table().cuda if number in row.old), "")


def cuda_code(slug: str) -> int:
    """The number of today for a word; 0 when there is none."""
    return next((row.code for row in table().cuda if row.slug == slug), 0)


def library_by_name(library: str, name: str) -> str:
    """The word for CUDNN_STATUS_X and its kind; "" for success and for unknown names."""
    wanted = name.lower().replace("_", "")
    found = table().libraries.get(library, {}).items()
    return next((slug for slug, row in found if row.name.lower().replace("_", "") == wanted), "")


def library_by_number(library: str, number: int) -> str:
    """The word for a bare number of a library."""
    found = table().libraries.get(library, {}).items()
    return next((slug for slug, row in found if number in row.codes), "")


def meaning(signature: str) -> str:
    """What a status means, by the log reader's signature ("cufft.no_workspace"); "" without one."""
    api, _, slug = signature.partition(".")
    return words().get(api, {}).get(slug, "")


def words() -> dict[str, dict[str, str]]:
    """Meanings in our own words; a status whose name says it all has no row."""
    return load("code_words.json", dict[str, dict[str, str]])


def xid_row(number: int) -> XidRow | None:
    """What an Xid number means; None for a number that is not in the table."""
    return next((row for row in rows("xid.jsonl", XidRow) if row.number == number), None)


def is_of_a_program(number: int | None) -> bool:
    """Whether an Xid is about one program's work on the GPU, not about the GPU itself."""
    row = xid_row(number) if number is not None else None
    return row is not None and not row.hardware


# ---------------------------------------------------------------- the calls that return them


def call_in(text: str) -> str:
    """The first call of CUDA or of its libraries that a text names; "" where it names none."""
    found = _CALL.search(text)
    return found["call"] if found else ""


@cache
def family_of(call: str) -> str:
    """The family of a call: what it works on; "" where its name does not tell."""
    lower = call.lower()
    library = _LIBRARY_CALL.match(lower)
    if library and library[0] == "nvml":
        return "handle" if "gethandleby" in lower else "work"
    if library:
        return "create" if _WORKS.search(lower.removesuffix("_v2")) else "work"
    bare = lower.removeprefix("cuda").removeprefix("cu")
    families = rows("calls.jsonl", _CallFamily)
    return next((row.family for row in families if re.match(row.pattern, bare)), "")


# ---------------------------------------------------------------- what a person asks


def find(text: str) -> tuple[Code, ...]:
    """Every status that `719`, `0x2cf`, `xid 79` or `CUDNN_STATUS_INTERNAL_ERROR` may stand for."""
    api, rest = split(text)
    number, wanted = as_number(rest), _plain(rest)
    if number is None:
        return tuple(code for code in _of(api) if wanted and wanted in _spellings(code))
    first = 1 if api == "driver" else None  # its numbers never changed; only the runtime's did
    return tuple(c for c in _of(api) if any(n.code == number for n in c.numbers[:first]))


def split(text: str) -> tuple[str, str]:
    """The API that a text names ("" for none), and what is left of it."""
    named = {api: api for api in apis()} | dict.fromkeys(_WORDS_OF_WINDOWS, "windows")
    named |= {"driver": "driver", "runtime": "runtime", "cudart": "runtime"}
    parts = [part for part in re.split(r"[\s:=,()\[\]'\"#]+", text) if part]
    glued = re.fullmatch(r"([a-z0-9]*?[a-z])(-?\d+)", parts[0].lower()) if len(parts) == 1 else None
    if glued and glued[1] in named:
        return named[glued[1]], glued[2]
    api = ""
    while len(parts) > 1 and (parts[0].lower() in named or parts[0].lower() in _NOISE):
        api = named.get(parts.pop(0).lower(), api)
    return api, " ".join(parts)


def as_number(text: str) -> int | None:
    """A decimal or hexadecimal number; None for anything else."""
    if not _NUMBER.fullmatch(text) or len(text) >= 20:
        return None
    return int(text, 0 if text[:2].lower() == "0x" else 10)


def near(text: str) -> list[str]:
    """Up to three names, or numbers of the named API, that come closest."""
    from difflib import get_close_matches

    api, rest = split(text)
    number = as_number(rest)
    if number is not None:
        every = {n.code for code in _of(api) for n in code.numbers}
        known = sorted(every, key=lambda n: (abs(n - number), n))
        return [f"{api} {n}" for n in sorted(known[:3])] if api else []
    spelled = {_plain(name): name for code in _of(api) for name in code.names}
    return [spelled[one] for one in get_close_matches(_plain(rest), spelled, 3, 0.6)]


def signature(code: Code) -> str:
    """What the log reader calls a status; "" for success and for what it does not read."""
    if code.api == "xid":
        return "kernel.xid"
    if code.api == "cuda":
        found = cuda_by_name(code.names[0]) if code.names else cuda_by_number(code.numbers[0].code)
    else:
        found = library_by_name(code.api, code.names[0])
    return f"{code.api}.{found}" if found else ""


def _of(api: str) -> Iterator[Code]:
    prefix = {"driver": "CUDA_", "runtime": "cuda"}.get(api, "")
    for code in everything():
        spoken = not code.names or any(name.startswith(prefix) for name in code.names)
        if spoken if prefix and code.api == "cuda" else not prefix and api in ("", code.api):
            yield code


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def _spellings(code: Code) -> set[str]:
    """A name in full, without its prefix (`INTERNAL_ERROR`), or the text that the API prints."""
    prefix = r"^(cudaError|nccl|[A-Z]+_(STATUS_|ERROR_)?)"
    short = (re.sub(prefix, "", name) for name in code.names)
    return {_plain(text) for text in (*code.names, *short, *code.says)}


@cache
def everything() -> tuple[Code, ...]:
    """Every status of every API, in the order of answers."""
    every, text = apis().values(), "success: nothing is wrong"
    success = (
        Code(api.api, api.title, api.success, (Number(0),), text, (), _source(api))
        for api in every
        if api.success
    )
    libraries = (code for api in every for code in _library(api))
    title, xids = apis()["xid"].title, rows("xid.jsonl", XidRow)
    xid = (Code("xid", title, (), (Number(o.number),), o.text, (), o.source) for o in xids)
    return (*success, *_cuda(apis()["cuda"]), *libraries, *_windows(), *xid)


def _cuda(api: Api) -> Iterator[Code]:
    for row in table().cuda:
        names = tuple(sorted(row.names, key=lambda name: name.startswith("CUDA_")))
        where = "driver; runtime since CUDA 10.1" if row.old else ""
        if names[0].startswith("CUDA_") or not names[-1].startswith("CUDA_"):
            where = "driver" if names[0].startswith("CUDA_") else "runtime"
        old = (Number(n, "runtime of CUDA 10.0 and older") for n in row.old)
        text, known = meaning(f"cuda.{row.slug}"), _source(api, row.code)
        yield Code(
            "cuda", api.title, names, (Number(row.code, where), *old), text, (), known, row.says
        )
    stub = Number(_STUB, "stub libcuda of CUDA 11 and older, from cuInit")
    text = meaning("cuda.stub_library")
    yield Code("cuda", api.title, (), (stub,), text, (), _source(api))


def _library(api: Api) -> Iterator[Code]:
    for slug, row in table().libraries.get(api.api, {}).items():
        numbers = []
        for n in row.codes:  # cuDNN 9 renumbered; 14 came with cuDNN 8
            where = "cuDNN 9" if n >= 1000 else "cuDNN 8" if n == 14 else "cuDNN 8 and older"
            numbers.append(Number(n, where if api.api == "cudnn" else ""))
        text, known = meaning(f"{api.api}.{slug}"), _source(api, row.codes[-1])
        yield Code(api.api, api.title, (row.name,), tuple(numbers), text, (), known)


def _windows() -> Iterator[Code]:
    """A status also by the negative number, an error also by the HRESULT, that programs print."""
    title = apis()["windows"].title
    for row in rows("windows_codes.jsonl", _WindowsRow):
        if row.number > 0xFFFF:
            plain, where = row.number, f"0x{row.number:X}, an exit status"
            other, also, known = row.number - _WRAP, "the same with a sign", _STATUSES
        else:
            plain, where, known = row.number, "WinError, LoadLibrary", _ERRORS
            other = 0x80070000 | row.number
            also = f"0x{other:X}, an HRESULT"
        numbers = (Number(plain, where), Number(other, also))
        yield Code("windows", title, (row.name,), numbers, row.text, (), known)


def _source(api: Api, number: int = 0) -> Source:
    known, since = api.source or Source("know", api.title), api.since.get(str(number))
    return replace(known, detail=f"in it since {since}") if since else known
