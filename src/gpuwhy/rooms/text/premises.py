"""Premises: what a remedy takes for granted, and what in a text contradicts it: such a remedy is left out.

`spent` asks whether a remedy was carried out, `fitted` whether it can be; here, whether what it is for exists there at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from gpuwhy.knowledge.notebooks import notebook_of
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.steps import in_steps
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.agreeing import disagrees
from gpuwhy.rooms.text.another_card import newest_beside_older
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.beyond import BUYS, FOR_ANOTHER_CARD, card_beyond, some_release
from gpuwhy.rooms.text.boxes import box_of
from gpuwhy.rooms.text.hosted import device_lost
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.present import present
from gpuwhy.rooms.text.retired import is_retired
from gpuwhy.rooms.text.right_copies import condas_hidden, loaded_by_torch, newer_kit, right_cudnn, right_pytorch
from gpuwhy.rooms.text.shown import commands, typed_inside
from gpuwhy.rooms.text.smi import cards
from gpuwhy.rooms.text.wheels_there import of_its_cudnn


class Premise(msgspec.Struct, frozen=True):
    """The words of a remedy that take something for granted, and what shows that it is not so."""

    taken: Later
    lacking: Callable[[Asked], bool]


def grounded(fixes: Sequence[Fix], case: Asked) -> list[Fix]:
    """The remedies whose premises no word of the text contradicts; all of them, where nothing that mends would be left."""
    ways = [way for way in in_steps(fixes) if not _groundless(way[0], case)]
    sound = [fix for way in ways for fix in (way[0], *(one for one in way[1:] if not _cut_off(one, case)))]
    return sound if any(fix.role != "look" for fix in sound) else list(fixes)


def _cut_off(step: Fix, case: Asked) -> bool:
    """Whether a step cannot be done wherever it leads from: a chain of steps makes its own ground, but no Mac into another machine."""
    return on_a_mac(case) and _groundless(step, case)


def _groundless(fix: Fix, case: Asked) -> bool:
    text = fix.text.bare if isinstance(fix.text, on.Said) else fix.text
    said = f"{text}\n{fix.command}"
    return (
        _of_another_framework(said, case)
        or present(said, case)
        or disagrees(said, case)
        or any(one.taken.search(said) and one.lacking(case) for one in _PREMISES)
    )


_OWN_WORDS: dict[str, tuple[Later, Later]] = {
    "torch": (
        Later(r"\bDataLoader\b|\bpin_memory\b|\btorch\.|\bPYTORCH_|\btorchrun\b|\bPyTorch\b|\bno_grad\b"),
        Later(r"torch|\bc10\b|lightning|transformers|diffusers|accelerate|\bvllm\b|ComfyUI|DataLoader|\.safetensors|\.pth?\b", re.IGNORECASE),
    ),
    "tensorflow": (
        Later(r"\btf\.|\bTF_[A-Z]|\bTensorFlow\b|\bkeras\b|\bmodel\.fit\("),
        Later(r"tensorflow|keras|\btf\.|\bTF_|_bfc\b|stream_executor", re.IGNORECASE),
    ),
    "jax": (Later(r"\bXLA_PYTHON_|\bjax\b|\bJAX\b"), Later(r"\bjax|\bflax\b|\bXLA_PYTHON|\bxla\b", re.IGNORECASE)),
}  # fmt: skip
"""By what a remedy shows to be for a framework; and by what a text shows that it is there."""


def _of_another_framework(said: str, case: Asked) -> bool:
    """Whether a remedy is for frameworks of which none is in the text, where another one speaks."""
    named = {name for name, (own, _) in _OWN_WORDS.items() if own.search(said)}
    if not named or case.framework not in _OWN_WORDS or case.framework in named:
        return False
    return not any(_OWN_WORDS[name][1].search(case.text) for name in named)


_COUNTED = Later(r"^(\d+) Physical GPUs?\b|device_count\(\)\)?(?: *[:=]+>?|\n(?:>>> )?) *(\d+)\b|^GPU (\d+): |Found device (\d+) with properties", re.MULTILINE)  # fmt: skip


def _single(case: Asked) -> bool:
    """Whether the text counts the GPUs there, and counts one."""
    told = [tuple(one.groups()) for one in _COUNTED.finditer(case.text)]
    counted = {int(number or shown) for number, shown, *_ in told if number or shown}
    listed = {int(one) for _, _, *indexes in told for one in indexes if one} | {one.index for one in cards(case.text)}
    return counted == {1} and not listed - {0} if counted else listed == {0}


_DEVICE_FULL = Later(r"\(GPU_\d+_bfc\) ran out of memory", re.IGNORECASE)
_WANTED = Later(r"Tried to allocate ([\d.]+) ([MG])iB[^\n]*?([\d.]+) ([MG])iB (?:is )?free")


def _card_is_full(case: Asked) -> bool:
    """Whether the card's own memory is what did not suffice, by the allocator's words or figures."""
    found = _WANTED.search(case.text)
    if not found:
        return bool(_DEVICE_FULL.search(case.text))
    wanted, free = (float(found[n]) * (1024 if found[n + 1] == "G" else 1) for n in (1, 3))
    return free < wanted


_NO_DXG = Later(r"/dev/dxg['\"]?:? (?:No such file|not found|does not exist)|no /dev/dxg", re.IGNORECASE)
_LINUX_DRIVER = Later(r"nvidia-(?:utils|driver|dkms)-?\d*|libnvidia-compute|cuda-drivers|libcuda1\b|apt(?:-get)? install (?:-y )?cuda\b")  # fmt: skip


def _windows_gives_none(case: Asked) -> bool:
    """WSL: whether Windows gives no GPU at all, and no package of a Linux driver is named that could hide it."""
    return bool(_NO_DXG.search(case.text)) and not _LINUX_DRIVER.search(case.text)


_STARTS = Later(r"(?:sudo )?(?:docker|podman|nerdctl)\b.*\brun\b|(?:sudo )?docker[ -]compose\b|kubectl |(?:singularity|apptainer) ")  # fmt: skip
_MODULE = Later(r"Kernel Module(?: for \S+)? +(\d{3}\.[\d.]+)|API mismatch: the client has the version")
_MISMATCH = re.compile(r"mismatch|NVML library version", re.IGNORECASE)


def host_works(case: Asked) -> bool:
    """Whether nvidia-smi works on the host, where only a container fails."""
    ran = commands(case.text)
    if box_of(case) == "lxc" and _MODULE.search(case.text):
        return True
    inside = any(_STARTS.match(one.command) and _MISMATCH.search(one.outcome) for one in ran)
    own = (one for one in ran if re.match(r"(?:sudo )?(?:\S*/)?nvidia-smi\b", one.command))
    return inside and any(re.search(r"\d{3}\.\d+", one.outcome) and not _MISMATCH.search(one.outcome) for one in own)


_MAC = Later(
    r"@(?:\S*-)?MacBook|\bMacBook-(?:Pro|Air)\b|@(?:\S*-)?(?:Mac-mini|iMac|Mac-Studio)\b|\bMac-mini\b", re.IGNORECASE
)
_ELSEWHERE = Later(r"\bkubectl\b|\bssh \S|\bsrun\b|\boc \w|GeForce|nvidia-smi\s", re.IGNORECASE)


def on_a_mac(case: Asked) -> bool:
    """Whether its prompt is a Mac's, or it is told to be one, and nothing is done on another machine from it."""
    mac = "macos" in case.tools or bool(_MAC.search(case.text))
    return mac and not _ELSEWHERE.search(case.text)


