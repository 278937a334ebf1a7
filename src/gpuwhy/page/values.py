"""Node: the plain values of a JSON form, read without trust: what is missing or of another type is empty."""

from __future__ import annotations

from typing import Any

MOST = 20_000
"""The longest text of one value that is shown."""
ROWS = 2_000
"""The most of one list."""


class Node:
    """One object of a JSON form."""

    def __init__(self, value: Any) -> None:
        self.values: dict[str, Any] = value if isinstance(value, dict) else {}

    def __bool__(self) -> bool:
        return bool(self.values)

    def text(self, name: str) -> str:
        """A text; "" where there is none."""
        return said(self.values.get(name))

    def node(self, name: str) -> Node:
        """An object; an empty one where there is none."""
        return Node(self.values.get(name))

    def nodes(self, name: str) -> list[Node]:
        """A list of objects."""
        return [Node(one) for one in self._list(name) if isinstance(one, dict)]

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        return [said(one) for one in self._list(name) if not isinstance(one, (dict, list))]

    def number(self, name: str) -> float:
        """A number; 0 where there is none."""
        value = self.values.get(name)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return 0.0
        return float(value) if abs(value) < 1e300 else 0.0  # nor what is no number

    def flag(self, name: str) -> bool:
        """Whether something is said to be so."""
        return self.values.get(name) is True

    def pairs(self, name: str) -> list[tuple[str, Any]]:
        """An object as names and values."""
        value = self.values.get(name)
        return list(value.items()) if isinstance(value, dict) else []

    def fact(self, *names: str) -> Any:
        """The value of a fact that is known: facts, subject, field; None where it is not."""
        found = self
        for name in names:
            found = found.node(name)
        return found.values.get("value") if found.values.get("state") == "known" else None

    def _list(self, name: str) -> list[Any]:
        value = self.values.get(name)
        return value[:ROWS] if isinstance(value, list) else []


def said(value: Any) -> str:
    """A simple value as a text."""
    if value is None or isinstance(value, (dict, list)):
        return ""
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= MOST else text[:MOST] + " …"


def nodes(value: Any) -> list[Node]:
    """The objects of a list."""
    return [Node(one) for one in value[:ROWS] if isinstance(one, dict)] if isinstance(value, (list, tuple)) else []


def short(value: Any, most: int = 300) -> str:
    """Any value on one line."""
    if isinstance(value, dict) and isinstance(value.get("state"), str):
        return short(value.get("value"), most) if value["state"] == "known" else value["state"]
    if isinstance(value, dict):
        text = " ".join(f"{name}={short(one, most)}" for name, one in list(value.items())[:40])
    elif isinstance(value, (list, tuple)):
        text = ", ".join(short(one, most) for one in value[:40])
    else:
        text = said(value)
    return text if len(text) <= most else text[:most] + " …"
