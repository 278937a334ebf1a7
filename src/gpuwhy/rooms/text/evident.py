"""Evident: remedies made of what a text shows beside its message: a line that sets a variable, a second copy, conda's build, modules that are there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from gpuwhy.knowledge.releases import find
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.absent_names import not_on_the_index
from gpuwhy.rooms.text.another_card import another_card
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.box_faults import in_its_box
from gpuwhy.rooms.text.conda_ways import of_conda
from gpuwhy.rooms.text.counted import COUNTED, Row, at_prompt
from gpuwhy.rooms.text.env_ways import of_its_owner
from gpuwhy.rooms.text.hosted import again
from gpuwhy.rooms.text.jetson_ways import of_its_jetpack, one_onnxruntime
from gpuwhy.rooms.text.kit_by_repository import kit_by_repository
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.library_ways import put_libdevice
from gpuwhy.rooms.text.matched import MATCHED
from gpuwhy.rooms.text.module_ways import of_modules
from gpuwhy.rooms.text.remedies import PURGE
from gpuwhy.rooms.text.retired import last_driver
from gpuwhy.rooms.text.right_copies import RIGHT_COPIES
from gpuwhy.rooms.text.shown import OwnSetting, commands, set_by_program, variables
from gpuwhy.rooms.text.told_names import listed_kit
from gpuwhy.rooms.text.ways import tried
from gpuwhy.rooms.text.windows_evident import WINDOWS_SHOWN

_UNSEEN = ("device.", "driver.missing", "container.no_gpu", "framework.cpu_only", "driver.not_ready", "env.setting")
_GPUS = Later(r"^\s*GPU (\d+): ", re.MULTILINE)


def _set_inside(case: Asked) -> Iterator[Fix]:
    """A program that chooses its GPUs itself, and wrongly."""
    found = [one for one in set_by_program(case.text) if one.name == "CUDA_VISIBLE_DEVICES"]
    own = max(found, key=lambda one: (bool(one.file), bool(one.line)), default=None)
    if own is None or not (why := _wrongly(own, case)):
        return
    line = f", line {own.line}," if own.line else ""
    place = f"The program ({own.file}{line.rstrip(',')})" if own.file else "The program"
    value = f"to {own.value}" if own.value else "to nothing"
    yield tried(f"{place} sets CUDA_VISIBLE_DEVICES {value} itself ({why}): take that line out, and let the shell or the batch system choose; in the program the GPUs that are visible count from 0 (cuda:0)")  # fmt: skip
    yield tried("Or have the program keep what it is given", on.code("os.environ.setdefault('CUDA_VISIBLE_DEVICES', '0')"))  # fmt: skip


def _wrongly(own: OwnSetting, case: Asked) -> str:
    """Why the program's own choice is wrong; "" where nothing shows it."""
    held = variables(case.text).get("CUDA_VISIBLE_DEVICES", "")
    chosen = {one for one in own.value.split(",") if one}
    if not chosen or chosen & {"-1", "none", "NoDevFiles"}:
        return "which hides every GPU"
    there = _GPUS.findall(case.text)
    if there and all(one.isdigit() for one in chosen) and max(map(int, chosen)) > max(map(int, there)):
        return f"of which the machine has only {', '.join(dict.fromkeys(there))}"
    given = {one for one in held.split(",") if one.isdigit()}
    return f"over the {held} that it was given" if given and not chosen <= given else ""


_KITS = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA"
_SAYS_HOME = Later(r"CUDA_HOME|CUDA_PATH|CUDA_ROOT|CUDAToolkit_ROOT|CUDA_TOOLKIT_ROOT")


def _fits(kit: str, case: Asked) -> bool:
    """Whether a toolkit is of the CUDA that the library, or the framework's release, is of, as far as that is told."""
    if case.cuda_major in (9, 10):  # before CUDA 11 each minor release has names of its own
        return numbers(kit[1:]) == numbers(case.cuda)[:2] or "." not in case.cuda
    wanted = _of_package(case) or case.cuda_major or case.era
    return not wanted or numbers(kit[1:])[0] == wanted


_REFERENCE = Later(r"OnnxRuntime\.Gpu(?:\.\w+)?\"? +(?:Version=)?\"?(\d+\.\d+\.\d+)", re.IGNORECASE)


def _of_package(case: Asked) -> int:
    """The CUDA major of a package of NuGet, whose releases are those of the wheel; 0 where none is told."""
    found = _REFERENCE.search(case.text)
    row = find("onnxruntime-gpu", found[1], "windows-x86_64") if found else None
    return next(iter(numbers(str(row.cuda))), 0) if row and isinstance(row.cuda, str) else 0