_AMD = Later(r"No HIP GPUs|/dev/kfd\b|\brocminfo\b|\brocm-smi\b|\bamdgpu\b|\bhip[A-Z]\w+Error|hipError\w+|ROCk module")
_NVIDIA = Later(r"\bnvidia|geforce|\bcuda error|libcuda|\bquadro\b|\btesla\b", re.IGNORECASE)


def _amd_alone(case: Asked) -> bool:
    return bool(_AMD.search(case.text)) and not _NVIDIA.search(case.text)


_NO_KIT = Later(
    r"where(?:\.exe)? [^\n]*\b(?:nvcc|cudart\w*|cublas\w*)[^\n]*\s+INFO: Could not find"
    r"|'nvcc' is not recognized|nvcc\W{1,3}(?:The term|is not recognized|command not found)"
    r"|echo %CUDA_PATH%\s+%CUDA_PATH%|CUDA_PATH (?:is )?not (?:set|defined)|Environment variable CUDA_PATH not defined"
    r"|no CUDA toolkit (?:is )?(?:installed|found|here)",
    re.IGNORECASE,
)


def no_toolkit(case: Asked) -> bool:
    """Windows: whether the text shows that no toolkit is installed, or that none is found."""
    return case.windows and bool(_NO_KIT.search(case.text))


