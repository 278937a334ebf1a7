"""Read: a text becomes a Log, in one pass and with bounded memory."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from gpuwhy.causes.load import Catalogue
from gpuwhy.causes.load import catalogue as own_catalogue
from gpuwhy.log.decode import BINARY, Decoder, decoded
from gpuwhy.log.endings import course_of
from gpuwhy.log.form import Form, form_of, genre_of, is_printed
from gpuwhy.log.lines import Line, lines_of, plain, unmarked, unprefixed, unwrapped
from gpuwhy.log.log import Genre, Log
from gpuwhy.log.match import rows_of
from gpuwhy.log.message import Message
from gpuwhy.log.middle import Middle
from gpuwhy.log.programs import Speakers
from gpuwhy.log.reasons import stack_named
from gpuwhy.log.scan import Page
from gpuwhy.log.standing import Text, stand
from gpuwhy.log.stated import case_of
from gpuwhy.log.tracebacks import complains

EDGE = 1 << 16
"""Bytes of the beginning and of the end that are read whole."""
WHOLE = 1 << 18
"""A text of at most so many bytes is read whole."""
BLOCK = 1 << 20
FIRST, LATEST = 300, 200
"""How many different messages of the beginning and of the end are kept."""
EXCERPT = 1 << 15
FORM = 1 << 14
"""Characters of a text whose form is looked at."""
WRAPPED, SHORTEST = 60, 0.5
"""Lines of a text that may be one line which somebody wrapped; what the shortest of them has of the
longest."""
MOST_SPACES = 64
_SPACES = re.compile(r"[^\S\n]{65,}")
LONG = 2048
"""Characters of one line that are looked at for words."""


def read(
    data: bytes | str | Iterable[bytes],
    catalogue: Catalogue | None = None,
    observed: Sequence[Message] = (),
    *,
    exit_code: int | None = None,
    signal: str = "",
) -> Log:
    """What a text states. `observed` are messages of what was seen beside it; `exit_code` and
    `signal` how the program ended, where that is known.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    reader = Reader(catalogue or own_catalogue())
    for piece in decoded((data,) if isinstance(data, bytes) else data, reader.decoder):
        reader.feed(piece)
    return reader.log(observed, exit_code, signal)


