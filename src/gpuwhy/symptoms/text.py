"""Bytes to blocks of lines: gzip, UTF-16, colours, carriage returns; never more than a block in memory."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from gpuwhy.symptoms.dress import mark_of, traced_marks, unmarked

BLOCK = 1 << 20
"""Larger blocks are slower: the allocator hands their memory back each time, and fetching it again costs more."""
BINARY = "binary data"
LOOK = 1 << 12
"""How many bytes of a block are looked at for lines."""
OVERLAP = 1 << 12
"""A line longer than a block is cut; the pieces overlap so that a message on the cut is seen."""

_ODD = bytes({*range(32)} - {*b"\t\n\v\f\r\b\a\x1b"})
_ANSI = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")


class Block(msgspec.Struct, frozen=True):
    """Some lines of the text, as bytes near UTF-8, and the number of the first."""

    data: bytes
    first: int


class Decoder:
    """Undoes gzip and UTF-16, decided on the first bytes; says in `notes` what it met."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._unzip: zlib._Decompress | None = None
        self._utf16: codecs.IncrementalDecoder | None = None
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Turn raw bytes into bytes near UTF-8, in pieces that stay small even where gzip hides gigabytes."""
        if not self._started and data:
            self._start(data)
            data = data.removeprefix(codecs.BOM_UTF8)
        if self._unzip is None:
            yield self._decoded(data)
            return
        while data and not self._unzip.eof:
            try:
                piece = self._unzip.decompress(data, BLOCK)
            except zlib.error as bad:
                self.notes.append(f"the gzip data is damaged ({bad}); what came before is read")
                return
            data = self._unzip.unconsumed_tail or self._next_member()
            yield self._decoded(piece)

    def _next_member(self) -> bytes:
        assert self._unzip is not None
        rest = self._unzip.unused_data
        if self._unzip.eof and rest.startswith(b"\x1f\x8b"):
            self._unzip = zlib.decompressobj(31)
            return rest
        return b""

    def _start(self, data: bytes) -> None:
        self._started = True
        if data.startswith(b"\x1f\x8b"):
            self.notes.append("gzip")
            self._unzip = zlib.decompressobj(31)
            data = _sniffed(data)
        name = _utf16(data[:4096])
        if name:
            self.notes.append("UTF-16")
            self._utf16 = codecs.getincrementaldecoder(name)("replace")
        elif _binary(
            data[:4096].strip(b"\x00")
        ):  # a log cut while it is written begins with zeros, a sparse one ends so
            self.notes.append(BINARY)

    def _decoded(self, data: bytes) -> bytes:
        return self._utf16.decode(data).encode("utf-8", "replace") if self._utf16 else data


def _sniffed(data: bytes) -> bytes:
    """The first bytes that gzip hides; none where they are damaged."""
    try:
        return zlib.decompressobj(31).decompress(data, 4096)
    except zlib.error:
        return b""


def _binary(head: bytes) -> bool:
    """A program, an archive, or control characters all over."""
    odd = len(head) - len(head.translate(None, _ODD))
    return b"\x00" in head and (head.startswith((b"\x7fELF", b"MZ", b"PK")) or odd * 20 > len(head))


def _utf16(head: bytes) -> str:
    """The UTF-16 flavour by its mark, or by zeros at every second place; "" for anything else."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if len(head) < 4:
        return ""
    even, odd = head[::2].count(0) * 2 / len(head), head[1::2].count(0) * 2 / len(head)
    if odd > 0.6 and even < 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 and odd < 0.1 else ""


_SERVICE = re.compile(rb"([a-z][\w.-]*) *\| ?")
"""How compose begins a line: the service, or the container, and a bar."""


def _service_of(mark: re.Pattern[bytes], data: bytes) -> str:
    """The service that compose writes before lines; "" where the mark is another's."""
    before = mark.search(data)
    named = _SERVICE.fullmatch(before[0]) if before else None
    return named[1].decode() if named else ""


