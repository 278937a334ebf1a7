"""Installed releases that cannot work together: by what they state, what is known, and their files.

The GPU packages, their neighbours and everything that these need are read; of what else is
installed, missing requirements are told, and what was compiled for another NumPy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from msgspec.structs import replace

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Fact, Known, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.installs import Basis, Contradiction
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import pairs
from gpuwhy.knowledge.flavours import MAIN, flavour
from gpuwhy.look.environment.packages import exists, gpu_related
from gpuwhy.look.environment.python import pth_folders
from gpuwhy.look.frameworks.builds import cuda_of_name, dotted, library_files
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

PLUGIN = r"jax-cuda\d+-(plugin|pjrt)"
_EXTRAS_OF = {"jax": r"jax-cuda\d+-(?:plugin|pjrt)"}
_TENSORFLOW_ADDED = r"tensorflow-(?:io|addons|text|probability|decision-forests)"
_FAILS = "so its import fails"
Installed = Mapping[str, Package]


def contradictions(
    machine: Machine, facts: Facts, options: Options
) -> Fact[tuple[Contradiction, ...]]:
    """Every contradiction, those that stop first."""
    if facts.environment.packages.need() is None:
        return known((), "env", "PATH", "no Python")
    installed = facts.environment.by_name
    lines, unseen = asked(installed)
    if unseen is not None:
        return unseen
    roots = [n for n in installed if gpu_related(n) and not n.startswith("nvidia-")]
    look = _Look(machine, facts, installed, lines)
    source = ", ".join(site.path for site in value_or(facts.environment.sites, ()))
    if not roots:
        found = [*look.without_framework(), *look.beside()]
        return known(tuple(found), "folder", source, "no GPU package")
    said = list(look.stated())
    every = [
        *said,
        *look.unstated(),
        *look.seen_to_fail(),
        *look.same_release(said),
        *look.plugins(),
        *look.other_cuda(),
        *look.compiled(),
        *look.generated(),
        *look.beside(),
    ]
    found = _once(every)
    return known(tuple(found), "folder", source, f"METADATA of {len(installed)} packages")


def _once(found: list[Contradiction]) -> list[Contradiction]:
    """One for each pair, the one that says most of what happens; those that stop first."""
    best: dict[tuple[str, str], Contradiction] = {}
    for one in sorted(
        found, key=lambda c: (not c.stops, not c.effect, c.basis is not Basis.STATED)
    ):
        best.setdefault((one.by.name, one.name), one)

    def order(one: Contradiction) -> tuple[bool, ...]:
        return (
            one.basis in (Basis.NO_WHEEL, Basis.LATE),
            not one.stops,
            not one.stack,
            not one.installed,
            not gpu_related(one.name),
            not gpu_related(one.by.name),
        )

    return sorted(best.values(), key=order)


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
    return Contradiction(
        by=by.owner,
        name=name,
        wants=wants,
        installed=version,
        basis=basis,
        file=file or f"{by.location}/{stated}",
        effect=effect,
        source=source,
        stops=stops,
    )


class _Look:
    """The installed packages, and the lines of the GPU stack's requirements."""

    def __init__(self, machine: Machine, facts: Facts, installed: Installed, lines: Lines) -> None:
        self.machine = machine
        self.facts = facts
        self.installed = installed
        self.lines = lines
        self.markers = markers(facts)
        sites = value_or(facts.environment.sites, ())
        self.sites = [site.path for site in sites]

    # -------------------------------------------------------- what they state

    def stated(self) -> Iterator[Contradiction]:
        """What the stack asks for, and what is installed does not meet."""
        for by, lines in self.lines.items():
            yield from self._of(self.installed[by], lines)

    def _of(self, by: Package, lines: Sequence[str]) -> Iterator[Contradiction]:
        extras = _EXTRAS_OF.get(by.name, "")
        extras = extras or ("tensorflow" if re.fullmatch(_TENSORFLOW_ADDED, by.name) else "")
        wishes: dict[str, list[Wish]] = {}
        for line in lines:
            if extras or not is_optional(line):
                said = wish(line, self.markers, extras)
                if said:
                    wishes.setdefault(said.name, []).append(said)
        for name, said_of in wishes.items():
            for one in self._unmet(by, name, said_of):
                if one.installed or not self._on_the_path(one.name):
                    yield one

    def _unmet(self, by: Package, name: str, wishes: list[Wish]) -> Iterator[Contradiction]:
        """A requirement that no installed package meets; several lines are alternatives."""
        plain = [one.range for one in wishes if not one.by_extra]
        if pairs.LEFT_TO_LOADER.fullmatch(name):
            wheel = name.startswith("nvidia-") and name not in self.installed
            if plain and wheel and by.installer != "conda":  # the loader knows whether it is missed
                yield _say(by, name, plain[0], "", Basis.NO_WHEEL)
            return
        names = sorted(pairs.providers(name), key=lambda one: one != name)
        there = [self.installed[one] for one in names if one in self.installed]
        if there:
            yield from self._other_release(by, name, there, plain, [one.range for one in wishes])
        elif plain and by.installer != "conda" and flavour(name) is None:
            effect, stops = self._plugin_effect(by.name, name)
            yield _say(by, name, plain[0], "", Basis.STATED, effect, stops)

    def _other_release(
        self, by: Package, name: str, there: list[Package], plain: list[str], every: list[str]
    ) -> Iterator[Contradiction]:
        """An installed release that no line allows; extras count where no other line asks."""
        ranges = plain or every
        if any(allows(wanted, one.version) for wanted, one in product(ranges, there)):
            return
        refusal = pairs.refusal(by.name, name)
        effect, stops = self._plugin_effect(by.name, name)
        if refusal:
            effect, stops = refusal.effect, refusal.stops
        version, source = there[0].version, ""
        if not effect:
            row = _forced(by, name, ranges, version)
            if row:
                effect, stops, source = _FAILS, True, row
        basis = Basis.STATED if plain else Basis.EXTRA
        yield _say(by, name, ranges[0], version, basis, effect, stops, source)

    def _plugin_effect(self, by: str, name: str) -> tuple[str, bool]:
        """What JAX does with a plug-in of another release than it asks for."""
        plugin = re.fullmatch(PLUGIN, name)
        if not plugin or not (by == "jax" or re.fullmatch(PLUGIN, by)):
            return "", False
        jaxlib = self.installed.get("jaxlib")
        if jaxlib and pairs.plugin_left_aside(jaxlib.version):
            return "so JAX leaves it aside and stays on the CPU", True
        return "so JAX fails with it or goes without it", True

    def _on_the_path(self, name: str) -> bool:
        """Whether a package that is not installed is there all the same, without metadata."""
        from gpuwhy.knowledge.modules import IMPORTED_AS

        module = IMPORTED_AS.get(name) or name.replace("-", "_")
        value = value_or(self.machine.environ(), {}).get("PYTHONPATH", "")
        places = [folder for folder in value.split(":") if folder.startswith("/")]
        places += [one for site in self.sites for one, _ in pth_folders(self.machine, site)]
        match = rf"{re.escape(module)}(\.py)?$"
        return any(value_or(self.machine.list(place, match), ()) for place in places)

    def without_framework(self) -> Iterator[Contradiction]:
        """What is built on a framework where none is installed; what else contradicts the rest."""
        for one in self.stated():
            lacks = one.name in MAIN and not one.installed
            yield replace(one, effect=_FAILS, stops=True) if lacks else one

    def beside(self) -> Iterator[Contradiction]:
        """Requirements outside the GPU stack that are not installed: metadata states them."""
        for name, one in self.installed.items():
            if name in self.lines or name.startswith("nvidia-"):
                continue
            if one.installer in ("", "conda"):  # these name what others installed, or leave out
                continue
            for line in value_or(one.requires, ()):
                if is_optional(line) or name_of(line) in self.installed:
                    continue
                said = wish(line, self.markers)
                if not said or flavour(said.name) or pairs.LEFT_TO_LOADER.fullmatch(said.name):
                    continue
                if not self._on_the_path(said.name):
                    yield replace(_say(one, said.name, said.range, "", Basis.STATED), stack=False)

    # -------------------------------------------------------- what they do not state

    def unstated(self) -> Iterator[Contradiction]:
        """The limits that releases have and do not state; JAX's client without its kernels."""
        from gpuwhy.knowledge.caps import CAPS, PAIRS

        providers = {row.framework: pairs.providers(row.framework) for row in CAPS}
        for one in self.installed.values():
            for row in CAPS:
                if one.name in providers[row.framework] and _within(one, row.since, row.until):
                    yield from self._capped(one, row)
            for name, wanted in PAIRS.get((one.name, one.version), {}).items():
                other = self.installed.get(name)
                if other and not allows(wanted, other.version):
                    where = "knowledge/caps.py, PAIRS"
                    version, basis = other.version, Basis.UNSTATED
                    yield _say(one, name, wanted, version, basis, "", True, where)
            plugin = one.name.replace("-pjrt", "-plugin")
            if re.fullmatch(r"jax-cuda\d+-pjrt", one.name) and plugin not in self.installed:
                effect, where = "so JAX lacks its kernels for the GPU", "knowledge/pairs.py"
                wanted, basis = f"=={one.version}", Basis.UNSTATED
                yield _say(one, plugin, wanted, "", basis, effect, False, where)

    def _capped(self, one: Package, row: object) -> Iterator[Contradiction]:
        from gpuwhy.knowledge.caps import CapRow

        assert isinstance(row, CapRow)
        name, wanted = re.split(r"(?=[<>=!~])", row.requirement, maxsplit=1)
        names = pairs.providers(name)
        there = next((self.installed[other] for other in names if other in self.installed), None)
        why = (row.because, row.stops, str(row.source))
        if there is not None and not allows(wanted, there.version):
            yield _say(one, name, wanted, there.version, Basis.UNSTATED, *why)
        if there is None and row.always:
            late = row.late and not any(map(self._imports_it, row.importers))
            yield _say(one, name, wanted, "", Basis.LATE if late else Basis.UNSTATED, *why)

    def _imports_it(self, who: str) -> bool:
        """Whether a package is installed that imports the other at its own import."""
        name, until = re.split(r"(?=<)", who, maxsplit=1)
        return name in self.installed and allows(until, self.installed[name].version)

    def seen_to_fail(self) -> Iterator[Contradiction]:
        """Releases that were seen to fail beside this release of their framework."""
        from gpuwhy.knowledge import neighbours

        for one in self.installed.values():
            for host in neighbours.hosts(one.name):
                names = sorted(pairs.providers(host))
                there = next((self.installed[n] for n in names if n in self.installed), None)
                if there is None:
                    continue
                row = neighbours.broken(one.name, one.version, host, there.version)
                if row:
                    because, where = row.because, str(row.row.source)
                    version, basis = there.version, Basis.UNSTATED
                    yield _say(one, host, row.wants, version, basis, because, True, where)

    # -------------------------------------------------------- JAX's plug-ins

    def same_release(self, said: Sequence[Contradiction]) -> Iterator[Contradiction]:
        """JAX's CUDA plug-in and client are built with one jaxlib release each."""
        jaxlib = self.installed.get("jaxlib")
        for name, one in self.installed.items():
            if jaxlib is None or not re.fullmatch(PLUGIN, name):
                continue
            same = numbers(one.version)[:3] == numbers(jaxlib.version)[:3]
            if same or self._agreed(name, jaxlib.version, said):
                continue
            effect, stops = self._plugin_effect("jax", name)
            basis, wanted = Basis.SAME_RELEASE, f"=={one.version}"
            yield _say(one, "jaxlib", wanted, jaxlib.version, basis, effect, stops)

    def _agreed(self, name: str, jaxlib: str, said: Sequence[Contradiction]) -> bool:
        """Whether JAX itself states which plug-ins it takes beside which jaxlib, and it fits."""
        plugin = name.replace("-pjrt", "-plugin")
        stated = any(name_of(line) == plugin for line in self.lines.get("jax", ()))
        names = ("jaxlib", plugin, name)
        against = any(c.by.name in ("jax", plugin) and c.name in names for c in said)
        return stated and not against and not pairs.plugin_left_aside(jaxlib)

    def plugins(self) -> Iterator[Contradiction]:
        """Plug-ins for two releases of CUDA: both ask for one place, the second is refused."""
        found = [n for n in self.installed if re.fullmatch(r"jax-cuda\d+-plugin", n)]
        found.sort(key=lambda name: (not self._has_runtime(name), name))
        for name in found[1:]:
            first = self.installed[found[0]]
            why = (pairs.RIVAL_PLUGINS, False, pairs.RIVALS_TRIED)
            yield _say(self.installed[name], found[0], "", first.version, Basis.RIVAL, *why)

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
        if torch is None or not cuda:
            return
        for one in self.installed.values():
            if one.name == "bitsandbytes":
                yield from self._without_build(one, torch, cuda)
            elif one.name not in _JUDGED and self._is_built_on_torch(one):
                yield from self._links_another(one, torch, cuda)

    def _without_build(self, one: Package, torch: Framework, cuda: str) -> Iterator[Contradiction]:
        """It opens the library that is named after PyTorch's CUDA, unless a variable names one."""
        folder = f"{one.site}/bitsandbytes"
        builds = bitsandbytes_builds(self.machine, one)
        named = value_or(self.machine.environ(), {}).get("BNB_CUDA_VERSION", "")
        if named or not builds or cuda in builds:
            return
        same_major = any(numbers(build)[:1] == numbers(cuda)[:1] for build in builds)
        file = f"{folder}/cextension.py"
        if same_major and value_or(self.machine.lines(file, "_find_cuda_libs"), ()):
            return  # this release takes the nearest of the same major
        effect = (
            f"has libraries for CUDA {span(builds)}, and none for {cuda}, which torch "
            f"{torch.version} asks for, by its CUDA: it does not work on a GPU"
        )
        version, basis = torch.version, Basis.OTHER_CUDA
        yield _say(one, "torch", cuda, version, basis, effect, True, file=folder)

    def _is_built_on_torch(self, one: Package) -> bool:
        if re.fullmatch(_ON_TORCH, one.name):
            return True
        return any(name_of(line) == "torch" for line in value_or(one.requires, ()))

    def _links_another(self, one: Package, torch: Framework, cuda: str) -> Iterator[Contradiction]:
        """A module that needs the runtime of another CUDA major, which nothing brings."""
        for path in library_files(one, 6):
            elf = self.machine.elf(path)
            needed = elf.value.needed if isinstance(elf, Known) else ()
            runtime = next((n for n in needed if re.match(r"libcudart\.so\.\d", n)), "")
            theirs = cuda_of_name(runtime)
            if not runtime or numbers(theirs)[:1] == numbers(cuda)[:1] or self._found(runtime):
                continue
            effect = (
                f"was built for CUDA {theirs}: it needs {runtime}, and torch {torch.version} "
                f"brings CUDA {cuda}, {_FAILS}"
            )
            version, basis = torch.version, Basis.OTHER_CUDA
            yield _say(one, "torch", cuda, version, basis, effect, True, file=path)
            return

    def _found(self, name: str) -> bool:
        """Whether the loader finds a library by itself."""
        if any(entry.name == name for entry in value_or(self.machine.ldcache(), ())):
            return True
        value = value_or(self.machine.environ(), {}).get("LD_LIBRARY_PATH", "")
        return any(exists(self.machine, f"{one}/{name}") for one in value.split(":") if one)

    # -------------------------------------------------------- what their files tell

    def compiled(self) -> Iterator[Contradiction]:
        """Extensions that were compiled for NumPy 1 beside NumPy 2."""
        numpy = self.installed.get("numpy")
        if numpy is None or not at_least(numpy.version, "2"):
            return
        effect = "so the import fails, or passing arrays fails"
        for one in self.installed.values():
            if one.name.startswith("nvidia-") or one.name == "numpy":
                continue
            file = self._built_for_numpy_1(one)
            if file:
                near = one.name in self.lines
                said = _say(
                    one, "numpy", "<2", numpy.version, Basis.COMPILED, effect, near, file=file
                )
                yield replace(said, stack=near)

    def _built_for_numpy_1(self, one: Package) -> str:
        """A library that knows NumPy 1's modules only; "" where none is found.

        Headers of NumPy 2 (and pybind11 from 2.12 on) look for `numpy._core` first.
        """
        lines = value_or(one.requires, ())
        asks = any(name_of(line) == "numpy" for line in lines if "numpy" in line.lower())
        if one.name == "torch" and at_least(one.version, "2.3"):
            return ""  # built with NumPy 2 from then on
        if not asks and one.name not in ("torch", "onnxruntime", "onnxruntime-gpu"):
            return ""
        if any(_needs_numpy_2(line) for line in lines):
            return ""
        old = ""
        for path in _small_libraries(one):
            held = value_or(self.machine.holds(path, *_OLD_NUMPY, _NEW_NUMPY), ())
            if _NEW_NUMPY in held:
                return ""
            if held and not old:
                old = path
        return old

    def generated(self) -> Iterator[Contradiction]:
        """Code that protoc generated for another protobuf than the installed one."""
        protobuf = self.installed.get("protobuf")
        for name, lines in self.lines.items() if protobuf else ():
            asks = any(name_of(line) == "protobuf" and not is_optional(line) for line in lines)
            found = self._generated_for(self.installed[name]) if asks else None
            if protobuf and found and not allows(found[0], protobuf.version):
                wanted, file = found
                version, basis = protobuf.version, Basis.GENERATED
                one = self.installed[name]
                yield _say(one, "protobuf", wanted, version, basis, _FAILS, True, file=file)

    def _generated_for(self, one: Package) -> tuple[str, str] | None:
        """The range of protobuf that a package's generated code loads under, and the file."""
        marks = ("# Protobuf Python Version: ", "ValidateProtobufRuntime", "FieldDescriptor(")
        rows = [row.path for row in one.files.ending("_pb2.py")]
        for name in [row for row in rows if not row.startswith(("/", ".."))][:2]:
            path = f"{one.site}/{name}"
            lines = self.machine.lines(path, *marks)
            if isinstance(lines, Known):
                return _protobuf_range(lines.value, path)
        return None


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


