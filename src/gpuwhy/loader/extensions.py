"""Extensions: compiled packages built on PyTorch, and the symbols that they ask it for in vain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.loads import Extension
from gpuwhy.loader.systems import is_windows
from gpuwhy.machine.machine import Machine

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
_VERSION = re.compile(r"__version__\s*=\s*['\"]([\w.+]+)")
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
    built += _without_metadata(machine, torch.path, {one.name for one in installed.value})
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


def _without_metadata(machine: Machine, torch: str, names: set[str]) -> Iterator[Package]:
    """Packages beside torch whose metadata is gone: their files are imported all the same."""
    site = torch.rpartition("/")[0]
    modules = {name.replace("-", "_"): name for name in BUILT_ON_TORCH if name not in names}
    for entry in value_or(machine.list(site, rf"({'|'.join(sorted(modules))})$"), ()):
        place = f"{site}/{entry.name}"
        lines = value_or(machine.lines(f"{place}/version.py", "__version__"), ())
        version = next((found[1] for line in lines if (found := _VERSION.search(line))), "")
        yield Package(modules[entry.name], version, place, site)


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