class Cutter:
    """Cuts a stream into blocks that end with a line, or with an overlap where a line is longer than a block."""

    def __init__(self) -> None:
        self.decoder = Decoder()
        self._held: list[bytes] = []
        self._size = 0
        self._line = 1
        self._mark: re.Pattern[bytes] | None = None
        self._looked = False
        self._service = ""

    def feed(self, chunk: bytes) -> Iterator[Block]:
        """The blocks that are complete with this piece."""
        for piece in self.decoder.feed(chunk):
            for start in range(0, len(piece), BLOCK):
                self._held.append(piece[start : start + BLOCK] if len(piece) > BLOCK else piece)
                self._size += len(self._held[-1])
                if self._size >= BLOCK:
                    yield self._complete()

    def _complete(self) -> Block:
        """What is held up to its last line, copied once where the last piece ends one."""
        last = self._held[-1]
        if cut := last.rfind(b"\n") + 1:
            text, rest = b"".join([*self._held[:-1], last[:cut]]), last[cut:]
        else:
            text = self._text()
            cut = text.rfind(b"\n") + 1 or len(text)
            rest = text[cut if cut < len(text) else -OVERLAP :]
            text = text[:cut]
        self._hold(rest)
        return self._block(text)

    def flush(self) -> Iterator[Block]:
        """What is left; a line that grows later is read again from its start."""
        text = self._text()
        if text:
            yield self._block(text)
            self._hold(text[text.rfind(b"\n") + 1 :])

    def _block(self, text: bytes) -> Block:
        first = self._line
        self._line += text.count(b"\n")
        return Block(self._undressed(plain(text)), first)

    def _undressed(self, data: bytes) -> bytes:
        """The block without what stands before each line; the first that has some lines tells whether anything does."""
        if not self._looked and data.count(b"\n", 0, LOOK) > 0:
            self._mark, self._looked = mark_of(data), True
            self._service = _service_of(self._mark, data) if self._mark else ""
        data = unmarked(data, self._mark) if self._mark else data
        for mark in traced_marks(data):
            self._service = self._service or _service_of(mark, data)
            data = unmarked(data, mark)
        return data

    def _text(self) -> bytes:
        return self._held[0] if len(self._held) == 1 else b"".join(self._held)

    def _hold(self, text: bytes) -> None:
        self._held, self._size = [text], len(text)

    @property
    def service(self) -> str:
        """The container whose name compose wrote before each line; "" where it wrote none."""
        return self._service

    @property
    def lines(self) -> int:
        """How many lines came so far."""
        return self._line - 1 + bool(self._size)


_QUOTED = re.compile(rb"""^(?:\{"|b?["'])[^\n]*\\n[^\n]*$""", re.MULTILINE)
_ESCAPED = re.compile(rb"(?<!\\)\\(?:r\\)?n")
_ESCAPES = re.compile(rb"""\\([\\"'/t])""")
_RECORD = re.compile(
    rb'^\{(?![^\n]*"(?:error|err|exception|stack\w*|traceback)":)[^\n]{0,400}?"(?:log|msg|message|text)": ?'
    rb'"((?:[^"\\\n]|\\.)*)"[^\n]*\}[ \t]*$',
    re.MULTILINE,
)
"""A record in JSON: its message is what the program said."""
_CELL = re.compile(rb'^[ \t]*"((?:[^"\\\n]|\\[^n])*)(?:\\n)?",?[ \t]*$', re.MULTILINE)
"""A line of output in a notebook's file, or of a traceback that a record keeps as a list."""
_KEPT = re.compile(rb"""(["']?)(Traceback \(most recent call last\):(?:\\n|#012|["'],? ?["'])[^\n]*)$""", re.MULTILINE)
"""A traceback that is kept in one line: as one text, or as a list of its lines."""
_LISTED = re.compile(rb"""(?<!\\)["'], ?["']""")
_CLOSED = {mark: re.compile(rb"(?<!\\)" + mark + rb"(?=\s*(?:$|[\]}),;]|\w+=))") for mark in (b'"', b"'")}
_MARKS = re.compile(b"\xe2\x80[\x98\x99\x9c\x9d]")
_SPACES = re.compile(b"\xc2\xa0|\xe2\x80\xaf")
_WEB = re.compile(
    rb"</?(?:br|p|pre|code|details|summary|span|div|li|td|tr|samp|kbd|b|i|strong|em)(?: [^<>\n]{0,80})?/?>"
)
_AMP = re.compile(rb"&(#39|#x27|apos|quot|gt|lt|amp|nbsp|#10|#xA|#13);", re.IGNORECASE)
_CHARACTERS = {b"quot": b'"', b"gt": b">", b"lt": b"<", b"amp": b"&", b"nbsp": b" ", b"#10": b"\r", b"#xa": b"\r"}


def _unescaped(found: re.Match[bytes]) -> bytes:
    """A line in which a text is quoted, as the lines of it."""
    text = found[1] if found.re is _RECORD else found[0]
    return _ESCAPES.sub(_escape, _ESCAPED.sub(b"\r", text)).rstrip(b"\r")


def _unkept(found: re.Match[bytes]) -> bytes:
    """A traceback in one line as the lines of it, and what stands behind it in a line of its own."""
    text = _LISTED.sub(b"\r", found[2]).replace(b"#012", b"\r")
    if found[1] and (end := _CLOSED[found[1]].search(text)):
        text = text[: end.start()] + b"\r" + text[end.end() :]
    return b"\r" + _ESCAPES.sub(_escape, _ESCAPED.sub(b"\r", text)).rstrip(b"\r")