def _needs_numpy_2(line: str) -> bool:
    """A package that asks for NumPy 2 was built with it."""
    return name_of(line) == "numpy" and re.search(r">=\s*2", line.partition(";")[0]) is not None


def _small_libraries(one: Package) -> list[str]:
    rows = [row for row in one.files.ending(".so", ".pyd") if not row.path.startswith(("/", ".."))]
    if one.name == "torch":
        found = [row.path for row in rows if row.path.endswith("libtorch_python.so")]
        return [f"{one.site}/{path}" for path in found]
    rows = [row for row in rows if row.path.endswith((".so", ".pyd")) and ".abi3." not in row.path]
    sized = sorted((row.size, row.path) for row in rows if _SMALLEST <= row.size <= _LARGEST)
    return [f"{one.site}/{path}" for _, path in sized[:_MOST_LIBRARIES]]


def _protobuf_range(lines: Sequence[str], path: str) -> tuple[str, str] | None:
    """Code from 5.26 on is checked and may be one major older; older than 3.19 fails from 4 on."""
    stamps = (re.match(r"# Protobuf Python Version: (\d+)\.(\d+)\.(\d+)", one) for one in lines)
    stamp = next(filter(None, stamps), None)
    if stamp and any("ValidateProtobufRuntimeVersion" in line for line in lines):
        return f">={stamp[1]}.{stamp[2]}.{stamp[3]},<{int(stamp[1]) + 2}", path
    old = any("_descriptor.FieldDescriptor(" in line for line in lines)
    return ("<3.21", path) if old else None


