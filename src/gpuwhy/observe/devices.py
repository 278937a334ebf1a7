"""The GPUs as NVML describes them, with who holds their memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gpuwhy.model.fact import NOT_OBSERVED, Absent, Fact, Known, Source, Unknown, known, value_or
from gpuwhy.model.facts import Device, Ecc, GpuProcess, Mig, PcieLink
from gpuwhy.observe import nvml
from gpuwhy.observe.pci import pci
from gpuwhy.observe.scene import Look, Scene
from gpuwhy.observe.visibility import order, visibility

T = TypeVar("T")

NOT_SUPPORTED = "NVML_ERROR_NOT_SUPPORTED"
BROKEN = ("NVML_ERROR_GPU_IS_LOST", "NVML_ERROR_RESET_REQUIRED")
LAST_QUERY = "fabric"
STATES = {"R": "running", "S": "sleeping", "D": "sleeping", "I": "sleeping", "Z": "zombie", "T": "stopped"}
STATES.update({"t": "stopped", "X": "gone", "x": "gone"})


class _Gpu:
    """What NVML said of one GPU, asked query by query."""

    def __init__(self, answers: dict[str, Any], ended: str) -> None:
        self.answers = answers
        self.ended = ended

    def ask(self, query: str, convert: Callable[[Any], T]) -> Fact[T]:
        """One answer: Known, or Unknown with NVML's error."""
        failed = self.failed(query)
        if failed:
            return Unknown(f"NVML: {failed} for {query.replace('_', ' ')}", "nvidia-smi -q")
        try:
            return Known(convert(self.answers[query]), Source("call", "NVML", query.replace("_", " ")))
        except (KeyError, TypeError, ValueError):
            return Unknown(f"NVML's answer makes no sense: {query}", "nvidia-smi -q")

    def failed(self, query: str) -> str:
        """The error of one query, "" when it was answered."""
        answer = self.answers.get(query, {"error": self.answers.get("error") or self.ended or "no answer"})
        return str(answer["error"]) if isinstance(answer, dict) and "error" in answer else ""

    def text(self, query: str, default: str) -> str:
        """A plain text answer."""
        answer = self.answers.get(query)
        return answer if isinstance(answer, str) else default


def devices(scene: Scene) -> Fact[tuple[Device, ...]]:
    """Every GPU that NVML counts; one that does not answer is there with its error."""
    said = nvml.said(scene)
    if not isinstance(said, Known):
        return _nothing_to_ask(scene, said)
    count = nvml.count(said.value)
    if not isinstance(count, Known):
        return _nothing_to_ask(scene, count)
    found = (
        _device(scene, index, _Gpu(said.value.gpus.get(index, {}), said.value.ended)) for index in range(count.value)
    )
    return Known(tuple(found), said.source)


def _nothing_to_ask(scene: Scene, silence: Absent | Unknown) -> Fact[tuple[Device, ...]]:
    """NVML does not answer: no GPU, where there is neither a card nor a driver; else not known."""
    bus, module = scene.facts.devices.pci, scene.facts.driver.module_version
    if isinstance(bus, Known) and not bus.value and isinstance(module, Absent):
        return Known((), bus.source)
    return silence


def _device(scene: Scene, index: int, gpu: _Gpu) -> Device:
    return Device(
        index=index,
        name=gpu.text("name", "unknown"),
        uuid=gpu.text("uuid", ""),
        pci=gpu.text("pci", ""),
        capability=gpu.ask("capability", str),
        memory_total=gpu.ask("memory", lambda m: int(m["total"])),
        memory_free=gpu.ask("memory", lambda m: int(m["free"])),
        processes=gpu.ask("processes", lambda p: tuple(_process(scene, one) for one in p)),
        compute_mode=gpu.ask("compute_mode", str),
        mig=_supported(gpu, "mig", _mig),
        ecc=_ecc(gpu),
        throttle=gpu.ask("throttle", lambda t: tuple(str(reason) for reason in t)),
        nvlink=gpu.ask("nvlink", int),
        pcie=gpu.ask("pcie", _pcie),
        fabric=_fabric(gpu),
        error=_error(gpu),
        driver_model=_driver_model(gpu),
    )


def _supported(gpu: _Gpu, query: str, convert: Callable[[Any], T]) -> Fact[T]:
    """An answer that a card without the feature does not have."""
    if gpu.failed(query) == NOT_SUPPORTED:
        return Absent(Source("call", "NVML", f"{query}: not supported by this GPU"))
    return gpu.ask(query, convert)


def _mig(answer: Any) -> Mig:
    return Mig(bool(answer["current"]), bool(answer["pending"]), tuple(str(uuid) for uuid in answer["instances"]))


