"""Made for PyTorch: its build for a GPU or a toolkit, and what was compiled against it."""

import re

import msgspec

from gpuwhy.advise import versions
from gpuwhy.advise.already import MANAGERS
from gpuwhy.advise.names import Names, torch_pick
from gpuwhy.advise.remedy import Action, Install, Remedy, Run, Set
from gpuwhy.knowledge.torch_builds import going_with, index_of

COMPANIONS = ("torchvision", "torchaudio")
"""What PyTorch's own index has for each of its builds."""
_HAVE_WHEELS = (*COMPANIONS, "xformers", "vllm", "bitsandbytes", "torchtext")
_EXTENSIONS = (
    *("flash-attn", "xformers", "torchvision", "torchaudio", "torchtext", "apex", "mmcv"),
    *("detectron2", "pytorch3d", "torch-scatter", "torch-sparse", "torch-cluster"),
    *("torch-spline-conv", "bitsandbytes", "deepspeed", "auto-gptq", "exllamav2"),
    *("causal-conv1d", "mamba-ssm", "sageattention", "vllm"),
    *("tensorflow-addons", "tensorflow-text", "tensorflow-io"),
)
_USUAL = "cu126"
"""The build to take where neither driver nor GPU is known."""


def together(do: tuple[Action, ...], names: Names) -> tuple[Action, ...]:
    """The same actions, where torch and its installed companions come from one index at once."""
    return tuple(_together(one, names) for one in do)


def _together(action: Action, names: Names) -> Action:
    if not isinstance(action, Install) or action.manager not in MANAGERS or action.new_environment:
        return action
    asked = {re.split(r"[=<>!~ ]", one, maxsplit=1)[0]: one for one in action.packages}
    if not asked or not asked.keys() <= {"torch", *COMPANIONS}:
        return action
    case = names.around.log.case
    installed = case.version("torch")
    label = installed.partition("+")[2]
    index = action.index or (index_of(label) if re.fullmatch(r"cpu|cu\d+", label) else "")
    if not index:
        return action
    torch = asked.get("torch") or f"torch=={installed.partition('+')[0]}"
    family = [one for one in COMPANIONS if one in asked or case.version(one)]
    packages = [torch, *(_that_goes_with(one, torch, asked) for one in family)]
    other = any(case.version(one).partition("+")[2] != index.rpartition("/")[2] for one in family)
    again = action.reinstall or other
    return msgspec.structs.replace(
        action, packages=tuple(packages), index=index, reinstall=again, no_deps=False
    )


def _that_goes_with(name: str, torch: str, asked: dict[str, str]) -> str:
    """The release of a companion for a release of torch; as asked for where torch is free."""
    release = going_with(name, torch.partition("==")[2]) if "==" in torch else ""
    return f"{name}=={release}" if release else asked.get(name, name)


def _version(names: Names) -> str:
    """The stated release, without the label of its build."""
    return names.get("framework_version").partition("+")[0]


def torch_with_cuda(names: Names) -> Remedy | None:
    """The CUDA build of PyTorch in place of its CPU build."""
    version = _version(names)
    backend = names.get("torch_backend") or _USUAL
    text = f"Install PyTorch's build with CUDA ({backend}) over the CPU build"
    packages = (f"torch=={version}",) if version else ("torch", *COMPANIONS)
    return Remedy((Install(packages, index=index_of(backend), reinstall=True),), text=text)


def torch_for_gpu(names: Names) -> Remedy | None:
    """The PyTorch release and build that have code for the GPU that the text names."""
    capability, sm = names.get("capability"), f"sm_{names.get('sm')}"
    if not capability:
        text = (
            "Install the newest PyTorch build that your driver supports: it has code for more GPUs"
        )
        command = (
            "pip install uv && uv pip install --reinstall torch torchvision --torch-backend=auto"
        )
        return Remedy((Run(command),), text=text, fits=3)
    pick = torch_pick(names, "") or versions.torch_for("", capability)
    if pick is None:
        text = f"Use the CPU, or another GPU: no PyTorch package has code for {sm}"
        return Remedy((Set("CUDA_VISIBLE_DEVICES", ""),), text=text, fits=8)
    text = f"Install PyTorch {pick.version} for CUDA {pick.cuda}: it has code for {sm}"
    packages = (f"torch=={pick.version}", *COMPANIONS)
    index = index_of(versions.backend_of(pick))
    return Remedy((Install(packages, index=index, reinstall=True),), text=text, fits=8)


def torch_for_cuda(names: Names) -> Remedy | None:
    """The PyTorch build for the CUDA toolkit that is installed."""
    has = re.match(r"(1[123])\.(\d+)", names.get("has"))
    if has is None:
        return None
    version = _version(names)
    builds = versions.torch_builds(version) if version else ("12.8", "12.6", "12.4", "12.1", "11.8")
    same = [one for one in builds if one.partition(".")[0] == has[1]]
    near = [one for one in same if not versions.older(has[0], one)] or same[-1:]
    if not near:
        return None
    index = index_of(f"cu{near[0].replace('.', '')}")
    text = f"Install the PyTorch build for CUDA {near[0]}, as the toolkit is {has[0]}"
    pinned = f"torch=={version}" if version else "torch"
    return Remedy((Install((pinned,), index=index, reinstall=True),), text=text)


def torch_companions(names: Names) -> Remedy | None:
    """torchvision and torchaudio of the stated PyTorch release."""
    version, case = _version(names), names.around.log.case
    named = [one.name for one in case.packages if one.name in COMPANIONS] or ["torchvision"]
    torch = f"torch=={version}"
    wanted = [_that_goes_with(one, torch, {}) for one in named]
    if not any("==" in one for one in wanted):
        return None
    text = f"Install the {' and '.join(named)} that belongs to torch {version}"
    return Remedy((Install((torch, *wanted)),), text=text)


def extension_for_framework(names: Names) -> Remedy | None:
    """The extension that the message names, for the installed framework."""
    said = f"{names.get('object')} {names.get('library')} {names.get('line')} {names.get('name')}"
    plain = said.lower().replace("_", "-")
    name = next((one for one in _EXTENSIONS if one in plain), "")
    framework = names.get("framework") or ("tensorflow" if "tensorflow" in name else "torch")
    if not name:
        return None
    if name in (*COMPANIONS, "torchtext"):
        version = _version(names)
        release = going_with(name, version) if version else ""
        text = f"Install the {name} that belongs to the installed torch"
        packages = (f"torch=={version}", f"{name}=={release}") if release else ("torch", name)
        return Remedy((Install(packages, reinstall=not release),), text=text)
    if name in _HAVE_WHEELS or name.startswith("tensorflow-"):
        text = f"Install the {name} that belongs to the installed {framework}"
        return Remedy((Install((name,), upgrade=True),), text=text)
    text = f"Build {name} again for the installed {framework}"
    command = f"pip install --force-reinstall --no-cache-dir --no-build-isolation --no-deps {name}"
    return Remedy((Run(command),), text=text)
