"""Contradictions: installed releases that cannot work together, by what they state, what is known, and their files.

The GPU packages, their neighbours and everything that these need is read; what else is installed is asked about NumPy
only. What NVIDIA's wheels should be is left to the load trees, which know what really gets loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from msgspec import structs

from gpuwhy.knowledge import neighbours, pairs
from gpuwhy.knowledge.caps import CAPS, PAIRS, CapRow
from gpuwhy.knowledge.flavours import MAIN, flavour
from gpuwhy.model.fact import Fact, Known, Unknown, known, value_or
from gpuwhy.model.facts import Contradiction, Distribution
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.model.words import normal
from gpuwhy.observe.built import gpu_related
from gpuwhy.observe.compiled import built_for_numpy, generated_for
from gpuwhy.observe.distributions import requirements
from gpuwhy.observe.other_cuda import for_another_cuda
from gpuwhy.observe.plugins import PLUGIN, agreed, rival_plugins
from gpuwhy.observe.provided import on_the_path
from gpuwhy.observe.scene import Scene

_NAME = re.compile(r"Requires-Dist: ([A-Za-z0-9][\w.-]*)")
_MOST = 400  # distributions whose metadata is read


def contradictions(scene: Scene) -> Fact[tuple[Contradiction, ...]]:
    """Every contradiction, those that stop first; () where no GPU package is installed."""
    installed = scene.facts.target.distributions.need() or ()
    first = {d.name: d for d in reversed(installed)}  # the first on the path is the one that is imported
    roots = [d for d in first.values() if gpu_related(d.name) and not d.name.startswith("nvidia-")]
    source = ", ".join(scene.facts.target.site_packages.need() or ())
    asked, unseen = _asked(scene, first)
    if unseen is not None:
        return unseen
    if not roots:
        return known(tuple(_without_framework(scene, first, asked)), "folder", source, "no GPU package")
    said = list(stated(scene, first, asked))
    found = [
        *said,
        *_unstated(first),
        *_seen_to_fail(first),
        *_same_release(first, said, asked.get("jax", ())),
        *rival_plugins(first),
        *_half_a_plugin(first),
        *for_another_cuda(scene, tuple(first.values())),
        *_compiled(scene, first, set(asked)),
        *_generated(scene, first, {name for name, lines in asked.items() if _needs_protobuf(lines)}),
    ]
    return known(tuple(_told_once(found)), "folder", source, f"METADATA of {len(asked)} distributions")


def _half_a_plugin(installed: dict[str, Distribution]) -> Iterator[Contradiction]:
    """JAX's client for CUDA without the kernels that belong to it, which only their own metadata ties to it."""
    for name, one in installed.items():
        plugin = name.replace("-pjrt", "-plugin")
        if PLUGIN.fullmatch(name) and name.endswith("-pjrt") and plugin not in installed:
            effect = "so JAX lacks its kernels for the GPU"
            yield _say(one, plugin, f"=={one.version}", "", "unstated", effect, False, "knowledge/pairs.py")


def _without_framework(scene: Scene, installed: dict[str, Distribution], asked: Lines) -> Iterator[Contradiction]:
    """What is built on a framework where there is none at all; what else contradicts the rest."""
    for one in stated(scene, installed, asked):
        lacks = one.name in MAIN and not one.installed
        yield structs.replace(one, effect="so its import fails", stops=True) if lacks else one


def _told_once(found: list[Contradiction]) -> list[Contradiction]:
    """One for each pair, the one that says most of what happens; those that stop first."""
    best: dict[tuple[str, str], Contradiction] = {}
    for one in sorted(found, key=lambda c: (not c.stops, not c.effect, c.how != "stated")):
        best.setdefault((one.by, one.name), one)

    def order(one: Contradiction) -> tuple[bool, ...]:
        return (
            one.how in ("wheel", "late"),
            not one.stops,
            not one.near,
            not one.installed,
            not gpu_related(one.name),
            not gpu_related(one.by),
        )

    return sorted(best.values(), key=order)


# ---------------------------------------------------------------- what they state


Lines = dict[str, tuple[str, ...]]