def _named_already(folder: str, text: str) -> bool:
    """Whether a variable names the folder, or a DLL was loaded from it: then it is found."""
    return bool(re.search(rf"(?:CUDA_(?:HOME|PATH)\s*=\s*\"?|Loaded '){re.escape(folder)}", text, re.IGNORECASE))


def _cudnn_for(case: Asked) -> str:
    """The cuDNN by the number in the name of the DLL that is missed: another one has another name."""
    return f"cuDNN {case.major} (it must hold {case.library})" if case.kind == "cudnn" and case.major else "the cuDNN"


def _into_its_folder(case: Asked) -> Iterator[Fix]:
    """Windows: cuDNN goes into the toolkit's folder that a listing shows."""
    kit = listed_kit(case)
    if kit and case.windows:
        folder = f"{_KITS}\\{kit}"
        yield tried(on.in_windows(f"CUDA {kit[1:]} is installed: copy the DLLs of cuDNN's bin folder, of {_cudnn_for(case)} for that CUDA, into {folder}\\bin, have that folder on PATH, then open a new window"), on.cmd(f'set "PATH={folder}\\bin;%PATH%"'))  # fmt: skip


def _to_be_built_with(case: Asked) -> Iterator[Fix]:
    """Windows: a build that asks for the toolkit gets the folder that a listing shows."""
    if _SAYS_HOME.search(case.lines):
        yield from itertools.islice(_from_its_folder(case), 1)


def _from_its_folder(case: Asked) -> Iterator[Fix]:
    """Windows: the toolkit that a listing shows, by its folder."""
    kit = listed_kit(case)
    folder = f"{_KITS}\\{kit}"
    if not kit or not case.windows or not _fits(kit, case) or _named_already(folder, case.text):
        return
    yield tried(on.in_windows(f"CUDA {kit[1:]} is installed, and is not found: name its folder in the window that starts the program (for good: under Windows' environment variables)"), on.cmd(f'set "CUDA_PATH={folder}" && set "CUDA_HOME={folder}" && set "PATH={folder}\\bin;%PATH%"'))  # fmt: skip
    if not case.tools & {"dotnet", "native"}:
        yield tried(on.in_windows("Python 3.8 and newer does not search PATH for a library's DLLs: name the folder in the program, before the import"), on.code(f'import os; os.add_dll_directory(r"{folder}\\bin")'))  # fmt: skip


_ORDINAL = Later(r"invalid device ordinal|invalid device (?:id|index)|cudaErrorInvalidDevice", re.IGNORECASE)


def _counted_inside(held: list[str]) -> Iterator[Fix]:
    """A program that takes the node's number of a GPU for its own, where CUDA counts what is visible from 0."""
    last = len(held) - 1
    mine = "number 0" if not last else f"numbers 0 to {last}"
    yield tried(f"The batch system lets this job see GPU {','.join(held)} of the node, and in the program {'it is' if not last else 'they are'} {mine}: pass 0 (--gpu 0, --device cuda:0), not the node's number; leave CUDA_VISIBLE_DEVICES as it was given", on.code("torch.cuda.set_device(0)    # or int(os.environ.get('LOCAL_RANK', 0))"))  # fmt: skip


_NODES = re.compile(r"/dev/nvidia(\d+)\b")


def _counted_anew(case: Asked) -> Iterator[Fix]:
    """A job's container has a part of the node's GPUs, counted from 0, and the batch system's variable counts the node's."""
    held = [one for one in variables(case.text).get("CUDA_VISIBLE_DEVICES", "").split(",") if one]
    if not case.tools & {"slurm", "container", "singularity"} or not held or not all(map(str.isdigit, held)):
        return
    nodes = {int(one) for one in _NODES.findall(case.text)}
    if max(map(int, held)) < len(held) or (nodes and not nodes & set(map(int, held))):
        return
    if _ORDINAL.search(case.lines) and not nodes:
        yield from _counted_inside(held)
        return
    count = ",".join(map(str, range(len(held))))
    yield tried(f"CUDA_VISIBLE_DEVICES is {','.join(held)}, numbers of the whole node, and in the container or the job's control group only these GPUs are there, counted from 0: set it anew inside", on.linux(f"export CUDA_VISIBLE_DEVICES={count}    # or: unset CUDA_VISIBLE_DEVICES"))  # fmt: skip
    yield tried("For good, the administrators: have Slurm confine each job to its devices, so that it counts them from 0 itself (ConstrainDevices=yes in cgroup.conf, TaskPlugin=task/cgroup), then restart slurmd", on.host("scontrol show config | grep -i -e TaskPlugin -e ConstrainDevices"))  # fmt: skip


