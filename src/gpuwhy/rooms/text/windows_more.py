"""Windows, more: the copies that `where` lists, the toolkit by its number, another interpreter, a policy, a bare command."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.windows import REDISTRIBUTABLE
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

_TOOLKIT = r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA"
_PATH = Later(r"(?<![\w\"'])([A-Za-z]:\\[^\n\"'<>|*?:]*?\\([\w.-]+\.dll))(?![\w\"'])", re.IGNORECASE)


_WHERE = Later(r"\bwhere(?:\.exe)? (?:/r )?\S+", re.IGNORECASE)


def listed(case: Asked) -> Iterator[Fix]:
    """Two copies of one DLL, as `where` lists them: the first is taken, so it is the one to take away."""
    copies: dict[str, list[str]] = {}
    for found in _PATH.finditer(case.text):
        copies.setdefault(found[2].lower(), []).append(found[1])
    if not _WHERE.search(case.text):
        return
    several = next((paths for paths in copies.values() if len(set(paths)) > 1), None)
    if several:
        first, second = list(dict.fromkeys(several))[:2]
        yield tried(f"Of the two copies {first} is taken, before {second}: take the first away (as an administrator), or replace it and its kin by those of the second's release; then open a new window", on.cmd(f'ren "{first}" "{first.rpartition(chr(92))[2]}.old"'), safe=False)  # fmt: skip


_BUILT_WITH = Later(r"detected CUDA version \(([\d.]+)\) mismatches[^\0]{0,300}?PyTorch \((\d+\.\d+)\)")


def that_toolkit(case: Asked) -> Iterator[Fix]:
    """PyTorch's extensions are built by the CUDA of its own build: that toolkit by its number."""
    if found := _BUILT_WITH.search(case.text):
        yield tried(f"Install CUDA {found[2]}, which this PyTorch was built with, beside {found[1]} (NVIDIA's installer, without its driver), and build with it", on.cmd(f'set "CUDA_HOME={_TOOLKIT}\\v{found[2]}"\nset "PATH={_TOOLKIT}\\v{found[2]}\\bin;%PATH%"'))  # fmt: skip


_NO_NVCC = Later(r"nvcc'? is not recogni[sz]ed|nvcc\W+The term|nvcc(?:\.exe)? (?:is )?not (?:found|recognized)|CommandNotFoundException[^\n]*nvcc", re.IGNORECASE)  # fmt: skip
_INSTALLED = Later(r"CUDA (?:toolkit )?v?(\d+\.\d+)", re.IGNORECASE)


def bare_nvcc(case: Asked) -> Iterator[Fix]:
    """nvcc at a prompt that does not find it, with a toolkit that is said to be there."""
    if not _NO_NVCC.search(case.text):
        return
    found = _INSTALLED.search(case.text)
    if found:
        yield tried("Open a new window, which has the PATH that the installer set; where nvcc is still not found, put the toolkit's folder first", on.cmd(f'set "PATH={_TOOLKIT}\\v{found[1]}\\bin;%PATH%"'))  # fmt: skip
    else:
        yield tried("Install the CUDA toolkit with NVIDIA's installer (the driver alone has no nvcc), of the CUDA that the framework was built for, then open a new window", on.cmd("winget install --exact --id Nvidia.CUDA"))  # fmt: skip


_NO_SMI = Later(r"nvidia-smi'? is not recogni[sz]ed|nvidia-smi\W+The term", re.IGNORECASE)
_OTHER_PRIMARY = Later(r"non-NVIDIA GPU is running as primary display|couldn't communicate with the NVIDIA driver", re.IGNORECASE)  # fmt: skip


def bare_smi(case: Asked) -> Iterator[Fix]:
    """nvidia-smi at a prompt: it comes with the driver, into System32."""
    if _NO_SMI.search(case.text):
        yield tried(r"nvidia-smi comes with the driver: try it by its path; where it is there, C:\Windows\System32 is missing from PATH, where it is not, no driver is installed", on.cmd(r'C:\Windows\System32\nvidia-smi.exe || "C:\Program Files\NVIDIA Corporation\NVSMI\nvidia-smi.exe"'))  # fmt: skip
        yield tried("Install NVIDIA's driver (nvidia.com/drivers), as a clean installation, then restart", safe=False)
    elif _OTHER_PRIMARY.search(case.text):
        yield tried("Switch the NVIDIA card on: Device Manager, Display adapters, Enable device (a laptop: its graphics mode, in the maker's program or the BIOS, to hybrid or discrete); then install NVIDIA's driver again, as a clean installation, and restart", on.cmd("devmgmt.msc"), safe=False)  # fmt: skip


