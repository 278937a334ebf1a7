"""Atlas: which program prints a line that no signature knows, where, since which release, and what it means there.

The file holds numbers of three words in a row, not sentences (tools/atlas reads them out of the published files). It
is opened when the first unknown line is asked for and not before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cache

import msgspec

from gpuwhy.knowledge import shingles
from gpuwhy.knowledge.atlas_file import Atlas
from gpuwhy.knowledge.shipped import shipped
from gpuwhy.model.origin import Label, Origin, Place

MOST_WORDS = 240
MOST_TEXT = 4000
MOST_STARTS = 12
MOST_ALIKE = 20
ALIKE = 0.4
DISTINCT = 6.0
"""Shingles that a line shares with a template before it is taken for its own, whatever else the text names."""
AGREED = 0.7
"""The part of a module's labels that must name one cause before it speaks for the others there (docs/accuracy.md)."""
SHARE = 0.55
"""The part of a template's shingles that a line must have, of those that fit into the line."""
LEAST = 3
SLACK = 14
"""Words that a line may have beside a template of few words."""
INNOCENT = frozenset({"python", "numpy"})
"""Programs whose own complaints are none of the GPU stack's."""
_STARTS = re.compile(r"(?:^|: |\] |\) |> |- |\s\s)(?=\S)")


@cache
def atlas() -> Atlas:
    """The file, opened once."""
    return Atlas(shipped("atlas.bin"))


@cache
def labels() -> dict[str, tuple[Label, ...]]:
    """Labels by template key; a text that two programs print in different places has one for each."""
    raw = shipped("atlas_labels.jsonl")
    out: dict[str, tuple[Label, ...]] = {}
    for label in msgspec.json.Decoder(Label).decode_lines(raw):
        for key in label.keys:
            out[key] = (*out.get(key, ()), label)
    return out


def origin(line: str, around: Collection[str] = ()) -> Origin | None:
    """Where a line comes from; None where no template fits, or one that any program may have said.

    `around` are the words of the text that the line stands in: the programs that it names come first, and a short or
    common message is theirs only.
    """
    text = line[:MOST_TEXT]
    found = shingles.words(text, MOST_WORDS)
    mine = set(shingles.shingles(found))
    counts = Counter(row for one in mine | _starts(text) for row in atlas().rows(one))
    scored = [(score, row) for row, hits in counts.items() if (score := _score(row, hits, len(mine), len(found)))]
    return _best(sorted(scored, reverse=True), text, {*around, *found}) if scored else None


def _starts(text: str) -> set[int]:
    """The numbers of the words with which a message may begin in a line."""
    out: set[int] = set()
    for found in _STARTS.finditer(text):
        first = shingles.words(text[found.end() : found.end() + 120], shingles.WIDTH)
        if len(first) == shingles.WIDTH:
            out.add(shingles.anchored(first))
        if len(out) >= MOST_STARTS:
            break
    return out


def _score(row: int, hits: int, held: int, words: int) -> float:
    """How well a template fits a line that holds so many shingles; 0 where it does not.

    Of a short template all must be there, and little else; of a line that was cut, what is left of it must fit.
    """
    book = atlas()
    kept, had = book.kept(row), book.had[row]
    if book.short(row) or had < LEAST:
        return 0.5 * had if hits >= kept and words <= had + 2 + SLACK else 0.0
    least = LEAST if held >= had else LEAST - 1
    fits = hits >= min(kept, least) and hits >= SHARE * kept * min(1.0, held / had)
    return hits / kept * min(had, held) if fits else 0.0