_STATS = Later(r"Limit:\s+(?P<limit>\d+)\s+(?:\S+ )?InUse:\s+(?P<used>\d+)")
_ROUNDED = Later(r"trying to allocate [^\n(]*\(rounded to (\d+)\)")
_LARGEST = Later(r"LargestFreeBlock:\s+(\d+)")


def _in_pieces(case: Asked) -> Iterator[Fix]:
    """TensorFlow's allocator had enough, in pieces."""
    stats, asked = _STATS.search(case.text), _ROUNDED.search(case.text)
    if not stats or not asked or int(stats["limit"]) - int(stats["used"]) < int(asked[1]):
        return
    free, wanted = (int(one) / 2**30 for one in (int(stats["limit"]) - int(stats["used"]), asked[1]))
    largest = _LARGEST.search(case.text)
    piece = f", the largest piece of {int(largest[1]) / 2**30:.1f} GiB" if largest and int(largest[1]) else ""
    yield tried(f"{wanted:.1f} GiB were asked for and {free:.1f} GiB were free, in pieces{piece}: take memory from CUDA's own pool, which does not leave such pieces (TensorFlow 2.5 and newer)", "export TF_GPU_ALLOCATOR=cuda_malloc_async")  # fmt: skip


_THERE = Later(r"Requirement already satisfied: (nvidia-[\w-]+)[^\n]* in (\S+)|^(nvidia-(?:cudnn|cublas|cuda-runtime|cufft|cusolver|cusparse|nccl|curand|cuda-nvrtc)(?:-cu1[123])?) +\d[\d.]+ *$", re.MULTILINE)  # fmt: skip
_PART = re.compile(r"nvidia-(?:cuda-)?(\w+?)(?:-cu1[123])?$")
_OF_PART = {"runtime": "cuda_runtime", "nvrtc": "cuda_nvrtc"}


def _unsearched(case: Asked) -> Iterator[Fix]:
    """The wheel with the library is installed, as the text shows: then its folder is not searched."""
    parts = {}
    for one in _THERE.finditer(case.text):
        part = _PART.match(one[1] or one[3])
        if part and (part[1] in case.library or (part[1] == "runtime" and "cudart" in case.library)):
            parts[one[1] or one[3]] = _OF_PART.get(part[1], part[1])
    if not parts or case.windows or not case.library:
        return
    name, folder = next(iter(parts.items()))
    if case.framework == "onnxruntime":
        yield tried(f"{case.library} is in {name}, which is installed: have ONNX Runtime (1.21 and newer) open the wheels' libraries before the first session; or import torch first", on.code("import onnxruntime; onnxruntime.preload_dlls()"))  # fmt: skip
    at = f"$(python -c 'import nvidia.{folder} as m; print(list(m.__path__)[0])')/lib"
    yield tried(f"{name} is installed, so its folder is not searched: have it searched by the process that fails", on.linux(f"export LD_LIBRARY_PATH={at}:$LD_LIBRARY_PATH"))  # fmt: skip


def _lies_there(case: Asked) -> Iterator[Fix]:
    """The library that is not found, in a folder that the text lists and the search does not have."""
    name = next((one[1] for one in _NOT_FOUND.finditer(case.text)), "")
    folder = next((one.rpartition("/")[0] for one in case.reading.told.files if name and one.rpartition("/")[2] == name), "")  # fmt: skip
    searched = variables(case.text).get("LD_LIBRARY_PATH", "").split(":")
    if case.windows or not folder.startswith("/") or folder in searched:
        return
    yield tried(f"{name} lies in {folder}, which is not searched: put that folder first, in the shell or script that starts the program, after whatever else sets the variable (module load, activate)", on.linux(f"export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH"))  # fmt: skip


_NOT_FOUND = Later(r"(lib[\w.+-]+\.so[.\d]*): cannot open shared object file|error while loading shared libraries: (lib\S+\.so[.\d]*)")  # fmt: skip


_COMPAT = Later(r"(/[\w./-]*/envs/[\w.-]+|/[\w./-]*(?:conda|mamba|miniforge)\w*)/cuda-compat\b")