def asked_by_the_stack(scene: Scene) -> dict[str, str]:
    """Every distribution that the GPU stack asks for without a condition, and who asks first."""
    found: tuple[Distribution, ...] = value_or(scene.facts.target.distributions, ())
    installed = {one.name: one for one in reversed(found)}
    out: dict[str, str] = {}
    for by, lines in _asked(scene, installed)[0].items():
        for line in lines:
            if "extra ==" not in line:
                out.setdefault(_name(line), f"{by} {installed[by].version}")
    return out


def refused_by_the_stack(scene: Scene, name: str, version: str) -> str:
    """Who in the GPU stack states a range that a release of a distribution is not in, and which; "" for nobody."""
    found: tuple[Distribution, ...] = value_or(scene.facts.target.distributions, ())
    installed = {one.name: one for one in reversed(found)}
    environment = _markers(scene)
    for by, lines in _asked(scene, installed)[0].items():
        said = [_wish(line, environment, by) for line in lines if _name(line) == name]
        ranges = [wish[1] for wish in said if wish and not wish[2]]
        if ranges and not any(pairs.allows(one, version) for one in ranges):
            return f"{by} {installed[by].version} asks for {name}{ranges[0]}"
    return ""


def _asked(scene: Scene, installed: dict[str, Distribution]) -> tuple[Lines, Unknown | None]:
    """The requirements of the GPU packages and their neighbours, and of all that these need, by distribution."""
    waiting = [n for n in installed if _of_the_stack(n)]
    found: Lines = {}
    while waiting and len(found) < _MOST:
        name = waiting.pop(0)
        if name in found:
            continue
        lines = requirements(scene, installed[name])
        if isinstance(lines, Unknown):
            return {}, lines
        found[name] = value_or(lines, ())
        needs = [_name(line) for line in found[name] if "extra ==" not in line]
        waiting += [need for need in needs if need in installed and not need.startswith("nvidia-")]
    return found, None


def _of_the_stack(name: str) -> bool:
    return not name.startswith("nvidia-") and (gpu_related(name) or bool(pairs.NEIGHBOURS.fullmatch(name)))


def _name(line: str) -> str:
    match = _NAME.match(line)
    return normal(match[1]) if match else ""


def stated(scene: Scene, installed: dict[str, Distribution], asked: Lines) -> Iterator[Contradiction]:
    """What the lines of some distributions ask for and what is installed does not meet."""
    environment = _markers(scene)
    for by, lines in asked.items():
        wishes: dict[str, list[tuple[str, bool]]] = {}
        for line in lines:
            said = _wish(line, environment, by)
            if said:
                wishes.setdefault(said[0], []).append((said[1], said[2]))
        for name, ranges in wishes.items():
            found = _unmet(installed, installed[by], name, ranges)
            yield from (one for one in found if one.installed or not on_the_path(scene, one.name))


def with_extra(scene: Scene, lines: Sequence[str], extra: str) -> Iterator[tuple[str, str]]:
    """What lines of one distribution ask for where an extra of it was wanted: name and range."""
    environment = {**_markers(scene), "extra": extra}
    for line in lines:
        said = _wish(line, environment, "")
        if said:
            yield said[0], said[1]


def _markers(scene: Scene) -> dict[str, str]:
    """The target's own answers to markers, as far as they decide."""
    python = scene.facts.target.interpreter
    version = python.value.version if isinstance(python, Known) else "3.12.0"
    machine = python.value.machine if isinstance(python, Known) and python.value.machine else "x86_64"
    windows = value_or(scene.facts.surroundings.system, "linux") == "windows"
    return {
        "python_version": major_minor(version),
        "python_full_version": version if version.count(".") > 1 else f"{version}.99",  # markers are about early ones
        "sys_platform": "win32" if windows else "linux",
        "platform_system": "Windows" if windows else "Linux",
        "platform_machine": machine,
        "os_name": "nt" if windows else "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_version": "",
        "implementation_version": version,
        "extra": "",
    }


def _wish(line: str, environment: dict[str, str], by: str) -> tuple[str, str, bool] | None:
    """Name, range and whether an extra asks for it; None where the requirement does not hold here."""
    from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        wanted = Requirement(line.removeprefix("Requires-Dist: "))
        name = normal(wanted.name)
        holds = wanted.marker is None or wanted.marker.evaluate(environment)
    except (InvalidRequirement, UndefinedComparison, UndefinedEnvironmentName, RecursionError):
        return None
    by_extra = not holds and "extra" in line and bool(pairs.EXTRAS_COUNT.fullmatch(f"{by} {name}"))
    return (name, str(wanted.specifier), by_extra) if holds or by_extra else None


