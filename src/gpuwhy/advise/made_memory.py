"""Made from figures and processes that the text states: who holds the memory, and how much less."""

import re

from gpuwhy.advise.names import Names, size
from gpuwhy.advise.remedy import Remedy, Restart, Run, Set

_BATCH = re.compile(r"--?(?:[\w-]*batch(?:[-_]?size)?[\w-]*|bs?)")


def smaller_batch(names: Names) -> Remedy | None:
    """The command that was typed, with a third of its batch size."""
    for typed in reversed(names.around.log.case.commands):
        words = list(typed.words)
        for at, word in enumerate(words):
            option, _, value = word.partition("=")
            if not _BATCH.fullmatch(option):
                continue
            joined = bool(value)
            value = value or (words[at + 1] if at + 1 < len(words) else "")
            if not value.isdigit() or int(value) < 2:
                continue
            third = int(value) // 3
            less = str(1 << max(0, third.bit_length() - 1))  # rounded down to a power of two
            words[at if joined else at + 1] = f"{option}={less}" if joined else less
            text = f"Start it with a smaller batch: {less} instead of {value}"
            return Remedy((Run(" ".join(words)),), text=text, fits=8)
    return None


def stop_holder(names: Names) -> Remedy | None:
    """Stop the process that holds the memory, by its pid."""
    case = names.around.log.case
    rows = sorted(case.processes, key=lambda one: -one.memory)
    pid = str(rows[0].pid) if rows else _field(names, "process")
    if not pid.isdigit():
        return None
    name = rows[0].name.replace("\\", "/").rpartition("/")[2] if rows else ""
    held = size(rows[0].memory) if rows else _field(names, "held")
    whose = f" ({name})" if name else ""
    holds = f", which holds {held}" if held else ", which holds the GPU's memory"
    text = f"Stop process {pid}{whose}{holds}, if it is yours"
    return Remedy((Restart("process", pid),), text=text, reversible=False, fits=8)


def _field(names: Names, *fields: str) -> str:
    """A field of any message of the text."""
    said = (one.get(field) for field in fields for one in names.around.log.messages)
    return next(filter(None, said), "")


def free_gpu(names: Names) -> Remedy | None:
    """The next GPU, where the text names more than one and the number of the full one."""
    case = names.around.log.case
    if len(case.gpus) < 2 or case.memory is None:
        return None
    found = re.search(r"\d+", case.memory.device)
    if found is None:
        return None
    other = next(at for at in range(len(case.gpus)) if at != int(found[0]))
    text = f"Use GPU {other}: GPU {found[0]} is full"
    return Remedy((Set("CUDA_VISIBLE_DEVICES", str(other)),), text=text)


def share_of_free(names: Names) -> Remedy | None:
    """vLLM asks for a share of the whole GPU: the one that is free now."""
    try:
        free, total = float(names.get("free")), float(names.get("total"))
    except ValueError:
        return None
    if not 0 < free < total:
        return None
    share = f"{int(100 * free / total) / 100 - 0.02:.2f}"
    text = f"Let vLLM ask for less than is free now: {free:g} of {total:g} GiB"
    option = Set("--gpu-memory-utilization", share, kind="option", of="vllm serve MODEL")
    return Remedy((option,), text=text)