def _best(scored: list[tuple[float, int]], text: str, named: Collection[str]) -> Origin | None:
    """The template that fits best; of those alike a named program's, the one whose type stands in the line."""
    book, best = atlas(), scored[0][0]
    rows = [row for score, row in scored[:MOST_ALIKE] if score == best]
    ordered = sorted(_by_package(rows).values(), key=lambda one: _far(one[0], text, named))
    chosen = tuple(place for place, _ in ordered)
    alike = [row for score, row in scored[:MOST_ALIKE] if score >= ALIKE * best and _same_module(row, chosen[0])]
    keys = [f"{book.key[row]:08x}" for row in (ordered[0][1], *alike)]
    label = _label(keys, chosen)
    if best < (DISTINCT if label is None else LEAST) and not _named(chosen[0], named):
        return None
    return Origin(keys[0], chosen, best, label, _prior(label, chosen[0]))


def _by_package(rows: list[int]) -> dict[str, tuple[Place, int]]:
    """The place of each package that has most releases, with its row."""
    places: dict[str, tuple[Place, int]] = {}
    for row in rows:
        for place in _places(row):
            known = places.get(place.package)
            if known is None or len(place.releases) > len(known[0].releases):
                places[place.package] = (place, row)
    return places


def _far(place: Place, text: str, named: Collection[str]) -> tuple[bool, ...]:
    return not _named(place, named), not place.kind or place.kind not in text, place.package not in INNOCENT


def _named(place: Place, words: Collection[str]) -> bool:
    """Whether a text names the program; Python is always there."""
    return place.package in INNOCENT or any(part in words for part in (place.package, *place.package.split("-")))


def _same_module(row: int, place: Place) -> bool:
    """Whether a template stands in the same file: another release's wording of the same message."""
    return any((one.package, one.module) == (place.package, place.module) for one in _places(row))


def _places(row: int) -> Iterable[Place]:
    book = atlas()
    for package, module, function, kind, mask in book.places(row):
        read = book.releases[package]
        having = tuple(version for bit, version in enumerate(read) if mask >> bit & 1)
        yield Place(package, module, function, kind, having, tuple(read))


def _label(keys: list[str], places: tuple[Place, ...]) -> Label | None:
    """The label of the first of these texts that was read in one of these programs, in their order."""
    known = [label for key in dict.fromkeys(keys) for label in labels().get(key, ())]
    mine = (label for place in places for label in known if label.package == place.package)
    return next(mine, None)


def _prior(label: Label | None, place: Place) -> dict[str, float]:
    """Causes by share: the label's, else that of most labelled templates of the module or its folder."""
    if label is not None:
        return _shared(label.causes)
    if place.package in INNOCENT:
        return {"other.not_gpu": 1.0}
    for name in _scopes(f"{place.package} · {place.module}"):
        counts = _by_module().get(name)
        if counts and counts.total() >= LEAST:
            shares = {cause: n / counts.total() for cause, n in counts.most_common(3)}
            return shares if max(shares.values()) >= AGREED else {}
    return {}


def _shared(causes: tuple[str, ...]) -> dict[str, float]:
    """The first cause has two parts of three, the others share the rest."""
    if len(causes) == 1:
        return {causes[0]: 1.0}
    return {causes[0]: 2 / 3} | dict.fromkeys(causes[1:], 1 / 3 / (len(causes) - 1))


@cache
def _by_module() -> Mapping[str, Counter[str]]:
    """How often each cause was written for the labelled templates of a module and of its folder."""
    out: dict[str, Counter[str]] = {}
    for label in {id(one): one for some in labels().values() for one in some}.values():
        for name in _scopes(label.where):
            out.setdefault(name, Counter())[label.causes[0]] += 1
    return out


def _scopes(where: str) -> list[str]:
    package, _, module = where.partition(" · ")
    module = module.partition(" · ")[0]
    return [f"{package} · {module}", f"{package} · {module.rpartition('/')[0]}/"]


def bounded(origins: Iterable[Origin]) -> dict[str, tuple[str, ...]]:
    """The releases of each package that have all of these lines, where they leave some out; the lines of one text."""
    out: dict[str, tuple[str, ...]] = {}
    for one in origins:
        place = one.places[0]
        so_far = out.get(place.package, place.read)
        out[place.package] = tuple(version for version in so_far if version in place.releases)
    return {name: some for name, some in out.items() if some and len(some) < len(atlas().releases[name])}
