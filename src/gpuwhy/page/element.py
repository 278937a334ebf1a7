"""Elements: the one way in which a page is written. A string is always text; tags and attributes are a short list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Union

from gpuwhy.border.plain import plain

TAGS = frozenset(
    {
        "a", "b", "br", "caption", "code", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "footer",
        "h1", "h2", "h3", "header", "li", "main", "mark", "ol", "p", "pre", "section", "small", "span", "strong",
        "summary", "table", "tbody", "td", "th", "thead", "tr", "ul", "svg", "path", "polygon", "rect", "line",
        "text", "title",
    }
)  # fmt: skip
EMPTY = frozenset({"br"})
ATTRIBUTES = frozenset(
    {
        "class", "id", "href", "role", "open", "scope", "tabindex", "aria-label", "aria-labelledby", "aria-hidden",
        "data-copy", "data-shows", "viewBox", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "d", "points",
        "text-anchor", "preserveAspectRatio",
    }
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z][\w -]*\Z")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})

Child = Union[str, "Element", None, Iterable["Child"]]
Value = Union[str, int, float, bool, None]


class Element(NamedTuple):
    """A tag with its attributes and what is in it."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Child, ...]

    def __str__(self) -> str:
        return "".join(_written(self))


def el(tag: str, *children: Child, **attributes: Value) -> Element:
    """An element; `class_` is class, `aria_label` aria-label. What is not on the lists is a mistake of ours."""
    if tag not in TAGS:
        raise ValueError(f"no tag of ours: {tag!r}")
    kept = ((_name(name), value) for name, value in attributes.items() if value is not None and value is not False)
    return Element(tag, tuple((name, _value(name, value)) for name, value in kept), children)


_LANDMARKS = {"main": "div", "header": "div", "footer": "div", "h1": "h2"}
_POINTS = ("href", "aria-labelledby", "data-shows", "id")


def nested(child: Child, prefix: str) -> Child:
    """The same inside another page: names of its own, and no second landmark of a kind."""
    if child is None or isinstance(child, str):
        return child
    if not isinstance(child, Element):
        return [nested(one, prefix) for one in child]
    attributes = tuple(
        (name, _renamed(value, prefix) if name in _POINTS else value) for name, value in child.attributes
    )
    return Element(
        _LANDMARKS.get(child.tag, child.tag), attributes, tuple(nested(one, prefix) for one in child.children)
    )


def _renamed(value: str, prefix: str) -> str:
    return f"#{prefix}{value[1:]}" if value.startswith("#") else prefix + value


def escaped(text: str) -> str:
    """A text from outside as a page may hold it: it opens no tag, ends no attribute, steers no direction."""
    return plain(text).translate(_ESCAPES)


def _name(name: str) -> str:
    name = name.rstrip("_").replace("_", "-")
    if name not in ATTRIBUTES:
        raise ValueError(f"no attribute of ours: {name!r}")
    return name


def _value(name: str, value: Value) -> str:
    text = f"{value:g}" if isinstance(value, float) else "" if value is True else str(value)
    if name in ("id", "class") and not _NAME.match(text):
        raise ValueError(f"no {name} of ours: {text!r}")
    if name == "href" and not (text.startswith("#") and _NAME.match(text[1:])):
        raise ValueError(f"a page leads nowhere else: {text!r}")
    return text


def _written(child: Child) -> Iterator[str]:
    if child is None:
        return
    if isinstance(child, str):
        yield escaped(child)
    elif isinstance(child, Element):
        yield from _element(child)
    else:
        for one in child:
            yield from _written(one)


def _element(one: Element) -> Iterator[str]:
    attributes = "".join(f' {name}="{escaped(value)}"' if value else f" {name}" for name, value in one.attributes)
    yield f"<{one.tag}{attributes}>"
    if one.tag not in EMPTY:
        for child in one.children:
            yield from _written(child)
        yield f"</{one.tag}>"
