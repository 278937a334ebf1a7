"""The log reader: one pass, constant memory, from bytes to a Reading."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import inf
from time import thread_time
from typing import NamedTuple

import msgspec

from gpuwhy.knowledge import codes
from gpuwhy.model.signature import Signature
from gpuwhy.model.symptom import MISSPELT, Reading, Symptom
from gpuwhy.symptoms.blocks import works
from gpuwhy.symptoms.bounded import bounded, for_words, found_in
from gpuwhy.symptoms.catalogue import signatures
from gpuwhy.symptoms.dress import even, rejoined
from gpuwhy.symptoms.ending import endings_of
from gpuwhy.symptoms.follow import attached
from gpuwhy.symptoms.genre import genre
from gpuwhy.symptoms.link import aside, noted
from gpuwhy.symptoms.own import judged
from gpuwhy.symptoms.raised import with_raised
from gpuwhy.symptoms.refusal import with_refusals
from gpuwhy.symptoms.remarks import explained, with_remarks
from gpuwhy.symptoms.scan import Hits, Scanner
from gpuwhy.symptoms.text import Block, Cutter, denies, plain, reminds, respelled, unprefixed, warns
from gpuwhy.symptoms.thin import Thin
from gpuwhy.symptoms.told import told_by
from gpuwhy.symptoms.voice import Form, form_of, literal, marked
from gpuwhy.symptoms.wording import library_named, stack_named, stack_speaks

LATE = "the time to read it ended before the text did"
SAMPLED = "a large log in which every line is another message: its beginning and end were read whole, the rest in part"
HEAD, TAIL = 300, 200
"""How many different symptoms of the beginning and of the end are kept."""
ALIKE = 16
"""Of so many of a kind at the end none gives way to another kind."""
CIRCUMSTANCES = ("title.regression", "title.batch_one", "title.newer_gpu", "title.sleep")
"""Titles that say when something fails, not what: a failure told in general words beside them counts."""
QUOTE, BEFORE = 400, 80
EDGE = 1 << 14
"""How many bytes of the beginning and of the end are kept for their words."""
END = 1 << 16
"""How many bytes of the end are read for how the program ended."""
WRAPPED = 60
TYPED = 4096
"""A text of at most so many bytes may be typed by a person, and misspelt."""


@cache
def _index() -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """The anchors, and for each the numbers of its signatures."""
    found: dict[str, list[int]] = {}
    for number, one in enumerate(signatures()):
        for anchor in one.anchors:
            found.setdefault(anchor, []).append(number)
    return tuple(found), tuple(tuple(numbers) for numbers in found.values())


def anchors() -> tuple[str, ...]:
    """The literals that one pass over a text looks for."""
    return _index()[0]


@cache
def _compiled(number: int) -> re.Pattern[str]:
    return re.compile(bounded(signatures()[number].pattern), re.IGNORECASE)


_PROSE = ("title.", "said.", "remark.", "shadow.said")
"""What is said in anybody's words: such anchors stand in every second line, and decide nothing about which are kept."""


@cache
def scanner(fast: bool = True) -> Scanner:
    """The scanner for all anchors."""
    deciding = {
        a for s in signatures() if s.role in ("error", "echo") and not s.id.startswith(_PROSE) for a in s.anchors
    }
    return Scanner(anchors(), frozenset(anchors()) - deciding, fast=fast)