_DOCKERS = frozenset({"docker", "compose", "podman"})
_PODS = frozenset({"kubernetes", "plugin", "containerd"})
_CLUSTER = Later(r"slurm|\bsbatch\b|\bsrun\b|\bsalloc\b|#SBATCH|\bqsub\b|\bPBS_|\bbsub\b|\bLSB_|\bHPC\b|\bcluster\b|\blogin\d|\bcompute node|@node\d|@gpu\d|\bmodule (?:load|avail|list)\b", re.IGNORECASE)  # fmt: skip
_BY_DOCKER = Later(r"\bdocker(?:-compose| compose)? (?:run|exec|logs|ps|info|start|restart|up|build)\b|^docker: |docker-compose", re.MULTILINE)  # fmt: skip


_KUBERNETES = Later(r"kube|\bpods?\b|\bk[38]s\b|nvidia\.com/gpu: ?\d|@[\w-]+-[a-z0-9]{5}:|jovyan@", re.IGNORECASE)


def _no_pods(case: Asked) -> bool:
    """Whether Docker or Podman starts the container, and nothing in the text is of Kubernetes."""
    by_docker = bool(case.tools & _DOCKERS) or bool(_BY_DOCKER.search(case.text)) or typed_inside(case.text)
    return by_docker and not case.tools & _PODS and not _KUBERNETES.search(case.text)


def _pods_alone(case: Asked) -> bool:
    """Whether Kubernetes starts the container, and nothing in the text is of Docker."""
    return "kubernetes" in case.tools and not case.tools & _DOCKERS and not _BY_DOCKER.search(case.text)


def _no_batch_system(case: Asked) -> bool:
    """Whether nothing in the text is of a cluster, and it is from Windows, WSL, or a container of one's own."""
    at_home = case.windows or bool(case.tools & {"wsl", "macos"}) or _no_pods(case)
    return at_home and "slurm" not in case.tools and not _CLUSTER.search(case.text)


_SERVERS = frozenset({"vllm", "sglang", "tgi", "ollama", "lmstudio", "llamacpp"})


def _of_a_server(case: Asked) -> bool:
    """Whether a server loads the model, by options of its own, and no line of the user's."""
    return any(one.name in _SERVERS for one in case.programs) and case.frame is None


def _typed_script(case: Asked) -> bool:
    """Whether a script of the program's own was typed, which belongs to a generation before its command line."""
    return any(re.search(r"\bpython[\d.]* (?:-\S+ )*\S*train\.py\b", one.command) for one in commands(case.text))


_EAGER = Later(r"tensorflow[\\/]python[\\/]eager|\btensorflow(?:-gpu)?[ =-]+v?2\.\d|\bTF(?: version)?[: ]+2\.\d|TensorFlow version:? 2\.|keras[\\/]utils[\\/]traceback_utils", re.IGNORECASE)  # fmt: skip


def _of_second_generation(case: Asked) -> bool:
    """Whether the text shows TensorFlow 2 at work, and nothing of what programs for 1 call."""
    return bool(_EAGER.search(case.text)) and not re.search(r"compat\.v1|tf\.Session|ConfigProto|contrib", case.text)


