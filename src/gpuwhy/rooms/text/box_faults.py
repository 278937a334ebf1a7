"""Box faults: what speaks for a fault of a container, a pod, a job or a box, and the way out of it at the place that the text is from."""

from __future__ import annotations

from collections.abc import Mapping

from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.box_asks import (
    VIDEO,
    as_its_user,
    carried_in,
    desktop_release,
    for_video,
    in_its_step,
    may_profile,
    mps_down,
    of_its_board,
    pod_without,
    purged,
    required,
    sharing,
    step_without,
    while_built,
)
from gpuwhy.rooms.text.box_launched import (
    before_the_driver,
    by_a_workflow,
    contained,
    devices_by_hand,
    of_a_board,
    of_the_operator,
)
from gpuwhy.rooms.text.box_more import (
    in_a_distrobox,
    in_a_swarm,
    on_unraid,
    other_driver,
    other_kernel,
    other_name,
    other_partition,
    without_capabilities,
)
from gpuwhy.rooms.text.box_told import insider, one_slice, rapids_card, stray_nvcc, tag_there
from gpuwhy.rooms.text.box_ways import (
    CDI,
    LIBRARIES,
    RUNTIME,
    TAINT,
    UNKNOWN,
    Way,
    Ways,
    booked,
    lost,
    may_not_see_slices,
    no_slices,
    on_a_jetson,
    rights,
    stale,
    tolerated,
    unknown_device,
    unoffered,
)
from gpuwhy.rooms.text.boxes import box_of, worded
from gpuwhy.rooms.text.later import Later

_PLACED: Mapping[str, Mapping[str, Way]] = {"runtime": RUNTIME, "libraries": LIBRARIES, "cdi": CDI}
_ANYWHERE: Mapping[str, Way] = {
    "stale": stale, "lost": lost, "unknown": unknown_device, "no_slices": no_slices, "monitor": may_not_see_slices,
    "rights": rights, "taint": tolerated, "idle": unoffered, "booked": booked, "video": for_video, "step": in_its_step,
    "build": while_built, "pod": pod_without, "slurm": step_without, "required": required, "purge": purged, "carried": carried_in,
    "sharing": sharing, "desktop": desktop_release, "profile": may_profile, "mps": mps_down, "unit": as_its_user,
    "other_name": other_name, "partition": other_partition, "kernel": other_kernel, "other_driver": other_driver,
    "distrobox": in_a_distrobox, "unraid": on_unraid, "swarm": in_a_swarm, "capability": without_capabilities,
    "workflow": by_a_workflow, "by_hand": devices_by_hand, "contained": contained, "boot": before_the_driver,
    "igpu": of_a_board, "operator": of_the_operator,
    "tag": tag_there, "slice": one_slice, "nvcc": stray_nvcc, "insider": insider, "rapids": rapids_card, "board": of_its_board,
}  # fmt: skip