_IDE = r"jupyter|notebook|vs ?code|visual studio code|pycharm|spyder"
_ELSEWHERE = Later(
    rf"(?:but|while|whereas|however)[^\n]{{0,60}}(?:{_IDE})|(?:not|n't|fails|False) (?:\w+ ){{0,4}}in (?:{_IDE})"
    rf"|(?<!nvidia-smi )(?<!nvcc )works? (?:fine |well )?(?:in|from|on|at) (?:the |my |an? )?(?:anaconda |conda )?(?:prompt|terminal|cmd|command)"
    rf"|(?:{_IDE})[^\n]{{0,40}}sys\.executable",
    re.IGNORECASE,
)
_PROMPT = Later(rf"(?:{_IDE})", re.IGNORECASE)


def other_interpreter(case: Asked) -> Iterator[Fix]:
    """It works at a prompt and not in an editor or notebook: that runs another Python."""
    if _ELSEWHERE.search(case.text) and _PROMPT.search(case.text) and not case.version.endswith("+cpu"):
        yield tried("The editor or notebook runs another Python than the prompt: choose that environment's as its interpreter or kernel; for Jupyter register it, in that environment's prompt: pip install ipykernel, then python -m ipykernel install --user --name gpu")  # fmt: skip
        yield tried("See which Python each of them runs: the same line in both", on.code("import sys; print(sys.executable)"), look=True)  # fmt: skip


_BLOCKED = Later(r"application control policy|WinError 4551|blocked by (?:your )?(?:group policy|administrator|antivirus)", re.IGNORECASE)  # fmt: skip


def by_policy(case: Asked) -> Iterator[Fix]:
    """Windows itself refuses the file."""
    if _BLOCKED.search(case.text):
        yield tried("Windows refuses the file: switch Smart App Control off (Windows Security, App and browser control), or have the administrator allow the folder; an antivirus: add an exception for the environment's folder", on.cmd("start windowsdefender://smartapp"), safe=False)  # fmt: skip
        yield tried("Then install the package again, as files may have been taken away", "pip install --force-reinstall --no-deps PACKAGE")  # fmt: skip


_BACKEND = Later(
    r"failed to load [^\n]*ggml-cuda\.dll|ggml-cuda\.dll[^\n]{0,60}(?:did not load|not load)", re.IGNORECASE
)
_OF_BUILD = Later(r"cuda[-_]?(?:cu)?(1[123]\.\d)", re.IGNORECASE)


def beside_ggml(case: Asked) -> Iterator[Fix]:
    """llama.cpp's CUDA part is there, and the DLLs that it needs are not."""
    if _BACKEND.search(case.text):
        found = _OF_BUILD.search(case.text)
        cuda = found[1] if found else "12.4"
        yield tried(f"ggml-cuda.dll is there, and the DLLs of CUDA {cuda.split('.')[0]} that it needs are not: unpack cudart-llama-bin-win-cuda-{cuda}-x64.zip of the same release page beside it (cudart, cublas, cublasLt)")  # fmt: skip
        yield tried("And install the Visual C++ runtime, then open a new window", REDISTRIBUTABLE)


_CRASH = Later(r"-1073741819|0xC0000005|3221225477", re.IGNORECASE)


def crashed(case: Asked) -> Iterator[Fix]:
    """An access violation: the driver, and libraries of two releases, come before the program."""
    if _CRASH.search(case.text):
        yield tried(
            "Find the call in which it crashes: Python then prints where it was", "python -X faulthandler PROGRAM"
        )
        yield tried("Most often a DLL of another release is on PATH (another cuDNN, another CUDA): see which copies there are, and leave one; else update NVIDIA's driver", on.cmd("where cudnn64_8.dll cudart64_110.dll cublas64_11.dll"))  # fmt: skip


_FROZEN = Later(r"_MEI\d+|pyinstaller|nuitka|cx_?freeze|auto-py-to-exe", re.IGNORECASE)


def bundled(case: Asked) -> Iterator[Fix]:
    """A program that was packed into an exe: what its packer left out."""
    if _FROZEN.search(case.text):
        yield tried("The packed program lacks DLLs that PyTorch or CUDA brings: pack it as a folder (with CUDA it is too large for one file), with all of the package; for ONNX Runtime --collect-all onnxruntime, for TensorFlow --collect-all tensorflow", "pyinstaller --onedir --collect-all torch APP.py")  # fmt: skip
        yield tried("Pack it in the environment in which it runs from its source, after deleting the folders build and dist; CUDA's DLLs that it takes from PATH go beside the exe")  # fmt: skip


