"""YAML with line numbers; depth and size have limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import yaml

from gpuwhy.lint.mistakes import BadFileError, Place, Problem
from gpuwhy.lint.sheet import Sheet

_DEPTH, _EVENTS = 100, 300_000
_VARIABLE = re.compile(r"\$\{\w+[^}\n]*\}")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Node:
    """A text, a list or a mapping, with its line; what is not there is none of them."""

    def __init__(self, line: int = 0) -> None:
        self.line = self.key = line  # key: the line of its key in a mapping
        self.text = ""
        self.items: list[Node] = []
        self.fields: dict[str, Node] = {}
        self.is_map = False

    def at(self, *path: str) -> Node:
        """What is below a path of keys."""
        node = self
        for key in path:
            node = node.fields.get(key, Node())
        return node


def top(sheet: Sheet, text: str, wanted: str) -> Node:
    """The mapping that a file is, `${NAME}` allowed; what is none is a problem of its sheet."""
    try:
        try:
            found = _document(text)
        except BadFileError:
            if not _VARIABLE.search(text):
                raise
            found = _document(_VARIABLE.sub("$X", text))
        if not found.is_map:
            raise BadFileError(1, f"no {wanted} is expected")
    except BadFileError as error:
        sheet.problems.append(Problem(Place(sheet.path, error.line), str(error)))
        return Node()
    return found


def _document(text: str) -> Node:
    """The first document, from the parser's events; raises BadFileError."""
    try:
        events = islice(yaml.parse(text, Loader=_LOADER), _EVENTS)
        first = next((one for one in events if isinstance(one, yaml.NodeEvent)), None)
        return _node(first, events, {}, 0) if first else Node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = f"no YAML: {error.problem or error.context}"
        raise BadFileError(mark.line + 1 if mark else 0, said) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise BadFileError(0, f"no YAML: {str(error).splitlines()[0]}") from error
    except StopIteration:
        raise BadFileError(0, f"more than {_EVENTS} nodes") from None


def _node(event: Any, events: Iterator[Any], known: dict[str, Node], depth: int) -> Node:
    """A node of the parser as ours; what an alias names is built once, and shared."""
    made = Node(event.start_mark.line + 1 if event.start_mark else 0)
    if depth > _DEPTH:
        raise BadFileError(made.line, f"nested more than {_DEPTH} deep")
    if isinstance(event, yaml.AliasEvent):
        again = known.get(event.anchor or "", made)
        made.text, made.items, made.fields = again.text, again.items, again.fields
        made.line, made.is_map = again.line, again.is_map
        return made
    if event.anchor:
        known[event.anchor] = made
    if isinstance(event, yaml.ScalarEvent):
        made.text = event.value
        return made
    held: list[Node] = []
    while not isinstance(one := next(events), yaml.CollectionEndEvent):
        held.append(_node(one, events, known, depth + 1))
    if isinstance(event, yaml.SequenceStartEvent):
        made.items = held
        return made
    _fill(made, held)
    return made


def _fill(made: Node, held: list[Node]) -> None:
    """Keys and values; of `<<` what the merged mappings have and this one has not."""
    made.is_map = True
    merged: list[Node] = []
    for key, value in zip(held[::2], held[1::2], strict=True):
        value.key = key.line
        if key.text == "<<":
            merged += value.items or [value]
        elif key.text:
            made.fields[key.text] = value
    for source in merged:
        for name, value in source.fields.items():
            made.fields.setdefault(name, value)
