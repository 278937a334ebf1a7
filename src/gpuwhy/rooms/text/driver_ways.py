"""Driver ways: which module, which branch, which group: what a text names of the driver that does not answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import typed_inside
from gpuwhy.rooms.text.ways import elsewhere, tried

_MODULE = Later(r"nvidia[_-](\d{3})(?:[_-]uvm)?\b")
_INSIDE = Later(r"\bdocker\b|docker-compose|\bcompose\b|kubectl|\bpod\b|root@[0-9a-f]{12}\b|/opt/conda/|/workspace/|\bcontainer\b|singularity|apptainer|\.sif\b", re.IGNORECASE)  # fmt: skip
_ON_HOST = Later(r"\bmodprobe\b|nvidia-container-cli|nvidia-docker run|\bdkms\b", re.IGNORECASE)
_LOADED = Later(r"kernel reported version is: (\d{3})\b[^\0]*(?:failed|unable) to find libcuda")
_SEEN = Later(r"(?:VGA|3D) (?:compatible )?controller[^\n]*NVIDIA[^\n]*\[(?P<card>[^\]]+)\]")
_UPDATED = Later(r"kernel (?:update|upgrade)|after (?:updat|upgrad|reboot|restart)|apt (?:upgrade|full-upgrade)|unattended", re.IGNORECASE)  # fmt: skip
_GROUP = Later(r"^c[rw-]{8,9}\S*\s+\d+ \w+ +(?P<group>\w+)[^\n]*/dev/nvidia", re.MULTILINE)


_START = Later(r"init(?:ialization)? failure:? ?(?:3|999)\b|cuInit (?:err|returned)\w*:? ?(?:3|999)\b|error 999|CUDA_ERROR_UNKNOWN|cuda unknown error|failed call to cuInit: CUDA_ERROR_NOT_INITIALIZED", re.IGNORECASE)  # fmt: skip
_NO_MODULE = Later(r"Module nvidia\w* not found|couldn't communicate with the NVIDIA driver|could not insert|No such device", re.IGNORECASE)  # fmt: skip


def uvm_again(case: Asked) -> Iterator[Fix]:
    """CUDA does not start though the driver is loaded: the module for unified memory, after a suspend or with HMM."""
    if case.windows or "wsl" in case.tools or not _START.search(case.text) or _NO_MODULE.search(case.text):
        return
    unit = next((f" && sudo systemctl restart {one.name}" for one in case.programs if one.name == "ollama"), "")
    yield tried("Load the module for unified memory anew, with no program on the GPU: after a suspend, or an update, CUDA does not start by it though nvidia-smi works; then start the program again", on.host(f"sudo rmmod nvidia_uvm; sudo modprobe nvidia_uvm && sudo nvidia-modprobe -u -c=0{unit}"), root=True)  # fmt: skip
    yield tried("Where that does not do (newer kernels, drivers 535 to 575, error 3): switch its use of the kernel's HMM off, and restart", on.host("echo 'options nvidia_uvm uvm_disable_hmm=1' | sudo tee /etc/modprobe.d/nvidia-uvm.conf && sudo reboot"), root=True)  # fmt: skip


_SLEPT = Later(
    r"suspend|hibernat|woke up|wak(?:e|ing) (?:from|up)|after sleep|resum(?:e|ing) from|lid clos", re.IGNORECASE
)


def after_sleep(case: Asked) -> Iterator[Fix]:
    """A machine that slept: its module for unified memory is to be loaded anew."""
    if _SLEPT.search(case.text):
        yield from uvm_again(case)


def _service(case: Asked) -> Iterator[Fix]:
    """A service that looks for the GPU at its start alone."""
    if any(one.name == "ollama" for one in case.programs):
        yield tried("Where nvidia-smi works: start Ollama again, which looks for the GPU at its start alone; in docker start it with the GPU", on.linux("nvidia-smi && sudo systemctl restart ollama    # docker run --gpus=all -d -v ollama:/root/.ollama -p 11434:11434 ollama/ollama"), root=True)  # fmt: skip


def driver_again(case: Asked) -> Iterator[Fix]:
    """No driver: a container without the GPU first where the text is of one, the module that is named, the card that is seen."""
    if case.windows or "wsl" in case.tools or "other_card" in case.tools:
        return
    yield from elsewhere(case)
    if _INSIDE.search(case.text) and not _ON_HOST.search(case.text):
        yield tried("The program runs in a container: start it with the GPU; it needs no driver of its own", "docker run --gpus all IMAGE nvidia-smi    # compose: deploy: resources: reservations: devices: [{driver: nvidia, count: all, capabilities: [gpu]}]")  # fmt: skip
    if re.search(r"\bNixOS\b|nix-shell|/nix/store/", case.text):
        yield tried("NixOS keeps the driver's libraries in /run/opengl-driver/lib, where programs of pip and conda do not look: have them found (for good: in shellHook, or by nix-ld)", on.linux("export LD_LIBRARY_PATH=/run/opengl-driver/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"))  # fmt: skip
    yield from uvm_again(case)
    yield from _unfitting_kernel(case)
    if not _NO_MODULE.search(case.text):
        yield from _service(case)
    yield from _right_branch(case)
    if loaded := _LOADED.search(case.text):
        yield tried(f"The kernel has driver {loaded[1]} loaded and libcuda.so.1 is not found: in a container, start it with the GPU (--gpus all), which brings it; on the machine itself install the driver's library", on.host(f"sudo apt install --reinstall libnvidia-compute-{loaded[1]} && sudo ldconfig"), root=True)  # fmt: skip
    if module := _MODULE.search(case.text):
        branch = module[1]
        name = f"nvidia-{branch}" if int(branch) < 390 else f"nvidia-driver-{branch}"
        yield tried(f"The kernel does not load the module {module[0]}: install that driver again with its modules for the running kernel, then load it", on.host(f"sudo apt install --reinstall {name} linux-headers-$(uname -r) && sudo modprobe {module[0]}"), root=True)  # fmt: skip
    if re.search(r"libcuda\.so", case.lines) and not case.programs:
        yield tried("Where this machine has no NVIDIA GPU, as a cluster's login node: run it on one that has; in a container, start it with --gpus all, which brings libcuda.so.1", on.linux("srun --gres=gpu:1 --pty python PROGRAM"))  # fmt: skip
    card = _SEEN.search(case.text)
    if card:
        yield tried(f"The card is there ({card['card']}) and no driver drives it: install the one that the distribution offers, then restart", NEWEST_DRIVER, root=True)  # fmt: skip
    if _UPDATED.search(case.text):
        yield tried("After an update of the kernel: build the module for the running one, and load it", on.host("sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall && sudo modprobe nvidia"), root=True)  # fmt: skip


_NOT_BUILT = Later(r"Module nvidia\w* not found in directory /lib/modules/(\S+)|/lib/modules/(\S+?)['\": ]*(?:: )?[^\n]*nvidia[^\n]*not found", re.IGNORECASE)  # fmt: skip
_ARCH = Later(r"-(?:arch|MANJARO|zen|cachyos|lts)\d*[-.\d]*|pacman|Arch Linux", re.IGNORECASE)


def _unfitting_kernel(case: Asked) -> Iterator[Fix]:
    """A kernel that no module was built for: the running one after an update, or a new one."""
    found = _NOT_BUILT.search(case.text)
    if not found:
        return
    if _ARCH.search(found[0]) or _ARCH.search(case.text):
        yield tried("The running kernel is another than the one that the driver's module was built for: bring both up to date in one go, and restart; with any other kernel than linux, the dkms package", on.host("sudo pacman -Syu nvidia-open-dkms linux-headers && sudo reboot"), root=True)  # fmt: skip
    else:
        kernel = found[1] or found[2]
        yield tried(f"The kernel {kernel} has no module of the driver: install its headers, build the module for it and load it; or start the kernel before it", on.host("sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall && sudo modprobe nvidia"), root=True)  # fmt: skip


_LEGACY = Later(r"NVIDIA (\d{3})\.xx Legacy|legacy (?:driver )?(?:branch )?(\d{3})", re.IGNORECASE)
_OPEN = Later(r"requires use of the NVIDIA open kernel modules|open (?:gpu )?kernel modules? (?:is|are) required", re.IGNORECASE)  # fmt: skip


def _right_branch(case: Asked) -> Iterator[Fix]:
    """A card that another branch, or the other kind, of the driver drives; conda's guess where there is none."""
    if _OPEN.search(case.text):
        yield tried("This card (RTX 50 and other new ones) needs the driver's open kernel modules: install that kind in place of the other, then restart", on.host("sudo apt install nvidia-driver-580-open"), root=True)  # fmt: skip
    if found := _LEGACY.search(case.text):
        branch = found[1] or found[2]
        yield tried(f"This card is driven by the legacy branch {branch} only: install that one, then restart", on.host(f"sudo apt install nvidia-driver-{branch}"), root=True)  # fmt: skip
    if "__cuda" in case.text:
        yield tried("conda asks the driver, and there is none here (a build, a login node): tell it the CUDA of the machine that will run it", on.linux("CONDA_OVERRIDE_CUDA=12.4 conda install PACKAGE"))  # fmt: skip