_AS_SERVICE = Later(
    r"windows service|\bnssm\b|localsystem|task scheduler|scheduled task|session 0|\biis\b", re.IGNORECASE
)


def in_session_zero(case: Asked) -> Iterator[Fix]:
    """A service of Windows has neither the user's variables nor, for some drivers, the card."""
    if _AS_SERVICE.search(case.text):
        yield tried("As a service it runs as another user, without your variables, PATH and Python: let it log on as your user (services.msc, Log On), and give it the variables and CUDA's bin folder for the whole system", on.cmd("services.msc"), safe=False)  # fmt: skip
        yield tried("Or start it at log-on instead: Task Scheduler, at log on of your user, run only when the user is logged on", on.cmd("taskschd.msc"), safe=False)  # fmt: skip


_LOST = Later(r"GPU is lost|fallen off the bus|Unable to determine the device handle", re.IGNORECASE)


def lost(case: Asked) -> Iterator[Fix]:
    """The card no longer answers."""
    if _LOST.search(case.text):
        yield tried("Shut the computer down, wait, and start it again: the card no longer answers, and only that brings it back; an external card: its cable and power first", on.cmd("shutdown /s /t 0"), safe=False)  # fmt: skip
        yield tried("Where it comes back: update the driver, set the power plan to high performance (PCI Express, link state power management off), no overclocking, seat the card and its power cables anew, look at its temperature", on.cmd("powercfg /setactive SCHEME_MIN"), safe=False)  # fmt: skip


_NUMPY = Later(r"_multiarray_umath|numpy\.core\.multiarray|mtrand", re.IGNORECASE)


def of_numpy(case: Asked) -> Iterator[Fix]:
    """NumPy's own DLLs: conda's are found only in an activated environment."""
    if _NUMPY.search(case.text):
        yield tried("NumPy's DLLs are not found: with conda activate the environment in that very window or editor (its Library\\bin must be on PATH); then, or without conda, install NumPy again", "pip install --force-reinstall --no-cache-dir numpy")  # fmt: skip


_AVX = Later(
    r"initialization routine failed|initialisierungsroutine|routine d'initialisation|инициализации|初始化例程",
    re.IGNORECASE,
)
_TENSORFLOW = Later(r"tensorflow", re.IGNORECASE)


_NO_AVX = Later(r"Family 6 Model (?:15|22|23|26|28|29|30|31|37|44|46|47)\b|Core\(TM\)2|Core 2|\bPentium|\bCeleron|\bAtom\b|Phenom|Athlon II|Xeon\S* +[XEL]5[56]\d\d|\bi[357](?:-| )[3-9]\d\d\b(?!\d)|no AVX|without AVX|AVX (?:is )?not|(?:not|n't) (?:support|have)[^\n]{0,12}\bAVX", re.IGNORECASE)  # fmt: skip


def old_processor(case: Asked) -> Iterator[Fix]:
    """The text names a processor that has no AVX: then that is it."""
    if _NO_AVX.search(case.text):
        yield from without_avx(case)


def without_avx(case: Asked) -> Iterator[Fix]:
    """TensorFlow's module that is found and does not start: an old processor."""
    if _AVX.search(case.text) and _TENSORFLOW.search(case.text):
        yield tried(on.in_windows("TensorFlow from 1.6 on needs a processor with AVX (no Pentium, Celeron, Core 2 or first Core i): on one without it no wheel of the index starts, of whatever release: install a build without AVX, in the Python of its name (the sse2 wheels of fo40225/tensorflow-windows-wheel on GitHub, by their file: pip install FILE.whl), or use another computer, or Colab"))  # fmt: skip


_HOST_FULL = Later(r"DefaultCPUAllocator: not enough memory|not enough memory: you tried to allocate|bad allocation|MemoryError", re.IGNORECASE)  # fmt: skip


def more_to_page(case: Asked) -> Iterator[Fix]:
    """The computer's own memory: on Windows its bound is memory and paging file together."""
    if _HOST_FULL.search(case.text):
        yield tried("Enlarge the paging file: this opens the dialog; there Advanced, Virtual memory, Change: system managed, or 32768 to 65536 MB on a drive with room; close other programs, then restart", on.cmd("powershell Start-Process SystemPropertiesPerformance"), safe=False)  # fmt: skip
