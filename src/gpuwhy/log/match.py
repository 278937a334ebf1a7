"""Match: which messages of the catalogue one line is, with their fields."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import msgspec

from gpuwhy.causes.load import Catalogue
from gpuwhy.causes.schema import MessageRow, Role
from gpuwhy.facts.fact import Source
from gpuwhy.log.expressions import names
from gpuwhy.log.form import in_a_string
from gpuwhy.log.lines import Line
from gpuwhy.log.message import Standing
from gpuwhy.log.scan import Literals, bounded, literals_of, search
from gpuwhy.log.tone import denies, is_warning

QUOTE, BEFORE = 400, 80
"""Characters of a line that are kept; of a long one from a little before the match."""
WHEN_NOT_WHAT = names("match.names_when_not_what")


class Found(msgspec.Struct):
    """A message on a line, before it is known how it stands in the text."""

    id: str
    line: int
    text: str
    role: Role
    fields: dict[str, str]
    speakers: tuple[str, ...] = ()
    quoted: bool = False
    warning: bool = False
    rank: str = ""
    program: str = ""
    times: int = 1
    last: int = 0
    standing: Standing = Standing.DECIDES
    explained_by: int = -1
    observed: Source | None = None
    once: bool = False

    @property
    def family(self) -> str:
        """The part of the id before the dot."""
        return self.id.split(".", 1)[0]

    @property
    def key(self) -> object:
        """What makes two of them the same message."""
        return (self.id, tuple(self.fields.items()), self.program)


class _Match(NamedTuple):
    row: MessageRow
    name: str
    fields: dict[str, str]
    quote: str
    quoted: bool

    @property
    def families(self) -> set[str]:
        return {self.row.id, self.name, f"{self.name.split('.')[0]}."}


class Rows:
    """The rows of a catalogue, ready to be matched."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.rows = catalogue.messages
        found: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows):
            for word in row.literals or _of_patterns(row.patterns):
                found.setdefault(word.lower(), []).append(number)
        self.literals = Literals(found)
        self.of_literal = tuple(tuple(found[word]) for word in self.literals.words)
        self.literals_of_row: dict[int, list[int]] = {}
        for literal, numbers in enumerate(self.of_literal):
            for number in numbers:
                self.literals_of_row.setdefault(number, []).append(literal)
        self._compiled: dict[int, tuple[re.Pattern[str], ...]] = {}

    def compiled(self, number: int) -> tuple[re.Pattern[str], ...]:
        """The expressions of a row."""
        if number not in self._compiled:
            self._compiled[number] = tuple(
                re.compile(bounded(one), re.IGNORECASE) for one in self.rows[number].patterns
            )
        return self._compiled[number]

    def on_line(
        self,
        line: Line,
        literals: Iterable[int],
        tried: dict[int, list[int]] | None = None,
        skip: Collection[object] = (),
    ) -> Iterator[Found]:
        """The messages of a line that holds some literals; one that another covers is dropped.

        `tried` counts, for each row, how often it matched and failed; `skip` are rows, by number or
        id, that are not tried.
        """
        matched = list(self._matches(line, literals, tried, skip))
        if not matched:
            return
        warning = is_warning(line.raw)
        denied = denies(line.raw)
        for one in matched:
            others = [other for other in matched if other is not one]
            covered = {name for other in others for name in other.row.covers}
            gives_way = one.row.yields and any(_says_more(other.row, one.row) for other in others)
            unsaid = denied and one.row.role in ("error", "echo")
            if not gives_way and not unsaid and not one.families & covered:
                yield Found(
                    one.name,
                    line.number,
                    one.quote,
                    one.row.role,
                    one.fields,
                    one.row.speakers,
                    one.quoted,
                    warning,
                    line.rank,
                    once=one.row.once,
                )

    def _matches(
        self,
        line: Line,
        literals: Iterable[int],
        tried: dict[int, list[int]] | None,
        skip: Collection[object],
    ) -> Iterator[_Match]:
        numbers = {number for literal in literals for number in self.of_literal[literal]}
        for number in sorted(numbers):
            row = self.rows[number]
            if number in skip or row.id in skip:
                continue
            found = self._first(number, line)
            if tried is not None:
                tried.setdefault(number, [0, 0])[found is None] += 1
            if found is None:
                continue
            text, match = found
            fields = {
                name.rstrip("0123456789"): value.strip()
                for name, value in match.groupdict().items()
                if value
            }
            name = resolved(row, fields)
            if name:
                inside = in_a_string(text, match.start(), match.end(), row.id.split(".")[0])
                yield _Match(row, name, fields, _quote(text, match), inside)

    def _first(self, number: int, line: Line) -> tuple[str, re.Match[str]] | None:
        row = self.rows[number]
        texts = (line.text, line.raw) if row.role in ("fact", "context") else (line.text,)
        for text in texts:
            for pattern in self.compiled(number):
                if match := search(pattern, text):
                    return text, match
        return None


_MADE: list[tuple[Catalogue, Rows]] = []


def rows_of(catalogue: Catalogue) -> Rows:
    """The rows of a catalogue, made once."""
    for known, rows in _MADE:
        if known is catalogue:
            return rows
    rows = Rows(catalogue)
    _MADE[:] = [(catalogue, rows), *_MADE[:1]]
    return rows


def _of_patterns(patterns: Iterable[str]) -> Collection[str]:
    return [word for one in patterns for word in literals_of(one)]


def _says_more(one: MessageRow, than: MessageRow) -> bool:
    """Whether a message says what failed, so that one in general words gives way to it."""
    if than.id.startswith("said.") and one.id.startswith(("python.", "title.")):
        return False
    failing = one.role in ("error", "echo", "harmless")
    return not one.yields and failing and one.id not in WHEN_NOT_WHAT


def _quote(line: str, found: re.Match[str]) -> str:
    start = max(0, found.start() - BEFORE) if found.end() > QUOTE else 0
    return ("…" if start else "") + line[start : start + QUOTE]


def resolved(row: MessageRow, fields: dict[str, str]) -> str:
    """The id, with the status as its last part where a table knows it; "" for success."""
    if not row.codes:
        return row.id
    from gpuwhy.knowledge import codes

    name, number = fields.get("name", ""), fields.get("number", "")
    if row.codes == "cuda":
        said = fields.get("says", "").lower().rstrip(".")
        if name:
            slug = codes.cuda_by_name(name)
        elif said:
            slug = codes.cuda_messages().get(said, "")
        else:
            slug = codes.cuda_by_number(int(number))
        if slug:
            fields["code"] = str(codes.cuda_code(slug))
        for used in ("name", "says", "number"):
            fields.pop(used, None)
        return f"cuda.{slug}" if slug else ""
    library = row.codes.removesuffix("class")
    if number:
        slug = codes.library_by_number(library, int(number))
    else:
        wanted = f"nvml_error_{name}" if row.codes == "nvmlclass" else name
        slug = codes.library_by_name(library, wanted)
        fields.pop("name", None)
    fields.pop("number", None)
    return f"{library}.{slug}" if slug else ""