class _Kept:
    """Symptoms by what they say: the first of each kind, with a count; head and tail where there are too many."""

    def __init__(self) -> None:
        self.head: OrderedDict[object, Symptom] = OrderedDict()
        self.tail: OrderedDict[object, Symptom] = OrderedDict()
        self.left_out = 0
        self._alike: Counter[str] = Counter()

    def add(self, key: object, one: Symptom) -> None:
        for part in (self.head, self.tail):
            if key in part:
                old = part[key]
                part[key] = msgspec.structs.replace(
                    old,
                    times=old.times + 1,
                    last=one.line,
                    warned=old.warned and one.warned,
                    borrowed=old.borrowed and one.borrowed,
                )
                return
        if len(self.head) < HEAD:
            self.head[key] = one
            return
        self.tail[key] = one
        self._alike[one.signature] += 1
        if len(self.tail) > TAIL:
            self._drop()

    def _drop(self) -> None:
        """Leave out the first of those of which there are many, so that one of its kind stays."""
        crowd = (key for key, one in self.tail.items() if self._alike[one.signature] > ALIKE)
        gone = self.tail.pop(next(crowd, next(iter(self.tail))))
        self._alike[gone.signature] -= 1
        self.left_out += 1

    def again(self, key: object, times: int, last: int) -> None:
        """Something known, said again in lines that were not read one by one."""
        for part in (self.head, self.tail):
            if key in part:
                part[key] = msgspec.structs.replace(part[key], times=part[key].times + times, last=last)

    def all(self) -> Iterator[Symptom]:
        for number, one in enumerate((*self.head.values(), *self.tail.values())):
            yield msgspec.structs.replace(one, order=number)


class LogReader:
    """Reads a text as it comes; `reading` is what is understood so far."""

    def __init__(
        self,
        *,
        fast: bool = True,
        until: float = inf,
        exit_code: int | None = None,
        signal: str = "",
        seen: Sequence[Symptom] = (),
        form: Form | None = None,
    ) -> None:
        self._shape = form
        self._cutter, self._kept = Cutter(), _Kept()
        self._thin = Thin(scanner(fast), self._kept.again)
        self._until, self._late = until, False
        self._first = self._last = self._typed = b""  # the last as it came
        self._newlines = 0
        self._exit_code, self._signal, self._seen = exit_code, signal, seen
        self._ran = exit_code is not None or bool(signal)

    def feed(self, chunk: bytes) -> None:
        """Take the next piece."""
        self._typed += chunk[: EDGE + 1 - len(self._typed)]
        for block in self._cutter.feed(chunk):
            self._take(block)

    def _take(self, block: Block) -> None:
        room = EDGE - len(self._first)
        self._newlines += block.data.count(b"\n")
        self._first += block.data[:room]
        self._last = (self._last + block.data[max(room, len(block.data) - END) :])[-END:]
        self._read(() if self._late else self._thin.hits(block))

    def _read(self, hits: Iterable[Hits]) -> None:
        for hit in hits:
            said = [((one.signature, tuple(one.fields.items())), one) for one in _symptoms(hit, self._until)]
            for key, one in said:
                self._kept.add(key, one)
            self._thin.learned(hit, [key for key, _ in said])
            if self._until < inf and thread_time() > self._until:
                self._late = True
                return

    def reading(self) -> Reading:
        """Everything so far, the unfinished last line included; a short text that says nothing, as it was meant."""
        reading = self._made_whole(self._as_spelt())
        return reading if reading.errors or len(self._typed) > TYPED else _respelled(self._typed, reading)

    def _made_whole(self, reading: Reading) -> Reading:
        """The reading with broken lines made whole, where that says everything that the text says as it is."""
        form = self._form()
        if len(self._last) >= END or self._late or form.rows or form.hits:
            return reading
        for whole in rejoined((self._first + self._last).decode("utf-8", "replace")):
            again = LogReader(fast=False, exit_code=self._exit_code, signal=self._signal, seen=self._seen, form=form)
            again.feed(whole.text.encode("utf-8", "replace"))
            found = again._as_spelt()
            if whole.sure or (reading.lines < WRAPPED and _says_all(found, reading)):
                return msgspec.structs.replace(found, notes=(*self._cutter.decoder.notes, *found.notes))
        return reading

    def _as_spelt(self) -> Reading:
        for block in self._cutter.flush():
            self._take(block)
        self._read(() if self._late else self._thin.rest())
        lines = {
            text: line
            for line, text in enumerate(dict.fromkeys(one.text for one in self._seen), self._cutter.lines + 1)
        }
        for one in (msgspec.structs.replace(seen, line=lines[seen.text]) for seen in self._seen):
            self._kept.add((one.signature, tuple(one.fields.items())), one)
        text, first = self._tail()
        ending, outlived = endings_of(text, self._exit_code, self._signal, first)
        ending = judged(ending)
        kept = marked(tuple(self._kept.all()), self._form(), ending)
        excerpt = for_words((self._first + self._last[-EDGE:]).decode("utf-8", "replace"))
        raised = with_refusals(with_raised(kept, (ending, *outlived)), ending, text)
        said = noted(with_remarks(raised, excerpt), ending)
        found = aside(explained(attached(said, ending, outlived)), ending)
        own = [(LATE, self._late), (SAMPLED, self._thin.sampled), (kind := "" if self._ran else genre(excerpt), kind)]
        notes = (*self._cutter.decoder.notes, *(note for note, holds in own if holds))
        whole = len(self._first) + len(self._last) < EDGE and not any(one.seen for one in found)
        foreign, mute = _without_stack(excerpt) if whole else (False, False)
        foreign = foreign and self._cutter.lines > 1  # a line alone may be a question
        left_out, cut, told = self._kept.left_out, self._cutter, told_by(found, self._cutter.service)
        return Reading(found, told, cut.lines, left_out, notes, ending, excerpt, foreign, mute, cut.service)

    def _form(self) -> Form:
        """What the text is by its form; only where all of it was looked at."""
        if self._shape is None:
            typed = self._typed if len(self._typed) <= EDGE else b""
            self._shape = form_of(for_words(plain(typed).decode("utf-8", "replace"))) if typed else Form()
        return self._shape

    def _tail(self) -> tuple[str, int]:
        """The end of the text, all of it where that is short, and the number of its first line."""
        tail = self._last if len(self._last) == END else self._first + self._last
        return tail.decode("utf-8", "replace"), max(1, 1 + self._newlines - tail.count(b"\n"))