_SELINUX = Later(r"selinux|avc: +denied|fedora|\brhel\b|rocky ?linux", re.IGNORECASE)


_ROOTLESS = Later(r"rootless|user namespace|keep-groups|no-cgroups|disable cgroups", re.IGNORECASE)
_OTHER_USER = Later(r"non-root|not root|useradd|\bsu - \w|--user\b|-u 1\d{3}\b|^USER \w", re.IGNORECASE | re.MULTILINE)


def _not_by_login(case: Asked) -> Iterator[Fix]:
    """Where joining a group and logging in changes nothing: a node's engine, a user namespace, a user of the image."""
    if "kubernetes" in case.tools:
        yield tried("On the node: the container tool runs as root, so the device files or SELinux refuse it: create the files and give them NVIDIA's own modes, then start the pod again", on.host("sudo nvidia-modprobe -u -c=0 && sudo chmod a+rw /dev/nvidia*"), root=True)  # fmt: skip
        yield tried("Where SELinux denies it (ausearch -m avc -ts recent shows): allow containers the devices", on.host("sudo setsebool -P container_use_devices=true"), root=True)  # fmt: skip
    elif _ROOTLESS.search(case.text) and "podman" in case.tools:
        yield tried("Rootless podman: your groups are not in its user namespace: keep them (needs crun, not runc), and pass the GPU by CDI", on.linux("podman run --runtime crun --group-add keep-groups --security-opt=label=disable --device nvidia.com/gpu=all IMAGE nvidia-smi    # before: sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"))  # fmt: skip
        yield tried("Or open the device files to all, as NVIDIA's own installer does", on.host("echo 'options nvidia NVreg_DeviceFileMode=0666' | sudo tee /etc/modprobe.d/nvidia-mode.conf && sudo chmod a+rw /dev/nvidia*"), root=True)  # fmt: skip
    elif _ROOTLESS.search(case.text):
        yield tried("Rootless docker cannot create device files: on the host, load the module for unified memory and create its file, which CUDA needs and nvidia-smi does not; then start the container again", on.host("sudo modprobe nvidia-uvm && sudo nvidia-modprobe -u -c=0 && ls -l /dev/nvidia-uvm"), root=True)  # fmt: skip
        yield tried("And pass the files by name", on.linux("docker run --gpus all --device=/dev/nvidia-uvm --device=/dev/nvidia-uvm-tools --device=/dev/nvidiactl --device=/dev/nvidia0 IMAGE"))  # fmt: skip