def _unmet(
    installed: dict[str, Distribution], by: Distribution, name: str, ranges: list[tuple[str, bool]]
) -> Iterator[Contradiction]:
    """A requirement that none of the installed providers meets; several lines for one name are alternatives."""
    if pairs.LEFT_TO_LOADER.fullmatch(name):
        yield from _wheel_not_there(installed, by, name, ranges)
        return
    there = [installed[n] for n in sorted(pairs.providers(name), key=lambda n: n != name) if n in installed]
    plain = [wish for wish, extra in ranges if not extra]
    if there:
        yield from _other_release(installed, by, name, there, plain, [wish for wish, _ in ranges])
    elif plain and _counts_as_missing(by, name):
        yield _say(by, name, plain[0], "", "stated", *_plugin_effect(installed, by.name, name))


def _other_release(
    installed: dict[str, Distribution],
    by: Distribution,
    name: str,
    there: list[Distribution],
    plain: list[str],
    wishes: list[str],
) -> Iterator[Contradiction]:
    """What is there is of a release that no line allows; lines of extras count where there is no other."""
    asked = plain or wishes
    if any(pairs.allows(wish, one.version) for wish, one in product(asked, there)):
        return
    refusal = pairs.refusal(by.name, name)
    effect, stops = (refusal.effect, refusal.stops) if refusal else _plugin_effect(installed, by.name, name)
    tried = None if effect else _forced(by, name, asked, there[0].version)
    if tried is not None:
        effect, stops = "so its import fails", True
    know = str(tried.source) if tried is not None else ""
    yield _say(by, name, asked[0], there[0].version, "stated" if plain else "extra", effect, stops, know)


def _forced(by: Distribution, name: str, asked: list[str], version: str) -> neighbours.Seen | None:
    """The row that shows a forced pair to fail: of these releases, or of a package that fails with any other minor."""
    seen = neighbours.forced(by.name, by.version, name, version)
    if seen is not None:
        return seen if seen.outcome == "fails" else None
    exact = [wish.removeprefix("==") for wish in asked if re.fullmatch(r"==[\d.]+", wish)]
    other_minor = bool(exact) and all(major_minor(one) != major_minor(version) for one in exact)
    return neighbours.always_fails(by.name, name) if other_minor else None


def _wheel_not_there(
    installed: dict[str, Distribution], by: Distribution, name: str, ranges: list[tuple[str, bool]]
) -> Iterator[Contradiction]:
    """A wheel of NVIDIA's that is asked for always and is not installed; whether it is missed, the loader tells."""
    plain = [wish for wish, extra in ranges if not extra]
    if plain and name.startswith("nvidia-") and name not in installed and value_or(by.installer, "") != "conda":
        yield _say(by, name, plain[0], "", "wheel", "")


def _counts_as_missing(by: Distribution, name: str) -> bool:
    """Conda packages name what is not a distribution there; a framework that is a flavour has its own rivals."""
    return value_or(by.installer, "") != "conda" and flavour(name) is None


def _plugin_effect(installed: dict[str, Distribution], by: str, name: str) -> tuple[str, bool]:
    if not (by == "jax" and PLUGIN.fullmatch(name)) and not (PLUGIN.fullmatch(by) and PLUGIN.fullmatch(name)):
        return "", False
    jaxlib = installed["jaxlib"].version if "jaxlib" in installed else ""
    aside = bool(jaxlib) and pairs.plugin_left_aside(jaxlib)
    return ("so JAX leaves it aside and stays on the CPU" if aside else "so JAX fails with it or goes without it"), True


def _say(
    by: Distribution, name: str, wants: str, version: str, how: Any, effect: str, stops: bool = False, know: str = ""
) -> Contradiction:
    file = f"{by.location}/{'METADATA' if by.location.endswith('.dist-info') else 'PKG-INFO'}"
    return Contradiction(by.name, by.version, name, wants, version, how, file, effect, know, stops)


# ---------------------------------------------------------------- what they do not state


