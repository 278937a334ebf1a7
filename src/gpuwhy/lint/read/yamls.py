"""YAML with line numbers; an alias is the same object again, depth and size have limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Union

import yaml

from gpuwhy.lint.mistakes import BadFileError, Place, Problem
from gpuwhy.lint.sheet import Sheet

_DEPTH, _EVENTS = 100, 300_000
_VARIABLE = re.compile(r"\$\{\w+[^}\n]*\}")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Text(str):
    """A scalar."""

    line: int = 0


class Seq(list["Node"]):
    """A sequence."""

    line: int = 0


class Map(dict[str, "Node"]):
    """A mapping; keys are texts with their lines."""

    line: int = 0

    def at(self, *path: str) -> Node | None:
        """The node below a path of keys."""
        node: Node | None = self
        for key in path:
            node = node.get(key) if isinstance(node, Map) else None
        return node

    def map(self, *path: str) -> Map:
        """The mapping below a path; an empty one where there is none."""
        found = self.at(*path)
        return found if isinstance(found, Map) else Map()

    def seq(self, *path: str) -> Seq:
        """The sequence below a path; an empty one where there is none."""
        found = self.at(*path)
        return found if isinstance(found, Seq) else Seq()

    def text(self, *path: str) -> str:
        """The scalar below a path; '' where there is none."""
        found = self.at(*path)
        return found if isinstance(found, Text) else ""

    def line_of(self, key: str) -> int:
        """The line of a key."""
        return next((getattr(k, "line", 0) for k in self if k == key), self.line)


Node = Union[Text, Seq, Map]


def top(sheet: Sheet, text: str, wanted: str) -> Map | None:
    """The mapping that a file is, `${NAME}` allowed; what is none is a problem of its sheet."""
    try:
        try:
            found = _document(text)
        except BadFileError:
            if not _VARIABLE.search(text):
                raise
            found = _document(_VARIABLE.sub("$X", text))
        if not isinstance(found, Map):
            raise BadFileError(1, f"no {wanted} is expected")
    except BadFileError as error:
        sheet.problems.append(Problem(Place(sheet.path, error.line), str(error)))
        return None
    return found


def _document(text: str) -> Node | None:
    """The first document, from the parser's events; raises BadFileError."""
    try:
        events = islice(yaml.parse(text, Loader=_LOADER), _EVENTS)
        first = next((one for one in events if isinstance(one, yaml.NodeEvent)), None)
        return _node(first, events, {}, 0) if first else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = f"no YAML: {error.problem or error.context}"
        raise BadFileError(mark.line + 1 if mark else 0, said) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise BadFileError(0, f"no YAML: {str(error).splitlines()[0]}") from error
    except StopIteration:
        raise BadFileError(0, f"more than {_EVENTS} nodes") from None


def _node(event: Any, events: Iterator[Any], known: dict[str, Node], depth: int) -> Node:
    """A node of the parser as ours; what an alias names is built once."""
    line = event.start_mark.line + 1 if event.start_mark else 0
    if depth > _DEPTH:
        raise BadFileError(line, f"nested more than {_DEPTH} deep")
    if isinstance(event, yaml.AliasEvent):
        return known.get(event.anchor or "", Text())
    made: Node = Text(event.value) if isinstance(event, yaml.ScalarEvent) else Seq()
    made = Map() if isinstance(event, yaml.MappingStartEvent) else made
    made.line = line
    if event.anchor:
        known[event.anchor] = made
    if isinstance(made, Text):
        return made
    held: list[Node] = []
    while not isinstance(one := next(events), yaml.CollectionEndEvent):
        held.append(_node(one, events, known, depth + 1))
    if isinstance(made, Seq):
        made += held
    else:
        _fill(made, held)
    return made


def _fill(made: Map, held: list[Node]) -> None:
    """Keys and values; of `<<` what the merged mappings have and this one has not."""
    merged: list[Node] = []
    for key, value in zip(held[::2], held[1::2], strict=True):
        if key == "<<":
            merged += value if isinstance(value, Seq) else [value]
        elif isinstance(key, Text):
            made[key] = value
    for source in merged:
        if isinstance(source, Map) and source is not made:
            for name, one in source.items():
                made.setdefault(name, one)
