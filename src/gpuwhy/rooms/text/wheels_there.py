"""Wheels there: libraries that lie in the environment as wheels, and that the framework does not find by itself; or one folder too many."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import commands
from gpuwhy.rooms.text.ways import tried
from gpuwhy.rooms.text.where import told_release

_SKIPPED = Later(r"Cannot dlopen some GPU libraries")
_WHEELS = Later(r"^nvidia-(?:cudnn|cublas|cuda-runtime|cusparse|cusolver|cufft)-cu1\d\s+\d", re.MULTILINE)
_UNFOUND = frozenset({"env.path", "cuda.version_mismatch", "cuda.missing_library", "cudnn.missing", "cudnn.version_mismatch"})  # fmt: skip
_FOLDERS = 'export LD_LIBRARY_PATH=$(python -c \'import glob, nvidia; print(":".join(glob.glob(list(nvidia.__path__)[0] + "/*/lib")))\'):$LD_LIBRARY_PATH'


def found_by_folder(cause: str, case: Asked) -> Iterator[Fix]:
    """TensorFlow 2.14 to 2.16 with its libraries as wheels, which it does not always find: their folders by name, or a release that does."""
    wheels = _SKIPPED.search(case.text) and _WHEELS.search(case.text)
    if cause not in _UNFOUND or case.framework != "tensorflow" or case.windows or not wheels:
        return
    yield tried("TensorFlow's CUDA libraries are installed as wheels, and are not found: have their folders searched, before any toolkit's, in the shell that starts the program (for good in ~/.bashrc, or in the environment's activation)", on.linux(_FOLDERS))  # fmt: skip
    if numbers(told_release(case.reading, "tensorflow"))[:2] < (2, 17):
        yield tried("Or install TensorFlow 2.17 or newer, which finds them by itself", 'pip install --upgrade "tensorflow[and-cuda]>=2.17"')  # fmt: skip


_LOST = Later(r"GPU access blocked|couldn't communicate|Failed to initialize NVML|no CUDA-capable device")
_SETS = re.compile(r"^export LD_LIBRARY_PATH=(?P<value>\S+)")
_OF_LINUX = re.compile(r"/usr/lib/x86_64-linux-gnu|/lib/x86_64-linux-gnu|/usr/lib64|/usr/lib/nvidia\S*")


def hidden_in_wsl(cause: str, case: Asked) -> Iterator[Fix]:
    """WSL: a variable puts a folder of the distribution before the loader's own order, in which Windows' driver comes first."""
    if cause not in ("wsl.setup", "env.path") or "wsl" not in case.tools or not _LOST.search(case.text):
        return
    set_to = next((one["value"] for ran in commands(case.text) if (one := _SETS.match(ran.command))), "")
    folder = _OF_LINUX.search(set_to)
    if not folder or "/usr/lib/wsl" in set_to:
        return
    yield tried(f"LD_LIBRARY_PATH names {folder[0]}, where a driver's library of Linux lies, so that it is taken in place of Windows' own: leave that folder out, here and in ~/.bashrc (the loader searches it anyway), or put WSL's own before it", on.linux("export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH"))  # fmt: skip


_CTRANSLATE = Later(r"^ctranslate2 +(\d[\d.]*)|\bctranslate2(?:==|[ -]v?)(\d[\d.]*\d)", re.MULTILINE | re.IGNORECASE)


def _ctranslate(case: Asked) -> str:
    """The release of CTranslate2 that a list shows."""
    found = _CTRANSLATE.search(case.text)
    return (found[1] or found[2]) if found else ""


def of_its_cudnn(case: Asked) -> str:
    """The major of cuDNN that the CTranslate2 which is told opens: 9 from 4.5 on; 8 before; "" where none is told."""
    release = numbers(_ctranslate(case))
    return "" if not release else "9" if release[:2] >= (4, 5) else "8"


def with_its_cudnn(cause: str, case: Asked) -> Iterator[Fix]:
    """CTranslate2 4.0 to 4.4 with CUDA 12 opens cuDNN 8: the wheels of that, and the last release for CUDA 11 beside it."""
    old = of_its_cudnn(case) == "8" and numbers(_ctranslate(case))[:1] == (4,)
    if cause not in _UNFOUND or not old or "whisper" not in case.tools or not re.search(r"cublas(?:64_|\.so\.)12|cudnn\w*64_8|libcudnn\w*\.so\.8", case.text):  # fmt: skip
        return
    release = _ctranslate(case)
    cu11 = re.search(r"\+cu11\d|CUDA (?:Version: )?11\.", case.text)
    last = tried(f"CTranslate2 {release} opens CUDA 12, and what is here is for CUDA 11: take the last CTranslate2 for that", 'pip install "ctranslate2==3.24.0"')  # fmt: skip
    if cu11:
        yield last
    bring = f"CTranslate2 {release} opens cuBLAS 12 and cuDNN 8 (9 only from 4.5 on): bring both as wheels, and have their folders searched"
    if case.windows:
        yield tried(on.in_windows(f"{bring}, in the window that then starts the program"), on.cmd('pip install nvidia-cublas-cu12 "nvidia-cudnn-cu12==8.9.*"\nfor /f "delims=" %i in (\'python -c "import nvidia.cublas as b, nvidia.cudnn as n; print(list(b.__path__)[0] + r\'\\bin;\' + list(n.__path__)[0] + r\'\\bin\')"\') do set "PATH=%i;%PATH%"'))  # fmt: skip
    else:
        yield tried(bring, on.linux("pip install nvidia-cublas-cu12 \"nvidia-cudnn-cu12==8.9.*\"\nexport LD_LIBRARY_PATH=$(python -c 'import nvidia.cublas as b, nvidia.cudnn as n; print(list(b.__path__)[0] + \"/lib:\" + list(n.__path__)[0] + \"/lib\")'):$LD_LIBRARY_PATH"))  # fmt: skip
    if not cu11:
        yield last