def _unstated(installed: dict[str, Distribution]) -> Iterator[Contradiction]:
    """The limits that releases have and do not state, from the table of them."""
    for one in installed.values():
        for row in CAPS:
            if one.name in pairs.providers(row.framework) and _in(one.version, row.since, row.until):
                yield from _capped(installed, one, row)
        for name, wants in PAIRS.get((one.name, one.version), {}).items():
            if name in installed and not pairs.allows(wants, installed[name].version):
                yield _say(one, name, wants, installed[name].version, "unstated", "", True, "knowledge/caps.py, PAIRS")


def _capped(installed: dict[str, Distribution], one: Distribution, row: CapRow) -> Iterator[Contradiction]:
    """A limit that the installed release is outside of, or that names something which is always needed."""
    name, wants = re.split(r"(?=[<>=!~])", row.requirement, maxsplit=1)
    there = next((installed[n] for n in pairs.providers(name) if n in installed), None)
    why = (row.because, row.stops, str(row.source))
    if there is not None and not pairs.allows(wants, there.version):
        yield _say(one, name, wants, there.version, "unstated", *why)
    if there is None and row.always:
        late = row.late and not any(_imports_it(installed, who) for who in row.importers)
        yield _say(one, name, wants, "", "late" if late else "unstated", *why)


def _imports_it(installed: dict[str, Distribution], who: str) -> bool:
    """Whether a package is there that imports the other when it is imported itself: `bitsandbytes<0.45`."""
    name, until = re.split(r"(?=<)", who, maxsplit=1)
    return name in installed and pairs.allows(until, installed[name].version)


def _seen_to_fail(installed: dict[str, Distribution]) -> Iterator[Contradiction]:
    """Releases that were seen to fail beside this release of their framework, which they do not forbid."""
    for one in installed.values():
        for host in neighbours.hosts(one.name):
            there = next((installed[n] for n in sorted(pairs.providers(host)) if n in installed), None)
            row = neighbours.broken(one.name, one.version, host, there.version) if there else None
            if row and there:
                yield _say(one, host, row.wants, there.version, "unstated", row.because, True, str(row.row.source))


def _in(version: str, since: str, until: str) -> bool:
    return at_least(version, since) and not at_least(version, until)


def _same_release(
    installed: dict[str, Distribution], said: list[Contradiction], lines: Sequence[str]
) -> Iterator[Contradiction]:
    """JAX's CUDA plugin and PJRT client are built with one jaxlib release each."""
    jaxlib = installed.get("jaxlib")
    for name, one in installed.items():
        if jaxlib is None or not PLUGIN.fullmatch(name):
            continue
        if numbers(one.version)[:3] == numbers(jaxlib.version)[:3] or agreed(name, jaxlib.version, said, lines):
            continue
        effect, stops = _plugin_effect(installed, "jax", name)
        yield _say(one, "jaxlib", f"=={one.version}", jaxlib.version, "same release", effect, stops)


# ---------------------------------------------------------------- what their files tell


def _compiled(scene: Scene, installed: dict[str, Distribution], near: set[str]) -> Iterator[Contradiction]:
    """Extensions that were compiled for NumPy 1 beside NumPy 2."""
    numpy = installed.get("numpy")
    if numpy is None or numbers(numpy.version)[:1] < (2,):
        return
    for one in installed.values():
        if one.name.startswith("nvidia-") or one.name == "numpy":
            continue
        file = built_for_numpy(scene, one)
        if file:
            yield Contradiction(
                one.name, one.version, "numpy", "<2", numpy.version, "compiled", file,
                "so the import fails, or passing arrays fails", "", one.name in near, one.name in near,
            )  # fmt: skip


def _needs_protobuf(lines: tuple[str, ...]) -> bool:
    """Whether protobuf is asked for always: code of an optional part is not loaded by the import."""
    return any(re.match(r"Requires-Dist: protobuf\b", line) and "extra ==" not in line for line in lines)


def _generated(scene: Scene, installed: dict[str, Distribution], near: set[str]) -> Iterator[Contradiction]:
    """Code that protoc generated for another protobuf than the installed one."""
    protobuf = installed.get("protobuf")
    if protobuf is None:
        return
    for name in near:
        found = generated_for(scene, installed[name])
        if found and not pairs.allows(found[0], protobuf.version):
            yield Contradiction(
                name, installed[name].version, "protobuf", found[0], protobuf.version, "generated", found[1],
                "so its import fails", "", True,
            )  # fmt: skip