def _compat_of_conda(case: Asked) -> Iterator[Fix]:
    """conda's own package of cuda-compat, in the environment that is active."""
    found = _COMPAT.search(case.text)
    if found and not case.windows:
        yield tried("cuda-compat of the conda environment brings a libcuda that is found before the driver's own: take the package out, and its folder out of the search, then open a new shell", on.linux("conda remove --force cuda-compat\nunset LD_LIBRARY_PATH"))  # fmt: skip


_HELD = Later(r"held broken packages|unmet dependencies|but it is not (?:going to be installed|installable)|trying to overwrite '|dpkg was interrupted")  # fmt: skip
_WANTED = Later(r"apt(?:-get)? install[^\n]*?\b(nvidia-driver-\d+(?:-\w+)*)")


def _unmet(case: Asked) -> Iterator[Fix]:
    """apt refuses the driver: packages of another branch or source are in its way."""
    if case.windows or not _HELD.search(case.text):
        return
    wanted = next(iter(_WANTED.findall(case.text)), "nvidia-driver-550")
    yield tried("Packages of another branch, or of another source (NVIDIA's repository, a PPA), are in the way: remove all of the driver's packages, then install one branch from one source, and restart", on.host(f"{PURGE} && sudo apt-get autoremove && sudo apt-get update && sudo apt-get install {wanted}"), root=True)  # fmt: skip
    yield tried("Or let apt mend what is half installed, and free what is held", on.host("apt-mark showhold\nsudo dpkg --configure -a && sudo apt-get --fix-broken install"), root=True)  # fmt: skip


_INVALID = Later(r"Invalid __(?P<space>\w+?)__ (?P<what>read|write|atomic)[^\n]*\n[=\s]*at (?:0x\w+ in )?(?P<function>[\w:<>~]+)[^\n]*?(?:in |/)(?P<file>[\w.-]+\.cuh?):(?P<line>\d+)", re.IGNORECASE)  # fmt: skip
_BESIDE = Later(r"is (?P<bytes>[\d,]+) bytes (?P<side>before|after) the nearest allocation[^\n]* of size (?P<size>[\d,]+)")  # fmt: skip


def sanitized(case: Asked) -> Iterator[Fix]:
    """What compute-sanitizer names, where the text shows its words."""
    found = _INVALID.search(case.text)
    if not found:
        return
    beside = _BESIDE.search(case.text)
    below = beside is not None and beside["side"] == "before"
    where = f", {beside['bytes']} bytes {beside['side']} an array of {beside['size']} bytes" if beside else ""
    guard = "if (i < 0 || i >= n) return;" if below else "if (i >= n) return;"
    why = "the index is below 0 there (a neighbour of the first element, a value left of the grid): clamp it, or give the array guard cells" if below else "the index is beyond the array there: stop such threads, or make the array larger"  # fmt: skip
    yield tried(f"The sanitizer names it: {found['function']}, {found['file']}, line {found['line']}, {found['what']}s foreign memory{where}: {why}", on.code(guard))  # fmt: skip


_IN_USER_SITE = Later(
    r"(/\.local/lib/python3\.\d+/site-packages|AppData\\Roaming\\Python\\Python3\d+\\site-packages)[\\/](torch"
    r"|torchvision|tensorflow|jax|jaxlib|onnxruntime|numpy|cupy|keras|nvidia|triton|xformers|bitsandbytes)\b"
)
_ENVIRONMENT = Later(r"^\((?!base\))[\w.+-]+\) |[\\/]envs[\\/][\w.-]+|conda list|[\\/]\.?v?env[\\/](?:lib|Lib|bin|Scripts)\b", re.MULTILINE)  # fmt: skip
_WHOLE = {"torch": "torch torchvision torchaudio", "torchvision": "torch torchvision torchaudio", "jaxlib": "jax jaxlib", "jax": "jax jaxlib", "tensorflow": "tensorflow keras", "nvidia": "torch torchvision torchaudio"}  # fmt: skip


def _from_home(name: str) -> Iterator[Fix]:
    """The home folder is in the container too, with the packages that pip put there for the user."""
    yield tried(f"{name} comes from ~/.local of your home folder, which the container sees too, and not from the image: have Python leave that folder out", on.linux("apptainer exec --nv --env PYTHONNOUSERSITE=1 IMAGE.sif COMMAND    # singularity: the same; or --no-home"))  # fmt: skip
    yield tried("For good: remove the copy in ~/.local, on the host; the image's own stays", on.linux(f"PYTHONNOUSERSITE= python3 -m pip uninstall -y {_WHOLE.get(name, name)}"))  # fmt: skip