def _escape(found: re.Match[bytes]) -> bytes:
    return b"\t" if found[1] == b"t" else found[1]


class _Step(NamedTuple):
    """What is taken out of a text or put otherwise, where it has all of the first bytes and one of the second."""

    all_of: tuple[bytes, ...]  # one byte first: it is found at the speed of memory
    any_of: tuple[bytes, ...]
    expression: re.Pattern[bytes]
    put: bytes | Callable[[re.Match[bytes]], bytes]

    def done(self, data: bytes) -> bytes:
        there = all(one in data for one in self.all_of) and any(one in data for one in self.any_of)
        return self.expression.sub(self.put, data) if there else data


_WIDE_STEPS = (
    _Step((), (b"\xc2\xa0", b"\xe2\x80\xaf"), _SPACES, b" "),
    _Step((), (b"\xe2\x80",), _MARKS, lambda found: b"'" if found[0] in (b"\xe2\x80\x98", b"\xe2\x80\x99") else b'"'),
)
"""Of texts that are not ASCII alone."""
_STEPS = (
    _Step((b"{", b'{"'), (b'": "',), _RECORD, _unescaped),
    _Step(
        (b"\\",),
        (b'\\n",', b'"Traceback (most recent call last):",'),
        _CELL,
        lambda found: _ESCAPES.sub(_escape, found[1]),
    ),
    _Step((b"\\",), (b"\\n",), _QUOTED, _unescaped),
    _Step((b"T", b"Traceback (most"), (b":\\n", b":#012", b':", "', b":', '", b":', \""), _KEPT, _unkept),
    _Step((b"<",), (b"<br", b"</p", b"</code>"), _WEB, b""),
    _Step((b"&",), (b"&quot;", b"&#", b"&lt;", b"&gt;"), _AMP, lambda found: _CHARACTERS.get(found[1].lower(), b"'")),
)


def plain(data: bytes) -> bytes:
    """Without colours, cursor movements and the marks of a web page; what is kept in one line, as lines of it.

    A carriage return starts a line and leaves the count of lines as it is.
    """
    if b"\x1b" in data:
        data = _ANSI.sub(b"", data)
    for step in _STEPS if data.isascii() else (*_WIDE_STEPS, *_STEPS):
        data = step.done(data)
    return data


_PREFIX = re.compile(
    r"(?:\[rank ?\d+\]:? ?|\(\w+ pid=\d+[^)]{0,60}\) ?|\[\d+,\d+\]<std\w{3}>: ?|\[\d+\]: |\d{1,4}: {1,3}"
    r"|[\w.-]{1,60}-\d+ +\| ?|\[[\w .,:/-]{4,40}\] ?|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:\d\d)?:? ?"
    r"|>>? (?!>)|[-|] (?![-|])"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,60} [\w./@-]{1,60}(?:\[\d+\])?: ?"
    r"|std(?:err|out)(?: [FP] |: ?)|E {3,}|[\w.]{3,60} - (?=[A-Z]+ - )"
    r"|time=\S{1,40} level=\w+ (?:source=\S{1,60} )?(?:msg=)?|\{\"log\": ?\"|[\w.]{1,60}:[\w<>]{1,40}:\d+ - "
    r"|[EWIF]\d{4} \d\d:\d\d:[\d.]+ +\d+ [\w./-]+:\d+\] ?"
    r"|(?:ERROR|WARNING|INFO|CRITICAL|DEBUG)(?:[: ]+|$)(?:\d\d-\d\d \d\d:\d\d:\d\d )?(?:[\w./-]+:\d+\])? ?)+"
)


_QUOTES = str.maketrans("‘’“”", "''\"\"")
_ENTITY = re.compile(r"&(?:#39|#x27|apos|quot|gt|lt|amp|nbsp);")
_ENTITIES = {"&quot;": '"', "&gt;": ">", "&lt;": "<", "&amp;": "&", "&nbsp;": " "}


_LEVEL = r"^[^\w\n]{0,3}(?:\d[\d:., TZ-]{7,40}[^\w\n]{0,3})?"
_WARNING = re.compile(
    r"\b(?:User|Runtime|Import|Future|Deprecation|Resource)Warning: "
    r"|(?:^|[\s:\[])[WI](?:\d{3,4}(?: [\d:.]+)?(?: +\d+)?)? [\w./-]+\.\w{1,4}:\d+\]"
    rf"|{_LEVEL}WARN(?:ING)?\b|{_LEVEL}(?:warn|warning|fixme):|\blevel=warn|\[W:onnxruntime|\[W\] \["
)
_INFORMS = re.compile(rf"{_LEVEL}(?:INFO|DEBUG|NOTICE)\b|\blevel=(?:info|debug)")
_OF_ANOTHER_TIME = re.compile(
    r"\b(?:fix(?:ed|es)|resolved|solved|no longer|(?:last|previous) (?:week|time|run|release)|avoid(?:s|ing)?"
    r"|prevent(?:s|ing)?|in case|if you|when you|may|might|hint|tip|consider)\b",
    re.IGNORECASE,
)
_OF_NOW = re.compile(r"\w(?:Error|Exception)\b|\berror \d|tried to allocate|_(?:STATUS|ERROR)_", re.IGNORECASE)


