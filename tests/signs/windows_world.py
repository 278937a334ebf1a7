"""A Windows 10 machine with tensorflow-gpu 2.3.4, Python 3.8, CUDA 10.1 and cuDNN 7.6.5.

The tree is built from the real wheel's metadata and the skeletons of real libraries (trees.py); what
files cannot tell (NVML, the running system, the registry) is answered as such a machine would.
"""

import shutil
from pathlib import Path
from typing import Any

import msgspec

from gpuwhy.facts.fact import Absent, Fact, Known, Source
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Weight
from gpuwhy.loader.loads import loads
from gpuwhy.look.look import Options, look
from gpuwhy.machine.machine import Machine, RegistryKey, Uname
from gpuwhy.signs.judged import judge
from tests.windows import trees

WHEEL = Path(trees.__file__).parent / "wheel"
CUDNN = "C:/tools/cuda"
PYTHON = "C:/Python38"
CARDS = {
    "6.1": ("NVIDIA GeForce GTX 1080 Ti", "1B06"),
    "7.5": ("NVIDIA GeForce RTX 2080", "1E87"),
    "8.6": ("NVIDIA GeForce RTX 3090", "2204"),
}


class Running(Machine):
    """A disk, and the answers that only a running Windows has."""

    home = "C:/Users/user"

    def __init__(self, disk: trees.Disk, environ: dict[str, str], answers: dict[tuple[Any, ...], Any]) -> None:
        self.files, self.answers = disk.machine(**environ), answers

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        """The running system's answer where there is one, else the disk's."""
        if (op, *args) in self.answers:
            return Known(self.answers[(op, *args)], Source("call", " ".join((op, *args))))
        if op == "offline":
            return Absent(Source("call", "uname"))
        return self.files.ask(op, *args)


def nvml(driver: str, cuda: int, capability: str) -> tuple[dict[str, Any], ...]:
    """What the NVML child prints for one card."""
    absent = {"error": "NVML_ERROR_NOT_SUPPORTED"}
    card: dict[str, Any] = {
        "name": CARDS[capability][0], "uuid": "GPU-5f3b", "pci": "0000:01:00.0", "capability": capability,
        "memory": {"total": 11 << 30, "free": 10 << 30}, "compute_mode": "default", "mig": absent, "processes": [],
        "ecc": absent, "pages": absent, "rows": absent, "throttle": [], "nvlink": absent, "driver_model": "WDDM",
        "pcie": {"width": 16, "max_width": 16, "generation": 3, "max_generation": 3}, "fabric": absent,
    }  # fmt: skip
    of_card = ({"gpu": 0, k: v} for k, v in card.items())
    return ({"init": {"code": 0}}, {"driver": driver}, {"count": 1}, *of_card, {"cuda": cuda})


def running(driver: str, cuda: int, capability: str) -> dict[tuple[Any, ...], Any]:
    """The answers of a running machine with one card; `driver` "" = none is installed."""
    services = "HKLM/SYSTEM/CurrentControlSet/Services"
    card = rf"PCI\VEN_10DE&DEV_{CARDS[capability][1]}&SUBSYS_00000000&REV_A1\4&0"
    held = "nvlddmkm" if driver else "BasicDisplay"
    missing = ({"init": {"code": 12, "name": "NVML_ERROR_LIBRARY_NOT_FOUND", "call": "nvmlInit", "detail": ""}},)
    return {
        ("uname",): Uname("windows", "10.0.19045", "x86_64"),
        ("call", "nvml"): nvml(driver, cuda, capability) if driver else missing,
        ("registry", f"{services}/{held}/Enum"): RegistryKey({"0": card, "Count": "1"}, ()),
    }


def tensorflow(disk: trees.Disk, site: str) -> None:
    """The files of the real wheel as pip puts them: its metadata, its extension, the others by size."""
    trees.tensorflow(disk, site)
    disk.put(f"{site}/tensorflow/python/platform/build_info.py", (WHEEL / "build_info.txt").read_bytes())
    meta = f"{site}/tensorflow_gpu-2.3.4.dist-info"
    for name in ("METADATA", "WHEEL", "RECORD"):
        lines = (WHEEL / name).read_bytes().splitlines(keepends=True)
        kept = (line for line in lines if not line.startswith(b"Requires-Dist: "))  # not in these trees
        disk.put(f"{meta}/{name}", b"".join(kept))
    for line in (WHEEL / "RECORD").read_text().splitlines():
        path, _, size = line.rsplit(",", 2)
        target = f"{site}/{path.replace('tensorflow_gpu', 'tensorflow')}"
        if not disk.at(target).exists():
            disk.put(target, trees.pe())
            with disk.at(target).open("r+b") as file:
                file.truncate(int(size))


class World:
    """The healthy machine; a case changes it before it is looked at."""

    def __init__(self, folder: Path) -> None:
        self.driver, self.cuda, self.capability = "431.60", 10010, "6.1"
        self.disk = trees.windows(folder)
        self.site = trees.python(self.disk)
        tensorflow(self.disk, self.site)
        self.bin = trees.toolkit(self.disk, "10.1", trees.CUDA_10_1)
        self.disk.put(f"{CUDNN}/bin/cudnn64_7.dll", trees.cudnn7())
        self.path = [PYTHON, trees.SYSTEM, "C:/Windows", self.bin, f"{CUDNN}/bin"]
        root = self.bin.rpartition("/")[0]
        self.variables = {"CUDA_PATH": root, "CUDA_PATH_V10_1": root, "SystemRoot": "C:/Windows"}
        self.python = ""
        self.lies: dict[str, bytes] = {}  # files of the driver that are not what they should be
        self.registry: dict[str, dict[str, str]] = {}

    def remove(self, path: str) -> None:
        """Delete a file or a whole folder."""
        target = self.disk.at(path)
        shutil.rmtree(target) if target.is_dir() else target.unlink()

    def machine(self) -> Running:
        """The machine as it is now."""
        said = {name: value.replace("/", "\\") for name, value in self.variables.items()}
        environ = {**said, "PATH": ";".join(self.path).replace("/", "\\")}
        if self.driver:
            for name in ("nvcuda.dll", "nvml.dll"):
                self.disk.put(f"{trees.SYSTEM}/{name}", self.lies.get(name) or trees.driver_dll(self.driver))
        keys = {("registry", key): RegistryKey(values, ()) for key, values in self.registry.items()}
        return Running(self.disk, environ, {**running(self.driver, self.cuda, self.capability), **keys})

    def facts(self) -> Facts:
        """What is seen of it."""
        machine = self.machine()
        facts = look(machine, Options(python=self.python))
        return msgspec.structs.replace(facts, loads=loads(machine, facts))

    def causes(self, facts: Facts) -> set[str]:
        """What the signs speak for."""
        return {one.cause for one in judge(facts).findings if one.weight is not Weight.AGAINST}
