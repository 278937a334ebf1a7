"""Counted: remedies made of the numbers and names that a text shows: a card that is free, who holds the memory, sizes of a launch, a job's memory, GPUs of a node."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from gpuwhy.knowledge.prompts import windows_shell
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.fitted import given_by_batch
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import commands
from gpuwhy.rooms.text.smi import cards
from gpuwhy.rooms.text.ways import tried

Row = tuple[tuple[str, ...], Callable[[Asked], Iterator[Fix]]]
"""How the ids of causes begin, and what of the text is looked at for them."""
_IDLE = 0.05
"""The part of a card's memory below which nobody works on it."""


def free_card(case: Asked) -> Iterator[Fix]:
    """A card of the table that nobody uses, beside one that is taken."""
    seen = list(cards(case.reading.excerpt))
    free = [one for one in seen if one.used <= _IDLE * one.total]
    busy = [one for one in seen if one not in free] or seen[:1]
    free = [one for one in free if one not in busy]
    if free and busy and not given_by_batch(case):
        one = free[-1]
        yield tried(f"GPU {one.index} is free, by the table ({one.used} of {one.total} MiB are used), and GPU {busy[0].index} is taken: use that one; needs no root", f"export CUDA_VISIBLE_DEVICES={one.index}")  # fmt: skip


_HOLDER = Later(r"^\s*\|\s+\d{1,2}\s+(?:N/A\s+N/A\s+)?(?P<pid>\d{2,8})\s+[CGM+]{1,4}\s+(?P<name>\S.*?)\s+N/A\s*\|", re.MULTILINE)  # fmt: skip
_SERVERS = {
    "ollama": ("ollama stop MODEL", "ollama ps names its models; OLLAMA_KEEP_ALIVE=0 lets them go at once"),
    "lm studio": ("", "eject its model in LM Studio"),
    "llama-server": ("", "it is a server of llama.cpp"),
    "python": ("", "an earlier run, or a notebook's kernel"),
}
"""Programs that keep a model on the card, and how each gives it back."""


def held_by_name(case: Asked) -> Iterator[Fix]:
    """Windows: its table names who is on the card, without how much each holds."""
    for found in _HOLDER.finditer(case.reading.excerpt):
        name = re.split(r"[\\/]", found["name"])[-1]
        known = next((way for one, way in _SERVERS.items() if one in name.lower()), None)
        if known and case.windows:
            stop = f"{known[0]}\n" if known[0] else ""
            yield tried(on.in_windows(f"{name} (process {found['pid']}) is on the card too and keeps memory there: end it, or have it let its model go ({known[1]}), then start again"), on.cmd(f"{stop}taskkill /PID {found['pid']} /F"))  # fmt: skip
            return


_TRIPLE = r"(?:dim3)?\s*\(?\s*(\d+(?:\s*,\s*\d+){0,2})\s*\)?"
_LAUNCHES = (
    Later(rf"<<<\s*{_TRIPLE}\s*,\s*{_TRIPLE}\s*(?:,[^>\n]*)?>>>"),
    Later(rf"\[\s*{_TRIPLE}\s*,\s*{_TRIPLE}\s*(?:,[^\]\n]*)?\]\("),
    Later(rf"\bgrid(?:[ _]?(?:dim|size))?s?\s*[=:(]\s*{_TRIPLE}\s*\)?[,;\s]+(?:and )?block(?:[ _]?(?:dim|size))?s?\s*[=:(]\s*{_TRIPLE}", re.IGNORECASE),
)  # fmt: skip