_GOES_ON = re.compile(
    r"failed call to cuinit|could not load dynamic library|cannot dlopen some|skipping registering gpu|"
    r"gpu will not be used|\b(?:metrics|monitor\w*|support|acceleration|features?) disabled\b"
    r"|\bskip(?:ping)? logging\b|fall(?:ing|s) back|no gpu/tpu found|unable to initialize backend|will not be used|"
    r"\b(?:going|goes|carrying|carries) on (?:with|without)\b|\bcontinu(?:ing|es) (?:with|without|on)\b|"
    r"\bretry(?:ing)? (?:with|at) (?:batch|size|\d)|\breduc(?:ed|ing) (?:the )?batch(?: size)? to \d|"
    r"\b0 (?:oom|out[- ]of[- ]memory)\b|"
    r"[(\[](?:skipped|skipping|ignored|ignoring|fine|harmless|expected|as expected|not fatal|non-fatal"
    r"|retried|retrying|pruned|handled|tolerated)"
    r"(?:[ ,:;][^()\n]{0,40})?[)\]]\s*$|"
    r"(?<!compiled )using (?:numpy|(?:the )?cpu)|gpu disabled|^\W*\[?'(?:Azure|CPU)ExecutionProvider'",
    re.IGNORECASE,
)


def warns(line: str) -> bool:
    """Whether a program goes on after such a line: a warning or a note by its level, or a framework doing without."""
    return bool(_WARNING.search(line) or _GOES_ON.search(line))


def reminds(line: str) -> bool:
    """Whether a line that only informs speaks of a failure of another time: one that was mended, or may come."""
    return bool(_INFORMS.search(line) and _OF_ANOTHER_TIME.search(line) and not _OF_NOW.search(line))


_DENIES = re.compile(
    r"^# (?:HELP|TYPE) \w"
    r"|\S {2,}: +(?:no|not active|none|n/?a|0|0 \w{1,4}|\[n/a\]|not supported"
    r"|requested functionality has been \w+)\s*$",
    re.IGNORECASE,
)


def denies(line: str) -> bool:
    """Whether a row of a listing says that something is not so ("Reset Required   : No"), or only what it counts."""
    return bool(_DENIES.search(line))


_MISSPELT = {
    r"lib(?:arary|ary|rairy|raray|rarry)": "library",
    r"can(?:ot|ont|nnot)|connot": "cannot",
    r"(?:coud|culd|coudl|coul) not": "could not",
    r"obj(?:ct|cet|ec)": "object",
    r"sh(?:ard|aerd|red)(?= obj)": "shared",
    r"mem(?:mory|roy|ry)|meomry": "memory",
    r"dirver|drvier|driv(?:re|r)": "driver",
    r"(?<=not )(?:foud|fuond|fond)": "found",
    r"(?:avalable|availble|availabe|avaliable)": "available",
    r"(?:initalize|intialize|initilize|inizialize)": "initialize",
    r"(?:insuficient|insufficent|insuffient)": "insufficient",
    r"(?:kernal|kernl)(?= image)": "kernel",
    r"alocate|allcoate|allocat(?=\b)": "allocate",
}
_SPELT = tuple((re.compile(rf"\b(?:{wrong})\b", re.IGNORECASE), right) for wrong, right in _MISSPELT.items())


def respelled(text: str) -> str:
    """A text that a person typed, with the common misspellings in the words of error messages set right."""
    for wrong, right in _SPELT:
        text = wrong.sub(right, text)
    return text


def _unmarked(line: str) -> str:
    """Without the marks around a quotation; a last backtick stays where it closes one inside the line."""
    bare = line.strip("`*│ ")
    return f"{bare}`" if bare.count("`") % 2 and line.rstrip("*│ ").endswith("`") else bare


def unprefixed(line: str) -> str:
    """A line without the rank, the process, the time and the marks of a quotation; typographic quotes made plain."""
    if "&" in line:
        line = _ENTITY.sub(lambda found: _ENTITIES.get(found[0], "'"), line)
    line = _unmarked(line.translate(_QUOTES)) or line
    match = _PREFIX.match(line)
    return line[match.end() :] if match and match.end() < len(line) else line
