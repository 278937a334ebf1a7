"""Where nothing fits: why, in a sentence, and the smallest change after which something does."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from gpuwhy.choose.candidates import known_versions
from gpuwhy.choose.choice import Change, Choice, Part, Passed
from gpuwhy.choose.demand import Demand, Wanted, allows, parsed, specifier
from gpuwhy.choose.names import FRAMEWORKS, NAMES, framework, is_planned, planned_as
from gpuwhy.choose.search import Clash, Found, attempt
from gpuwhy.choose.verdicts import Market
from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, numbers
from gpuwhy.knowledge import archs
from gpuwhy.knowledge.floors import notes

COSTS: dict[Part, int] = {"python": 2, "gpu": 3, "system": 4, "glibc": 4, "driver": 5}
"""A new environment, a container or another system, root and a reboot; 1 is a line of a file."""
_KEPT = 100
_ASIDE = ("preview", "yanked", "gone", "broken", "unknown")
Try = Callable[[Demand, Mapping[str, str]], "Choice | None"]
"""Chooses for a demand, close to the releases that are named."""


class Step(msgspec.Struct, frozen=True):
    """Something that could be given up."""

    parts: tuple[Part, ...]
    demand: Demand
    freed: tuple[Wanted, ...] = ()  # requirements whose release is given up

    @property
    def cost(self) -> int:
        """What it costs at least."""
        frameworks = sum(1 for one in self.freed if framework(one.name))
        kept = sum(_KEPT for part in self.parts if part in self.demand.keep)
        parts = sum(COSTS.get(part, 1) for part in self.parts)
        return parts + max(len(self.freed) - 1, 0) + frameworks + kept


def nearest(demand: Demand, held: Sequence[Wanted], propose: Try, must: str = "") -> Change | None:
    """The cheapest change that helps; `must` is a part that has to change."""
    least, best = 1000, None
    steps = [step for step in _steps(demand, held) if not must or must in step.parts]
    for step in sorted(steps, key=lambda step: step.cost):
        if step.cost >= least:
            break
        found = propose(step.demand, {planned_as(w.name): pinned(w) for w in step.freed})
        if found is None:
            continue
        cost = step.cost
        for one in step.freed:  # how much of a program a change of release touches
            if pick := found.pick(one.name):
                mine, theirs = (*numbers(pick.version), 0), (*numbers(pinned(one)), 0)
                cost += 4 if mine[0] != theirs[0] else min(abs(mine[1] - theirs[1]), 4)
        if cost < least:
            least, best = cost, Change(step.parts, _text(step, demand, found), found)
    return best


# What could be given up


def _steps(demand: Demand, held: Sequence[Wanted]) -> Iterator[Step]:
    """Every change that makes sense: of the machine, of names, of releases, and of both."""
    other = NAMES.substitutes.get(demand.system, {})
    named = tuple(
        Wanted(other[one.name], where=one.where, text=other[one.name]) if one.name in other else one
        for one in demand.packages
    )
    # one limit alone, then those of companions, then all of them
    limited = [one for one in held if one.specifier]
    pins = [one for one in limited if is_planned(one.name) or one.constraint]
    beside = [one for one in pins if not framework(one.name)]
    freed = [[one] for one in limited] + [some for some in (beside, pins) if len(some) > 1]
    for parts, changed in [((), demand), *_machines(demand)]:
        if parts:
            yield Step(parts, changed)
        if named != demand.packages:
            yield Step(("name", *parts), replace(changed, packages=named))
        for some in freed:
            loose = tuple(
                replace(w, build="", specifier="") if w in some else w for w in demand.packages
            )
            yield Step(("release", *parts), replace(changed, packages=loose), tuple(some))
    labelled = tuple(one for one in demand.packages if one.build and one.specifier)
    if labelled:  # the same release in the build that exists
        plain = tuple(replace(one, build="") for one in demand.packages)
        yield Step(("release",), replace(demand, packages=plain), labelled)


def _machines(demand: Demand) -> Iterator[tuple[tuple[Part, ...], Demand]]:
    """Other machines that the person could have."""
    fixed = bool(demand.python) and demand.python_fixed
    others: list[tuple[Part, bool, Demand]] = [
        ("python", fixed, replace(demand, python_fixed=False)),
        ("system", demand.system == "windows", replace(demand, system="wsl")),
        ("glibc", bool(demand.glibc), replace(demand, glibc="")),
        ("driver", bool(demand.driver_version), replace(demand, driver_version=_branch(demand))),
    ]
    for part, sensible, changed in others:
        if sensible:
            yield (part,), changed
            if part != "python" and fixed:
                yield (part, "python"), replace(changed, python_fixed=False)
    if len({card.capability for card in demand.gpus}) > 1:
        for card in demand.gpus:
            yield ("gpu",), replace(demand, gpus=(card,))


def _branch(demand: Demand) -> str:
    """The newest driver branch that drives every GPU; "" where today's does."""
    lasts = [archs.last_driver_branch(card.capability) for card in demand.gpus]
    return min((last[1:] for last in lasts if last), key=int, default="")


def pinned(one: Wanted) -> str:
    """The release that a requirement names, or comes nearest to."""
    clauses = specifier(one.specifier)
    return max((clause.version.removesuffix(".*") for clause in clauses), key=parsed)


