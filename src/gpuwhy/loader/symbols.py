"""Symbols: what loaded files need of others that the copies loaded for them do not define.

A program with such a pair dies at import (`undefined symbol: __nvJitLinkComplete_12_4`, ``version
`GLIBCXX_3.4.32' not found``, error 127 on Windows), or at the first call.
"""

import re
from collections.abc import Callable, Iterator

import msgspec

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.loads import Extension, OldRuntime, UnmetSymbol
from gpuwhy.loader.outcome import Library
from gpuwhy.loader.systems import Process, System, is_windows
from gpuwhy.machine.machine import Machine

RUNTIMES = ("libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "libgomp.so.1")
_OF_OTHERS = re.compile(r"/nvidia/|/lib(cu|nv|nccl)[^/]*$")


def unmet_symbols(
    process: Process, system: System, pinned: Callable[[Library], bool] = lambda _: False
) -> tuple[UnmetSymbol, ...]:
    """Every CUDA library and its provider with a symbol missing between them; a pair that was
    published for each other is not compared.
    """
    out = []
    for asker in process.loaded:
        for name in asker.needs if system.concerns_gpu(asker.path) else ():
            pattern = system.provides(name)
            provider = process.get(name) if pattern is not None else None
            if provider is None or provider is asker or (pinned(asker) and pinned(provider)):
                continue
            lacking = process.machine.unmet(asker.path, pattern, provider.path)
            if isinstance(lacking, Known) and lacking.value:
                first, count = lacking.value[:3], len(lacking.value)
                out.append(UnmetSymbol(asker.path, provider.path, first, count))
    return tuple(out)


class UnmetVersion(msgspec.Struct, frozen=True):
    """A version that `asker` needs of `library` and that `provider` does not define."""

    asker: str
    library: str
    provider: str
    version: str


def unmet_versions(process: Process, asker: str) -> list[UnmetVersion]:
    """The version nodes that one file asks for in vain.

    A provider without any version is taken as it is: glibc only warns of it.
    """
    needed = process.machine.versions(asker)
    out = []
    for need in needed.value.needs if isinstance(needed, Known) else ():
        provider = process.get(need.library)
        offered = process.machine.versions(provider.path) if provider else None
        if provider and isinstance(offered, Known) and offered.value.defines:
            lacking = [node for node in need.versions if node not in offered.value.defines]
            out += [UnmetVersion(asker, need.library, provider.path, node) for node in lacking]
    return out


def old_runtimes(process: Process) -> tuple[OldRuntime, ...]:
    """Each C or C++ library that is too old, and the first file of the framework that it fails,
    with the newest version that it lacks.
    """
    found: dict[str, OldRuntime] = {}
    for asker in process.loaded:
        if "-packages/" not in asker.path or _OF_OTHERS.search(asker.path):
            continue
        for name in RUNTIMES:
            provider = process.get(name) if name in asker.needs and name not in found else None
            needs = process.machine.versions(asker.path) if provider else None
            offers = process.machine.versions(provider.path) if provider else None
            if not provider or not isinstance(needs, Known) or not isinstance(offers, Known):
                continue
            wanted = [one.versions for one in needs.value.needs if one.library == name]
            lacking = {node for nodes in wanted for node in nodes} - {*offers.value.defines}
            if lacking:
                newest = max(lacking, key=_order)
                old = OldRuntime(name, provider.path, provider.rule, asker.path, newest)
                found[name] = old
    return tuple(found[name] for name in RUNTIMES if name in found)


def _order(node: str) -> tuple[bool, tuple[int, ...]]:
    return node.startswith("GLIBC"), tuple(map(int, re.findall(r"\d+", node)))


# ---------------------------------------------------------------- packages built on PyTorch

TORCH_SYMBOLS = r"_ZNK?(3c10|2at|5torch|4c10d)"
STABLE_SYMBOLS = r"(aoti_)?torch_"
"""The C functions that libraries for PyTorch's stable interface (`.abi3.so`) use instead."""
_PROVIDERS = {
    False: "libc10.so libtorch_cpu.so libtorch_python.so libc10_cuda.so libtorch_cuda.so"
    " libtorch.so",
    True: "c10.dll torch_cpu.dll torch_python.dll c10_cuda.dll torch_cuda.dll torch.dll",
}
_BUILT_ON_TORCH = (
    "torchvision torchaudio torchtext flash-attn xformers vllm deepspeed apex detectron2 mmcv"
    " mmcv-full torch-scatter torch-sparse torch-cluster torch-spline-conv pyg-lib causal-conv1d"
    " mamba-ssm natten pytorch3d auto-gptq torchao fairseq spconv tinycudann nvdiffrast"
)
BUILT_ON_TORCH = frozenset(_BUILT_ON_TORCH.split())
_TORCH = re.compile(r"torch\s*(?:\(?([=<>!~][^;)]*)\)?)?\s*$")  # no extra, no other condition
_MOST = 8  # libraries looked at per package


def extensions(machine: Machine, facts: Facts) -> Fact[tuple[Extension, ...]]:
    """Every compiled library of a package built on torch, and what the installed torch lacks."""
    frameworks, installed = facts.frameworks.installed, facts.environment.packages
    if not isinstance(frameworks, Known):
        return frameworks
    if not isinstance(installed, Known):
        return installed
    torch = next((one for one in frameworks.value if one.name == "torch"), None)
    if torch is None:
        return Known((), frameworks.source)
    built = []
    for package in installed.value:  # what has compiled code and requires torch may be built on it
        requires = any(_TORCH.match(line) for line in value_or(package.requires, ()))
        if package.name in BUILT_ON_TORCH or (requires and package.name != "torch"):
            built.append(package)
    windows = is_windows(facts)
    paths = [f"{torch.path}/lib/{name}" for name in _PROVIDERS[windows].split()]
    providers = [path for path in paths if isinstance(machine.stat(path), Known)]
    out = []
    for package in built:
        for path in _compiled(machine, package, windows):
            lacking = _lacking(machine, path, providers, windows)
            if lacking is not None:
                wants: Fact[str] = Unknown("nothing is missing, so it was not asked")
                wants = _wanted(package) if lacking else wants
                one = Extension(package.owner, path, lacking[:3], len(lacking), wants)
                out.append(one)
    return Known(tuple(out), Source("call", "symbol tables", "of packages built on torch"))


def _compiled(machine: Machine, package: Package, windows: bool) -> Iterator[str]:
    """The extension modules of a package, inside its site-packages."""
    end = ".pyd" if windows else ".so"
    if package.location.endswith("-info"):
        rows = [row for row in package.files.ending(end) if row.path.endswith(end)]
        for row in rows[:_MOST]:
            if not row.path.startswith(("/", "..")) and "/../" not in row.path:
                yield f"{package.site}/{row.path}"
        return
    for folder in (package.location, f"{package.location}/lib"):
        listed = value_or(machine.list(folder, rf".*\{end}$"), ())
        yield from (f"{folder}/{entry.name}" for entry in listed[:_MOST])


def _lacking(
    machine: Machine, path: str, providers: list[str], windows: bool
) -> tuple[str, ...] | None:
    """The symbols that torch's libraries do not define; None where that cannot be known, or the
    file is not built on them.
    """
    if windows:
        pe = machine.pe(path)
        needed = pe.value.imports if isinstance(pe, Known) else ()
    else:
        elf = machine.elf(path)
        needed = elf.value.needed if isinstance(elf, Known) else ()
    if not any(one.startswith(("libtorch", "libc10", "torch", "c10")) for one in needed):
        return None
    lacking = machine.unmet(path, "" if windows else TORCH_SYMBOLS, *providers)
    if isinstance(lacking, Known) and not lacking.value and not windows:
        stable = machine.unmet(path, STABLE_SYMBOLS, *providers)
        lacking = stable if isinstance(stable, Known) else lacking
    return value_or(lacking, None)


def _wanted(package: Package) -> Fact[str]:
    """The torch that the package's metadata requires: '==2.2.0'; Absent when it takes any."""
    file = f"{package.location}/METADATA"
    if not isinstance(package.requires, Known):
        return package.requires
    for line in package.requires.value:
        match = re.match(r"torch\s*\(?([=<>!~][^;)]*)", line)
        if match:
            return Known(match[1].strip(), Source("file", file, line))
    return Absent(Source("file", file))
