"""The GPUs: by NVML, in a child; by PCI, without any driver; what CUDA_VISIBLE_DEVICES leaves."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from gpuwhy.facts.devices import (
    BadEntry,
    Devices,
    Ecc,
    Fabric,
    Gpu,
    GpuProcess,
    Mig,
    NvmlError,
    PciDevice,
    Visibility,
)
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.look.files import names
from gpuwhy.look.look import Field, filled, is_windows
from gpuwhy.machine.machine import Machine

T = TypeVar("T")


def devices(machine: Machine, facts: Facts, _options: object = None) -> Devices:
    """Everything of the subject."""
    fields = dict(FIELDS)
    if is_windows(facts):
        from gpuwhy.look.windows import cards

        fields["pci"] = cards
    return filled(machine, facts, "devices", fields).devices


class Nvml(NamedTuple):
    """The child's lines by subject; `ended` says why it did not finish, "" when it did."""

    init: dict[str, Any]
    system: dict[str, Any]  # driver, cuda, count
    gpus: dict[int, dict[str, Any]]
    ended: str


def nvml(machine: Machine) -> Fact[Nvml]:
    """Everything NVML answered; Unknown when it was not even initialised, with the step."""
    lines = machine.call("nvml")
    if not isinstance(lines, Known):
        return lines
    system: dict[str, Any] = {}
    gpus: dict[int, dict[str, Any]] = {}
    for line in lines.value:
        index = line.get("gpu")
        subject = gpus.setdefault(index, {}) if isinstance(index, int) else system
        subject.update(line)
    if "missing" in system:
        return Unknown("nvidia-ml-py is not installed beside gpuwhy", "pip install nvidia-ml-py")
    end, init = system.get("ended"), system.get("init")
    ended = f"{end} (last step: {system.get('step', 'start')})" if end else ""
    if not isinstance(init, dict):
        return Unknown(ended or "the NVML child said nothing of nvmlInit", "nvidia-smi")
    return Known(Nvml(init, system, gpus, ended), Source("call", "NVML"))


def _nvml_error(machine: Machine, _facts: Facts) -> Fact[NvmlError]:
    """Why NVML did not initialise; Absent when it did."""
    answer = nvml(machine)
    if not isinstance(answer, Known):
        return answer
    init = answer.value.init
    code = init.get("code")
    if code == 0:
        return Absent(Source("call", "nvmlInit", "succeeded"))
    call = str(init.get("call", "nvmlInit"))
    error = NvmlError(code if isinstance(code, int) else 999, str(init.get("name", "")), call)
    return known(error, "call", call, str(init.get("detail", "")))


_NOT_SUPPORTED = "NVML_ERROR_NOT_SUPPORTED"
_BROKEN = ("NVML_ERROR_GPU_IS_LOST", "NVML_ERROR_RESET_REQUIRED")
_LAST_QUERY = "fabric"
_STATES = {
    **dict.fromkeys("R", "running"),
    **dict.fromkeys("SDI", "sleeping"),
    **dict.fromkeys("Z", "zombie"),
    **dict.fromkeys("Tt", "stopped"),
    **dict.fromkeys("Xx", "gone"),
}


def _gpus(machine: Machine, facts: Facts) -> Fact[tuple[Gpu, ...]]:
    """Every GPU that NVML counts; one that does not answer is listed with its error."""
    said = nvml(machine)
    count = or_unknown(said, "NVML was not asked")
    if isinstance(said, Known):
        answer, number = said.value, said.value.system.get("count")
        if answer.init.get("code") != 0:
            call, name = answer.init.get("call"), answer.init.get("name")
            count = Unknown(f"NVML does not answer: {call} gave {name}")
        elif isinstance(number, int) and 0 <= number <= 1024:
            rows = (_Answers(answer.gpus.get(n, {}), answer.ended) for n in range(number))
            gpus = (_gpu(machine, facts, index, row) for index, row in enumerate(rows))
            return Known(tuple(gpus), said.source)
        else:
            why = number.get("error") if isinstance(number, dict) else answer.ended
            count = Unknown(f"NVML cannot count the GPUs: {why}", "nvidia-smi -L")
    bus, module = facts.devices.pci, facts.driver.module_version
    if isinstance(bus, Known) and not bus.value and isinstance(module, Absent):
        return Known((), bus.source)  # neither a card nor a driver
    return count


