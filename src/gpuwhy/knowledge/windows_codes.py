"""Windows' own numbers: errors of LoadLibrary and the system, and the statuses that a process ends with there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.code import Code, Number
from gpuwhy.facts.fact import Source

TITLE = "Windows"
_ERRORS = Source("know", "Microsoft: System Error Codes", "winerror.h")
_STATUSES = Source("know", "Microsoft: NTSTATUS Values", "ntstatus.h; 0xC06D…: delayimp.h; 0xE06D7363: Visual C++")
_WRAP = 1 << 32

_ROWS: tuple[tuple[int, str, str], ...] = (
    (2, "ERROR_FILE_NOT_FOUND", "the file itself is not there"),
    (3, "ERROR_PATH_NOT_FOUND", "a folder of the path is not there"),
    (5, "ERROR_ACCESS_DENIED", "access denied: rights, a file in use, or an antivirus"),
    (8, "ERROR_NOT_ENOUGH_MEMORY", "no memory left for it: RAM and paging file together"),
    (14, "ERROR_OUTOFMEMORY", "no memory left for it: RAM and paging file together"),
    (87, "ERROR_INVALID_PARAMETER", "a call that this Windows does not know, or a folder that is not whole"),
    (126, "ERROR_MOD_NOT_FOUND",
     "a DLL is not found: the one that is named, or one that it needs, which the message does not name"),
    (127, "ERROR_PROC_NOT_FOUND", "a DLL was found that lacks a function: it is of another version"),
    (182, "ERROR_INVALID_ORDINAL", "a DLL was found that lacks a function: it is of another version"),
    (193, "ERROR_BAD_EXE_FORMAT", "a file that is no 64-bit library: damaged, cut short, or for 32-bit programs"),
    (206, "ERROR_FILENAME_EXCED_RANGE", "a path of more than 260 characters"),
    (225, "ERROR_VIRUS_INFECTED", "the antivirus keeps the file"),
    (998, "ERROR_NOACCESS", "the DLL crashed while it was loaded"),
    (1114, "ERROR_DLL_INIT_FAILED",
     "a DLL was found, and its start failed: the Visual C++ runtime is too old, memory is short, or another copy "
     "of a DLL is in the process"),
    (1157, "ERROR_DLL_NOT_FOUND", "a DLL that the program needs is not found"),
    (1450, "ERROR_NO_SYSTEM_RESOURCES", "Windows has no resources left: memory or the paging file"),
    (1455, "ERROR_COMMITMENT_LIMIT",
     "the paging file is too small: Windows promises no more memory than RAM and paging file have together, and "
     "every process that loads CUDA's DLLs asks for some gigabytes"),
    (4551, "ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION", "a policy (Smart App Control, App Control) blocks the file"),
    (14001, "ERROR_SXS_CANT_GEN_ACTCTX", "an old Visual C++ runtime (side by side) is missing"),
    (0xC0000005, "STATUS_ACCESS_VIOLATION", "the process touched memory that is not its own: a crash in native code"),
    (0xC0000017, "STATUS_NO_MEMORY", "no memory left: RAM and paging file together"),
    (0xC000001D, "STATUS_ILLEGAL_INSTRUCTION",
     "the processor does not know an instruction: the build wants AVX or newer, and has no code for this processor"),
    (0xC000007B, "STATUS_INVALID_IMAGE_FORMAT", "a 32-bit or damaged DLL where a 64-bit one is needed (as error 193)"),
    (0xC0000094, "STATUS_INTEGER_DIVIDE_BY_ZERO", "a division by zero in native code"),
    (0xC00000FD, "STATUS_STACK_OVERFLOW", "the stack is used up"),
    (0xC000012D, "STATUS_COMMITMENT_LIMIT", "the paging file is too small (as error 1455)"),
    (0xC0000135, "STATUS_DLL_NOT_FOUND",
     "the program could not start: a DLL that it is linked with is not found (as error 126)"),
    (0xC0000139, "STATUS_ENTRYPOINT_NOT_FOUND",
     "the program could not start: a DLL of another version was found (as error 127)"),
    (0xC000013A, "STATUS_CONTROL_C_EXIT", "ended by Ctrl-C or by closing the window"),
    (0xC0000142, "STATUS_DLL_INIT_FAILED", "the program could not start: a DLL's start failed (as error 1114)"),
    (0xC0000374, "STATUS_HEAP_CORRUPTION", "native code wrote past its memory: two copies of a runtime, or a bug"),
    (0xC0000409, "STATUS_STACK_BUFFER_OVERRUN",
     "native code ended the process at once: abort(), std::terminate or a failed check, the message is above; "
     "cuDNN 8 ends so without zlibwapi.dll or a sub-library"),
    (0xC06D007E, "VcppException(ERROR_SEVERITY_ERROR, ERROR_MOD_NOT_FOUND)",
     "a DLL that is loaded at its first use is not found (as error 126)"),
    (0xC06D007F, "VcppException(ERROR_SEVERITY_ERROR, ERROR_PROC_NOT_FOUND)",
     "a DLL that is loaded at its first use is of another version (as error 127)"),
    (0xE06D7363, "Microsoft C++ exception", "a C++ exception that nobody caught; see above"),
)  # fmt: skip


READ_ELSEWHERE = (0xC0000005, 0xC000001D, 0xC0000409)
"""Statuses that the log reader knows by messages of their own (`signal.`, `python.avx`)."""


def slug(name: str) -> str:
    """What the log reader calls a status: STATUS_NO_MEMORY → no_memory."""
    return "_".join(re.findall(r"[a-z0-9]+", name.split(", ")[-1].removeprefix("STATUS_").lower()))


def statuses() -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a process ends with, by its slug, and how programs write its number."""
    for number, name, _ in _ROWS:
        if number > 0xFFFF and number not in READ_ELSEWHERE:
            yield slug(name), (f"0x{number:x}", str(number), str(number - _WRAP))


def codes() -> Iterator[Code]:
    """Every row; a status also by the negative number that some programs print for it."""
    for number, name, text in _ROWS:
        status = number > 0xFFFF
        numbers = (Number(number, f"0x{number:X}, an exit status"), Number(number - _WRAP, "the same with a sign"))
        source = _STATUSES if status else _ERRORS
        yield Code("windows", TITLE, (name,), numbers if status else numbers_of(number), text, (), source)


def numbers_of(error: int) -> tuple[Number, ...]:
    """A plain error, and the same as an HRESULT (0x8007007E)."""
    return Number(error, "WinError, LoadLibrary"), Number(0x80070000 | error, f"0x{0x80070000 | error:X}, an HRESULT")
