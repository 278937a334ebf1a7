"""Thin: which lines of a large log full of known words are read, so that it is read as fast as another.

The beginning and the end are read whole. Between them a literal that many lines have held already no longer makes every
line worth reading: one line of each block does, and of those first the ones whose form (digits made equal) is new. A
literal that is rare is read wherever it stands; after megabytes of such lines that all differ, in a part of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gpuwhy.symptoms.scan import Hits, Scanner
from gpuwhy.symptoms.text import Block

WHOLE = 1 << 18
"""How many bytes of the beginning are read whole."""
END = 1 << 17
"""How many bytes of the end are."""
ENOUGH = ((3000, 64), (6000, 8))
"""How many lines with a literal are read before it counts as common, until so many lines were read; then two."""
SPARE = 48
"""How many lines with nothing but common literals are read in a block."""
PATIENCE, PART = 1 << 24, 8
"""How many bytes of new forms are searched for rare literals, and which part of those that come after them."""
REMEMBERED = 1 << 23
"""How many bytes of forms are kept."""
LONGEST = 1 << 12

PROBED = 64
"""How many lines of a block tell whether it is full of common literals."""

_UPPER = bytes(range(0x41, 0x5B))
_SAME = bytes.maketrans(b"123456789" + _UPPER, b"000000000" + _UPPER.lower())
Again = Callable[[object, int, int], None]
"""A key said again: how often, and in which line last."""


class Thin:
    """Hands out the lines to read, and learns from what they said."""

    def __init__(self, scanner: Scanner, again: Again) -> None:
        self._scanner, self._again = scanner, again
        self._read = [0] * len(scanner.anchors)
        self._common: set[int] = set()
        self._bytes = self._lines = self._size = self._turn = self._strange = 0
        self._forms: dict[bytes, tuple[object, ...]] = {}
        self._held = Block(b"", 0)
        self.sampled = False

    def hits(self, block: Block) -> Iterator[Hits]:
        """The lines of a block to read; the last of them may be held back until more comes."""
        whole = max(0, WHOLE - self._bytes)
        self._bytes += len(block.data)
        first, rest = _cut(block, whole)
        yield from self._whole(first)
        if not self._common:
            yield from self._whole(rest)
        elif rest.data:
            yield from self._middle(rest)

    def rest(self) -> Iterator[Hits]:
        """What was held back: the end, whole."""
        held, self._held = self._held, Block(b"", 0)
        yield from self._whole(held)

    def learned(self, hit: Hits, keys: Sequence[tuple[str, tuple[tuple[str, str], ...]]]) -> None:
        """What a line said: once all its literals are common, lines that differ in digits alone say the same."""
        self._lines += 1
        enough = next((often for lines, often in ENOUGH if self._lines < lines), 2)
        for number in hit.anchors:
            self._read[number] += 1
            if self._read[number] >= enough:
                self._common.add(number)
        if hit.anchors <= self._common and len(hit.text) <= LONGEST:
            self._remember(hit.text.translate(_SAME), tuple(key for key in keys if not _numbered(key, hit.text)))

    def _remember(self, form: bytes, keys: tuple[object, ...]) -> None:
        if self._size > REMEMBERED:
            self._forms.clear()
            self._size = 0
        self._size += len(form)
        self._forms[form] = keys

    def _whole(self, block: Block) -> Iterator[Hits]:
        return self._scanner.hits(block.data, block.first) if block.data else iter(())

    def _middle(self, block: Block) -> Iterator[Hits]:
        """Read what is surely not the end; hold the rest."""
        held = Block(self._held.data + block.data, self._held.first if self._held.data else block.first)
        body, self._held = _cut(held, len(held.data) - END) if len(held.data) > 2 * END else (Block(b"", 0), held)
        lines = body.data.split(b"\n")
        new = self._searched(self._unknown(lines, body.first), lines)
        self._turn += 1
        found = self._by_engine(lines, new) if self._scanner.engine != "python" else self._by_shape(lines, new)
        for hit in found:
            hit.line += body.first
            yield hit

    def _by_engine(self, lines: list[bytes], places: list[int]) -> Iterator[Hits]:
        """The lines of some places to read, with their places: searched all at once."""
        text = b"\n".join([lines[at] for at in places])
        for hit in self._chosen(list(self._scanner.hits(text, 0, self._common)) if places else []):
            hit.line = places[hit.line]
            yield hit

    def _by_shape(self, lines: list[bytes], places: list[int]) -> list[Hits]:
        """The same, of most lines by their shapes."""
        odd = [at for at in places if len(lines[at]) > LONGEST or b"\r" in lines[at]]
        even = sorted(set(places).difference(odd)) if odd else places
        dull = self._common | self._scanner.weak
        held = self._scanner.held([lines[at] for at in even], dull)
        places = sorted({*self._spared(even, held), *self._rare(lines, even, held, dull)})
        hits = [Hits(at, lines[at], self._scanner.within(lines[at].lower())) for at in places]
        return sorted([*(one for one in hits if one.anchors), *self._by_engine(lines, odd)], key=lambda hit: hit.line)

    def _rare(self, lines: list[bytes], places: list[int], held: list[frozenset[int]], dull: set[int]) -> Iterator[int]:
        """The places that hold what is not dull, digits and all."""
        anchors = self._scanner.anchors
        wanted = {some: [anchors[number] for number in some - dull] for some in set(held)}
        for at, some in zip(places, held, strict=True):
            if wanted[some]:
                low = lines[at].lower()
                if any(one in low for one in wanted[some]):
                    yield at

    def _spared(self, places: list[int], held: list[frozenset[int]]) -> list[int]:
        """Some of the places that are the first of something."""
        seen: set[int] = set()
        firsts = list[int]()
        for at, some in zip(places, held, strict=True):
            if not some <= seen:
                seen |= some
                firsts.append(at)
        step = len(firsts) // SPARE + 1
        return firsts[self._turn % step :: step]

    def _searched(self, new: list[int], lines: list[bytes]) -> list[int]:
        """The places that are searched: all, until the log has shown that it goes on being new and full."""
        if len(new) < len(lines) // PART or not self._full([lines[at] for at in new[:: len(new) // PROBED + 1]]):
            return new
        self._strange += sum(len(lines[at]) for at in new)
        if self._strange < PATIENCE:
            return new
        self.sampled = True
        size = len(new) // PART + 1
        start = self._turn % PART * size
        return new[start : start + size]

    def _full(self, some: list[bytes]) -> bool:
        """Whether at least half of some lines hold a common literal."""
        return sum(not self._common.isdisjoint(self._scanner.within(line.lower())) for line in some) * 2 >= len(some)

    def _unknown(self, lines: list[bytes], first: int) -> list[int]:
        """The places of lines of forms that are not known; the others are counted."""
        forms = b"\n".join(lines).translate(_SAME).split(b"\n")
        known = [self._forms.get(form) for form in forms]
        said: dict[tuple[object, ...], list[int]] = {}
        for at, keys in enumerate(known):
            if keys:
                said.setdefault(keys, []).append(at)
        for keys, places in said.items():
            for key in keys:
                self._again(key, len(places), first + places[-1])
        dull = self._scanner.dull
        return [at for at, keys in enumerate(known) if keys is None and forms[at] not in dull]

    def _chosen(self, hits: list[Hits]) -> Iterator[Hits]:
        """All lines with a rare literal, some of the others, with everything they hold."""
        dull = self._common | self._scanner.weak
        spare = sum(hit.anchors <= dull for hit in hits)
        step, count = spare // SPARE + 1, 0
        for hit in hits:
            if hit.anchors <= dull:
                count += 1
                if (count + self._turn) % step:
                    continue
            hit.anchors |= self._scanner.within(hit.text.lower()) & dull
            yield hit


def _numbered(key: tuple[str, tuple[tuple[str, str], ...]], line: bytes) -> bool:
    """Whether a field has digits of the line, so that a line with other digits says another thing."""
    text = line.decode("utf-8", "replace")
    return any(value in text and any(map(str.isdigit, value)) for _, value in key[1])


def _cut(block: Block, at: int) -> tuple[Block, Block]:
    """A block in two at the end of a line near a place."""
    if at >= len(block.data):
        return block, Block(b"", 0)
    end = block.data.rfind(b"\n", 0, at) + 1
    before = block.data[:end]
    return Block(before, block.first), Block(block.data[end:], block.first + before.count(b"\n"))
