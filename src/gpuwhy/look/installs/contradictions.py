"""Installed releases that cannot work together: by what they state, what is known, and their files.

The GPU packages, their neighbours and everything that these need are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from msgspec.structs import replace

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Fact, Known, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Basis, Contradiction
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import pairs, tried
from gpuwhy.knowledge.packages import MAIN, flavour
from gpuwhy.look.environment.packages import gpu_related
from gpuwhy.look.environment.python import on_the_path
from gpuwhy.look.files import environ, exists, lines
from gpuwhy.look.frameworks.builds import bitsandbytes_builds, cuda_of_name, library_files
from gpuwhy.look.installs.requirements import (
    Lines,
    Wish,
    allows,
    asked,
    is_optional,
    markers,
    name_of,
    wish,
)
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Machine

_PLUGIN = r"jax-cuda\d+-(plugin|pjrt)"
_TENSORFLOW_ADDED = r"tensorflow-(?:io|addons|text|probability|decision-forests)"
_FAILS = "so its import fails"


def contradictions(
    machine: Machine, facts: Facts, options: Options
) -> Fact[tuple[Contradiction, ...]]:
    """Every contradiction, one for each pair of packages, those that stop first."""
    if facts.environment.packages.need() is None:
        return known((), "env", "PATH", "no Python")
    installed = facts.environment.by_name
    stack, unseen = asked(installed)
    if unseen is not None:
        return unseen
    look = _Look(machine, facts, stack)
    said = list(look.stated())
    every = [*said, *look.unstated(), *look.seen_to_fail(), *look.plugins(said)]
    every += [*look.other_cuda(), *look.compiled(), *look.generated()]
    every.sort(key=lambda one: (not one.stops, not one.effect, one.basis is not Basis.STATED))
    best: dict[tuple[str, str], Contradiction] = {}
    for one in every:  # the one that says most of what happens
        best.setdefault((one.by.name, one.name), one)
    source = ", ".join(site.path for site in value_or(facts.environment.sites, ()))
    found = tuple(sorted(best.values(), key=_order))
    return known(found, "folder", source, f"METADATA of {len(installed)} packages")


def _order(one: Contradiction) -> tuple[bool, ...]:
    late = one.basis in (Basis.NO_WHEEL, Basis.LATE)
    strangers = not gpu_related(one.name), not gpu_related(one.by.name)
    return late, not one.stops, not one.installed, *strangers


class _Look:
    """The installed packages, and the lines of the GPU stack's requirements."""

    def __init__(self, machine: Machine, facts: Facts, stack: Lines) -> None:
        self.machine = machine
        self.facts = facts
        self.installed = facts.environment.by_name
        self.stack = stack
        self.markers = markers(facts)

    def _first(self, wanted: Sequence[str]) -> Package | None:
        return next((self.installed[one] for one in wanted if one in self.installed), None)

    # -------------------------------------------------------- what they state

    def stated(self) -> Iterator[Contradiction]:
        """What the stack asks for, and what is installed does not meet."""
        able = any(gpu_related(one) and not one.startswith("nvidia-") for one in self.installed)
        for by, asks in self.stack.items():
            extras = _PLUGIN if by == "jax" else ""
            if re.fullmatch(_TENSORFLOW_ADDED, by):
                extras = "tensorflow"
            wishes: dict[str, list[Wish]] = {}
            for line in asks:
                said = wish(line, self.markers, extras) if extras or not is_optional(line) else None
                if said:
                    wishes.setdefault(said.name, []).append(said)
            for name, several in wishes.items():
                one = self._unmet(self.installed[by], name, several)
                if one is None or (not one.installed and self._without_metadata(one.name)):
                    continue
                lost = not one.installed and name in MAIN and not able
                yield replace(one, effect=_FAILS, stops=True) if lost else one

    def _unmet(self, by: Package, name: str, wishes: list[Wish]) -> Contradiction | None:
        """A requirement that no installed package meets; several lines are alternatives."""
        plain = [one.range for one in wishes if not one.by_extra]
        ranges = plain or [one.range for one in wishes]
        stated = plain and by.installer != "conda"
        if pairs.is_left_to_loader(name):  # the loader knows whether it is missed
            wheel = stated and name.startswith("nvidia-") and name not in self.installed
            return _say(by, name, plain[0], "", Basis.NO_WHEEL) if wheel else None
        flavours = sorted(pairs.providers(name), key=lambda one: one != name)
        there = [self.installed[one].version for one in flavours if one in self.installed]
        (effect, stops), source = self._plugin_effect(by.name, name), ""
        if not there:
            lost = stated and flavour(name) is None
            return _say(by, name, plain[0], "", Basis.STATED, effect, stops) if lost else None
        if any(allows(*pair) for pair in product(ranges, there)):
            return None
        if refusal := pairs.refusal(by.name, name):
            effect, stops = refusal.effect, refusal.stops
        if not effect and (source := _forced(by, name, ranges, there[0])):
            effect, stops = _FAILS, True
        basis = Basis.STATED if plain else Basis.EXTRA
        return _say(by, name, ranges[0], there[0], basis, effect, stops, source)

    def _plugin_effect(self, by: str, name: str) -> tuple[str, bool]:
        """What JAX does with a plug-in of another release than it asks for."""
        if not re.fullmatch(_PLUGIN, name) or not (by == "jax" or re.fullmatch(_PLUGIN, by)):
            return "", False
        jaxlib = self.installed.get("jaxlib")
        if jaxlib and pairs.plugin_left_aside(jaxlib.version):
            return "so JAX leaves it aside and stays on the CPU", True
        return "so JAX fails with it or goes without it", True

    def _without_metadata(self, name: str) -> bool:
        """Whether a package that is not installed is there all the same."""
        from gpuwhy.knowledge.modules import IMPORTED_AS

        module = IMPORTED_AS.get(name) or name.replace("-", "_")
        sites = value_or(self.facts.environment.sites, ())
        return any(on_the_path(self.machine, site.path, module) for site in sites)

    # -------------------------------------------------------- what they do not state

    def unstated(self) -> Iterator[Contradiction]:
        """The limits that releases have and do not state; JAX's client without its kernels."""
        from gpuwhy.knowledge.needs import needs

        caps = needs("cap")
        providers = {row.package: pairs.providers(row.package) for row in caps}
        for one in self.installed.values():
            for row in caps:
                if one.name not in providers[row.package]:
                    continue
                if not at_least(one.version, row.since) or at_least(one.version, row.until):
                    continue
                name, wanted = re.split(r"(?=[<>=!~])", row.requirement, maxsplit=1)
                there = self._first([*pairs.providers(name)])
                late = row.late and not any(map(self._imports_it, row.importers))
                basis = Basis.LATE if late and there is None else Basis.UNSTATED
                if row.always if there is None else not allows(wanted, there.version):
                    version, source = there.version if there else "", str(row.source)
                    yield _say(one, name, wanted, version, basis, row.because, row.stops, source)
            for name, wanted in pairs.unstated(one.name, one.version).items():
                other = self.installed.get(name)
                if other and not allows(wanted, other.version):
                    why = ("", True, "knowledge/data/pairs.json")
                    yield _say(one, name, wanted, other.version, Basis.UNSTATED, *why)
            plugin = one.name.replace("-pjrt", "-plugin")
            if re.fullmatch(r"jax-cuda\d+-pjrt", one.name) and plugin not in self.installed:
                why = ("so JAX lacks its kernels for the GPU", False, "knowledge/pairs.py")
                yield _say(one, plugin, f"=={one.version}", "", Basis.UNSTATED, *why)

    def _imports_it(self, who: str) -> bool:
        """Whether a package is installed that imports the other at its own import."""
        name, until = re.split(r"(?=<)", who, maxsplit=1)
        return name in self.installed and allows(until, self.installed[name].version)

    def seen_to_fail(self) -> Iterator[Contradiction]:
        """Releases that were seen to fail beside this release of their framework."""
        for one in self.installed.values():
            for host in tried.hosts(one.name):
                there = self._first(sorted(pairs.providers(host)))
                on = there.version if there else ""
                row = tried.broken(one.name, one.version, host, on) if there else None
                if row:
                    why = (row.because, True, str(row.row.source))
                    yield _say(one, host, row.wants, on, Basis.UNSTATED, *why)

    def plugins(self, said: Sequence[Contradiction]) -> Iterator[Contradiction]:
        """JAX's plug-in and client are built with one jaxlib release each; and two plug-ins for two
        releases of CUDA ask for one place, where the second is refused.
        """
        jaxlib = self.installed.get("jaxlib")
        found = [one for name, one in self.installed.items() if re.fullmatch(_PLUGIN, name)]
        for one in found if jaxlib else ():
            same = jaxlib and numbers(one.version)[:3] == numbers(jaxlib.version)[:3]
            if jaxlib and not same and not self._agreed(one.name, jaxlib.version, said):
                why = self._plugin_effect("jax", one.name)
                wanted, basis = f"=={one.version}", Basis.SAME_RELEASE
                yield _say(one, "jaxlib", wanted, jaxlib.version, basis, *why)
        rivals = [one for one in found if one.name.endswith("-plugin")]
        rivals.sort(key=lambda one: (not self._has_runtime(one.name), one.name))
        for one in rivals[1:]:
            why, first = (pairs.RIVAL_PLUGINS, False), rivals[0]
            version, basis = first.version, Basis.RIVAL
            yield _say(one, first.name, "", version, basis, *why, pairs.RIVALS_TRIED)

    def _agreed(self, name: str, jaxlib: str, said: Sequence[Contradiction]) -> bool:
        """Whether JAX itself states which plug-ins it takes beside which jaxlib, and it fits."""
        plugin = name.replace("-pjrt", "-plugin")
        stated = any(name_of(line) == plugin for line in self.stack.get("jax", ()))
        every = ("jaxlib", plugin, name)
        against = any(c.by.name in ("jax", plugin) and c.name in every for c in said)
        return stated and not against and not pairs.plugin_left_aside(jaxlib)

    def _has_runtime(self, plugin: str) -> bool:
        """Whether the CUDA runtime of a plug-in's release is among the wheels."""
        major = plugin.removeprefix("jax-cuda").partition("-")[0]
        newer = int(major) >= 13 and "nvidia-cuda-runtime" in self.installed
        return newer or f"nvidia-cuda-runtime-cu{major}" in self.installed

    # -------------------------------------------------------- another CUDA than PyTorch's

    def other_cuda(self) -> Iterator[Contradiction]:
        """Packages on PyTorch that have no library for its CUDA, or link another's runtime."""
        frameworks = value_or(self.facts.frameworks.installed, ())
        torch = next((one for one in frameworks if one.name == "torch"), None)
        cuda = value_or(torch.built_for_cuda, "") if torch else ""
        for one in self.installed.values() if torch and cuda else ():
            judge = self._without_build if one.name == "bitsandbytes" else self._links_another
            found = judge(one, torch.version, cuda) if torch else None
            if torch and found:
                why = (found[0], True, "", found[1])
                yield _say(one, "torch", cuda, torch.version, Basis.OTHER_CUDA, *why)

    def _without_build(self, one: Package, torch: str, cuda: str) -> tuple[str, str] | None:
        """It opens the library that is named after PyTorch's CUDA, unless a variable names one."""
        folder, builds = f"{one.site}/bitsandbytes", bitsandbytes_builds(self.machine, one.site)
        if environ(self.machine).get("BNB_CUDA_VERSION") or not builds or cuda in builds:
            return None
        same_major = any(numbers(build)[:1] == numbers(cuda)[:1] for build in builds)
        if same_major and lines(self.machine, f"{folder}/cextension.py", "_find_cuda_libs"):
            return None  # this release takes the nearest of the same major
        effect = (
            f"has libraries for CUDA {builds[0]} to {builds[-1]}, and none for {cuda}, which torch "
            f"{torch} asks for, by its CUDA: it does not work on a GPU"
        )
        return effect, folder

    def _links_another(self, one: Package, torch: str, cuda: str) -> tuple[str, str] | None:
        """A module that needs the runtime of another CUDA major, which nothing brings."""
        needs_torch = any(name_of(line) == "torch" for line in value_or(one.requires, ()))
        if one.name in _JUDGED or not (needs_torch or re.fullmatch(_ON_TORCH, one.name)):
            return None
        for path in library_files(one, 6):
            elf = self.machine.elf(path)
            needed = elf.value.needed if isinstance(elf, Known) else ()
            runtime = next((n for n in needed if re.match(r"libcudart\.so\.\d", n)), "")
            theirs = cuda_of_name(runtime)
            if runtime and numbers(theirs)[:1] != numbers(cuda)[:1] and not self._found(runtime):
                built = f"was built for CUDA {theirs}: it needs {runtime}"
                return f"{built}, and torch {torch} brings CUDA {cuda}, {_FAILS}", path
        return None

    def _found(self, name: str) -> bool:
        """Whether the loader finds a library by itself."""
        if any(entry.name == name for entry in value_or(self.machine.ldcache(), ())):
            return True
        value = environ(self.machine).get("LD_LIBRARY_PATH", "")
        return any(exists(self.machine, f"{one}/{name}") for one in value.split(":") if one)

    # -------------------------------------------------------- what their files tell

    def compiled(self) -> Iterator[Contradiction]:
        """Extensions that were compiled for NumPy 1 beside NumPy 2."""
        numpy = self.installed.get("numpy")
        if numpy is None or not at_least(numpy.version, "2"):
            return
        effect = "so the import fails, or passing arrays fails"
        for one in map(self.installed.__getitem__, self.stack):
            if _may_be_for_numpy_1(one) and (file := self._built_for_numpy_1(one)):
                why = (effect, True, "", file)
                yield _say(one, "numpy", "<2", numpy.version, Basis.COMPILED, *why)

    def _built_for_numpy_1(self, one: Package) -> str:
        """A library that knows NumPy 1's modules only; "" where none is found.

        Headers of NumPy 2 (and pybind11 from 2.12 on) look for `numpy._core` first.
        """
        old = ""
        for path in _small_libraries(one):
            held = value_or(self.machine.holds(path, *_OLD_NUMPY, _NEW_NUMPY), ())
            if _NEW_NUMPY in held:
                return ""
            old = old or (path if held else "")
        return old

    def generated(self) -> Iterator[Contradiction]:
        """Code that protoc generated for another protobuf than the installed one."""
        protobuf = self.installed.get("protobuf")
        for name, asks in self.stack.items() if protobuf else ():
            if any(name_of(one) == "protobuf" and not is_optional(one) for one in asks):
                wanted, file = self._generated_for(self.installed[name])
                if protobuf and wanted and not allows(wanted, protobuf.version):
                    by, why = self.installed[name], (_FAILS, True, "", file)
                    yield _say(by, "protobuf", wanted, protobuf.version, Basis.GENERATED, *why)

    def _generated_for(self, one: Package) -> tuple[str, str]:
        """The range of protobuf that a package's generated code loads under, and the file.

        Code from 5.26 on is checked and may be one major older; older than 3.19 fails from 4 on.
        """
        marks = ("# Protobuf Python Version: ", "ValidateProtobufRuntime", "FieldDescriptor(")
        rows = [row.path for row in one.files.ending("_pb2.py")]
        for name in [row for row in rows if not row.startswith(("/", ".."))][:2]:
            path = f"{one.site}/{name}"
            found = self.machine.lines(path, *marks)
            if isinstance(found, Known):
                text = "\n".join(found.value)
                stamp = re.search(r"(?m)^# Protobuf Python Version: (\d+)\.(\d+)\.(\d+)", text)
                if stamp and "ValidateProtobufRuntimeVersion" in text:
                    return f">={'.'.join(stamp.groups())},<{int(stamp[1]) + 2}", path
                return "<3.21" if "_descriptor.FieldDescriptor(" in text else "", path
        return "", ""