def _second_copy(case: Asked) -> Iterator[Fix]:
    """A copy in the user's own folder, which every Python of that release finds before an environment's."""
    found = _IN_USER_SITE.search(case.text)
    if found and "singularity" in case.tools:
        yield from _from_home(found[2])
        return
    there = "\n".join(line for line in case.text.splitlines() if "non-existent" not in line)
    if not found or not _ENVIRONMENT.search(there):
        return
    folder = "~/.local" if found[1].startswith("/") else r"AppData\Roaming\Python"
    yield tried(f"An environment is active, and {found[2]} comes from {folder}: that copy is found before the environment's own. Have Python leave it out, then start the program again", "export PYTHONNOUSERSITE=1")  # fmt: skip
    lying = {one[2] for one in _IN_USER_SITE.finditer(case.text)}
    names = " ".join(one for one in _WHOLE.get(found[2], found[2]).split() if one in lying) or _WHOLE[found[2]]
    yield tried(f"For good: remove the copy in {folder} (the first that pip finds), where the environment has its own, which the first half asks; else install it there first", on.linux(f"PYTHONNOUSERSITE=1 python -m pip show {names} && PYTHONNOUSERSITE= python -m pip uninstall -y {names}"))  # fmt: skip


_HELD_DLL = Later(r"(?:WinError (?:5|32)|Access is denied|being used by another process|Errno 13\] Permission denied: (?='[A-Za-z]:))[^\n]*?'(?P<folder>[^'\n]*site-packages)\\+(?P<left>~?[\w.-]+)", re.IGNORECASE)  # fmt: skip
_LEAVING = Later(r"(?:Attempting uninstall: |Found existing installation: |Uninstalling )(?P<name>[A-Za-z][\w.-]*?)(?=[ :-]\d|\s|$)", re.MULTILINE)  # fmt: skip


def _torn(case: Asked) -> Iterator[Fix]:
    """Windows: pip was stopped half way by a program that holds a DLL: what is left goes, and the same is installed again."""
    held, leaving = _HELD_DLL.search(case.text), _LEAVING.search(case.text)
    if not held or not case.windows:
        return
    folder, name = held["folder"].replace("\\\\", "\\"), leaving["name"] if leaving else held["left"]
    left = held["left"] if held["left"].startswith("~") else f"~{name[1:]}"
    again = next((ran.command for ran in commands(case.text) if re.match(r"\S*(?:pip|uv)\S* .*install|\S*python\S* -m pip", ran.command)), f"pip install --force-reinstall {name}")  # fmt: skip
    gone = "\n".join(f'rmdir /s /q "{folder}\\{one}"' for one in (left, name))
    power = "\n".join(f'Remove-Item -Recurse -Force "{folder}\\{one}" -ErrorAction Ignore' for one in (left, name))
    yield tried(on.in_windows(f"A program still holds a DLL of {name}, so pip stopped half way: close every Python, Jupyter and web UI of this environment, delete what is left ({left} and {name} in site-packages), then install it again"), at_prompt(f"{gone}\n{again}", f"{power}\n{again}", case))  # fmt: skip


_FULL = Later(r"^\S+ +\S+ +\S+ +\S+ +100% +(?P<mount>/\S*)", re.MULTILINE)


_QUOTA = Later(r"Could not install packages[^\n]*(?:Disk quota exceeded|No space left on device)")


def _no_room(case: Asked) -> Iterator[Fix]:
    """What is damaged was cut off by a full disk: it would be cut off again."""
    if _QUOTA.search(case.text) and not case.windows:
        yield tried("The disk or your quota there is full, so pip stopped: put the environment and pip's caches where there is room, then install again", on.linux("mkdir -p /BIG/pip /BIG/tmp && export PIP_CACHE_DIR=/BIG/pip TMPDIR=/BIG/tmp && python3 -m venv /BIG/venv && . /BIG/venv/bin/activate"))  # fmt: skip
    elif found := _FULL.search(case.text):
        yield tried(f"The disk of {found['mount']} is full, so files were cut off: make room first (pip's and conda's caches, old environments), then install the package again", on.linux(f"pip cache purge; conda clean --all --yes; df -h {found['mount']}"))  # fmt: skip


_STUB_LINK = Later(r"(?P<link>/\S*libcuda\.so(?:\.1)?) -> \S*/stubs/libcuda\.so")


