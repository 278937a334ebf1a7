"""wsl.setup in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re

from gpuwhy.knowledge.messages import NO_ANSWER, NO_DRIVER, NO_GPU
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.common import nothing_else
from gpuwhy.rooms.text.conditions import (
    all_of,
    alone,
    asks,
    field,
    in_container,
    in_wsl,
    line,
    no,
    wants,
    whole,
    with_,
)
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import BAKED, PURGE
from gpuwhy.rooms.text.room import Text

_NOT_FOUND = "loader. triton.libcuda numba. tf. cuda.no_device cuda.not_found cuda.shared torch. jax."


def _old_windows(_: Symptom, reading: Reading) -> bool:
    """A build of Windows 10 before 21H2, told beside WSL."""
    told = re.search(r"10\.0\.1(?:[0-8]\d{3}|904[0-3])\b", reading.excerpt)
    kernel = re.search(
        r"\b(?:4\.19|5\.4)\.\d+(?:\.\d+)?(?:-microsoft|[^\n]{0,30}wsl)|kernel\W{1,3}(?:version\W{1,3})?(?:4\.19|5\.4)\.\d",
        reading.excerpt,
        re.IGNORECASE,
    )
    return (told or kernel) is not None and reading.told.os == "wsl"


def _by_wsl(_: Symptom, reading: Reading) -> bool:
    """Under WSL, or in Docker Desktop on Windows, which is WSL."""
    return reading.told.os == "wsl" or (reading.told.os == "windows" and "docker" in reading.excerpt.lower())


TEXT = Text(
    "wsl.setup",
    signatures=(
        error("wsl.smi_crash", r"(?:segmentation fault|segfault)(?: \(core dumped\))?\s+nvidia-smi\b"
              r"|\bnvidia-smi:? (?:segmentation fault|segfault)", "segmentation fault", "segfault", covers=("signal.segv",
            "title.")),
        error("remark.wsl_one",
              r"^\s*\*?\s*[\w.-]{2,40}\s+(?:running|stopped)\s+1\s*$|\bwsl\b[^\n]{0,60}\bversion:? 1\b(?!\.)"
              r"|\b(?:is|in|on|under|with|still) wsl ?1\b(?!\.)", "running", "stopped", "version", "wsl1", "wsl 1",
              covers=("title.",)),
        error("remark.wsl_driver", r"\bwsl2?\b[^\n]{0,60}\b(?:cuda-drivers|nvidia-driver(?:-\d+)?)\b"
              r"|\b(?:cuda-drivers|nvidia-driver-\d+)\b[^\n]{0,30}\b(?:in|inside|under) (?:the )?wsl"
              r"|\bwindows driver\b[^\n]{0,60}\b(?:before|older than|predates?|without)\b[^\n]{0,20}\bwsl"
              r"|\bdriver\b[^\n]{0,30}\b(?:too old for|does not support|no support for|not support) wsl", "wsl",
              covers=("title.",)),
        error("wsl.dxcore", r"\bdxcore\b[^\n]{0,30}(?:fail|error|not found)"
              r"|(?:fail|error|unable|not)\w*[^\n]{0,40}\b(?:lib)?dxcore\b"
              r"|/dev/dxg\b[^\n]{0,30}(?:no such|denied|not found|missing)", "dxcore", "/dev/dxg", covers=("nvidia.nvml_not_found",
            "container.cli", "container.generic", "title.", "loader.")),
        error("container.wsl", r"wsl environment detected but no adapters", "wsl environment detected",
              covers=("container.cli", "container.generic")),
        error("container.baked", r"(?:libnvidia-\w+|libcuda)\.so[\w.]*: file exists", ": file exists", covers=("container.cli", "container.generic", "title.trouble")),
    ),
    clues=(
        ("wsl.smi_crash", 5.4, "nvidia-smi itself crashes: Windows' driver and what WSL has of it do not fit", in_wsl),
        ("remark.wsl_one", 4.4, "this Linux runs in WSL 1, which has no GPU"),
        ("remark.wsl_driver", 4.8, "WSL takes the driver of Windows, which is too old here or hidden by a Linux one"),
        ("remark.linux_driver", 4.6, "a Linux driver inside WSL hides Windows' own", all_of(in_wsl, with_("cuda.", "torch.", "tf.", "nvidia.", "loader.", "title."))),
        ("kernel.proc_missing", 3.4, "under WSL there is no kernel driver of its own", in_wsl),
        ("build.cannot_find_l", 4.2,
         "libcuda.so lies in /usr/lib/wsl/lib, and not as the link that the linker looks for", all_of(in_wsl, field("library",
            r"cuda$"), no(with_("build.nvcc_missing")))),
        *((one, 5.2, "DirectML reaches the GPU through WSL 2 alone: its libraries are in /usr/lib/wsl/lib", line("libd3d12|libdxcore")) for one in ("loader.tf_dso",
            "loader.cannot_open")),
        *((one, 4.6, "this Windows is older than 21H2 (10.0.19044), which CUDA in WSL 2 needs", _old_windows) for one in ("torch.unavailable",
            "title.gpu_unseen", "tf.no_gpu_found", "cuda.no_device", "title.bare_false", "title.trouble",
            "cuda.insufficient_driver", "torch.no_driver", "nvidia.no_communication", "cuda.unknown")),
        ("cuda.insufficient_driver", 3.6, "this Windows is older than 21H2 (10.0.19044), which CUDA in WSL 2 needs: there error 35 is no old driver", _old_windows),
        ("container.baked", 4.4, "the driver's libraries lie in this WSL, or in the image, where WSL wants to put Windows' own", in_wsl),
        *((one, 2.4, "the adapter behind WSL is none of NVIDIA's", line("core nvidia component")) for one in ("loader.prose", "loader.find_failed")),
        ("loader.cudarc", 4.6, "libcuda lies in /usr/lib/wsl/lib, outside the search", all_of(in_wsl, field("library", "^(?:nv)?cuda$"))),
        ("loader.cudarc", 2.7, "under WSL libcuda lies in /usr/lib/wsl/lib, outside the search", field("library", "^(?:nv)?cuda$")),
        ("cuda.not_found", 5.4,
         "driver 555 and newer bring a library into WSL that an older container toolkit does not pass on (error 500)",
         all_of(_by_wsl, with_("torch.device_count", "container.", "told.container"))),
        ("cuda.not_found", 3.4, "libcuda does not find the Windows driver behind it (error 500)", all_of(in_wsl, line("cuinit"))),
        ("numba.versions", 1.4, "under WSL another libcuda may be found first"),
        ("container.load_ml", 4.6, "the driver of Windows does not reach WSL, by which docker runs", _by_wsl),
        ("container.cli", 3.8, "the container toolkit fails under WSL: {what}", in_wsl),
        ("container.cli", 1.6, "the container toolkit fails as under WSL", field("what", ".*failed to process request")),
        ("nvidia.nvml_na", 3.4, "NVML does not initialise under WSL", in_wsl),
        ("nvidia.nvml_na", 1.6, "NVML does not initialise; this happens under WSL"),
        ("cuda.out_of_memory", 4.2, "under WSL CUDA does not even count its devices", all_of(in_wsl, with_("torch.device_count"))),
        ("cuda.device_unavailable", 2.9, "under WSL the driver does not open the device", in_wsl),
        ("nvidia.no_handle", 5.4, "under WSL the driver of Windows does not hand out this card, as one in TCC mode", in_wsl),
        ("nvidia.no_devices", 4.6, "under WSL the driver of Windows hands out no card, as one in TCC mode", in_wsl),
        ("nvidia.nvml_not_loaded", 4.8, "under WSL a Linux driver inside hides Windows' own", in_wsl),
        ("nvml.driver_not_loaded", 4.8, "under WSL a Linux driver inside hides Windows' own", in_wsl),
        ("title.sleep", 1.0, "it comes after sleep", in_wsl),
        ("wsl.dxcore", 4.4, "what reaches the GPU through Windows (dxcore, /dev/dxg) does not come up"),
        ("container.wsl", 5.0, "WSL has no GPU adapter for the container"),
        ("nvidia.nvml_unknown", 5.4, "a card in TCC mode, as Windows lists one, does not reach WSL", all_of(in_wsl, whole(r"\bTCC\b *\|"))),
        ("nvidia.nvml_blocked", 4.0, "Windows blocks the GPU for WSL"),
        ("nvml.operating_system", 2.6, "the system blocks NVML", in_wsl),
        ("loader.cannot_open", 4.4, "{library} lies in /usr/lib/wsl/lib, outside the search", all_of(asks("driver"), in_wsl)),
        ("loader.cannot_open", 2.9, "plain libcuda.so is found only where WSL or the toolkit put it", all_of(asks("driver"), field("library", r"libcuda\.so$"))),
        ("loader.cannot_open", 0.9, "under WSL it would lie in /usr/lib/wsl/lib", asks("driver")),
        ("loader.cudnn_sub", 4.8, "cuDNN's part {library} opens {wanted}, which lies in /usr/lib/wsl/lib, outside the search", all_of(wants("driver"), in_wsl)),
        ("loader.cudnn_sub", 3.9, "cuDNN's part {library} opens {wanted} by its plain name: under WSL that lies in /usr/lib/wsl/lib, outside the search",
         all_of(field("wanted", r"(?:\S*/)?libcuda\.so$"), no(in_container))),
        ("loader.cudnn_sub", 1.6, "under WSL {wanted} would lie in /usr/lib/wsl/lib", wants("driver")),
        ("jax.falls_back", 1.8, "under WSL the driver is Windows' own", in_wsl),
        ("loader.tf_dso", 4.0, "{library} lies in /usr/lib/wsl/lib, outside the search", all_of(asks("driver"), in_wsl)),
        ("loader.find_failed", 4.0, "{library} lies in /usr/lib/wsl/lib, outside the search", all_of(asks("driver"), in_wsl)),
        ("loader.prose", 4.0, "{library} lies in /usr/lib/wsl/lib, outside the search", all_of(asks("driver"), in_wsl)),
        ("loader.asked", 3.0, "{library} is not found as such", all_of(asks("driver"), field("library", r"libcuda\.so$"))),
        ("triton.libcuda", 3.6, "libcuda.so lies in /usr/lib/wsl/lib, outside the search", in_wsl),
        ("triton.libcuda", 2.0, "plain libcuda.so is found only where WSL or the toolkit put it"),
        ("numba.no_driver", 3.6, "libcuda lies in /usr/lib/wsl/lib, outside the search", in_wsl),
        ("cuda.no_device", 3.4, "under WSL another libcuda than Windows' own was loaded, or Windows' driver lacks WSL", in_wsl),
        ("cuda.no_device", 1.3, "under WSL it is the set-up"),
        ("cuda.no_device", 2.6, "nvidia-smi works and CUDA sees no device; this happens under WSL with another libcuda", with_("told.smi_table", "told.smi")),
        ("cuda.shared_object_init_failed", 2.4, "under WSL libcuda comes from Windows", in_wsl),
        ("tf.no_kernel_driver", 3.4, "under WSL there is no kernel driver of its own", in_wsl),
        ("tf.no_cuda_drivers", 3.0, "under WSL libcuda comes from Windows", in_wsl),
        ("torch.no_driver", 3.6, "under WSL the driver is Windows' own", in_wsl),
        ("torch.no_gpus", 3.0, "under WSL the driver is Windows' own", in_wsl),
        ("cuda.operating_system", 2.8, "under WSL a call of the driver failed", in_wsl),
        ("cuda.unknown", 2.8, "under WSL a call of the driver failed", in_wsl),
        ("torch.unknown_init", 2.8, "under WSL a call of the driver failed", in_wsl),
        ("nvidia.smi_missing", 3.0, "under WSL nvidia-smi lies in /usr/lib/wsl/lib", in_wsl),
        ("nvidia.no_communication", 5.0, "under WSL a Linux driver inside hides Windows' own", in_wsl),
        ("torch.unavailable", 2.4, "CUDA is not available under WSL", all_of(in_wsl, alone)),
        ("title.gpu_unseen", 2.0, "no GPU is seen under WSL", in_wsl),
        ("cuda.not_supported", 2.4, "WSL does not support the operation", in_wsl),
        ("memory.pinned", 2.0, "WSL limits pinned memory", in_wsl),
        ("kernel.module_missing", 2.8, "under WSL no NVIDIA module belongs into Linux", in_wsl),
        ("title.trouble", 1.5, "the text says that the GPU fails under WSL", all_of(nothing_else, in_wsl)),
    ),
    remedies=(
        meant("nvidia-smi itself crashes, which is the driver's fault, not a program's: install another release of NVIDIA's driver on Windows (the newest; where that one brought it, the one before), then update WSL and start it anew",
              on.across("wsl --update && wsl --shutdown"), said="wsl.smi_crash"),
        meant("Programs may work all the same, as only nvidia-smi's own part is at fault: try one",
              "python -c \"import torch; print(torch.cuda.get_device_name())\"", said="wsl.smi_crash", safe=True),
        meant("Update what passes the GPU to containers: drivers from 555 on need Docker Desktop 4.31 or newer, or inside WSL nvidia-container-toolkit 1.14.4 or newer; then start docker again",
              on.linux("sudo apt update && sudo apt install --only-upgrade nvidia-container-toolkit && sudo service docker restart"),
              said="cuda.not_found", by="container"),
        meant(on.in_windows("update Docker Desktop to 4.31 or newer (its menu, Check for updates): drivers from 555 on need it; or go back to a driver before 555"),
              on.across("wsl --update"), said="cuda.not_found", by="container"),
        meant("The image itself carries files of a driver, where WSL's own are mounted (it was committed from a running container): take them out of it, or build it anew from a clean base",
              BAKED, said="container.baked"),
        meant("Only where every image fails so: remove the Linux driver's packages from inside WSL: they lie where WSL puts Windows' own; then stop WSL and start docker again",
              PURGE, said="container.baked", root=True),
        meant("This adapter is none of NVIDIA's (its folder below /usr/lib/wsl/drivers is another maker's): without an NVIDIA card leave --gpus out, and run on the CPU, or on DirectML or ROCm",
              said="loader. title.", line="core nvidia component", by="container"),
        meant("With an NVIDIA card: install its driver on Windows (nvidia.com/drivers), restart, then start WSL anew",
              on.across("wsl --shutdown"), said="loader. title.", line="core nvidia component"),
        meant("Plain TensorFlow is what was imported: it and DirectML's build cannot live together. Remove both, then install DirectML's alone, in a clean environment (Python 3.5 to 3.7)",
              "pip uninstall -y tensorflow tensorflow-gpu tensorflow-directml\npip install tensorflow-directml", by="two_tf"),
        meant("DirectML reaches the GPU through WSL 2 alone (Windows 11, or 10 from 21H2 on): move the distribution there, update WSL, and have its libraries found",
              on.wsl("export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH"), by="directml"),
        meant("In Windows, before that", on.across("wsl --set-version DISTRIBUTION 2 && wsl --update && wsl --shutdown"), by="directml"),
        meant("This Windows is older than 21H2 (build 19044), or WSL's kernel older than 5.10.43, which CUDA in WSL 2 needs: update Windows (winver shows the build), then WSL, and install NVIDIA's newest driver on Windows",
              on.across("wsl --update && wsl --shutdown"), by="old_windows"),
        meant("Make sure that this distribution runs under WSL 2: WSL 1 has no GPU", on.across("wsl --list --verbose"), said="container.wsl", safe=True, look=True),
        meant("Move it to WSL 2", on.across("wsl --set-version DISTRIBUTION 2"), said="container.wsl"),
        meant("Install NVIDIA's driver on Windows (nvidia.com/drivers), update WSL, stop it, and start Docker Desktop again (after sleep or an update of the driver that alone may do); without an NVIDIA card there is no CUDA here",
              on.across("wsl --update && wsl --shutdown"), said="container.wsl"),
        meant("Remove the driver's files from the image: it carries libnvidia-ml and its kin, which the runtime wants to mount in their place",
              BAKED, said="container.", line="file exists"),
        meant("Give WSL more of the computer's memory: memory=24GB below [wsl2] in the file .wslconfig of your Windows folder; then stop WSL",
              on.across("wsl --shutdown"), said="memory. cuda.out_of_memory"),
        meant("Add the folder of WSL's own libcuda to LD_LIBRARY_PATH", on.wsl("export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH"),
              said=_NOT_FOUND, safe=True, more=True, unless="directml old_windows wsl1"),
        meant("This is WSL 1, or a Windows too old for more: only WSL 2 has a GPU, on Windows 10 21H2 or Windows 11. Update Windows, then move the distribution",
              on.across("wsl --update && wsl --set-version DISTRIBUTION 2"), by="wsl1"),
        meant("A card in TCC mode does not reach WSL: set every card to WDDM, in Windows as administrator, for each number that nvidia-smi lists there; restart, and start WSL anew",
              "nvidia-smi.exe -i 0 -dm 0", by="tcc", reboot=True),
        meant("Install the newest NVIDIA driver on Windows only, make sure that the distribution runs as WSL 2 (wsl --list --verbose), then update WSL and start it anew",
              on.across("wsl --update && wsl --shutdown"), unless="directml"),
        meant("Remove a Linux driver from inside WSL: it hides Windows' own. Of CUDA only the package cuda-toolkit belongs there, never cuda or cuda-drivers",
              PURGE, root=True, unless="directml"),
        meant("Check with Windows' own nvidia-smi", on.wsl("/usr/lib/wsl/lib/nvidia-smi"), safe=True, look=True, unless="directml"),
    ),
    admitted_by=(*NO_GPU, *NO_ANSWER, *NO_DRIVER),
)  # fmt: skip