def may_open(case: Asked) -> Iterator[Fix]:
    """Device files that may not be opened: the group that owns them, a container's user, the mode."""
    group = _GROUP.search(case.text)
    name = group["group"] if group and group["group"] != "root" else "video"
    if special := tuple(_not_by_login(case)):
        yield from special
        return
    if _SELINUX.search(case.text) and "podman" in case.tools:
        yield tried("SELinux keeps the container from the device files: allow it, for this container or for all", on.linux("podman run --security-opt=label=disable --device nvidia.com/gpu=all IMAGE nvidia-smi    # for all: sudo setsebool -P container_use_devices=true"))  # fmt: skip
    if _INSIDE.search(case.text) or typed_inside(case.text):
        number = name if name.isdigit() else f"$(getent group {name} | cut -d: -f3)"
        yield tried("On the host: let the container's user open the device files, by the number of the group that owns them (a pod: securityContext: {supplementalGroups: [NUMBER]})", on.linux(f"docker run --gpus all --group-add {number} IMAGE    # rootless podman: --group-add keep-groups"))  # fmt: skip
    yield tried(f"Join the group {name}, which owns the device files, then log in anew (a service: usermod for its own user, then start it again)", on.linux(f"sudo usermod -aG {name} $USER"), root=True)  # fmt: skip
    yield tried("Or open them to all, as NVIDIA's own installer does", on.host("sudo chmod a+rw /dev/nvidia* && sudo nvidia-modprobe -u -c=0    # for good: options nvidia NVreg_DeviceFileMode=0666 in /etc/modprobe.d/nvidia.conf"), root=True)  # fmt: skip