_UNSEEN = ("container.no_gpu", "driver.missing", "wsl.setup", "framework.cpu_only")
_FAULTS: tuple[tuple[str, tuple[str, ...], Later], ...] = (
    ("step", ("container.no_gpu", "driver.", "framework.bug"), worded(r"98-nvidia\.sh|--container-image[^\n]*\n[^\0]{0,200}libnvidia-ml|nvidia-persistenced/socket: no such device")),
    ("build", (*_UNSEEN, "program.build"), worded(r"^Step \d+/\d+ : RUN[^\0]*(?:cuda is not available"
                                                  r"|no nvidia driver|no cuda gpus|no kernel image|libcuda)"
                                                  r"|failed to solve: process \"/bin/sh"
                                                  r"|^#\d+ +[\d.]+ [^\n]*(?:no nvidia driver|cuda is not available"
                                                  r"|no cuda gpus)")),
    ("igpu", ("driver.", "container.no_gpu", "cuda.", "framework."), worded(r"nvcr\.io/nvidia/[\w-]+:\d\d\.\d\d-\S*py3(?!-igpu)")),
    ("workflow", ("container.no_gpu", "driver.missing"), worded(r"\bnextflow\b|\bsnakemake\b")),
    ("by_hand", ("container.no_gpu", "driver.too_old", "driver.missing", "cuda.missing_library"), worded(r"docker run [^\n]*--device[= ]/dev/nvidia")),
    ("contained", ("container.no_gpu", "driver.", "device."), worded(r"(?:singularity|apptainer) (?:exec|run|shell)[^\n]*\s(?:-c|-C|--contain(?:all)?)\s")),
    ("boot", ("driver.missing", "driver.not_ready", "container.no_gpu"), worded(r"driver not loaded|could not select device driver|No CUDA")),
    ("operator", ("container.no_gpu", "driver.missing"), worded(r"load library failed: libnvidia-ml")),
    ("tag", ("other.", "container.no_gpu"), worded(r"nvidia/cuda:\S+ not found")),
    ("slice", ("device.", "distributed."), worded(r"torchrun|torch/distributed|\[rank\d+\]|\bNCCL\b|\bDDP\b|DistributedDataParallel")),
    ("nvcc", ("program.build", "cuda.compiler_missing", "env.path"), worded(r"Compiler: +/usr/bin/nvcc")),
    ("insider", ("device.busy", "wsl.setup", "framework.bug", "driver."), worded(r"Version 10\.0\.2[01]\d{3}")),
    ("rapids", ("framework.gpu_unsupported", "wsl.setup", "framework.platform_dropped"), worded(r"\bcudf\b|\brapids\b|\bcuml\b|\bcugraph\b")),
    ("capability", ("container.no_gpu", "other.", "env."), worded(r"devices\.\d+ capabilities is required")),
    ("swarm", ("container.no_gpu", "device.", "other."), worded(r"\bdocker service (?:create|update)\b[^\0]{0,600}no suitable node|--generic-resource")),
    ("distrobox", ("container.no_gpu", "driver.missing", "env.path"), worded(r"\bdistrobox\b")),
    ("unraid", ("container.no_gpu", "driver.missing", "cuda.missing_library"), worded(r"\bunraid\b|\btruenas\b")),
    ("other_name", ("container.no_gpu", "device."), worded(r"Insufficient nvidia\.com/gpu|too large: maximum request size")),
    ("partition", ("container.no_gpu", "device.", "other."), worded(r"Requested node configuration is not available|Invalid generic resource|\(null\)")),
    ("kernel", ("driver.missing", "driver.library_mismatch"), worded(r"\buname -r\b[^\0]*lib/modules|lib/modules[^\0]*\buname -r\b")),
    ("other_driver", ("driver.library_mismatch", "install.conflict"), worded(r"version mismatch")),
    ("booked", ("container.no_gpu", "device.", "driver."), worded(r"devices unavailable for nvidia\.com/\S+ Requested: \d+, Available: 0")),
    ("idle", ("container.no_gpu", "device.busy"), worded(r"Insufficient nvidia\.com")),
    ("taint", ("container.no_gpu", "device.busy", "other."), TAINT),
    ("no_slices", ("driver.not_ready", "device.", "container.no_gpu"), worded(r"No MIG devices (?:associated|found)|migEnabled=true was not configured")),
    ("monitor", ("driver.permission",), worded(r"error visiting device[^\n]*Insufficient Pe\w*ssions|MIG[^\0]*(?:device[- ]plug-?in)[^\0]*Insufficient Permissions")),
    ("unknown", ("device.selection", "container.no_gpu"), UNKNOWN),
    ("stale", ("container.no_gpu", "driver.", "install."), worded(r"failed to (?:stat|fulfil)[^\n]*(?:cdi|mount)[^\n]*lib(?:cuda|nvidia)\S*\.so\.\d{3}"
        r"|(?:statfs|stat|lstat|open) \S*lib[\w-]*\.so\.\d{3}\.[\d.]*\W{1,3}no such file"
        r"|cannot stat [^\n]*\.so\.\d{3}\.\d+[^\n]*no such file|/etc/cdi/nvidia\.yaml[^\n]*\.so\.\d{3}")),
    ("cdi", ("container.no_gpu",), worded(r"unresolvable CDI devices|CDI device injection failed")),
    ("libraries", ("container.no_gpu", "driver.missing", "wsl.setup"), worded(r"load library failed: libnvidia-ml")),
    ("runtime", ("container.no_gpu", "driver.missing"), worded(r"could not select device driver|(?:unknown|invalid)[^\n]*runtime[^\n]*nvidia|runtimehandler \\?\"?nvidia"
        r"|no runtime for \\?\"?nvidia|failed to find runtime handler nvidia"
        r"|incompatible (?:platform|strategy) detected|invalid device discovery strategy|non-nvml platform"
        r"|could not load nvml library")),
    ("lost", ("driver.permission", "container.no_gpu"), worded(r"Failed to initialize NVML: Unknown Error")),
    ("rights", ("driver.permission",), worded(r"Failed to initialize NVML: Insufficient Permissions")),
    ("video", ("container.no_gpu", "driver.missing", "cuda.missing_library"), VIDEO),
    ("desktop", ("wsl.setup", "container.no_gpu", "framework."), worded(r"named symbol not found|error 500\b|no adapters were found")),
    ("profile", ("driver.permission", "other."), worded(r"host engine is running as non-root|privileges to expose profiling")),
    ("mps", ("device.busy", "driver.not_ready", "container.no_gpu"), worded(r"mps-control-daemon\S* +\d/\d +(?:CrashLoop|Error|Init|Pending)")),
    ("unit", ("driver.permission",), worded(r"nvmap|/dev/(?:nvidia|dri|nvhost)|permission denied")),
    ("required", ("driver.too_old",), worded(r"unsatisfied condition: cuda")),
    ("purge", ("wsl.setup", "driver.missing"), worded(r"apt(?:-get)? (?:-y )?install[^\n]*(?:nvidia-(?:driver|utils"
                                                      r"|dkms)|cuda-drivers|\bcuda(?: |$))|/usr/bin/nvidia-smi"
                                                      r"|/usr/lib/x86_64-linux-gnu/lib(?:cuda|nvidia-ml)\.so\.\d{3}"
                                                      r"|^ii +(?:nvidia-(?:driver|utils|dkms)|libnvidia-compute"
                                                      r"|cuda-drivers)"
                                                      r"|(?:Setting up|Unpacking) (?:nvidia-(?:driver|utils|dkms)"
                                                      r"|cuda-drivers|libnvidia-compute)|nvidia-dkms-\d"
                                                      r"|installed[^\n]{0,40}(?:nvidia-driver"
                                                      r"|linux driver)[^\n]{0,40}(?:in|inside) (?:the )?wsl")),
    ("carried", ("cuda.", "cudnn.", "env.", "driver.", "install."), worded(r"\b(?:APPTAINER|SINGULARITY)ENV_")),
    ("sharing", ("memory.",), worded(r"time-?slic|timeSlicing|nvidia\.com/gpu\.shared")),
    ("board", (*_UNSEEN, "cuda.", "driver."), worded(r"# R\d\d \(release\)")),
    ("slurm", (*_UNSEEN, "device.selection"), worded(r"\bsrun (?!--container)")),
    ("pod", ("container.no_gpu", "driver.missing", "framework.cpu_only"), worded(r"driver version is insufficient|no CUDA-capable device|libcuda\.so\S*: cannot open|is_available"
        r"|Failed to infer device type|No platform detected|/proc/driver/nvidia/version does not exist|No CUDA GPUs"
        r"|no nvidia driver|nvidia-smi\W{1,6}(?:not found|executable)|failed call to cuInit|libnvidia-ml\.so")),
)  # fmt: skip
"""A fault, the causes that it may be told as, and the words that show it; the first that has a way at this place counts."""


def in_its_box(cause: str, case: Asked) -> Ways:
    """The whole way out of the fault that a text shows, at the place that it is from."""
    box = box_of(case)
    if "jetson" in case.tools and cause.startswith("container.no_gpu"):
        yield from on_a_jetson(case)
    for fault, causes, words in _FAULTS:
        if cause.startswith(causes) and words.search(case.text):
            way = _PLACED[fault].get(box) if fault in _PLACED else _ANYWHERE[fault]
            ways = tuple(way(case)) if way else ()
            if ways:
                yield from ways
                return
