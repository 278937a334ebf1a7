"""Read: a text becomes a Log, in one pass and with bounded memory."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from gpuwhy.causes.load import Catalogue
from gpuwhy.causes.load import catalogue as own_catalogue
from gpuwhy.log.decode import BINARY, Decoder, decoded
from gpuwhy.log.endings import course_of
from gpuwhy.log.form import Form, form_of, genre_of, is_printed
from gpuwhy.log.lines import Line, as_one_line, lines_of, plain, unmarked, unprefixed, unwrapped
from gpuwhy.log.log import Genre, Log
from gpuwhy.log.match import Found, Rows, rows_of
from gpuwhy.log.message import Message
from gpuwhy.log.middle import Middle
from gpuwhy.log.programs import Speakers, prefixes_in
from gpuwhy.log.reasons import judged, stack_named
from gpuwhy.log.scan import Page
from gpuwhy.log.standing import Text, stand
from gpuwhy.log.stated import case_of
from gpuwhy.log.tone import complains

EDGE = 1 << 16
"""Bytes of the beginning and of the end that are read whole."""
WHOLE = 1 << 18
"""A text of at most so many bytes is read whole."""
BLOCK = 1 << 20
FIRST, LATEST = 300, 200
"""How many different messages of the beginning and of the end are kept."""
EXCERPT = 1 << 15
FORM = 1 << 14
"""Bytes of a text whose form is looked at."""
WRAPPED = 60
"""Lines of a text that may be one line which somebody wrapped."""
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
    chunks = (data,) if isinstance(data, bytes) else data
    reader = Reader(catalogue or own_catalogue())
    for piece in decoded(chunks, reader.decoder):
        reader.feed(piece)
    return reader.log(observed, exit_code, signal)


class Reader:
    """Takes a text piece by piece; `log` is what was understood so far."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.rows: Rows = rows_of(catalogue)
        self.decoder = Decoder()
        self._held = bytearray()
        self._head: bytes | None = None
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
            self._head = self._take(self._held.rfind(b"\n", 0, EDGE) + 1 or EDGE)
            self._newlines = self._head.count(b"\n")

    def _cut_middle(self, size: int) -> None:
        if self._middle is None:
            self._middle = Middle(self.rows)
        part = self._take(self._held.rfind(b"\n", 0, size) + 1 or size)
        self._middle.feed(part, self._newlines + 1)
        self._newlines += part.count(b"\n")

    def _take(self, size: int) -> bytes:
        part = bytes(self._held[:size])
        del self._held[:size]
        return part

    def log(
        self, observed: Sequence[Message] = (), exit_code: int | None = None, signal: str = ""
    ) -> Log:
        """What is stated by the text so far, the unfinished last line included."""
        if self._head is None and len(self._held) > WHOLE:
            self._cut_head()
        if self._head is not None and len(self._held) > EDGE:
            self._cut_middle(len(self._held) - EDGE)
        ended = exit_code is not None or bool(signal)
        tail = bytes(self._held)
        if self._head is None and len(tail) <= FORM:
            whole = unwrapped(unmarked(plain(tail)).decode("utf-8", "replace"))
            log = self._log(
                _Parts(self.catalogue, None, tail, 1, ended, whole), observed, exit_code, signal
            )
            told = log.has_failure or log.ending.kind != "none" or log.case.programs
            line = "" if told else self._one_line(whole)
            if not line:
                return log
            again = self._log(
                _Parts(self.catalogue, None, line.encode(), 1, ended, line),
                observed,
                exit_code,
                signal,
            )
            return again if again.has_failure else log
        parts = _Parts(self.catalogue, self._head, tail, self._newlines + 1, ended)
        return self._log(parts, observed, exit_code, signal)

    def _one_line(self, text: str) -> str:
        """A short text that says nothing, as the one line that somebody may have wrapped."""
        lines = text.strip().splitlines()
        if not 1 < len(lines) < WRAPPED or any(map(is_printed, lines[1:])):
            return ""
        return as_one_line("\n".join(map(unprefixed, lines)))

    def _log(
        self, parts: _Parts, observed: Sequence[Message], exit_code: int | None, signal: str
    ) -> Log:
        lines = parts.lines
        speakers = Speakers(self.catalogue, lines, parts.words)
        found = self._messages(parts, speakers)
        found.add(_as_found(one, parts.last_number + at) for at, one in enumerate(observed, 1))
        course = course_of(parts.tail_lines, exit_code, signal)
        course = course._replace(ending=judged(course.ending))
        messages = found.all()
        genre, ending = parts.genre, course.ending
        raised = ending.kind in ("exception", "signal") and ending.last >= parts.last_number
        if genre == "source" and raised:
            genre = "output"  # settings may look like code; nobody writes an exception below it
        text = Text(
            excerpt=parts.words,
            lines=parts.last_number,
            genre=genre,
            form=parts.form,
        )
        placed = stand(messages, course, text, self.catalogue.sets)
        stated = tuple(_as_message(one) for one in placed)
        notes = [*self.decoder.notes]
        if self._middle is not None and self._middle.sampled:
            notes.append(self._middle.note)
        return Log(
            messages=stated,
            ending=course.ending,
            case=case_of(parts.page, stated, course, speakers, self.catalogue),
            genre="binary" if BINARY in notes else genre,
            lines=parts.last_number,
            notes=tuple(dict.fromkeys(notes)),
            unread=found.left_out,
            mentions_gpu=stack_named(parts.words),
            last_line=parts.last_line,
            complaint=parts.complaint({one.line for one in stated if not one.decides}),
            excerpt=parts.excerpt,
        )

    def _messages(self, parts: _Parts, speakers: Speakers) -> _Kept:
        kept = _Kept()
        seen: set[str] = set()
        if parts.head_lines is not None:
            kept.add(self._on_lines(parts.head_lines, speakers, seen))
            if self._middle is not None:
                kept.add(one for one in self._middle.found() if speakers.counts(one))
        kept.add(self._on_lines(parts.tail_lines, speakers, seen))
        return kept

    def _on_lines(
        self, lines: Sequence[Line], speakers: Speakers, seen: set[str]
    ) -> Iterator[Found]:
        """The messages of lines that are read whole."""
        text = "\n".join(one.raw for one in lines).lower().encode("utf-8", "replace")
        held = _by_line(self.rows, text)
        for place, literals in sorted(held.items()):
            line = lines[place]
            for one in self.rows.on_line(line, literals, skip=seen):
                if one.once:
                    seen.add(one.id)
                if speakers.counts(one):
                    yield one


