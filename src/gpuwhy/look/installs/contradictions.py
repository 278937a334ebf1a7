"""Installed releases that cannot work together: by what they state and by what is known.

The GPU packages, their neighbours and everything that these need are read.
"""

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Fact, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Basis, Contradiction
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge import needs, pairs, tried
from gpuwhy.knowledge.modules import IMPORTED_AS
from gpuwhy.knowledge.packages import MAIN, flavour
from gpuwhy.knowledge.pairs import allows
from gpuwhy.look.environment.packages import gpu_related
from gpuwhy.look.environment.python import on_the_path
from gpuwhy.look.installs.requirements import Asked, Wish, asked, is_optional, name_of, wish
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Machine

_PLUGIN = r"jax-cuda\d+-(plugin|pjrt)"
_EXTRAS = (
    ("jax", _PLUGIN),
    (r"tensorflow-(?:io|addons|text|probability|decision-forests)", "tensorflow"),
)
"""Whose extras count, and for what: nobody installs it otherwise."""
_FAILS = "so its import fails"


class _Seen(NamedTuple):
    """What is installed, what the GPU stack requires, and what was found so far."""

    machine: Machine
    facts: Facts
    installed: dict[str, Package]
    asked: Asked
    found: list[Contradiction]

    def first(self, names: list[str]) -> Package | None:
        """The first of some packages that is installed."""
        return next((self.installed[one] for one in names if one in self.installed), None)


def contradictions(
    machine: Machine, facts: Facts, options: Options
) -> Fact[tuple[Contradiction, ...]]:
    """Every contradiction, one for each pair of packages, those that stop first."""
    if facts.environment.packages.need() is None:
        return known((), "env", "PATH", "no Python")
    stack = asked(facts)
    if stack.unseen is not None:
        return stack.unseen
    seen = _Seen(machine, facts, facts.environment.by_name, stack, [])
    ordered = dict.fromkeys((*stack.lines, *seen.installed))
    for rule in _RULES:
        for name in ordered:
            seen.found.extend(rule(seen, seen.installed[name]))
    every = sorted(
        seen.found, key=lambda one: (not one.stops, not one.effect, one.basis is not Basis.STATED)
    )
    best: dict[tuple[str, str], Contradiction] = {}
    for one in every:  # the one that says most of what happens
        best.setdefault((one.by.name, one.name), one)
    source = ", ".join(site.path for site in value_or(facts.environment.sites, ()))
    found = tuple(sorted(best.values(), key=_order))
    return known(found, "folder", source, f"METADATA of {len(seen.installed)} packages")


def _order(one: Contradiction) -> tuple[bool, ...]:
    late = one.basis in (Basis.NO_WHEEL, Basis.LATE)
    strangers = not gpu_related(one.name), not gpu_related(one.by.name)
    return late, not one.stops, not one.installed, *strangers


def _say(
    by: Package,
    name: str,
    wants: str,
    version: str,
    basis: Basis,
    effect: str = "",
    stops: bool = False,
    source: str = "",
) -> Contradiction:
    metadata = "METADATA" if by.location.endswith(".dist-info") else "PKG-INFO"
    file = f"{by.location}/{metadata}"
    return Contradiction(by.owner, name, wants, version, basis, file, effect, source, stops)


def _stated(seen: _Seen, by: Package) -> Iterator[Contradiction]:
    """What a package of the stack requires, and what is installed does not meet."""
    extras = next((what for who, what in _EXTRAS if re.fullmatch(who, by.name)), "")
    wishes: dict[str, list[Wish]] = {}
    for line in seen.asked.lines.get(by.name, ()):
        if extras or not is_optional(line):
            said = wish(line, seen.asked.markers, extras)
            if said:
                wishes.setdefault(said.name, []).append(said)
    for name, several in wishes.items():
        one = _unmet(seen, by, name, several)
        module = IMPORTED_AS.get(name) or name.replace("-", "_")
        sites = value_or(seen.facts.environment.sites, ()) if one and not one.installed else ()
        if one and not any(on_the_path(seen.machine, site.path, module) for site in sites):
            yield one


def _unmet(seen: _Seen, by: Package, name: str, wishes: list[Wish]) -> Contradiction | None:
    """A requirement that no installed package meets; several lines are alternatives."""
    plain = [one.range for one in wishes if not one.by_extra]
    ranges = plain or [one.range for one in wishes]
    stated = plain and by.installer != "conda"
    if pairs.is_left_to_loader(name):  # the loader knows whether it is missed
        wheel = stated and name.startswith("nvidia-") and name not in seen.installed
        return _say(by, name, plain[0], "", Basis.NO_WHEEL) if wheel else None
    flavours = sorted(pairs.providers(name), key=lambda one: one != name)
    there = [seen.installed[one].version for one in flavours if one in seen.installed]
    effect, stops, source = *_plugin_effect(seen, by.name, name), ""
    if not there:
        if not stated or flavour(name) is not None:
            return None
        hosts = (o for o in seen.installed if gpu_related(o) and not o.startswith("nvidia-"))
        if name in MAIN and not any(hosts):
            effect, stops = _FAILS, True
        return _say(by, name, plain[0], "", Basis.STATED, effect, stops)
    if any(allows(*pair) for pair in product(ranges, there)):
        return None
    if refusal := pairs.refusal(by.name, name):
        effect, stops = refusal.effect, refusal.stops
    if not effect and (source := _forced(by, name, ranges, there[0])):
        effect, stops = _FAILS, True
    basis = Basis.STATED if plain else Basis.EXTRA
    return _say(by, name, ranges[0], there[0], basis, effect, stops, source)