def _text(step: Step, demand: Demand, found: Choice) -> str:
    """What is given up, in words."""
    moved = {planned_as(one.name) for one in step.freed}
    moves = [f"{p.package} {p.version}" for p in found.picks if planned_as(p.package) in moved]
    moves += [f"{w.name} without {w.specifier}" for w in step.freed if not is_planned(w.name)]
    build = "build" if step.freed and all(one.build for one in step.freed) else "release"
    glibc = max((pick.glibc for pick in (*found.picks, *found.libraries)), key=numbers, default="")
    names = {pick.package for pick in found.picks}
    other = NAMES.substitutes.get(demand.system, {}).items()
    left = ", ".join(str(card) for card in demand.gpus if card not in step.demand.gpus)
    mine = next(iter(step.demand.gpus), "")
    words: dict[Part, str] = {
        "python": f"Python {found.python} instead of {demand.python}",
        "name": ", ".join(f"{new} instead of {old}" for old, new in other if new in names),
        "release": f"another {build}: {', '.join(moves)}",
        "driver": f"driver {_driver(demand, found)} instead of {demand.driver_version}",
        "system": "WSL 2 instead of native Windows",
        "glibc": f"a distribution or container with glibc {glibc} or newer",
        "gpu": f"{mine} alone (CUDA_VISIBLE_DEVICES); an environment of its own for {left}",
    }
    kept = ",".join(part for part in step.parts if part in demand.keep)
    given_up = f" (this gives up --keep {kept})" if kept else ""
    return " and ".join(words[part] for part in step.parts) + given_up


def _driver(demand: Demand, found: Choice) -> str:
    """The driver that the nearest set needs."""
    branch = _branch(demand)
    firsts = [archs.first_driver_branch(c.capability, demand.system) for c in demand.gpus]
    needs = [pick.driver for pick in found.picks if pick.role == "framework" and pick.driver]
    oldest = max([*needs, *(str(first) for first in firsts if first)], key=parsed, default="")
    if branch and numbers(oldest)[:1] >= (int(branch),):
        return f"{branch} (the newest branch that drives the GPU)"
    return f"{oldest} or newer" + (f", up to {branch}" if branch else "")


# Why nothing fits


def _possible(demand: Demand) -> bool:
    return isinstance(attempt(demand)[1], Found)


def why_not(demand: Demand, market: Market, clash: Clash) -> str:
    """The reason: of one package where one is blocked by itself, else who asks for what."""
    for root in (*market.asked, *[name for name in FRAMEWORKS if name in market.judged]):
        limit = market.limits.get(root, "")
        if not any(allows(limit, one.version) for one in market.open(root)):
            groups = [group for group in market.passed() if group.package == root]
            text = _of_one(groups, demand) + _series(demand, root)
            break
    else:
        text = _together(market, clash)
        asked = [w for w in market.held if not w.constraint and is_planned(w.name)]
        if len(asked) > 1 and all(_possible(replace(demand, packages=(one,))) for one in asked):
            text += "; each works in an environment of its own"
    alone = (replace(demand, gpus=(card,)) for card in demand.gpus)
    several = len({card.capability for card in demand.gpus}) > 1
    if several and all(map(_possible, alone)):
        cards = " and ".join(map(str, demand.gpus))
        return f"no release serves {cards} together, each alone is served: {text}"
    return text


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
    for other in [group for group in told if group.kind != first.kind][:1]:
        colon = ":" if other.kind == "platform" else ""
        text += f"; {other.package} {other.span}{colon} {other.why}"
    return text


def _together(market: Market, clash: Clash) -> str:
    """Who asks for what of the package on which the search failed."""
    names, name = " and ".join(market.asked), clash.root.split("[")[0]
    if not name:
        return f"no set of {names} was found that meets all demands"
    said = [f"{who or 'you'} {'needs' if who else 'ask for'} {name}{s}" for who, s in clash.asks]
    if clash.text:
        said.append(f"and {clash.text}" if said else clash.text)
    either = "be in one environment" if len(market.asked) > 1 else "be installed"
    reasons = "; ".join(said) or f"no release of {name} goes with the others"
    return f"{names} cannot {either} here: {reasons}"


def _series(demand: Demand, root: str) -> str:
    """That the whole series of a pinned release does not run there, where that is so."""
    pins = [w for w in demand.packages if planned_as(w.name) == root and w.specifier[:2] == "=="]
    if len(pins) != 1 or not demand.gpus:
        return ""
    major = numbers(pins[0].specifier.removeprefix("=="))[0]
    free = replace(pins[0], build="", specifier=f"=={major}.*")
    other = replace(demand, packages=(free,), python="", python_fixed=False, driver_version="")
    return "" if _possible(other) else f": no {major}.x release runs there"


def beside_the_index(demand: Demand) -> tuple[tuple[str, Source], ...]:
    """Builds that are published elsewhere than on the index."""
    if demand.system == "windows":
        return ()
    known = notes().beside_the_index
    out = [known[w.name] for w in demand.packages if w.name in known]
    later = [version for version in known_versions("tensorflow") if at_least(version, "2.0")]
    first = any(  # TensorFlow 1 is asked for
        one.name in ("tensorflow", "tensorflow-gpu")
        and bool(one.specifier)
        and not any(allows(one.specifier, version) for version in later)
        for one in demand.packages
    )
    new = any(at_least(card.capability, "8.0") for card in demand.gpus)
    return (*out, notes().of_nvidia) if new and first else tuple(out)
