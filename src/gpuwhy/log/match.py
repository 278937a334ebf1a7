"""Match: which messages of the catalogue one line is, with their fields."""

import re
from collections.abc import Collection, Iterable, Iterator

from gpuwhy.causes.load import Catalogue
from gpuwhy.causes.schema import MessageRow
from gpuwhy.log.expressions import Expressions, names
from gpuwhy.log.form import in_a_string
from gpuwhy.log.lines import Line
from gpuwhy.log.message import Message
from gpuwhy.log.scan import Literals, bounded, literals_of, search
from gpuwhy.log.tracebacks import is_warning

QUOTE, BEFORE = 400, 80
"""Characters of a line that are kept; of a long one from a little before the match."""
LEAD = 32
"""Characters before a match that may be date, host and process: it is quoted from behind them."""
WHEN_NOT_WHAT = names("match.names_when_not_what")
_LINES, _TONE = Expressions("lines"), Expressions("tone")


class Rows:
    """The rows of a catalogue, ready to be matched."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.rows = catalogue.messages
        found: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows):
            derived = (word for one in row.patterns for word in literals_of(one))
            for word in row.literals or derived:
                found.setdefault(word.lower(), []).append(number)
        self.literals = Literals(found)
        self.of_literal = tuple(tuple(found[word]) for word in self.literals.words)
        self.once = {row.id for row in self.rows if row.once}  # the first line that says it counts
        self._compiled: dict[int, tuple[re.Pattern[str], ...]] = {}

    def on_line(
        self,
        line: Line,
        literals: Iterable[int],
        skip: Collection[object],
        tried: dict[int, list[int]] | None = None,
    ) -> Iterator[Message]:
        """The messages of a line that holds some literals; one that another covers is dropped.

        `skip` are rows, by number or id, that are not tried; `tried` counts, for each row, how
        often it matched and failed.
        """
        matched: list[tuple[MessageRow, Message]] = []
        for number in sorted({one for literal in literals for one in self.of_literal[literal]}):
            row = self.rows[number]
            if number in skip or row.id in skip:
                continue
            found = self._match(number, line)
            if tried is not None:
                tried.setdefault(number, [0, 0])[found is None] += 1
            if found is not None:
                matched.append((row, found))
        if not matched:
            return
        warning, denied = is_warning(line.raw), _TONE.denies.search(line.raw)
        for row, found in matched:
            others = [other for other, _ in matched if other is not row]
            gives_way = row.yields and any(_says_more(other, row) for other in others)
            covered = {name for other in others for name in other.covers}
            less = covered.intersection((row.id, found.id, f"{found.family}."))
            if gives_way or less or (denied and row.role in ("error", "echo")):
                continue
            found.warning = warning
            yield found

    def _match(self, number: int, line: Line) -> Message | None:
        row = self.rows[number]
        if number not in self._compiled:
            patterns = (re.compile(bounded(one), re.IGNORECASE) for one in row.patterns)
            self._compiled[number] = tuple(patterns)
        texts = (line.text, line.raw) if row.role in ("fact", "context") else (line.text,)
        tries = (search(one, text) for text in texts for one in self._compiled[number])
        match = next(filter(None, tries), None)
        if match is None:
            return None
        groups = match.groupdict().items()
        fields = {name.rstrip("0123456789"): value.strip() for name, value in groups if value}
        name = resolved(row, fields)
        if not name:
            return None
        start = max(0, match.start() - BEFORE) if match.end() > QUOTE else 0
        stamp = _LINES.stamp.match(match.string) if match.start() > LEAD else None
        if stamp and start < stamp.end() <= match.start():
            start = stamp.end()
        quote = ("…" if start and not stamp else "") + match.string[start : start + QUOTE]
        inside = in_a_string(match.string, match.start(), match.end(), row.id.split(".")[0])
        found = Message(name, line.number, quote, row.role, fields, rank=line.rank)
        found.speakers, found.quoted = row.speakers, inside
        return found


def _says_more(one: MessageRow, than: MessageRow) -> bool:
    """Whether a message says what failed, so that one in general words gives way to it."""
    if than.id.startswith("said.") and one.id.startswith(("python.", "title.")):
        return False
    failing = one.role in ("error", "echo", "harmless")
    return not one.yields and failing and one.id not in WHEN_NOT_WHAT


def resolved(row: MessageRow, fields: dict[str, str]) -> str:
    """The id, with the status as its last part where a table knows it; "" for success."""
    if not row.codes:
        return row.id
    from gpuwhy.knowledge import codes

    name, number = fields.pop("name", ""), fields.pop("number", "")
    if row.codes == "cuda":
        said = fields.pop("says", "").lower().rstrip(".")
        if name:
            slug = codes.cuda_by_name(name)
        else:
            slug = (
                codes.cuda_messages().get(said, "") if said else codes.cuda_by_number(int(number))
            )
        if slug:
            fields["code"] = str(codes.cuda_code(slug))
        return f"cuda.{slug}" if slug else ""
    library = row.codes.removesuffix("class")
    if number:
        if name:
            fields["name"] = name
        slug = codes.library_by_number(library, int(number))
    else:
        wanted = f"nvml_error_{name}" if row.codes == "nvmlclass" else name
        slug = codes.library_by_name(library, wanted)
    return f"{library}.{slug}" if slug else ""


_MADE: list[tuple[Catalogue, Rows]] = []


def rows_of(catalogue: Catalogue) -> Rows:
    """The rows of a catalogue, made once."""
    if not _MADE or _MADE[0][0] is not catalogue:
        _MADE[:] = [(catalogue, Rows(catalogue))]
    return _MADE[0][1]