def _without_stack(text: str) -> tuple[bool, bool]:
    """Whether no part of the GPU stack speaks in a text, and whether not even a word of it stands there."""
    if stack_speaks(text):
        return False, False
    mute = not stack_named(text)
    return mute or not library_named(text), mute


def read(
    chunks: Iterable[bytes],
    *,
    fast: bool = True,
    until: float = inf,
    exit_code: int | None = None,
    signal: str = "",
    seen: Sequence[Symptom] = (),
) -> Reading:
    """Understand a text given in pieces, as far as one gets until a time on the clock of this thread.

    `exit_code` and `signal` are how the program ended, where that is known; `seen` is what an observer adds as the last
    symptoms.
    """
    reader = LogReader(fast=fast, until=until, exit_code=exit_code, signal=signal, seen=seen)
    for chunk in chunks:
        reader.feed(chunk)
    return reader.reading()


def _says_all(one: Reading, other: Reading) -> bool:
    """Whether a reading has every message of another, or one that tells more, and as much of its ending."""
    return (
        all(_told_in(one, symptom) for symptom in other.errors if symptom.speaker != "title")
        and (one.ending.kind == other.ending.kind or other.ending.kind == "none")
        and (one.ending.own or not other.ending.own)
        and len(one.ending.stack) >= len(other.ending.stack)
        and len(one.ending.message) >= len(other.ending.message)
    )


def _told_in(reading: Reading, symptom: Symptom) -> bool:
    began = symptom.text[:BEFORE].strip()
    return any(s.signature == symptom.signature or (s.role == "error" and began in s.text) for s in reading.symptoms)


def _respelled(typed: bytes, reading: Reading) -> Reading:
    """The reading of a short text that says nothing as it is spelt, as it was meant."""
    text = typed.decode("utf-8", "replace")
    meant = respelled(text)
    if meant == text:
        return reading
    again = LogReader(fast=False)
    again.feed(meant.encode("utf-8", "replace"))
    found = again._as_spelt()
    return msgspec.structs.replace(found, notes=(*found.notes, MISSPELT)) if found.errors else reading


def read_text(text: str, until: float = inf) -> Reading:
    """Understand a text at hand; where no line says anything, as if it were one line that somebody wrapped."""
    reading = read((text.encode("utf-8", "replace"),), fast=False, until=until)
    told = reading.errors or reading.ending.stack or works(text)
    if told or not 1 < reading.lines < WRAPPED or not even(text) or thread_time() > until:
        return reading
    joined = read(
        (" ".join(unprefixed(one.strip()) for one in text.splitlines()).encode("utf-8", "replace"),),
        fast=False,
        until=until,
    )
    return joined if joined.errors else reading