class Reader:
    """Takes a text piece by piece; `log` is what was understood so far."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.rows = rows_of(catalogue)
        self.decoder = Decoder()
        self._held = bytearray()
        self._head: str | None = None  # the beginning, where the text is not read whole
        self._newlines = 0  # before what is held
        self._middle: Middle | None = None

    def feed(self, data: bytes) -> None:
        """The next decoded bytes."""
        self._held += data
        while len(self._held) > 2 * EDGE + BLOCK:
            self._cut_head()
            self._cut_middle(BLOCK)

    def _cut_head(self) -> None:
        if self._head is None:
            self._head = self._take(EDGE).decode("utf-8", "replace")

    def _cut_middle(self, size: int) -> None:
        if self._middle is None:
            self._middle = Middle(self.rows)
        first = self._newlines + 1
        self._middle.feed(self._take(size), first)

    def _take(self, size: int) -> bytes:
        """At most so many bytes of what is held, up to the end of a line."""
        size = self._held.rfind(b"\n", 0, size) + 1 or size
        part = bytes(self._held[:size])
        del self._held[:size]
        self._newlines += part.count(b"\n")
        return part

    def log(
        self, observed: Sequence[Message] = (), exit_code: int | None = None, signal: str = ""
    ) -> Log:
        """What is stated by the text so far, the unfinished last line included."""
        if self._head is None and len(self._held) > WHOLE:
            self._cut_head()
        if self._head is not None and len(self._held) > EDGE:
            self._cut_middle(len(self._held) - EDGE)
        tail = self._held.decode("utf-8", "replace")
        if self._head is not None or len(tail) > FORM:
            return self._log(tail, "", observed, exit_code, signal)
        whole = unwrapped(unmarked(plain(tail)))
        log = self._log(tail, whole, observed, exit_code, signal)
        failed = log.ending.kind != "none" or any(one.role == "error" for one in log.messages)
        line = "" if failed or log.case.programs else _as_one_line(whole)
        if not line:
            return log
        again = self._log(line, line, observed, exit_code, signal)
        return again if any(one.role == "error" for one in again.messages) else log

    def _log(
        self,
        tail: str,
        whole: str,
        observed: Sequence[Message],
        exit_code: int | None,
        signal: str,
    ) -> Log:
        first = self._newlines + 1
        last = first + tail.count("\n") - (tail.endswith("\n") or not tail)
        page, words = _words(self._head or "", tail, whole, first)
        known = (one for program in self.catalogue.programs.values() for one in program.prefix)
        prefixes = [one for one in known if re.search(one, page.text, re.MULTILINE)]
        head_lines = lines_of(self._head, 1, prefixes) if self._head is not None else []
        tail_lines = lines_of(whole or tail, first, prefixes)
        lines = [*head_lines, *tail_lines]
        speakers = Speakers(self.catalogue, lines, words)
        found = self._messages(head_lines, tail_lines, speakers)
        found.add(replace(one, line=one.line or last + at) for at, one in enumerate(observed, 1))
        course = course_of(tail_lines, exit_code, signal)
        genre, form = self._form(page, words, tail, exit_code is not None or bool(signal))
        raised = course.ending.kind in ("exception", "signal") and course.ending.last >= last
        if genre == "source" and raised:
            genre = "output"  # settings may look like code; nobody writes an exception below it
        text = Text(words, last, genre, form)
        stated = tuple(stand(found.all(), course, text, self.catalogue.sets))
        middle = self._middle.note if self._middle is not None else ""
        notes = (*self.decoder.notes, *([middle] if middle else []))
        noted = {one.line for one in stated if not one.decides}
        others = (
            (one.number, one.text[:200])
            for one in reversed(lines)
            if one.number not in noted and complains(one.raw)
        )
        return Log(
            messages=stated,
            ending=course.ending,
            case=case_of(page, stated, course, speakers, self.catalogue),
            genre="binary" if BINARY in notes else genre,
            lines=last,
            notes=tuple(dict.fromkeys(notes)),
            mentions_gpu=stack_named(words),
            last_line=next((one.text[:200] for one in reversed(lines) if one.text.strip()), ""),
            complaint=next(others, (0, "")),
            excerpt=_excerpt(lines),
        )

    def _form(self, page: Page, words: str, tail: str, printed: bool) -> tuple[Genre, Form]:
        """What the text is by its form, and where it quotes."""
        if self._head is not None:
            return "output", Form()
        form = form_of({page.text, words}) if len(tail) <= FORM else Form()
        return genre_of(words.replace("\r", "\n"), printed), form

    def _messages(self, head: Sequence[Line], tail: Sequence[Line], speakers: Speakers) -> _Kept:
        kept, seen = _Kept(), set[object]()
        kept.add(self._on_lines(head, speakers, seen))
        middle = self._middle.found.values() if self._middle is not None else ()
        kept.add(replace(one) for one in middle if speakers.counts(one))
        kept.add(self._on_lines(tail, speakers, seen))
        return kept

    def _on_lines(
        self, lines: Sequence[Line], speakers: Speakers, seen: set[object]
    ) -> Iterator[Message]:
        """The messages of lines that are read whole."""
        text = "\n".join(one.raw for one in lines).lower().encode("utf-8", "replace")
        starts = [0, *(found.end() for found in re.finditer(b"\n", text))]
        held: dict[int, set[int]] = {}  # which literals stand on which line
        for literal, start in self.rows.literals.found(text):
            held.setdefault(bisect_right(starts, start) - 1, set()).add(literal)
        for place, literals in sorted(held.items()):
            for one in self.rows.on_line(lines[place], literals, seen):
                if one.id in self.rows.once:
                    seen.add(one.id)
                if speakers.counts(one):
                    yield one


def _words(head: str, tail: str, whole: str, first: int) -> tuple[Page, str]:
    """What is looked at for words: the beginning and the end as they were given, with their line
    numbers; and the same without what stands before each line.
    """
    begin = head[: head.rfind("\n", 0, EXCERPT) + 1 or EXCERPT]
    cut = tail.find("\n", max(0, len(tail) - EXCERPT)) + 1 if head else 0
    first += tail.count("\n", 0, cut)
    begin = plain(begin)
    text, before = begin + plain(tail[cut:]), begin.count("\n")
    return Page(_cut(text), before, first - 1 - before), _cut(whole or unmarked(text))


def _cut(text: str) -> str:
    """A text without the middle of long lines."""
    text = _SPACES.sub(lambda found: found[0][:MOST_SPACES], text.replace("\r\n", "\n"))
    return "\n".join(
        one if len(one) <= LONG else f"{one[: LONG // 2]} … {one[-LONG // 2 :]}"
        for one in text.split("\n")
    )


def _excerpt(lines: Sequence[Line]) -> str:
    """Its beginning and its end."""
    text = "\n".join(one.bare for one in lines)
    return text if len(text) <= 2 * EXCERPT else f"{text[:EXCERPT]}\n{text[-EXCERPT:]}"


def _as_one_line(text: str) -> str:
    """A short text that says nothing, as the one line that somebody may have wrapped; else ""."""
    lines = text.strip().splitlines()
    if not 1 < len(lines) < WRAPPED or any(map(is_printed, lines[1:])):
        return ""
    bare = [unprefixed(one).strip() for one in lines]
    parts = [len(one) for one in bare if one][:-1]
    even = not parts or min(parts) >= SHORTEST * max(parts)
    return " ".join(bare) if even else ""


class _Kept:
    """Messages by what they say: the first of each kind, with a count; the first and latest."""

    def __init__(self) -> None:
        self._first: dict[object, Message] = {}
        self._latest: dict[object, Message] = {}

    def add(self, found: Iterable[Message]) -> None:
        """More of them, in order."""
        for one in found:
            old = self._first.get(one.key) or self._latest.get(one.key)
            if old is not None:
                old.times += one.times
                old.last = max(one.line, one.last)
                old.warning &= one.warning
                old.quoted &= one.quoted
            elif len(self._first) < FIRST:
                self._first[one.key] = one
            else:
                self._latest[one.key] = one
                if len(self._latest) > LATEST:
                    self._latest.pop(next(iter(self._latest)))

    def all(self) -> list[Message]:
        """Those that are kept."""
        return [*self._first.values(), *self._latest.values()]
