"""YAML with line numbers; an alias is the same object again, depth and size have limits."""

from __future__ import annotations

import re
from typing import Union

import yaml

from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.sheet import Sheet

_DEPTH, _NODES = 100, 300_000
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


def top(sheet: Sheet, text: str, wanted: str) -> Map | None:
    """The mapping that a file is; what is none is a problem of its sheet."""
    try:
        found = _document(text)
    except BadYamlError as error:
        sheet.problems.append(Problem(Place(sheet.path, error.line), str(error)))
        return None
    if not isinstance(found, Map):
        said = f"no {wanted} is expected"
        sheet.problems.append(Problem(Place(sheet.path, 1), said))
        return None
    return found


def _document(text: str) -> Node | None:
    """The first document, where `${NAME}` may stand for a value; raises BadYamlError."""
    try:
        return _first(text)
    except BadYamlError:
        if not _VARIABLE.search(text):
            raise
    return _first(_VARIABLE.sub("$X", text))


def _first(text: str) -> Node | None:
    try:
        _check_size(text)
        node = next(yaml.compose_all(text, Loader=_LOADER), None)
        return _built(node, {}) if node else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        raise BadYamlError(line, f"no YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise BadYamlError(0, f"no YAML: {str(error).splitlines()[0]}") from error


def _check_size(text: str) -> None:
    """Before a tree is made: libyaml's own composer has no limit on depth."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER), 1):
        line = event.start_mark.line + 1 if event.start_mark else 0
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEPTH:
            raise BadYamlError(line, f"nested more than {_DEPTH} deep")
        if count > _NODES:
            raise BadYamlError(line, f"more than {_NODES} nodes")


def _built(node: yaml.Node, known: dict[yaml.Node, Node]) -> Node:
    """A node of the parser as ours; what an alias names is built once."""
    if node in known:
        return known[node]
    made: Node
    if isinstance(node, yaml.SequenceNode):
        made = known[node] = Seq()
        made.extend(_built(one, known) for one in node.value)
    elif isinstance(node, yaml.MappingNode):
        made = known[node] = Map()
        _fill(made, node, known)
    else:
        made = Text(node.value)
    made.line = node.start_mark.line + 1
    return made


def _fill(made: Map, node: yaml.MappingNode, known: dict[yaml.Node, Node]) -> None:
    """Keys and values; of `<<` what the merged mappings have and this one has not."""
    merged: list[Node] = []
    for one, other in node.value:
        key, value = _built(one, known), _built(other, known)
        if key == "<<":
            merged += value if isinstance(value, Seq) else [value]
        elif isinstance(key, Text):
            made[key] = value
    for source in merged:
        if isinstance(source, Map) and source is not made:
            for name, value in source.items():
                made.setdefault(name, value)