def _by_line(rows: Rows, text: bytes) -> dict[int, set[int]]:
    """Which literals stand on which line."""
    out: dict[int, set[int]] = {}
    starts = [0, *(found.end() for found in re.finditer(b"\n", text))]
    for literal, start in rows.literals.found(text):
        out.setdefault(bisect_right(starts, start) - 1, set()).add(literal)
    return out


class _Parts:
    """The parts of a text that are read whole."""

    def __init__(
        self,
        catalogue: Catalogue,
        head: bytes | None,
        tail: bytes,
        first: int,
        ended: bool,
        whole: str = "",
    ) -> None:
        self._catalogue = catalogue
        self.head, self.tail, self.first, self.ended = head, tail, first, ended
        self._whole = whole.encode("utf-8", "replace")

    @cached_property
    def head_lines(self) -> list[Line] | None:
        """The lines of the beginning, where the text is not read whole."""
        return None if self.head is None else lines_of(self.head, 1, self._prefixes)

    @cached_property
    def tail_lines(self) -> list[Line]:
        """The lines of the end, or of all."""
        return lines_of(self._whole or self.tail, self.first, self._prefixes)

    @cached_property
    def _prefixes(self) -> list[str]:
        return prefixes_in(self.given, self._catalogue)

    @cached_property
    def lines(self) -> list[Line]:
        """All lines that are read whole."""
        return [*(self.head_lines or ()), *self.tail_lines]

    @cached_property
    def last_number(self) -> int:
        """How many lines the text has."""
        return self.first + self.tail.count(b"\n") - (self.tail.endswith(b"\n") or not self.tail)

    @cached_property
    def _edges(self) -> tuple[bytes, bytes, int]:
        """What is looked at for words: the beginning, the end, and the number of its first line."""
        if self.head is None:
            return b"", plain(self.tail), self.first
        head = self.head[: self.head.rfind(b"\n", 0, EXCERPT) + 1 or EXCERPT]
        cut = self.tail.find(b"\n", max(0, len(self.tail) - EXCERPT)) + 1
        return plain(head), plain(self.tail[cut:]), self.first + self.tail.count(b"\n", 0, cut)

    @cached_property
    def _plain(self) -> bytes:
        head, tail, _ = self._edges
        return head + tail

    @cached_property
    def given(self) -> str:
        """The text as it was given, without colours and the middle of long lines."""
        return _for_words(self._plain)

    @cached_property
    def words(self) -> str:
        """The same without what stands before each line."""
        return _for_words(self._whole or unmarked(self._plain))

    @cached_property
    def page(self) -> Page:
        """The text as it was given, with its line numbers."""
        head, _, first = self._edges
        lines = head.count(b"\n")
        return Page(self.given, lines, first - 1 - lines)

    @cached_property
    def excerpt(self) -> str:
        """Its beginning and its end."""
        text = "\n".join(one.bare for one in self.lines)
        if len(text) <= 2 * EXCERPT:
            return text
        return text[:EXCERPT] + "\n" + text[-EXCERPT:]

    @cached_property
    def genre(self) -> Genre:
        """What the text is by its form."""
        if self.head is not None:
            return "output"
        return genre_of(self.words.replace("\r", "\n"), self.ended)

    @cached_property
    def form(self) -> Form:
        """Where the text quotes."""
        if self.head is not None or len(self.tail) > FORM:
            return Form()
        form = form_of(self.given)
        return form if self.words == self.given else form.joined(form_of(self.words))

    @cached_property
    def last_line(self) -> str:
        """The last line that says something."""
        return next((one.text[:200] for one in reversed(self.lines) if one.text.strip()), "")

    def complaint(self, known: set[int]) -> tuple[int, str]:
        """The last line that calls itself an error, beside those that are known as harmless."""
        lines = (one for one in reversed(self.lines) if one.number not in known)
        return next(((one.number, one.text[:200]) for one in lines if complains(one.raw)), (0, ""))


def _for_words(data: bytes) -> str:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    text = _SPACES.sub(lambda found: found[0][:MOST_SPACES], text)
    return "\n".join(
        one if len(one) <= LONG else f"{one[: LONG // 2]} … {one[-LONG // 2 :]}"
        for one in text.split("\n")
    )


class _Kept:
    """Messages by what they say: the first of each kind, with a count; the first and latest."""

    def __init__(self) -> None:
        self._first: dict[object, Found] = {}
        self._latest: dict[object, Found] = {}
        self.left_out = 0

    def add(self, found: Iterable[Found]) -> None:
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
                    self.left_out += 1

    def all(self) -> list[Found]:
        """Those that are kept."""
        return [*self._first.values(), *self._latest.values()]


def _as_found(one: Message, line: int) -> Found:
    said = one.id, one.line or line, one.text, one.role, dict(one.fields)
    return Found(*said, rank=one.rank, observed=one.observed)


def _as_message(one: Found) -> Message:
    return Message(**{name: getattr(one, name) for name in Message.__struct_fields__})