def _forced(by: Package, name: str, ranges: Sequence[str], version: str) -> str:
    """The row that shows a pair against the metadata to fail, as its source; "" without one."""
    from gpuwhy.knowledge import neighbours

    seen = neighbours.forced(by.name, by.version, name, version)
    if seen is not None:
        return str(seen.source) if seen.outcome == "fails" else ""
    exact = [one.removeprefix("==") for one in ranges if re.fullmatch(r"==[\d.]+", one)]
    other = bool(exact) and all(major_minor(one) != major_minor(version) for one in exact)
    row = neighbours.always_fails(by.name, name) if other else None
    return str(row.source) if row is not None else ""


def _within(one: Package, since: str, until: str) -> bool:
    return at_least(one.version, since) and not at_least(one.version, until)


def bitsandbytes_builds(machine: Machine, one: Package) -> list[str]:
    """The releases of CUDA that an installed bitsandbytes has libraries for."""
    match = r"libbitsandbytes_cuda(\d+)\.so$"
    listed = value_or(machine.list(f"{one.site}/bitsandbytes", match), ())
    found = (re.match(match, entry.name) for entry in listed)
    return sorted({dotted(build[1]) for build in found if build}, key=numbers)


def span(builds: Sequence[str]) -> str:
    """From the first to the last: "11.8 to 12.9"."""
    return f"{builds[0]} to {builds[-1]}" if len(builds) > 1 else builds[0]