def _linked_stub(case: Asked) -> Iterator[Fix]:
    """A link that somebody made, to the library that is for linking only."""
    found = _STUB_LINK.search(case.text)
    if found and "wsl" in case.tools:
        yield tried(on.in_wsl(f"{found['link']} is a link to the toolkit's stub, which is for linking only: delete the link, and have WSL's own libcuda found first"), on.wsl(f"sudo rm {found['link']} && sudo ldconfig\nexport LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH"), root=True)  # fmt: skip
    elif found:
        yield tried(f"{found['link']} is a link to the toolkit's stub, which is for linking only: delete the link, renew the loader's list, and install the driver where no other libcuda.so.1 is listed then", on.host(f"sudo rm {found['link']} && sudo ldconfig && ldconfig -p | grep libcuda.so.1"), root=True)  # fmt: skip


_SHIPPED = re.compile(r"^ls (?:-\S+ )*(?P<folder>[~/]\S*)")
_OF_SYSTEM = ((re.compile(r"^pacman -Q\S* cudnn"), "sudo pacman -R cudnn"), (re.compile(r"^(?:dpkg -l|apt list)[^\n]*cudnn"), "sudo apt remove 'libcudnn*'"), (re.compile(r"^(?:rpm -q|dnf list)[^\n]*cudnn"), "sudo dnf remove 'libcudnn*'"))  # fmt: skip


def _own_cudnn(case: Asked) -> Iterator[Fix]:
    """A program that ships its cuDNN, and the system's beside it: the program's own comes first, or the other goes."""
    ran = commands(case.text)
    folder = next((one["folder"] for each in ran if "libcudnn" in each.outcome and (one := _SHIPPED.match(each.command))), "")  # fmt: skip
    other = next((gone for each in ran for words, gone in _OF_SYSTEM if words.match(each.command) and not each.refused), "")  # fmt: skip
    if not folder or not other or case.framework:
        return
    yield tried(f"The program brings its own cuDNN in {folder}, and parts of the system's are loaded beside it: have its folder searched first", on.linux(f"export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH"))  # fmt: skip
    yield tried("Or take the system's cuDNN out, where nothing else needs it", on.host(other), root=True)


def _on_a_board(case: Asked) -> Iterator[Fix]:
    if "jetson" in case.tools:
        yield from of_its_jetpack(case)


def _one_on_a_board(case: Asked) -> Iterator[Fix]:
    if "jetson" in case.tools and case.framework == "onnxruntime":
        yield from one_onnxruntime(case)


_SHOWN: tuple[Row, ...] = (
    (_UNSEEN, _set_inside),
    (_UNSEEN, _counted_anew),
    *RIGHT_COPIES,
    (("container.no_gpu", "driver.permission"), again),
    (("framework.", "install.", "env.", "cuda.", "cudnn."), _second_copy),
    (("memory.",), _in_pieces),
    (("cuda.", "cudnn.", "env.path"), _unsearched),
    (("cuda.", "cudnn.", "env.path"), _lies_there),
    (("driver.compat_misuse", "driver.library_mismatch"), _compat_of_conda),
    (("env.limit",), of_its_owner),
    (("cuda.compiler_missing", "cuda.missing_library", "env.path"), _from_its_folder),
    (("program.build",), _to_be_built_with),
    (("cudnn.missing",), _into_its_folder),
    (("driver.missing",), _unmet),
    (("driver.too_old",), last_driver),
    (("other.not_gpu", "framework.platform_dropped", "install."), not_on_the_index),
    (("framework.gpu_unsupported",), another_card),
    (("env.path", "cuda.compiler_missing"), put_libdevice),
    (("env.path", "cuda.compiler_missing", "program.build"), kit_by_repository),
    (("program.illegal_access",), sanitized),
    *WINDOWS_SHOWN,
    *COUNTED,
    *MATCHED,
    (("install.corrupted", "env.limit", "other.not_gpu"), _torn),
    (("install.corrupted", "env.limit"), _no_room),
    (("driver.stub",), _linked_stub),
    (("cudnn.mixed_libraries",), _own_cudnn),
    (("framework.cpu_only",), of_conda),
    (("cuda.missing_library", "cuda.version_mismatch", "env.path"), of_modules),
    (("cuda.", "cudnn.", "framework.", "env.path"), _on_a_board),
    (("install.conflict",), _one_on_a_board),
)
"""How the ids of causes begin, and what of the text is looked at for them."""


def evident(cause: str, case: Asked) -> Iterator[Fix]:
    """The remedies that the text itself gives away, for this cause."""
    yield from in_its_box(cause, case)
    for causes, ways in _SHOWN:
        if cause.startswith(causes):
            yield from ways(case)
