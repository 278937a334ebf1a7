"""The load tree: who asks for which library, which copy wins, which would be next, where the search went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.parts import fold, listed, section, sign
from gpuwhy.page.values import Node, nodes

OFF_PATH = "not on the search path"
"""A value of the contract, as `Rule.OFF_PATH` is written; a test holds them together."""
DEEP = 30
MANY = 1_500
"""The most libraries of one tree that are drawn."""


def of_report(report: Node) -> Element | None:
    """The trees that a report's facts hold, one for each framework, and the copies of the driver's library."""
    facts = report.node("facts")
    trees = nodes(facts.fact("loads", "trees"))
    needs = nodes(facts.fact("loads", "needs"))
    parts: list[Child] = [_driver(facts)]
    for tree in trees:
        name = tree.text("framework")
        missing = [*tree.nodes("missing"), *(_absent(need) for need in needs if _lacks(need, name))]
        libraries = [_with_lost(one, needs, name) for one in tree.nodes("libraries")]
        parts.append(_tree(name, libraries, _once(missing), tree.nodes("unmet")))
    parts = [one for one in parts if one is not None]
    return section("What the loader picks", "loads", *parts) if parts else None


def of_inspection(found: Node) -> list[Child]:
    """The tree of a file, or one for each framework of an environment."""
    if found.values.get("searched") is False:
        return [el("p", "A Windows file, and no Windows is here: what it would get was not looked for.")]
    trees = found.nodes("frameworks") or [found]
    return [
        _tree(
            f"{one.text('title')} {one.text('version')}".strip() if one is not found else found.text("path"),
            one.nodes("libraries"),
            one.nodes("missing"),
            [*one.nodes("unmet"), *one.nodes("unmet_versions")],
            opened=len(trees) == 1,
        )
        for one in trees
    ]


def _with_lost(one: Node, needs: Sequence[Node], framework: str) -> Node:
    """A library of a report's tree with the copies of it that are not taken."""
    mine = [need for need in needs if need.text("framework") == framework and need.text("name") == one.text("name")]
    lost = [{"path": path, "via": "not where the search goes"} for need in mine[:1] for path in need.texts("elsewhere")]
    lost += [{"path": path, "via": "of another version"} for need in mine[:1] for path in need.texts("other_versions")]
    return Node({**one.values, "lost": lost}) if lost else one


def _lacks(need: Node, framework: str) -> bool:
    found = need.node("found")
    return need.text("framework") == framework and found.text("state") == "absent" and not need.flag("optional")


def _absent(need: Node) -> Node:
    return Node({**need.values, "why": "not found"})


def _once(rows: Sequence[Node]) -> list[Node]:
    return list({row.text("name"): row for row in reversed(rows)}.values())[::-1]


def _driver(facts: Node) -> Element | None:
    rows: list[Child] = []
    for place, one in enumerate(nodes(facts.fact("loads", "libcuda"))):
        wins = place == 0 and one.text("found_via") != OFF_PATH
        health = _known(one.values.get("health"))
        rows.append(
            [
                sign("ok" if wins and health in ("ok", "") else "bad" if wins else "none"),
                " ",
                el("b", "wins: ") if wins else None,
                el("code", one.text("path")),
                f" {_known(one.values.get('version'))} · {one.text('kind')} · {one.text('found_via')}",
                f" · {health}" if health not in ("ok", "") else None,
            ]
        )
    return fold(f"libcuda: {len(rows)} {'copy' if len(rows) == 1 else 'copies'}", listed(rows)) if rows else None


def _tree(
    title: str, libraries: Sequence[Node], missing: Sequence[Node], unmet: Sequence[Node], opened: bool = False
) -> Element | None:
    if not libraries and not missing:
        return None
    lacks = [_missing(one) for one in missing]
    faults = [_unmet(one) for one in unmet]
    count = f"{len(libraries)} libraries" + (f", {len(missing)} missing" if missing else "")
    mark = sign("bad" if missing or unmet else "ok")
    rest = el("p", f"the first {MANY} of {len(libraries)}", class_="soft") if len(libraries) > MANY else None
    return fold(
        [mark, " ", title, f": {count}"],
        *lacks,
        *faults,
        rest,
        _branches(libraries[:MANY]),
        opened=opened or bool(missing),
    )


def _branches(libraries: Sequence[Node]) -> Element:
    """The tree by who asked first; a library whose asker is no library of the list stands at the root."""
    paths = {one.text("path") for one in libraries}
    children: dict[str, list[Node]] = {}
    for one in libraries:
        asker = one.text("needed_by")
        children.setdefault(asker if asker in paths and asker != one.text("path") else "", []).append(one)
    seen: set[str] = set()
    top = [_branch(one, children, seen, 0) for one in children.get("", [])]
    left = [_branch(one, {}, seen, 0) for one in libraries if one.text("path") not in seen]
    return el("ul", *(el("li", one) for one in [*top, *left]), class_="tree")


def _branch(one: Node, children: dict[str, list[Node]], seen: set[str], depth: int) -> Child:
    path = one.text("path")
    below = [] if path in seen or depth > DEEP else children.get(path, [])
    seen.add(path)
    lost = [
        el(
            "li",
            el("span", el("code", copy.text("path")), class_="lost"),
            f" loses · {_version(copy)} · {copy.text('via')}",
        )
        for copy in one.nodes("lost")
    ]
    lines = [_branch(child, children, seen, depth + 1) for child in below]
    inside = [
        el("li", el("code", path), el("small", f" by {one.text('via')}")),
        *lost,
        *(el("li", line) for line in lines),
    ]
    closed = ", closed again: something it needs is missing" if one.flag("closed") else ""
    name = [
        el("code", one.text("name")),
        f" {_version(one)}".rstrip(),
        closed,
        f" · {len(below)} below" if below else "",
    ]
    return fold(
        [*name, f" · {len(lost)} lost" if lost else ""], el("ul", *inside), opened=depth == 0 and len(below) > 0
    )


def _version(one: Node) -> str:
    return _known(one.values.get("version"))


def _known(value: Any) -> str:
    """A version as a text, a fact or nothing."""
    if isinstance(value, dict):
        return Node(value).text("value") if value.get("state") == "known" else ""
    return value if isinstance(value, str) else ""


def _missing(one: Node) -> Element:
    """A library that is not found: the search in order, and the copies that lie elsewhere."""
    places = one.values.get("searched")
    searched: list[Child] = []
    for place in places if isinstance(places, list) else []:
        if isinstance(place, str):
            searched.append(el("code", place))
        elif isinstance(place, dict):
            row = Node(place)
            searched.append([el("code", row.text("where")), f" ({row.text('why')}): {row.text('outcome')}"])
    elsewhere = one.texts("elsewhere")
    return el(
        "div",
        el(
            "p",
            sign("bad"),
            " ",
            el("code", one.text("name")),
            f": {one.text('reason') or one.text('why') or 'not found'}",
        ),
        el("p", "asked for by ", el("code", one.text("needed_by")), class_="soft"),
        fold(f"where the search went: {len(searched)} places", el("ol", *(el("li", row) for row in searched)))
        if searched
        else None,
        el("p", "lies where nobody looks: ", el("code", ", ".join(elsewhere))) if elsewhere else None,
    )


def _unmet(one: Node) -> Element:
    asker, lacks = one.text("library") or one.text("asker"), ", ".join(one.texts("symbols")) or one.text("version")
    return el(
        "p",
        sign("bad"),
        " ",
        el("code", one.text("provider")),
        " lacks ",
        el("code", lacks),
        ", which ",
        el("code", asker),
        " needs",
    )