def _forced(by: Package, name: str, ranges: list[str], version: str) -> str:
    """The row that shows a pair against the metadata to fail, as its source; "" without one."""
    seen = tried.forced(by.name, by.version, name, version)
    if seen is not None:
        return str(seen.source) if seen.outcome == "fails" else ""
    exact = [one.removeprefix("==") for one in ranges if re.fullmatch(r"==[\d.]+", one)]
    other = bool(exact) and all(major_minor(one) != major_minor(version) for one in exact)
    row = tried.always_fails(by.name, name) if other else None
    return str(row.source) if row is not None else ""


def _unstated(seen: _Seen, one: Package) -> Iterator[Contradiction]:
    """The limits that a release has and does not state; JAX's client without its kernels."""
    for row in needs.needs("cap"):
        if one.name not in pairs.providers(row.package) or not row.holds(one.version):
            continue
        name, wanted = re.split(r"(?=[<>=!~])", row.requirement, maxsplit=1)
        there = seen.first([*pairs.providers(name)])
        if row.always if there is None else not allows(wanted, there.version):
            late = row.late and there is None and not any(_is_there(seen, i) for i in row.importers)
            why = (Basis.LATE if late else Basis.UNSTATED, row.because, row.stops, str(row.source))
            yield _say(one, name, wanted, there.version if there else "", *why)
    for name, wanted in pairs.unstated(one.name, one.version).items():
        other = seen.installed.get(name)
        if other and not allows(wanted, other.version):
            row_of = "knowledge/data/pairs.json"
            yield _say(one, name, wanted, other.version, Basis.UNSTATED, "", True, row_of)
    plugin = one.name.replace("-pjrt", "-plugin")
    if re.fullmatch(r"jax-cuda\d+-pjrt", one.name) and plugin not in seen.installed:
        text, row_of = "so JAX lacks its kernels for the GPU", "knowledge/pairs.py"
        yield _say(one, plugin, f"=={one.version}", "", Basis.UNSTATED, text, False, row_of)


def _is_there(seen: _Seen, importer: str) -> bool:
    """Whether a package is installed that imports the other at its own import: name<release."""
    name, until = re.split(r"(?=<)", importer, maxsplit=1)
    return name in seen.installed and allows(until, seen.installed[name].version)


def _seen_to_fail(seen: _Seen, one: Package) -> Iterator[Contradiction]:
    """A release that was seen to fail beside this release of its framework."""
    for host in tried.hosts(one.name):
        there = seen.first(sorted(pairs.providers(host)))
        row = tried.broken(one.name, one.version, host, there.version) if there else None
        if row and there:
            why = (Basis.UNSTATED, row.because, True, str(row.row.source))
            yield _say(one, host, row.wants, there.version, *why)


def _plugin(seen: _Seen, one: Package) -> Iterator[Contradiction]:
    """JAX's plug-in and client are built with one jaxlib release each."""
    jaxlib = seen.installed.get("jaxlib")
    if jaxlib is None or not re.fullmatch(_PLUGIN, one.name):
        return
    plugin = one.name.replace("-pjrt", "-plugin")
    every = ("jaxlib", plugin, one.name)
    against = any(c.by.name in ("jax", plugin) and c.name in every for c in seen.found)
    stated = any(name_of(line) == plugin for line in seen.asked.lines.get("jax", ()))
    agreed = stated and not against and not pairs.plugin_left_aside(jaxlib.version)
    if not agreed and numbers(one.version)[:3] != numbers(jaxlib.version)[:3]:
        why = (Basis.SAME_RELEASE, *_plugin_effect(seen, "jax", one.name))
        yield _say(one, "jaxlib", f"=={one.version}", jaxlib.version, *why)


def _plugin_effect(seen: _Seen, by: str, name: str) -> tuple[str, bool]:
    """What JAX does with a plug-in of another release than it asks for."""
    if not re.fullmatch(_PLUGIN, name) or not (by == "jax" or re.fullmatch(_PLUGIN, by)):
        return "", False
    jaxlib = seen.installed.get("jaxlib")
    if jaxlib and pairs.plugin_left_aside(jaxlib.version):
        return "so JAX leaves it aside and stays on the CPU", True
    return "so JAX fails with it or goes without it", True


_RULES: tuple[Callable[[_Seen, Package], Iterator[Contradiction]], ...] = (
    *(_stated, _unstated, _seen_to_fail, _plugin),
)
"""Each for every package, in this order: a later one may read what the earlier ones found."""