_ECC = Later(r"\becc\b|uncorrectable|row remap|retired page", re.IGNORECASE)
_BUS = Later(r"fallen off the bus|\bXid\b[^\n]*: ?79\b|PCIe Bus Error|\bAER\b|device handle|lost", re.IGNORECASE)
_GSP = Later(r"Xid[^\n]*: ?(?:119|120)\b|\bGSP\b[^\n]*(?:timeout|timed out)", re.IGNORECASE)
_CARD = Later(r"\b([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d)\b")


def with_hardware(case: Asked) -> Iterator[Fix]:
    """A card that fails: which, and what such a fault needs."""
    card = _CARD.search(case.text)
    which = f" {card[1]}" if card else ""
    if case.windows:
        return
    yield from _right_branch(case)
    if _GSP.search(case.text):
        yield tried("The card's own processor (GSP) no longer answered: update the driver; until then, with the proprietary kernel modules (the open ones need it), do without its firmware, and restart", on.host("echo 'options nvidia NVreg_EnableGpuFirmware=0' | sudo tee /etc/modprobe.d/nvidia-gsp.conf && sudo update-initramfs -u"), root=True)  # fmt: skip
    if _ECC.search(case.text):
        yield tried(f"Its memory has an error that cannot be corrected: reset the GPU{which}, or restart, which takes bad rows out of use", on.host("sudo nvidia-smi --gpu-reset"), root=True)  # fmt: skip
        yield tried("Where it comes back: run on another card or node until this one is exchanged (Slurm: --exclude=NODE)", "export CUDA_VISIBLE_DEVICES=1")  # fmt: skip
    elif _BUS.search(case.text):
        yield tried(f"The card{which} no longer answers on the bus: switch the machine off and on (a restart may not do), seat the card and its power cables anew, look at power supply and temperature")  # fmt: skip
        yield tried("Until then run on another card; where it comes back at load: a lower power limit, another slot or riser, pcie_aspm=off for the kernel", on.host("sudo nvidia-smi -pl 200"), root=True)  # fmt: skip
    else:
        yield tried(f"Reset the GPU{which} with no program on it, or restart the machine", on.host("sudo nvidia-smi --gpu-reset"), root=True)  # fmt: skip
        yield tried("Try the same on another card; where it works there, this one is faulty", "export CUDA_VISIBLE_DEVICES=1")  # fmt: skip
