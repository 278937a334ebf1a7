"""From an exception on its way to a note on it: its text, the machine, the Answer. Never raises."""

from __future__ import annotations

import re
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuwhy.answer.answer import Answer
    from gpuwhy.api.machine import Seen

MARK = "gpuwhy: "
LONGEST = 12_000
SECONDS = 5.0
FRESH = 10.0
"""Seconds for which a look is used again: a loop that fails and goes on looks once."""
_SOURCE = re.compile(r'^( *File ".*\n)(?: {4}.*\n)+', re.MULTILINE)
FRAMEWORKS = re.compile(
    "torch|torchvision|torchaudio|tensorflow|jax|jaxlib|cupy|cupy_backends|cupyx|numba|onnxruntime"
    "|triton|pycuda|paddle|mxnet|tensorrt|pynvml|cuda|rmm|cudf|xformers|flash_attn|bitsandbytes"
)
"""Packages whose own exception types are worth reading."""
_INNOCENT = (KeyError, NameError, StopIteration, StopAsyncIteration, SyntaxError, Warning)
_WORDS = re.compile(
    "cuda|cudnn|cublas|cufft|curand|cusolver|cusparse|cupti|nccl|nvidia|nvrtc|nvml"
    "|nvjitlink|nvcc|gpu|hip error|rocm|xla|ptx|resource_exhausted|resource exhausted"
    "|out of memory|oom when|device-side|sm_|tensorrt|triton|torch|tensorflow|jaxlib"
    "|onnxruntime|dataloader|shapes cannot be multiplied|size of tensor"
    "|expected scalar type|same dtype|on the same device|incompatible shapes"
    "|expected input"
)
"""What a message of the GPU stack contains; the log reader decides whether it is an error."""
_ENOUGH = 20_000
_FURTHEST = 40

_seen: tuple[float, Seen] | None = None


def annotate(
    error: BaseException | None,
    *,
    machine: bool = True,
    seconds: float = SECONDS,
    told: Callable[[Answer], None] | None = None,
) -> str:
    """Add the answer on a GPU error to it as a note and return the note; "" for other errors.

    `told` gets the Answer. Nothing escapes, not even Ctrl-C: the error must arrive.
    """
    try:
        carrier = target(error) if isinstance(error, Exception) else None
        if error is None or carrier is None or noted(carrier):
            return ""
        answer = explained(_text(error), machine=machine, seconds=seconds)
        if answer is None:
            return ""
        note = written(answer)
        if sys.version_info >= (3, 11):
            carrier.add_note(note)
        else:
            vars(carrier)["__notes__"] = [*getattr(carrier, "__notes__", ()), note]
            print(note, file=sys.stderr)  # Python 3.10 keeps notes and does not print them
        if told is not None:
            told(answer)
    except BaseException:
        return ""
    return note


def noted(error: BaseException) -> str:
    """The note that an exception carries from us, or ""."""
    notes = getattr(error, "__notes__", ())
    return next((n for n in notes if isinstance(n, str) and n.startswith(MARK)), "")


def written(answer: Answer) -> str:
    """The answer as text."""
    from gpuwhy.answer import blocks, terminal

    return MARK + terminal.write(blocks.document(answer, 0)).rstrip("\n")


def explained(text: str, *, machine: bool = True, seconds: float = SECONDS) -> Answer | None:
    """The Answer on a text, with this machine's facts; None where it states no GPU problem."""
    from gpuwhy.api.text import answer_of
    from gpuwhy.log.read import read

    log = read(text)
    answer = answer_of(log)
    if machine and _is_gpu(answer) and (seen := look(seconds)):
        answer = answer_of(log, seen)
    return answer if _is_gpu(answer) else None


def _is_gpu(answer: Answer) -> bool:
    from gpuwhy.answer.answer import NOT_GPU

    named = answer.verdict in ("found", "undecided") and bool(answer.causes)
    return named and answer.causes[0].id != NOT_GPU


def look(seconds: float) -> Seen | None:
    """What this machine and this Python show; None where it takes too long or fails."""
    global _seen
    if _seen is not None and time.monotonic() - _seen[0] < FRESH:
        return _seen[1]
    found: list[Seen] = []
    looker = threading.Thread(target=_look, args=(found,), daemon=True)
    looker.start()
    looker.join(seconds)
    if not found:
        return None
    _seen = (time.monotonic(), found[0])
    return found[0]


def _look(found: list[Seen]) -> None:
    try:
        from gpuwhy.api.python import seen

        found.append(seen())
    except Exception:  # nothing seen: the text alone then decides
        return


def _text(error: BaseException) -> str:
    """The chain as Python prints it, without lines of source; the ends of a very long one."""
    import traceback

    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return _cut(_SOURCE.sub(r"\1", _cut(text, 4 * LONGEST)), LONGEST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}\n{text[-most // 2 :]}"


def target(error: BaseException) -> BaseException | None:
    """The exception that should carry the diagnosis; None where none looks like the GPU stack.

    It is the error that was raised, also where a GPU error is its stated cause. An error that only
    happened while a GPU error was handled stays as it is, and the GPU error carries the note.
    """
    waiting, left = [(error, error)], _FURTHEST  # what is read, and what would carry the note
    while waiting and left:
        (one, carrier), left = waiting.pop(), left - 1
        if suspicious(one):
            return carrier
        if one.__cause__ is not None:
            waiting.append((one.__cause__, carrier))
        elif one.__context__ is not None and not one.__suppress_context__:
            waiting.append((one.__context__, one.__context__))
        members = getattr(one, "exceptions", None)  # of a group, which are read first
        for member in reversed(members) if isinstance(members, tuple) else ():
            if isinstance(member, BaseException):
                waiting.append((member, member))
    return None


def suspicious(error: BaseException) -> bool:
    """Whether an exception's type or text speaks of the GPU stack."""
    if not isinstance(error, Exception) or isinstance(error, _INNOCENT):
        return False
    return of_framework(error) or bool(_WORDS.search(said(error).lower()))


def of_framework(error: BaseException) -> bool:
    """Whether the exception's type is one of a framework's own."""
    package = str(getattr(type(error), "__module__", "")).partition(".")[0]
    return bool(FRAMEWORKS.fullmatch(package))


def said(error: BaseException) -> str:
    """The text of an exception; "" where it cannot be had."""
    try:
        return str(error)[:_ENOUGH]
    except Exception:
        return ""