class _Match(NamedTuple):
    """A signature that a line has: its id with the status in it, its fields, and the words to quote."""

    of: Signature
    name: str
    fields: dict[str, str]
    quote: str
    borrowed: bool  # it stands in a string of source text

    @property
    def families(self) -> set[str]:
        """Everything by which another signature may cover it."""
        return {self.of.id, self.name, f"{self.name.split('.')[0]}."}


def _symptoms(hit: Hits, until: float) -> Iterator[Symptom]:
    """What one line says; a signature that another covers is dropped."""
    raw = hit.text.decode("utf-8", "replace").strip()
    matched = list(_matches(hit, raw, until))
    if not matched:
        return
    warned, reminder = warns(raw), reminds(raw) or denies(raw)
    for one in matched:
        covered = {name for other in matched if other is not one for name in other.of.covers}
        gives_way = one.of.yields and any(_says_more(other.of, one.of) for other in matched)
        unsaid = reminder and one.of.role in ("error", "echo")
        if not gives_way and not unsaid and not one.families & covered:
            yield Symptom(
                one.name, hit.line, one.quote, role=one.of.role, fields=one.fields, borrowed=one.borrowed, warned=warned
            )


def _says_more(one: Signature, than: Signature) -> bool:
    """Whether a signature tells what failed, so that one in general words gives way to it."""
    if than.speaker == "said" and one.speaker in ("python", "title"):  # that it was raised says less
        return False
    return not one.yields and one.role in ("error", "echo", "harmless") and one.id not in CIRCUMSTANCES


def _matches(hit: Hits, raw: str, until: float) -> Iterator[_Match]:
    """The signatures of a line, in the order of the catalogue, as far as one gets in time."""
    line = unprefixed(raw)
    for number in sorted({number for anchor in hit.anchors for number in _index()[1][anchor]}):
        if until < inf and thread_time() > until:
            return
        one, pattern = signatures()[number], _compiled(number)
        match = found_in(pattern, line)
        if match is None and one.role == "told":  # where a line comes from is told by what stands before it
            match = found_in(pattern, raw)
        if match is None:
            continue
        fields = {_field(name): value.strip() for name, value in match.groupdict().items() if value}
        name = _resolved(one, fields)
        if name:
            yield _Match(one, name, fields, _quote(line, match), literal(line, match.start(), match.end(), one.speaker))


def _field(group: str) -> str:
    """The field of a group: `path2` is another place for `path`."""
    return group.rstrip("0123456789")


def _quote(line: str, match: re.Match[str]) -> str:
    """The line, or of a long one the part that matched and a little before it."""
    start = max(0, match.start() - BEFORE) if match.end() > QUOTE else 0
    return ("…" if start else "") + line[start : start + QUOTE]


def _resolved(one: Signature, fields: dict[str, str]) -> str:
    """The id, with the status word in its last place where a table knows it; "" for success and the unknown."""
    if not one.table:
        return one.id
    if one.table == "cuda":
        slug = _cuda(fields)
        if slug:
            fields["code"] = str(codes.cuda_code(slug))
        return f"cuda.{slug}" if slug else ""
    library = one.table.removesuffix("class")
    name, number = fields.get("name", ""), fields.get("number", "")
    if number:
        slug = codes.library_by_number(library, int(number))
    else:
        slug = codes.library_by_name(library, f"nvml_error_{name}" if one.table == "nvmlclass" else name)
        fields.pop("name", None)
    fields.pop("number", None)
    return f"{library}.{slug}" if slug else ""


def _cuda(fields: dict[str, str]) -> str:
    if "name" in fields:
        return codes.cuda_by_name(fields.pop("name"))
    if "says" in fields:
        return codes.cuda_messages().get(fields.pop("says").lower().rstrip("."), "")
    return codes.cuda_by_number(int(fields.pop("number")))
