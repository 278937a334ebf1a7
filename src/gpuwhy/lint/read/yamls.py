"""YAML with line numbers; an alias is the same object again, depth and size have limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Union

import yaml

_DEPTH, _NODES, _DOCUMENTS = 100, 300_000, 2_000
_VARIABLE = re.compile(r"\$\{\w+[^}\n]*\}")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BadYamlError(ValueError):
    """What is no YAML, or too much of it; `line` from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


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


def documents(text: str) -> list[Node]:
    """Every document of a text, where `${NAME}` may stand for a value; raises BadYamlError."""
    try:
        return _documents(text)
    except BadYamlError:
        if not _VARIABLE.search(text):
            raise
    return _documents(_VARIABLE.sub("$X", text))


def _documents(text: str) -> list[Node]:
    try:
        return _build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadYamlError(
            mark.line + 1 if mark else 0, f"no YAML: {error.problem or error.context}"
        ) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise BadYamlError(0, f"no YAML: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise BadYamlError(0, "nested too deep") from error


def _build(events: Iterator[yaml.Event]) -> list[Node]:
    """The tree, without recursion: libyaml's own composer has no limit on depth."""
    out: list[Node] = []
    stack: list[Seq | Map] = []
    keys: list[Text | None] = []
    anchors: dict[str, Node] = {}
    for count, event in enumerate(events, 1):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if count > _NODES or len(out) > _DOCUMENTS:
            raise BadYamlError(line, f"more than {_NODES} nodes")
        if isinstance(event, yaml.DocumentStartEvent):
            anchors = {}
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            _merge(stack.pop())
            keys.pop()
        elif isinstance(event, yaml.NodeEvent):
            node = _node(event, line, anchors)
            _put(node, stack, keys, out)
            if isinstance(event, yaml.CollectionStartEvent):
                _open(node, line, stack, keys)
    return out


def _node(event: yaml.NodeEvent, line: int, anchors: dict[str, Node]) -> Node:
    """The node that an event begins, or that an alias names."""
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            raise BadYamlError(line, f"no YAML: nothing is called *{event.anchor}")
        return anchors[event.anchor]
    node: Node = Seq() if isinstance(event, yaml.SequenceStartEvent) else Map()
    if isinstance(event, yaml.ScalarEvent):
        node = Text(event.value)
    node.line = line
    if event.anchor:
        anchors[event.anchor] = node
    return node


def _open(node: Node, line: int, stack: list[Seq | Map], keys: list[Text | None]) -> None:
    if len(stack) >= _DEPTH:
        raise BadYamlError(line, f"nested more than {_DEPTH} deep")
    assert isinstance(node, (Seq, Map))
    stack.append(node)
    keys.append(None)


def _put(node: Node, stack: list[Seq | Map], keys: list[Text | None], out: list[Node]) -> None:
    if not stack:
        out.append(node)
        return
    parent = stack[-1]
    if isinstance(parent, Seq):
        parent.append(node)
        return
    key = keys[-1]
    if key is None:
        if not isinstance(node, Text):
            node = Text("?")
        keys[-1] = node
        return
    keys[-1] = None
    if key == "<<":
        held = parent.setdefault("<<", Seq())
        if isinstance(held, Seq):
            held.extend(node if isinstance(node, Seq) else [node])
    else:
        parent[key] = node


def _merge(node: Seq | Map) -> None:
    """`<<`: what the merged mappings have and this one has not."""
    if not isinstance(node, Map) or "<<" not in node:
        return
    for source in node.pop("<<"):
        if isinstance(source, Map) and source is not node:
            for key, value in source.items():
                node.setdefault(key, value)
