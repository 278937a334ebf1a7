"""Why nothing fits, in a sentence, and what is known beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from gpuwhy.choose.choice import Change, Passed
from gpuwhy.choose.demand import Demand, Wanted
from gpuwhy.choose.market import Market
from gpuwhy.choose.names import FRAMEWORKS, framework, is_planned, planned_as
from gpuwhy.choose.search import Clash
from gpuwhy.choose.verdicts import allows, parsed, specifier
from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge.floors import notes
from gpuwhy.knowledge.platforms import crossed

Possible = Callable[[Demand], bool]
_ASIDE = ("preview", "yanked", "gone", "broken", "unknown")


def why_not(demand: Demand, market: Market, clash: Clash, possible: Possible) -> str:
    """The reason: of one package where one is blocked by itself, else who asks for what."""
    for root in (*market.asked, *[name for name in FRAMEWORKS if name in market.judged]):
        limit = market.limits.get(root, "")
        if not any(allows(limit, one.row.version) for one in market.open(root)):
            groups = [group for group in market.passed() if group.package == root]
            return (
                _cards(demand, possible) + _of_one(groups, demand) + _series(demand, root, possible)
            )
    return _cards(demand, possible) + _together(market, clash) + _apart(demand, market, possible)


def _of_one(groups: Sequence[Passed], demand: Demand) -> str:
    """The reason that stops most releases; where another stops the rest, both."""
    if not groups:
        return "no release for this platform meets what is asked"
    told = [group for group in groups if group.kind not in _ASIDE] or list(groups)
    first = max(told, key=lambda group: len(group.versions))
    if first.kind == "platform":
        return first.why
    libc = "musl" if demand.glibc == "musl" else f"glibc {demand.glibc}"
    have = {
        "driver": f"; the driver is {demand.driver_version}",
        "libc": f"; the machine has {libc}",
    }
    text = f"{first.package} {first.versions[0]} {first.why}{have.get(first.kind, '')}"
    others = [group for group in told if group.kind != first.kind]
    if others:
        other = others[0]
        colon = ":" if other.kind == "platform" else ""
        text += f"; {other.package} {span(other)}{colon} {other.why}"
    return text


def span(group: Passed) -> str:
    """2.11.0 … 2.14.1."""
    versions = group.versions
    return versions[0] if len(versions) == 1 else f"{versions[-1]} … {versions[0]}"


def _together(market: Market, clash: Clash) -> str:
    """Who asks for what of the package on which the search failed."""
    names = " and ".join(market.asked)
    if not clash.root:
        return f"no set of {names} was found that meets all demands"
    name = clash.root.split("[")[0]
    said = [
        f"{who or 'you'} {'needs' if who else 'ask for'} {name}{spec}" for who, spec in clash.asks
    ]
    if clash.text:
        said.append(clash.text if not said else f"and {clash.text}")
    if not said:
        said = [f"no release of {name} goes with the others"]
    if len(market.asked) > 1:
        return f"{names} cannot be in one environment here: {'; '.join(said)}"
    return f"{names} cannot be installed here: {'; '.join(said)}"


def _cards(demand: Demand, possible: Possible) -> str:
    """That every GPU could be served, but not all together, where that is so."""
    if len({card.capability for card in demand.gpus}) < 2:
        return ""
    alone = (msgspec.structs.replace(demand, gpus=(card,)) for card in demand.gpus)
    if not all(possible(one) for one in alone):
        return ""
    cards = " and ".join(map(str, demand.gpus))
    return f"no release serves {cards} together, each alone is served: "


def _series(demand: Demand, root: str, possible: Possible) -> str:
    """That the whole series of a pinned release does not run there, where that is so."""
    pins = [w for w in demand.packages if planned_as(w.name) == root and w.specifier[:2] == "=="]
    if len(pins) != 1 or not demand.gpus:
        return ""
    major = numbers(pins[0].specifier.removeprefix("=="))[0]
    free = msgspec.structs.replace(pins[0], specifier=f"=={major}.*", build="")
    other = msgspec.structs.replace(
        demand, packages=(free,), python="", python_fixed=False, driver_version=""
    )
    return "" if possible(other) else f": no {major}.x release runs there"


def _apart(demand: Demand, market: Market, possible: Possible) -> str:
    """That each of several packages works in an environment of its own, where that is so."""
    asked = [w for w in market.held if not w.constraint and is_planned(w.name)]
    alone = (msgspec.structs.replace(demand, packages=(one,)) for one in asked)
    works = len(asked) > 1 and all(possible(one) for one in alone)
    return "; each works in an environment of its own" if works else ""


def beside_the_index(demand: Demand) -> tuple[tuple[str, Source], ...]:
    """Builds that are published elsewhere than on the index."""
    if demand.system == "windows":
        return ()
    known = notes().beside_the_index
    out = [known[w.name] for w in demand.packages if w.name in known]
    new = any(numbers(card.capability) >= (8, 0) for card in demand.gpus)
    if new and any(map(_is_tensorflow_1, demand.packages)):
        out.append(notes().of_nvidia)
    return tuple(out)


def _is_tensorflow_1(one: Wanted) -> bool:
    named = one.name in ("tensorflow", "tensorflow-gpu") and bool(one.specifier)
    later = ("2.0.0", "2.10.0", "2.20.0")
    return named and not any(allows(one.specifier, version) for version in later)


def migration(market: Market, change: Change | None) -> tuple[str, ...]:
    """What changes in a program between the release that was asked for and the nearest one."""
    out: dict[str, None] = {}
    for one in market.held if change else ():
        root = framework(one.name)
        pick = (
            next((p for p in change.to.picks if planned_as(p.package) == root), None)
            if change
            else None
        )
        if root and pick and one.specifier:
            clauses = specifier(one.specifier)
            before = max((c.version.removesuffix(".*") for c in clauses), key=parsed)
            out.update(dict.fromkeys(row.text for row in crossed(root, before, pick.version)))
    return tuple(out)
