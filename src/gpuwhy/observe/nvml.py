"""What the NVML child said, put together: one record per GPU, however far the child came."""

from __future__ import annotations

from typing import Any, NamedTuple

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known
from gpuwhy.model.facts import NvmlError
from gpuwhy.observe.scene import Scene


class Said(NamedTuple):
    """The child's lines by subject; `ended` says why it did not finish, "" when it did."""

    init: dict[str, Any]
    system: dict[str, Any]  # driver, cuda, count
    gpus: dict[int, dict[str, Any]]
    ended: str


def said(scene: Scene) -> Fact[Said]:
    """Everything NVML told; Unknown when it was not even initialised, with the step it died in."""
    lines = scene.host.call("nvml")
    if not isinstance(lines, Known):
        return lines
    system: dict[str, Any] = {}
    gpus: dict[int, dict[str, Any]] = {}
    for line in lines.value:
        index = line.get("gpu")
        if isinstance(index, int):
            gpus.setdefault(index, {}).update(line)
        else:
            system.update(line)
    if "missing" in system:
        return Unknown("nvidia-ml-py is not installed beside gpuwhy", "pip install nvidia-ml-py")
    ended = _ended(system)
    init = system.get("init")
    if not isinstance(init, dict):
        return Unknown(ended or "the NVML child said nothing of nvmlInit", "nvidia-smi")
    return Known(Said(init, system, gpus, ended), Source("call", "NVML"))


def _ended(system: dict[str, Any]) -> str:
    end = system.get("ended")
    return f"{end} (last step: {system.get('step', 'start')})" if end else ""


def error(scene: Scene) -> Fact[NvmlError]:
    """Why NVML did not initialise; Absent when it did."""
    answer = said(scene)
    if not isinstance(answer, Known):
        return answer
    init = answer.value.init
    if init.get("code") == 0:
        return Absent(Source("call", "nvmlInit", "succeeded"))
    failed = NvmlError(_code(init), str(init.get("name", "")), str(init.get("call", "nvmlInit")))
    return known(failed, "call", failed.call, str(init.get("detail", "")))


def _code(init: dict[str, Any]) -> int:
    code = init.get("code")
    return code if isinstance(code, int) else 999


def count(answer: Said) -> Fact[int]:
    """How many GPUs NVML counts."""
    if answer.init.get("code") != 0:
        return Unknown(f"NVML does not answer: {answer.init.get('call')} gave {answer.init.get('name')}")
    number = answer.system.get("count")
    if isinstance(number, int) and 0 <= number <= 1024:
        return known(number, "call", "nvmlDeviceGetCount")
    why = number.get("error") if isinstance(number, dict) else answer.ended
    return Unknown(f"NVML cannot count the GPUs: {why}", "nvidia-smi -L")


def driver_cuda(answer: Said) -> Fact[str]:
    """The newest CUDA that the driver library NVML finds speaks."""
    number = answer.system.get("cuda")
    if isinstance(number, int):
        return known(f"{number // 1000}.{number % 1000 // 10}", "call", "nvmlSystemGetCudaDriverVersion")
    why = number.get("error") if isinstance(number, dict) else answer.init.get("name") or answer.ended
    return Unknown(f"NVML does not tell the driver's CUDA version: {why}", "nvidia-smi")