class _Answers:
    """What NVML said of one GPU, query by query."""

    def __init__(self, answers: dict[str, Any], ended: str) -> None:
        self.answers = answers
        self.ended = ended

    def ask(self, query: str, convert: Callable[[Any], T]) -> Fact[T]:
        """One answer: Known, or Unknown with NVML's error."""
        failed = self.failed(query)
        if failed:
            return Unknown(f"NVML: {failed} for {query.replace('_', ' ')}", "nvidia-smi -q")
        try:
            source = Source("call", "NVML", query.replace("_", " "))
            return Known(convert(self.answers[query]), source)
        except (KeyError, TypeError, ValueError):
            return Unknown(f"NVML's answer makes no sense: {query}", "nvidia-smi -q")

    def failed(self, query: str) -> str:
        """The error of one query, "" when it was answered."""
        silence = {"error": self.answers.get("error") or self.ended or "no answer"}
        answer = self.answers.get(query, silence)
        return str(answer["error"]) if isinstance(answer, dict) and "error" in answer else ""


def _gpu(machine: Machine, facts: Facts, index: int, gpu: _Answers) -> Gpu:
    mig: Fact[Mig] = Absent(Source("call", "NVML", "mig: not supported by this GPU"))
    if gpu.failed("mig") != _NOT_SUPPORTED:
        mig = gpu.ask("mig", lambda m: Mig(m["current"], m["pending"], tuple(m["instances"])))
    fabric: Fact[Fabric] = known(Fabric("not supported"), "call", "nvmlDeviceGetGpuFabricInfo")
    if gpu.failed("fabric") != _NOT_SUPPORTED:
        fabric = gpu.ask("fabric", lambda said: Fabric(*cast(Any, str(said).split(": ", 1))))
    return Gpu(
        index=index,
        name=value_or(gpu.ask("name", str), "unknown"),
        uuid=value_or(gpu.ask("uuid", str), ""),
        pci=value_or(gpu.ask("pci", str), ""),
        capability=gpu.ask("capability", str),
        memory_total=gpu.ask("memory", lambda m: int(m["total"])),
        memory_free=gpu.ask("memory", lambda m: int(m["free"])),
        processes=gpu.ask("processes", lambda p: tuple(_process(machine, facts, o) for o in p)),
        compute_mode=gpu.ask("compute_mode", cast(Any, str)),
        mig=mig,
        ecc=_ecc(gpu),
        throttle=gpu.ask("throttle", lambda reasons: tuple(str(one) for one in reasons)),
        fabric=fabric,
        error=_error(gpu),
    )


def _ecc(gpu: _Answers) -> Fact[Ecc]:
    """Counter, retired pages (older cards) and remapped rows (newer ones) in one."""
    errors = {query: gpu.failed(query) for query in ("ecc", "pages", "rows")}
    if set(errors.values()) == {_NOT_SUPPORTED}:
        return Absent(Source("call", "NVML", "no error correction, or it is switched off"))
    for query, failed in errors.items():
        if failed not in ("", _NOT_SUPPORTED):
            return gpu.ask(query, lambda _: Ecc(0, False, False))
    answers = {query: {} if errors[query] else gpu.answers[query] for query in ("pages", "rows")}
    pending = any(bool(row.get("pending")) for row in answers.values())
    remap_failed = bool(answers["rows"].get("failed"))
    if errors["ecc"]:
        return known(Ecc(0, pending, remap_failed), "call", "NVML", "ecc")
    return gpu.ask("ecc", lambda count: Ecc(int(count), pending, remap_failed))


def _error(gpu: _Answers) -> Fact[str]:
    """NVML's code when the GPU cannot be reached; Unknown when the child stopped in its middle."""
    handle = gpu.answers.get("error")
    if handle:
        return known(str(handle), "call", "nvmlDeviceGetHandleByIndex")
    for query in gpu.answers:
        if gpu.failed(query) in _BROKEN:
            return known(gpu.failed(query), "call", "NVML", query)
    if _LAST_QUERY not in gpu.answers:
        return Unknown(gpu.ended or "NVML did not finish with this GPU")
    return Absent(Source("call", "NVML", "answered"))