_OF_CONDA = Later(r"CondaVerificationError|SafetyError: The package for|[\\/]pkgs[\\/][^\n]*appears to be corrupted")


def _along_path(case: Asked) -> bool:
    """Whether DLLs are searched along PATH alone: by a Python before 3.8, and by TensorFlow, which opens CUDA itself."""
    if _PACKAGED.search(case.text):
        return False
    return case.framework == "tensorflow" or (bool(case.python) and numbers(case.python) < (3, 8))


_PACKAGED = Later(r"WindowsApps|PythonSoftwareFoundation")
"""The Microsoft Store's Python, which never looks along PATH."""


_MACHINE_OF_ONES_OWN = Later(
    r"ubuntu-drivers|\bmodprobe\b|\bdkms\b|\breboot\b|nvidia-ctk|\bdocker (?:run|compose|restart)|nvidia-container|systemctl"
    r"|\b(?:[Ii]nstall|[Uu]pdate)\b[^\n]{0,20}\b(?:NVIDIA|newer|newest)[^\n]{0,12} driver\b|\bswapon\b|\bwsl --"
)


_OLD_NUMBA = Later(
    r"Do `?conda install cudatoolkit[^\0]*[\\/]envs[\\/]|[\\/]envs[\\/][^\0]*Do `?conda install cudatoolkit"
)
"""A Numba in an environment of conda's that names conda's toolkit itself."""
_WITH_NV = Later(r"\b(?:singularity|apptainer) \w+ [^\n]*--nv\b|any nv files on this host")
_BOXED = Later(r"docker|podman|container|compose|kube|/workspace/|root@[0-9a-f]{12}", re.IGNORECASE)
_RUN_BY_HAND = Later(r"[$#>] *(?:sudo )?docker (?:run|exec)\b")
_PREMISES = (
    Premise(Later(r"numba-cuda\["), lambda case: bool(_OLD_NUMBA.search(case.text))),
    Premise(Later(r"\A(?:Or )?(?:start|add|singularity, apptainer: start)[^\n]{0,40}--nv\b", re.IGNORECASE), lambda case: bool(_WITH_NV.search(case.text))),
    Premise(Later(r"^docker run [^\n]*\bIMAGE$|\AStart the container\b", re.MULTILINE), lambda case: "wsl" in case.tools and not _BOXED.search(case.text)),
    Premise(Later(r"\AA unit of systemd\b"), lambda case: bool(_RUN_BY_HAND.search(case.text))),
    Premise(Later(r"\bcu126\b"), newest_beside_older),
    Premise(Later(r"/whl/cu1\d|--torch-backend|build with CUDA|CUDA build|\[and-cuda\]|onnxruntime-gpu\b|pytorch-gpu\b"), lambda case: "other_card" in case.tools),
    Premise(Later(r"^(?:Or |And )?(?:update|upgrade) (?:the |NVIDIA's |to a newer )[^\n]{0,30}driver"
                  r"|install a newer (?:NVIDIA )?driver|after an update of NVIDIA's driver", re.IGNORECASE),
            is_retired),
    Premise(Later(r"\A(?:Where t|T)his machine has no NVIDIA GPU"), lambda case: bool(case.reading.told.gpus)),
    Premise(Later(r"add_dll_directory"), _along_path),
    Premise(Later(r"^[^\n]*pip install [^\n]*\b(?:torch|tensorflow)\b", re.MULTILINE), lambda case: bool(_OF_CONDA.search(case.text))),
    Premise(Later(r"nvidia-cudnn-cu12==9"), lambda case: of_its_cudnn(case) == "8"),
    Premise(FOR_ANOTHER_CARD, lambda case: bool(card_beyond(case))),
    Premise(BUYS, some_release),
    Premise(_MACHINE_OF_ONES_OWN, lambda case: bool(notebook_of(case.text))),
    Premise(Later(r"^(?:sudo )?kill (?:-9 )?1\s*$|\btaskkill [^\n]*/PID 1\b", re.MULTILINE), lambda _: True),  # the system's own, or in a container the program itself
    Premise(Later(r"\AA program for TensorFlow 1\b"), _of_second_generation),
    Premise(Later(r"\bdocker run [^\n]*--gpus|install the NVIDIA container toolkit|reserve the device"), device_lost),
    Premise(Later(r"^yolo train\b", re.MULTILINE), _typed_script),
    Premise(Later(r"^unset LD_LIBRARY_PATH", re.MULTILINE), condas_hidden),
    Premise(Later(r"^export (?:LD_LIBRARY_PATH|CUDA_HOME)=/usr/local/cuda|nvidia-cuda-nvcc-cu12", re.MULTILINE), lambda case: bool(newer_kit(case))),
    Premise(Later(r"\breplace all cudnn|\b(?:Install|Unpack|Update)\b[^\n]*\bcuDNN \d|\binstall\b[^\n]*\bcudnn"
                  r"|update that one\b|copy[^\n]*cudnn", re.IGNORECASE), lambda case: right_cudnn(case) or loaded_by_torch(case)),
    Premise(Later(r"conda remove [^\n]*\bpytorch\b|conda install [^\n]*\bpytorch"
                  r"|(?:reinstall|--reinstall|-U) [^\n]*\btorch\b|build with CUDA over the CPU build"
                  r"|in place of its build for the CPU", re.IGNORECASE), right_pytorch),
    Premise(Later(r"\bfrom_pretrained\(|BitsAndBytesConfig|\bDataLoader\b"), _of_a_server),
    Premise(Later(r"\A(?![^\0]*Docker Desktop)[^\0]*(?:nvidia-ctk|install[^\n]*nvidia-container-toolkit"
                  r"|restart docker\b|/etc/docker/daemon\.json)"), lambda case: box_of(case) == "desktop"),
    Premise(Later(r"\bapt(?:-get)? |\bdnf |\bsystemctl\b|nvidia-ctk|\bmodprobe\b|ubuntu-drivers|NVIDIA (?:driver|Container)|nvidia-container|docker run [^\n]*--gpus"), on_a_mac),
    Premise(Later(r"\bkubectl\b|\bDaemonSet\b|plug-in's (?:pods|DaemonSet)|starts the device plug-in|\bhelm (?:install|upgrade)\b|runtimeClassName"), _no_pods),
    Premise(Later(r"\bdocker compose\b|compose\.ya?ml|^Compose: |^deploy: \{resources|/etc/docker/daemon\.json|restart docker\b|--runtime=docker\b", re.MULTILINE), _pods_alone),
    Premise(Later(r"\bsrun\b|\bsbatch\b|#SBATCH|--gres\b|\bsalloc\b"), _no_batch_system),
    Premise(Later(r"^(?:Or )?(?:use|take|try) (?:another|the other) GPU\b"
                  r"|^[^\n]*\n[^\0]*(?:CUDA_VISIBLE_DEVICES[=:{ \"]+[1-9]|(?<![/\w])cuda:[1-9]\b(?!\.)"
                  r"|parallel[-_]size[ =]+[2-9]|nproc[-_]per[-_]node[ =]+[2-9])", re.IGNORECASE), _single),
    Premise(Later(r"Under WSL pinned host memory|\.wslconfig\b[^\0]*memory=|memory=[^\0]*\.wslconfig"), _card_is_full),
    Premise(Later(r"Remove (?:a |the )?Linux driver|\bapt(?:-get)? (?:purge|remove)\b[^\n]*nvidia"), _windows_gives_none),
    Premise(Later(r"kernel module|\breboot\b|\brmmod\b|restart the machine|--fix-broken|so that the kernel loads", re.IGNORECASE), host_works),
    Premise(Later(r"nvidia-ctk|nvidia\.com/gpu|nvidia-smi|--gpus\b|/whl/cu1|NVIDIA (?:driver|container)|nvidia-container"), _amd_alone),
    Premise(Later(r"environ\[.CUDA_PATH.\]|%CUDA_PATH%|\$env:CUDA_PATH|the toolkit's (?:DLLs|folder)"), no_toolkit),
)  # fmt: skip
