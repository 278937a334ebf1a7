"""Follows: which message an earlier one explains; the first error decides, not the loudest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuwhy.log.ending import Ending
from gpuwhy.log.endings import Course
from gpuwhy.log.expressions import Expressions, entry, names
from gpuwhy.log.match import Found

_E = Expressions("follows")

_LOST = names("follows.names_lost")
_REASONS = names("follows.names_reasons")
_OWN = ("python.module", "python.import_name", "python.attribute", "python.exception")


class Follower:
    """Ties each message to the first that explains it."""

    def __init__(self, course: Course, sets: Mapping[str, tuple[str, ...]]) -> None:
        self.ending, self.course = course.ending, course
        self.table = [
            (tuple(row["by"]), _expanded(row["explains"], sets)) for row in entry("follows.follows")
        ]
        self._known: dict[tuple[str, str], bool] = {}

    def tie(self, messages: Sequence[Found]) -> None:
        """Set `explained_by` of all that an earlier message explains."""
        for place, one in enumerate(messages):
            if one.explained_by < 0:
                one.explained_by = self._cause(one, messages[:place])
        _tie_lost_peers(messages)

    def _cause(self, one: Found, before: Sequence[Found]) -> int:
        first = [(place, e) for place, e in enumerate(before) if e.explained_by < 0]
        if one.role in ("error", "echo"):
            for place, early in first:
                if self._linked(early, one) and self._explains(early, one):
                    return place
        return -1

    def _linked(self, early: Found, late: Found) -> bool:
        if early.rank != late.rank and early.rank and late.rank:
            return late.id.startswith((*_LOST, "nccl.", "peer."))
        return not self.ending.own or is_within(early, self.ending) == is_within(late, self.ending)

    def _explains(self, early: Found, late: Found) -> bool:
        if early.role != "error" or early.line > late.line or early.id == late.id:
            return False
        if late.id in _OWN and early.warning and not _E.gpu.search(late.text):
            return False
        pair = early.id, late.id
        if pair not in self._known:
            self._known[pair] = any(
                early.id.startswith(keys) and late.id.startswith(values)
                for keys, values in self.table
            )
        return self._known[pair]


def is_within(one: Found, ending: Ending) -> bool:
    """Whether the ending says it, though it may have been said before."""
    return ending.holds(one.line) or (one.last > 0 and ending.holds(one.last))


def _expanded(values: Sequence[str], sets: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    out: list[str] = []
    for one in values:
        named = one.removeprefix("messages:")
        out += [one] if named == one else sets.get(named, ())
    return tuple(out)


def _tie_lost_peers(messages: Sequence[Found]) -> None:
    """A lost peer is tied to the error that tells why it was lost, wherever that stands."""
    reason = next(
        (
            place
            for place, one in enumerate(messages)
            if one.role == "error"
            and one.explained_by < 0
            and not one.warning
            and one.id.startswith(_REASONS)
            and not one.id.startswith(_LOST)
        ),
        -1,
    )
    files = next(
        (p for p, one in enumerate(messages) if one.role == "error" and one.id == "limit.files"), -1
    )
    for place, one in enumerate(messages):
        if one.explained_by >= 0:
            continue
        if one.id.startswith(_LOST):
            one.explained_by = reason if reason != place else -1
        elif one.id.startswith("memory.shm"):
            one.explained_by = files