def _process(machine: Machine, facts: Facts, told: Any) -> GpuProcess:
    """A process by NVML, and by /proc its name and state; gone where /proc has none of its number.

    What is not stated is Unknown.
    """
    pid, used, mine = int(told["pid"]), told.get("memory"), told.get("mine")
    lines: Fact[tuple[str, ...]] = Unknown("Windows does not tell of other processes here")
    if not is_windows(facts):
        lines = machine.lines(f"/proc/{pid}/status", "Name:", "State:")
    unseen, here = Unknown(f"no process {pid} that we can see"), Source("file", f"/proc/{pid}")
    pairs = (line.partition(":") for line in value_or(lines, ()))
    fields = {name: value.strip() for name, _, value in pairs}
    unsaid = or_unknown(lines, "/proc: not stated")
    name, state = fields.get("Name", ""), _STATES.get(fields.get("State", "")[:1], "")
    gone = isinstance(lines, Absent)
    word: Any = "gone" if gone else state
    base = name.rpartition("/")[2]
    untold = Unknown("the driver does not say")
    return GpuProcess(
        pid=pid,
        memory=known(used, "call", "NVML") if isinstance(used, int) else untold,
        name=Known(base, here) if base else unseen if gone else unsaid,
        state=Known(word, here) if word else unsaid,
        own=Known(mine, here) if isinstance(mine, bool) else unseen,
    )


_BUS = "/sys/bus/pci/devices"
_NVIDIA = "0x10de"
_DISPLAY = ("0x0300", "0x0302")  # VGA controller, 3D controller


def _pci(machine: Machine, _facts: Facts) -> Fact[tuple[PciDevice, ...]]:
    """Every NVIDIA display or 3D controller; Unknown where there is no bus to look at (WSL).

    The one file that lists all vendors tells which addresses are NVIDIA's.
    """
    lines, where = machine.lines("/proc/bus/pci/devices", "\t10de"), ""
    if isinstance(lines, Known):
        found = (re.match(r"([0-9a-f]{2})([0-9a-f]{2})\t10de[0-9a-f]{4}\t", o) for o in lines.value)
        slots = ((row[1], int(row[2], 16)) for row in found if row)
        places = sorted({rf"{bus}:{slot >> 3:02x}\.{slot & 7}" for bus, slot in slots})
        where = rf"[0-9a-f]+:({'|'.join(places)})$" if places else "none$"
    listed = machine.list(_BUS, where)
    if isinstance(listed, Unknown):
        return listed
    if isinstance(listed, Absent):
        return Unknown(f"there is no {_BUS} to look at", "lspci -d 10de:")
    cards = []
    for address in (entry.name for entry in listed.value):
        files = [machine.read(f"{_BUS}/{address}/{name}") for name in ("vendor", "class", "device")]
        if unread := next((one for one in files if isinstance(one, Unknown)), None):
            return unread
        vendor, kind, device = (value_or(one, "").strip() for one in files)
        if vendor == _NVIDIA and kind.startswith(_DISPLAY):
            link = machine.link(f"{_BUS}/{address}/driver")
            if isinstance(link, Known):
                link = Known(link.value.rpartition("/")[2], link.source)
            cards.append(card(address, device.removeprefix("0x"), link, f"lspci -s {address}"))
    return Known(tuple(cards), Source("folder", _BUS))


def card(address: str, device_id: str, driver: Fact[str], how: str) -> PciDevice:
    """A card by its PCI device id."""
    from gpuwhy.knowledge.gpus import by_pci

    row = by_pci(device_id)
    unlisted = Unknown(f"PCI device id {device_id} is not in gpuwhy's table", how)
    if row is None:
        return PciDevice(address, device_id, unlisted, unlisted, driver)
    source = Source("know", row.source.where, row.source.detail)
    capability = Known(row.capability, source) if row.capability else unlisted
    return PciDevice(address, device_id, Known(row.name, source), capability, driver)


def gpu_minors(machine: Machine, facts: Facts) -> tuple[int, ...]:
    """The N of each /dev/nvidiaN, by the kernel module's own list, else as many as the bus has."""
    folder = "/proc/driver/nvidia/gpus"
    if not isinstance(machine.list(folder, r"[0-9a-f:.]+$"), Known):
        return tuple(range(len(value_or(_pci(machine, facts), ()))))
    minors = []
    for name in names(machine, folder, r"[0-9a-f:.]+$"):
        lines = value_or(machine.lines(f"{folder}/{name}/information", "Device Minor:"), ())
        match = re.search(r"Device Minor:\s*(\d{1,6})\b", " ".join(lines))
        minors += [int(match[1])] if match else []
    return tuple(sorted(minors))