def _pcie(answer: Any) -> PcieLink:
    return PcieLink(*(int(answer[key]) for key in ("width", "max_width", "generation", "max_generation")))


def _ecc(gpu: _Gpu) -> Fact[Ecc]:
    """Counter, retired pages (older cards) and remapped rows (newer ones) in one; a card has at most two of them."""
    errors = {query: gpu.failed(query) for query in ("ecc", "pages", "rows")}
    if set(errors.values()) == {NOT_SUPPORTED}:
        return Absent(Source("call", "NVML", "no error correction on this GPU, or it is switched off"))
    for query, failed in errors.items():
        if failed not in ("", NOT_SUPPORTED):
            return gpu.ask(query, lambda _: Ecc(0, 0, False, False))
    answers = {query: {} if errors[query] else gpu.answers[query] for query in ("pages", "rows")}

    def together(uncorrected: Any) -> Ecc:
        pages, rows = answers["pages"], answers["rows"]
        pending = bool(pages.get("pending")) or bool(rows.get("pending"))
        retired = int(pages.get("retired", 0)) + int(rows.get("remapped", 0))
        return Ecc(int(uncorrected), retired, pending, bool(rows.get("failed")))

    return known(together(0), "call", "NVML", "ecc") if errors["ecc"] else gpu.ask("ecc", together)


def _fabric(gpu: _Gpu) -> Fact[str]:
    if gpu.failed("fabric") == NOT_SUPPORTED:
        return known("not supported", "call", "nvmlDeviceGetGpuFabricInfo")
    return gpu.ask("fabric", str)


def _driver_model(gpu: _Gpu) -> Fact[str]:
    """WDDM or TCC; asked on Windows only."""
    return gpu.ask("driver_model", str) if "driver_model" in gpu.answers else NOT_OBSERVED


def _error(gpu: _Gpu) -> Fact[str]:
    """NVML's code when the GPU cannot be reached at all; Unknown when the child stopped in the middle of it."""
    handle = gpu.answers.get("error")
    if handle:
        return known(str(handle), "call", "nvmlDeviceGetHandleByIndex")
    for query in gpu.answers:
        if gpu.failed(query) in BROKEN:
            return known(gpu.failed(query), "call", "NVML", query)
    if LAST_QUERY not in gpu.answers:
        return Unknown(gpu.ended or "NVML did not finish with this GPU")
    return Absent(Source("call", "NVML", "answered"))


def _process(scene: Scene, told: Any) -> GpuProcess:
    pid = int(told["pid"])
    used, mine = told.get("memory"), told.get("mine")
    lines: Fact[tuple[str, ...]] = Unknown("Windows does not tell of other processes here", "nvidia-smi")
    if value_or(scene.facts.surroundings.system, "") != "windows":
        lines = scene.host.lines(f"/proc/{pid}/status", "Name:", "State:")
    return GpuProcess(
        pid=pid,
        memory=known(int(used), "call", "NVML") if isinstance(used, int) else Unknown("the driver does not say"),
        name=_name(lines),
        state=_state(lines),
        owner=known("you" if mine else "another user", "file", f"/proc/{pid}")
        if isinstance(mine, bool)
        else Unknown(f"no process {pid} that we can see"),
    )


def _name(lines: Fact[tuple[str, ...]]) -> Fact[str]:
    if not isinstance(lines, Known):
        return Unknown("no such process that we can see") if isinstance(lines, Absent) else lines
    return _field(lines, "Name:", lambda text: text.rpartition("/")[2])


def _state(lines: Fact[tuple[str, ...]]) -> Fact[str]:
    if isinstance(lines, Absent):
        return Known("gone", lines.source)
    return lines if isinstance(lines, Unknown) else _field(lines, "State:", lambda text: STATES[text[0]])


def _field(lines: Known[tuple[str, ...]], heading: str, convert: Callable[[str], str]) -> Fact[str]:
    for line in lines.value:
        if line.startswith(heading):
            try:
                return Known(convert(line[len(heading) :].strip()), lines.source)
            except (KeyError, IndexError):
                break
    return Unknown(f"{lines.source.where} has no {heading.rstrip(':').lower()}")


LOOKS: tuple[Look, ...] = (
    Look("devices", "nvml_error", nvml.error, serves=("plan", "devices")),
    Look("devices", "pci", pci, serves=("plan", "devices")),
    Look("devices", "devices", devices, serves=("plan", "devices")),
    Look("devices", "visibility", visibility, serves=("plan", "devices")),
    Look("devices", "order", order, serves=("plan", "devices")),
)
