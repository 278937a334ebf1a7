"""Network truths: addresses that only one machine knows (Docker's bridge, WSL behind Windows), and limits that a queue sets, whatever failed by them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

_BRIDGE = Later(r"\b172\.1[78]\.\d{1,3}\.\d{1,3}\b")
_OWN = Later(r"\bHost(?:name)? is unreachable|timed out|refused|unreachable|No route", re.IGNORECASE)
_PORT = Later(r"master[_-]port[= ]+(\d{4,5})|, (\d{4,5})\)|:(\d{4,5})\b", re.IGNORECASE)


def of_the_network(cause: str, case: Asked) -> Iterator[Fix]:
    """For processes that do not find each other."""
    if not cause.startswith("distributed.") or not _OWN.search(case.text):
        return
    if "wsl" in case.tools or "/mnt/c/" in case.text:
        yield from _behind_windows(case)
    elif bridge := _BRIDGE.search(case.text):
        yield from _on_a_bridge(bridge[0])


def _behind_windows(case: Asked) -> Iterator[Fix]:
    found = _PORT.search(case.text)
    port = next(filter(None, found.groups()), "29500") if found else "29500"
    yield tried("WSL has an address of its own behind Windows, which no other machine reaches: let it share Windows' network (Windows 11 22H2 or newer), networkingMode=mirrored below [wsl2] in the file .wslconfig of your Windows folder, on every machine; then stop WSL", on.across("wsl --shutdown"))  # fmt: skip
    yield tried(f"Then let Windows' firewall pass what comes in to WSL (PowerShell as administrator, on every machine; NCCL needs more ports than {port})", on.across("powershell Set-NetFirewallHyperVVMSetting -Name '{40E0AC32-46A5-438A-A0B2-2B479E8F2E90}' -DefaultInboundAction Allow"))  # fmt: skip


def _on_a_bridge(address: str) -> Iterator[Fix]:
    yield tried(f"{address} is an address of Docker's own bridge, which every host has and no other one reaches: start the containers on all hosts in the host's network", "docker run --gpus all --network=host --ipc=host IMAGE")  # fmt: skip
    yield tried("Then name the host's interface between the nodes (ip -brief address lists them) to NCCL and Gloo in each container, and give the first host's own address as the master's", "export NCCL_SOCKET_IFNAME=INTERFACE GLOO_SOCKET_IFNAME=INTERFACE")  # fmt: skip


_QUEUES: tuple[tuple[Later, str, str], ...] = (
    (Later(r"^#\$ -l|/sge/|\bh_vmem\b|\bSGE_", re.MULTILINE), "h_vmem, which limits the address space too", "#$ -l h_vmem=64G    # in the job's script; then qsub it again"),
    (Later(r"^#PBS |\bPBS_", re.MULTILINE), "mem and vmem", "#PBS -l mem=64gb,vmem=256gb    # in the job's script; then qsub it again"),
    (Later(r"^#BSUB |\bLSB_", re.MULTILINE), "-M and rusage[mem]", "#BSUB -M 64GB -R \"rusage[mem=64GB]\"    # in the job's script; then bsub it again"),
)  # fmt: skip
_SPACE = Later(r"ulimit -v:? *\d|\bvmem\b|h_vmem|MemoryError|Cannot allocate memory|\bKilled\b|OUT_OF_MEMORY", re.IGNORECASE)  # fmt: skip


def of_the_queue(cause: str, case: Asked) -> Iterator[Fix]:
    """A batch system's own limit of memory: CUDA reserves tens of gigabytes of addresses at its start."""
    if cause not in ("env.limit", "memory.host") or not _SPACE.search(case.text):
        return
    for words, name, line in _QUEUES:
        if words.search(case.text):
            yield tried(f"The queue's limit is too small: ask for more by {name}; CUDA reserves tens of gigabytes of addresses when it starts, and ulimit cannot lift what the queue has set", on.code(line))  # fmt: skip
            return


_STEP = Later(r"^#\d+ (?:\[[^\]]*\] RUN |[\d.]+ )|^Step \d+/\d+ : RUN ", re.MULTILINE)
_ASKED = re.compile(r"^driver\.(?:stub|missing|permission)|^container\.no_gpu|^device\.selection")


def of_a_build(cause: str, case: Asked) -> Iterator[Fix]:
    """A step of `docker build` has no GPU, whatever is installed."""
    if _ASKED.match(cause) and _STEP.search(case.text):
        yield tried("A step of docker build has no GPU and no driver: take what needs one (tests, a check of the GPU) out of the Dockerfile, and run it in the built image", "docker run --rm --gpus all IMAGE COMMAND")  # fmt: skip


_OWN_TORCH = {"vllm": "vLLM", "sglang": "SGLang"}


def of_its_own_torch(cause: str, case: Asked) -> Iterator[Fix]:
    """Servers are built for one torch, which their package names exactly: they are lifted, not the torch below them."""
    if cause not in ("framework.gpu_unsupported", "framework.extension_abi", "install.inconsistent"):
        return
    name = next((one.name for one in case.programs if one.name in _OWN_TORCH), "")
    if name and re.search(rf"site-packages/{name}/", case.text):
        yield tried(f"This {_OWN_TORCH[name]} is built for one PyTorch and brings it: take its newest release, in an environment of its own, rather than another PyTorch below it", on.linux(f"uv venv --python 3.12 new && . new/bin/activate && uv pip install --upgrade {name} --torch-backend=auto"))  # fmt: skip
