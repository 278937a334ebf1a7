"""An inspection as JSON, contract `gpuwhy.inspect/1` (docs/inspect.schema.json): fields are added, never renamed."""

from __future__ import annotations

from typing import Any

import msgspec

from gpuwhy.border.shared import as_json
from gpuwhy.model.inspected import SCHEMA, FrameworkTree, Header, Inspected, Library, Missing, Tree


def inspected_dict(found: Inspected) -> dict[str, Any]:
    """The inspection in plain values, in the contract's shape."""
    out: dict[str, Any] = {
        "schema": SCHEMA,
        "path": found.path,
        "kind": found.kind,
        "needed": list(found.needed),
        **_tree(found.tree),
        "gpu": msgspec.to_builtins(found.gpu),
        "variables": dict(text.split("=", 1) for text in found.variables),
        "notes": list(found.notes),
    }
    if found.opens:
        out["opens"] = [msgspec.to_builtins(one) for one in found.opens]
    if found.header:
        out |= _header(found.header)
    if found.bundle:
        out["bundle"] = msgspec.to_builtins(found.bundle)
    if found.kind == "environment":
        out["frameworks"] = [_framework(one) for one in found.frameworks]
    if not found.searched:
        out["searched"] = False
    if found.probe:
        out["probe"] = msgspec.to_builtins(found.probe)
    return out


def _header(header: Header) -> dict[str, Any]:
    out: dict[str, Any] = msgspec.to_builtins(header)
    if not header.delayed:
        del out["delayed"]
    out["versions"] = {need.library: list(need.versions) for need in header.versions}
    return out


def render(found: Inspected) -> str:
    """Indented JSON, ending in a newline."""
    return as_json(inspected_dict(found))


def _tree(tree: Tree) -> dict[str, Any]:
    return {
        "libraries": [_library(one) for one in tree.libraries],
        "missing": [_missing(one) for one in tree.missing],
        "unmet": [msgspec.to_builtins(one) for one in tree.unmet],
        "unmet_versions": [msgspec.to_builtins(one) for one in tree.unmet_versions],
        **({"unsure": list(tree.unsure)} if tree.unsure else {}),
    }


def _library(one: Library) -> dict[str, Any]:
    return {
        "name": one.name,
        "path": one.path,
        "via": one.via,
        "version": one.version,
        "needed_by": one.needed_by,
        "lost": [msgspec.to_builtins(copy) for copy in one.lost],
        "closed": one.closed,
    }


def _missing(one: Missing) -> dict[str, Any]:
    return {
        "name": one.name,
        "needed_by": one.needed_by,
        "searched": [msgspec.to_builtins(place) for place in one.searched],
        "reason": one.why,
        "elsewhere": list(one.elsewhere),
    }


def _framework(one: FrameworkTree) -> dict[str, Any]:
    return {
        "name": one.name,
        "title": one.title,
        "version": one.version,
        "gpu": msgspec.to_builtins(one.gpu),
        **_tree(one.tree),
    }