def _launch(text: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Grid and block of the last launch that a text shows with all its numbers."""
    for words in _LAUNCHES:
        found = list(words.finditer(text))
        if found:
            return _sizes(found[-1][1]), _sizes(found[-1][2])
    return None


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(","))


_MOST_DEEP = 65535
_MOST_THREADS = 1024


def launched(case: Asked) -> Iterator[Fix]:
    """Which size of a launch is beyond the card: a block's threads, the grid's second or third size, an empty one."""
    found = _launch(case.text)
    if found is None:
        return
    grid, block = found
    named = dict(zip("xyz", grid, strict=False))
    deep = next((axis for axis in "yz" if named.get(axis, 1) > _MOST_DEEP), "")
    if math.prod(block) > _MOST_THREADS:
        yield tried(f"A block of {math.prod(block)} threads ({' x '.join(map(str, block))}) is asked for, and a card takes {_MOST_THREADS} at most: make it smaller and the grid larger by as much", on.code("block = (16, 16)    # 256 threads; grid = ((w + 15) // 16, (h + 15) // 16)"))  # fmt: skip
    elif not all((*grid, *block)):
        yield tried(f"A size of the launch is 0 (grid {grid}, block {block}): the input is empty; leave the launch out then", on.code("if (n == 0) return;    // before the launch"))  # fmt: skip
    elif deep:
        swapped = [named[deep], *(size for axis, size in named.items() if axis != deep)]
        yield tried(f"The grid has {named[deep]} blocks in {deep}, and a card takes {_MOST_DEEP} there (in x 2147483647): swap the axes, so that the large count lies in x, in the launch and in the kernel (blockIdx.{deep} and blockIdx.x)", on.code(f"dim3 grid({', '.join(map(str, swapped))});    // was ({', '.join(map(str, grid))})"))  # fmt: skip


_MODEL = Later(r"(?<![\w.])(\d{1,3}(?:\.\d)?)b(?=[-_/. ]|$)", re.IGNORECASE)
_MEM = Later(r"--mem[= ](\d+)G", re.IGNORECASE)


def job_memory(case: Asked) -> Iterator[Fix]:
    """Slurm killed the job for the computer's memory: how much to ask for, by the model's name or by what was asked."""
    if "slurm" not in case.tools:
        return
    model, asked = _MODEL.search(case.text), _MEM.search(case.text)
    size = math.ceil(float(model[1]) * 2 * 1.2 / 8) * 8 if model else 2 * int(asked[1]) if asked else 64
    why = f" (a model of {model[1]} billion weights takes {float(model[1]) * 2:.0f} GB in half precision)" if model else f" ({asked[1]} GB were too little)" if asked else ""  # fmt: skip
    yield tried(f"The job's own limit of the computer's memory was reached, not the GPU's: ask for more{why}, in the script", on.linux(f"#SBATCH --mem={size}G"))  # fmt: skip
    yield tried("Or load it part by part, straight to the GPUs, so that it never lies in the computer's memory as a whole", on.code('AutoModelForCausalLM.from_pretrained("MODEL", torch_dtype="auto", low_cpu_mem_usage=True, device_map="auto")'))  # fmt: skip


_REQUESTED = Later(r"Allocated resources[^\0]*?nvidia\.com/gpu\s+(\d+)\s+(\d+)")
_ALLOCATABLE = Later(r"nvidia\.com/gpu:?\s+(\d+)")
_NODE = Later(r"kubectl describe nodes? ([\w.-]+)")


def all_given(case: Asked) -> Iterator[Fix]:
    """A node whose GPUs are all asked for by other pods."""
    given, there, node = _REQUESTED.search(case.text), _ALLOCATABLE.search(case.text), _NODE.search(case.text)
    if not given or not there or int(given[1]) < int(there[1]):
        return
    name = node[1] if node else "NODE"
    yield tried(f"All {there[1]} GPUs of {name} are given to other pods, so this one waits: see which, and end or scale down what is idle (or wait, or take another node by the selector); driver and plug-in are well", on.linux(f"kubectl get pods -A -o wide --field-selector spec.nodeName={name},status.phase=Running\nkubectl scale -n NAMESPACE deployment/NAME --replicas=0"))  # fmt: skip
    yield tried("Or let several pods share a GPU: time-slicing in the device plug-in's configuration, or MIG where the card has it", on.code("sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}"))  # fmt: skip


_LISTS = re.compile(r"^(?:dir|ls|where /R|Get-ChildItem|gci)\b(?: /\w| -\S+)* *\"?(?P<folder>[A-Za-z]:\\[^\"\n|]*?)?\\?\"?(?: *\|.*)?$", re.IGNORECASE)  # fmt: skip
_PATH = re.compile(r"^\s*(?P<folder>[A-Za-z]:\\[^\n\"<>|]*)\\(?P<file>[\w.-]+\.dll)\s*$", re.IGNORECASE | re.MULTILINE)

_DIR = re.compile(r"(?:dir|ls|Get-ChildItem|gci)\b", re.IGNORECASE)
_HEADER = re.compile(
    r"^\s*(?:Directory of|Directory:|Verzeichnis von|Verzeichnis:) *(?P<folder>[A-Za-z]:\\[^\n]*?)\s*$", re.MULTILINE
)
"""What Windows writes over the files of a folder."""


def first_on_path(folder: str, case: Asked) -> on.Command:
    """A folder put first on PATH, in the words of the shell that the text shows, else of both."""
    return at_prompt(f'set "PATH={folder};%PATH%"', f'$env:PATH = "{folder};$env:PATH"', case)


def at_prompt(cmd: str, powershell: str, case: Asked) -> on.Command:
    """A command of Windows for the shell whose prompt the text shows, else for both."""
    shell = windows_shell(case.text)
    return on.powershell(powershell) if shell == "powershell" else on.cmd(cmd, "" if shell == "cmd" else powershell)


def lies_on_windows(case: Asked) -> Iterator[Fix]:
    """Windows: the DLL that is not found, in a folder that the text lists."""
    if not case.windows or not case.library.lower().endswith(".dll"):
        return
    folder = next(_folders(case), "")
    if folder:
        yield tried(on.in_windows(f"{case.library} lies in {folder}, which is not searched: put that folder first on PATH, for good under Windows' environment variables (setx would cut it off), then open a new window"), first_on_path(folder, case))  # fmt: skip


def _folders(case: Asked) -> Iterator[str]:
    """Where the text shows it, in the order of the text."""
    name = case.library.lower()
    for ran in commands(case.text):
        listed = _LISTS.match(ran.command)
        shown = listed is not None and re.search(rf"(?mi)(?:^|\s){re.escape(name)}\s*$", ran.outcome)
        header = _HEADER.search(ran.outcome) if shown or _DIR.match(ran.command) else None
        if header and name in ran.outcome.lower():
            yield header["folder"]
        elif listed and listed["folder"] and shown:
            folder = listed["folder"].rstrip("\\")
            yield folder.rpartition("\\")[0] if folder.lower().endswith(name) else folder
        elif listed:
            yield from (one["folder"] for one in _PATH.finditer(ran.outcome) if one["file"].lower() == name)


_KIT = Later(r"(?P<root>[A-Za-z]:\\[^\n\"<>|;]*?\\CUDA)\\v(?P<release>\d+\.\d)", re.IGNORECASE)


def newer_kit_first(case: Asked) -> Iterator[Fix]:
    """Windows: two toolkits are searched, and the library of the older one lacks what the newer has."""
    kits = {one["release"]: one["root"] for one in _KIT.finditer(case.text)}
    if not case.windows or len(kits) != 2:
        return
    old, new = sorted(kits, key=lambda one: tuple(map(int, one.split("."))))
    folder = f"{kits[new]}\\v{new}\\bin"
    yield tried(on.in_windows(f"CUDA {old} and {new} are both installed, and the DLL of {old} is found first: put the folder of {new} before it on PATH, for good under Windows' environment variables; or uninstall CUDA {old} where nothing needs it"), first_on_path(folder, case))  # fmt: skip


COUNTED: tuple[Row, ...] = (
    (("device.busy", "memory.other_process"), free_card),
    (("memory.",), held_by_name),
    (("memory.host",), job_memory),
    (("container.no_gpu", "device.busy"), all_given),
    (("cuda.missing_library", "cuda.compiler_missing", "cudnn.missing", "env.path"), lies_on_windows),
    (("cuda.mixed_libraries", "cudnn.mixed_libraries"), newer_kit_first),
)