VISIBLE = "CUDA_VISIBLE_DEVICES"
_INDEX = re.compile(r"\s*([+-]?\d+)")
_UUID = re.compile(r"(GPU|MIG)-\S", re.IGNORECASE)


def _visibility(machine: Machine, facts: Facts) -> Fact[Visibility]:
    """What the variable leaves visible; Absent when it is not set."""
    variables = machine.environ()
    if not isinstance(variables, Known):
        return variables
    source, value = Source("env", VISIBLE), variables.value.get(VISIBLE)
    if value is None:
        return Absent(source)
    gpus = facts.devices.gpus
    if isinstance(gpus, Known) or reads_nothing(value):
        found = gpus.value if isinstance(gpus, Known) else ()
        return Known(read_visible(value, found), source)
    return Unknown(f"{VISIBLE} is set, but the GPUs are not known", "nvidia-smi -L")


def reads_nothing(value: str) -> bool:
    """Whether the first entry is bad on every machine."""
    first = value.split(",")[0]
    match = _INDEX.match(first)
    return int(match[1]) < 0 if match else not _UUID.match(first)


def read_visible(value: str, gpus: Sequence[Gpu]) -> Visibility:
    """Read a value as CUDA does, entry by entry, up to the first that is bad.

    The rules are those of the CUDA programming guide, and where it is silent what driver 580.159.04
    did: an index is read like C's strtol (blanks before it, anything after it), a UUID must start
    its entry, the first entry decides whether the list is one of indexes or of UUIDs, and naming a
    device twice makes cuInit fail with error 101.
    """
    chosen: dict[str, int] = {}
    rest = value.rstrip(", \t\r\n")  # commas at the end are no entries
    by_index = _INDEX.match(rest) is not None
    for entry in rest.split(",") if rest.strip() else ():
        found = _named(entry, by_index, gpus)
        twice = len(found) == 1 and found[0][0] in chosen
        if len(found) != 1 or twice:
            bad = BadEntry.TWICE if twice else _why(entry, by_index, bool(found))
            visible = () if twice else tuple(dict.fromkeys(chosen.values()))
            return Visibility(value, visible, entry.strip() or ",,", bad)
        chosen.update(found)
    return Visibility(value, tuple(dict.fromkeys(chosen.values())), "", BadEntry.NONE)


def _named(entry: str, by_index: bool, gpus: Sequence[Gpu]) -> list[tuple[str, int]]:
    """The devices that an entry may mean; of a UUID the first digits, which is all that we know, as
    far as both go.
    """
    number = _INDEX.match(entry)
    if by_index:
        place = int(number[1][:12]) if number else -1
        return [(f"GPU {place}", gpus[place].index)] if 0 <= place < len(gpus) else []
    wanted, found = entry.strip().lower(), []
    for gpu in gpus if _UUID.match(entry) else ():
        parts = gpu.mig.value.instances if isinstance(gpu.mig, Known) else ()
        for uuid in parts if wanted.startswith("mig-") else (gpu.uuid,):
            low = uuid.lower()
            if low and (low.startswith(wanted) or wanted.startswith(low)):
                found.append((uuid, gpu.index))
    return found


def _why(entry: str, by_index: bool, several: bool) -> BadEntry:
    """Why an entry names no GPU."""
    number, uuid = _INDEX.match(entry), _UUID.match(entry.strip())
    if several:
        return BadEntry.SEVERAL_FIT
    if uuid and not by_index:
        return BadEntry.NO_SUCH_UUID if _UUID.match(entry) else BadEntry.BLANK_BEFORE
    if number and by_index:
        return BadEntry.NEGATIVE if int(number[1][:12]) < 0 else BadEntry.NO_SUCH_GPU
    if number or uuid:
        return BadEntry.INDEX_AMONG_UUIDS if number else BadEntry.UUID_AMONG_INDEXES
    return BadEntry.NO_NUMBER_OR_UUID if entry.strip() else BadEntry.EMPTY


FIELDS: dict[str, Field] = {
    "nvml_error": _nvml_error,
    "pci": _pci,
    "gpus": _gpus,
    "visibility": _visibility,
}
