"""Phase: a moment of a step and what is held then."""

from __future__ import annotations

from dataclasses import dataclass

from gpuwhy.model.fit import How, Name, Part


@dataclass(frozen=True, slots=True)
class Phase:
    """A moment of a step, and what is held then."""

    name: str
    parts: tuple[Part, ...]

    @property
    def bytes(self) -> int:
        """All of it."""
        return sum(part.bytes for part in self.parts)

    def of(self, *names: Name) -> int:
        """What some of its parts take."""
        return sum(part.bytes for part in self.parts if part.name in names)


def part(name: Name, size: float, spread: tuple[float, float], how: How, text: str, source: str = "") -> Part:
    """A part with its bounds as shares of it."""
    return Part(name, int(size), int(size * (1 - spread[0])), int(size * (1 + spread[1])), how, text, source)
