"""Extensions: compiled packages built against a framework, and the framework symbols they ask for in vain."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from gpuwhy.host.base import Host
from gpuwhy.observe.loader_v0.systems import is_windows
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, or_unknown, value_or
from gpuwhy.model.facts import Distribution, Extension, Facts, Framework

TORCH_SYMBOLS = r"_ZNK?(3c10|2at|5torch|4c10d)"
STABLE_SYMBOLS = r"(aoti_)?torch_"
"""The C functions that libraries for PyTorch's stable interface (`.abi3.so`) use instead."""
_TORCH_LIBRARIES = (
    "libc10.so",
    "libtorch_cpu.so",
    "libtorch_python.so",
    "libc10_cuda.so",
    "libtorch_cuda.so",
    "libtorch.so",
)
_BUILT_ON_TORCH = frozenset(
    {
        "torchvision",
        "torchaudio",
        "torchtext",
        "flash-attn",
        "xformers",
        "vllm",
        "deepspeed",
        "apex",
        "detectron2",
        "mmcv",
    }
    | {"mmcv-full", "torch-scatter", "torch-sparse", "torch-cluster", "torch-spline-conv", "pyg-lib", "causal-conv1d"}
    | {"mamba-ssm", "natten", "pytorch3d", "auto-gptq", "torchao", "fairseq", "spconv", "tinycudann", "nvdiffrast"}
)
_TORCH_DLLS = ("c10.dll", "torch_cpu.dll", "torch_python.dll", "c10_cuda.dll", "torch_cuda.dll", "torch.dll")
_REQUIRES = re.compile(r"Requires-Dist: torch\s*\(?([=<>!~][^;)]*)")
_ASKS = re.compile(r"Requires-Dist: torch\s*(?:[(=<>!~][^;]*)?$")  # without an extra or another condition
_VERSION = re.compile(r"__version__\s*=\s*['\"]([\w.+]+)")
_MOST = 8  # libraries looked at per package


def extensions(host: Host, facts: Facts) -> Fact[tuple[Extension, ...]]:
    """Every compiled library of a package built on torch, with what the installed torch does not offer it."""
    frameworks, installed = facts.target.frameworks, facts.target.distributions
    if not isinstance(frameworks, Known):
        return frameworks
    if not isinstance(installed, Known):
        return installed
    torch = next((one for one in frameworks.value if one.name == "torch"), None)
    if torch is None:
        return Known((), frameworks.source)
    built = [one for one in installed.value if one.name in _BUILT_ON_TORCH or _asks_for_torch(host, one)]
    built += _left_over(host, torch, {one.name for one in installed.value})
    found = [extension for one in built for extension in _of(host, one, torch, is_windows(facts))]
    return Known(tuple(found), Source("call", "symbol tables", "of packages built on torch"))


def _asks_for_torch(host: Host, package: Distribution) -> bool:
    """Whether its metadata asks for torch, so that what it has of compiled code may be built on it."""
    lines = value_or(host.lines(f"{package.location}/METADATA", "Requires-Dist: torch"), ())
    return package.name != "torch" and any(_ASKS.match(line) for line in lines)


def _left_over(host: Host, torch: Framework, names: Collection[str]) -> Iterator[Distribution]:
    """Packages beside torch whose metadata is gone: their files are imported all the same."""
    site = torch.path.rpartition("/")[0]
    modules = {name.replace("-", "_"): name for name in _BUILT_ON_TORCH if name not in names}
    for entry in value_or(host.list(site, rf"({'|'.join(sorted(modules))})$"), ()):
        place = f"{site}/{entry.name}"
        told = value_or(host.lines(f"{place}/version.py", "__version__"), ())
        version = next((found[1] for line in told if (found := _VERSION.search(line))), "")
        yield Distribution(modules[entry.name], version, place, Absent(Source("folder", place, "no metadata")))


def _of(host: Host, package: Distribution, torch: Framework, windows: bool) -> list[Extension]:
    providers = [f"{torch.path}/lib/{name}" for name in (_TORCH_DLLS if windows else _TORCH_LIBRARIES)]
    providers = [path for path in providers if isinstance(host.stat(path), Known)]
    out = []
    for path in _compiled(host, package, windows):
        lacking = _lacking(host, path, providers, windows) if _on_torch(host, path, windows) else None
        if lacking is not None:
            wants = _wanted(host, package) if lacking else Unknown("nothing is missing, so it was not asked")
            out.append(Extension(package.name, package.version, path, lacking[:3], len(lacking), wants))
    return out


def _compiled(host: Host, package: Distribution, windows: bool) -> Iterator[str]:
    """The extension modules of a package, inside its site-packages."""
    if not package.location.endswith("-info"):
        for folder in (package.location, f"{package.location}/lib"):
            listed = value_or(host.list(folder, r".*\.pyd$" if windows else r".*\.so$"), ())
            yield from (f"{folder}/{entry.name}" for entry in listed[:_MOST])
        return
    record = value_or(host.lines(f"{package.location}/RECORD", ".pyd," if windows else ".so,"), ())
    site = package.location.rpartition("/")[0]
    for line in record[:_MOST]:
        name = line.split(",", 1)[0]
        if not name.startswith(("/", "..")) and "/../" not in name:
            yield f"{site}/{name}"


def _on_torch(host: Host, path: str, windows: bool) -> bool:
    return any(need.startswith(("libtorch", "libc10", "torch", "c10")) for need in _needs(host, path, windows))


def _lacking(host: Host, path: str, providers: list[str], windows: bool) -> tuple[str, ...] | None:
    """The symbols that torch's libraries do not define; None where that cannot be told."""
    lacking = host.unmet(path, "" if windows else TORCH_SYMBOLS, *providers)
    if isinstance(lacking, Known) and not lacking.value and not windows:
        stable = host.unmet(path, STABLE_SYMBOLS, *providers)
        lacking = stable if isinstance(stable, Known) else lacking
    return value_or(lacking, None)


def _needs(host: Host, path: str, windows: bool) -> tuple[str, ...]:
    """The libraries that a compiled library names."""
    if windows:
        pe = host.pe(path)
        return pe.value.imports if isinstance(pe, Known) else ()
    elf = host.elf(path)
    return elf.value.needed if isinstance(elf, Known) else ()


def _wanted(host: Host, package: Distribution) -> Fact[str]:
    """The torch that the package's metadata asks for, in its own words: '==2.2.0'; Absent when it asks for any."""
    file = f"{package.location}/METADATA"
    lines = host.lines(file, "Requires-Dist: torch")
    if not isinstance(lines, Known):
        return or_unknown(lines, f"{file} is not there")
    for line in lines.value:
        match = _REQUIRES.match(line)
        if match and match[1]:
            return Known(match[1].strip(), Source("file", file, line.removeprefix("Requires-Dist: ").strip()))
    return Absent(Source("file", file))