_JUDGED = frozenset(
    {"torch", "bitsandbytes", "flash-attn", "xformers", "vllm", "triton", "torchvision"}
    | {"torchaudio"}
)
"""Whose libraries the loader follows, or that is judged here by other means."""
_ON_TORCH = (
    r"torch-(scatter|sparse|cluster|spline-conv|geometric)|pyg-lib|detectron2|apex|mmcv(-full)?"
    r"|pytorch3d|nvdiffrast|tinycudann"
)
_OLD_NUMPY = ("numpy.core._multiarray_umath", "numpy.core.multiarray")
_NEW_NUMPY = "numpy._core"
_MOST_LIBRARIES = 8  # looked at in a package, the smallest first
_SMALLEST, _LARGEST = 40 << 10, 24 << 20  # bytes; below are helpers that never see an array


def _say(
    by: Package,
    name: str,
    wants: str,
    version: str,
    basis: Basis,
    effect: str = "",
    stops: bool = False,
    source: str = "",
    file: str = "",
) -> Contradiction:
    stated = "METADATA" if by.location.endswith(".dist-info") else "PKG-INFO"
    file = file or f"{by.location}/{stated}"
    return Contradiction(by.owner, name, wants, version, basis, file, effect, source, stops)


def _may_be_for_numpy_1(one: Package) -> bool:
    """Whether a package uses NumPy, and does not ask for the one that it was built with."""
    new = one.name == "torch" and at_least(one.version, "2.3")  # built with NumPy 2 from then on
    if one.name.startswith("nvidia-") or one.name == "numpy" or new:
        return False
    lines = [line for line in value_or(one.requires, ()) if "numpy" in line.lower()]
    asks = [line.partition(";")[0] for line in lines if name_of(line) == "numpy"]
    uses = asks or one.name in ("torch", "onnxruntime", "onnxruntime-gpu")
    return bool(uses) and not any(re.search(r">=\s*2", line) for line in asks)


def _small_libraries(one: Package) -> list[str]:
    rows = [row for row in one.files.ending(".so", ".pyd") if not row.path.startswith(("/", ".."))]
    if one.name == "torch":
        return [f"{one.site}/{row.path}" for row in rows if "libtorch_python.so" in row.path]
    rows = [row for row in rows if row.path.endswith((".so", ".pyd")) and ".abi3." not in row.path]
    sized = sorted((row.size, row.path) for row in rows if _SMALLEST <= row.size <= _LARGEST)
    return [f"{one.site}/{path}" for _, path in sized[:_MOST_LIBRARIES]]


def _forced(by: Package, name: str, ranges: Sequence[str], version: str) -> str:
    """The row that shows a pair against the metadata to fail, as its source; "" without one."""
    seen = tried.forced(by.name, by.version, name, version)
    if seen is not None:
        return str(seen.source) if seen.outcome == "fails" else ""
    exact = [one.removeprefix("==") for one in ranges if re.fullmatch(r"==[\d.]+", one)]
    other = bool(exact) and all(major_minor(one) != major_minor(version) for one in exact)
    row = tried.always_fails(by.name, name) if other else None
    return str(row.source) if row is not None else ""
