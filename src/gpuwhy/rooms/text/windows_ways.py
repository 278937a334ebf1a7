"""Windows ways: what helps on Windows before what helps everywhere: the pair of an old TensorFlow, the card's CUDA, conda's prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gpuwhy.knowledge.windows import REDISTRIBUTABLE, pythons_of, tensorflow_for
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least, numbers
from gpuwhy.rooms.text import windows_more as more
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried
from gpuwhy.rooms.text.windows_builds import with_visual_studio

_PAIRS = (  # TensorFlow from, CUDA, cuDNN: what its module imports, so that `import tensorflow` fails without it
    ("1.13", "10.0", "7"), ("1.5", "9.0", "7"), ("1.3", "8.0", "6"), ("1.0", "8.0", "5.1"),
)  # fmt: skip
_IMPORT = Later(r"DLL load failed(?! while)|_pywrap_tensorflow_internal|error while importing _pywrap", re.IGNORECASE)
_TOLD = Later(r"tensorflow(?:[-_]gpu)?\W[^\n]{0,60}?\b(1\.\d{1,2}|2\.\d{1,2})(?:\.\d+)?\b", re.IGNORECASE)
_CONDA = Later(r"conda (?:activate|create --name|create -n) (\w[\w.-]*)|\\envs\\(\w[\w.-]*)\\|^\((\w[\w.-]*)\) [A-Z]:\\", re.MULTILINE)  # fmt: skip
_LLAMA = Later(r"llama[-_ ]?cpp|\bBLAS = 0\b", re.IGNORECASE)
_EIGHT = Later(r"cudnn_\w+64_8\.dll", re.IGNORECASE)
_NATIVE = Later(r"OnnxRuntime(?:\.Gpu)?[^\n]{0,40}?\b1\.(\d{1,2})(?:\.\d+)?\b", re.IGNORECASE)
_TDR = on.cmd(r"reg add HKLM\SYSTEM\CurrentControlSet\Control\GraphicsDrivers /v TdrDelay /t REG_DWORD /d 60")


def _llama(case: Asked) -> Iterator[Fix]:
    if _LLAMA.search(case.text):
        yield tried("Build llama-cpp-python with CUDA, on Windows with no quotes inside the value, in a prompt that has Visual Studio's C++ tools and the CUDA toolkit; then n_gpu_layers=-1", "CMAKE_ARGS=-DGGML_CUDA=on FORCE_CMAKE=1 pip install --force-reinstall --no-cache-dir llama-cpp-python")  # fmt: skip
        yield tried("Or take its prebuilt wheel for CUDA 12.4 on Windows, which needs no compiler", "pip install --force-reinstall --no-cache-dir llama-cpp-python --extra-index-url https://abetlen.github.io/llama-cpp-python/whl/cu124")  # fmt: skip


_PINNED = Later(r"No matching distribution found for (tensorflow(?:-gpu)?|onnxruntime-gpu)==(\d+\.\d+)(\.\d+)?")


def _for_that_python(case: Asked) -> Iterator[Fix]:
    """pip finds none of a release: it has wheels for some Pythons of 64 bit only."""
    found = _PINNED.search(case.text)
    if not found and _ANY_TF.search(case.text):
        yield from _tensorflow_for(case.python)
    release = f"{found[2]}{found[3] or '.0'}" if found else ""
    pythons = pythons_of(found[1], release) if found else ()
    if found and pythons and not case.python:
        yield tried(f"{found[1]} {release} has wheels on Windows for Python {pythons[0]} to {pythons[-1]} only, of 64 bit: make an environment with one of these, and install it there", on.cmd(f"py -{pythons[-1]} -m venv tf\ntf\\Scripts\\python -m pip install {found[1]}=={release}"))  # fmt: skip
        yield tried("See which Python it is, and whether it has 64 bit", "python -c \"import struct, sys; print(sys.version, struct.calcsize('P') * 8)\"", look=True)  # fmt: skip


_ALL_OF_210 = on.cmd(
    "conda create -y -n tf210 -c conda-forge python=3.10 cudatoolkit=11.2 cudnn=8.1.0\nconda activate tf210\n"
    'pip install "tensorflow==2.10.1" "numpy<2"\n'
    "python -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\""
)
"""The last TensorFlow with CUDA for Windows, with what it opens."""
_ANY_TF = Later(r"(?:No matching distribution found for|satisfies the requirement) tensorflow(?:-gpu)?(?:\s|$|\()", re.MULTILINE)  # fmt: skip


def _tensorflow_for(python: str) -> Iterator[Fix]:
    """The newest TensorFlow with CUDA that has a wheel for a Python on Windows, and the Pythons of the last of all."""
    row = tensorflow_for(python) if python else None
    if row and not at_least(row.version, "2.10"):
        yield tried(f"For Python {python} (of 64 bit) the newest TensorFlow with CUDA on Windows is {row.version}, built for CUDA {row.cuda}: install that one; a 32-bit Python has none", f"pip install {row.name}=={row.version}")  # fmt: skip
    elif row is None:
        which = f"none for Python {python}" if python else "wheels for Python 3.7 to 3.10 only"
        yield tried(f"TensorFlow with CUDA for Windows ends with 2.10 and has {which}, of 64 bit: make an environment with Python 3.10, and install it there with CUDA 11.2 and cuDNN 8.1 (conda's, which are found where that environment is active); the last line names the card", _ALL_OF_210)  # fmt: skip


def _of_another_python(case: Asked) -> Iterator[Fix]:
    """TensorFlow of 2.11 or newer, or none told, under a Python that no TensorFlow with CUDA for Windows has a wheel for."""
    if case.framework == "tensorflow" and case.python and (not case.version or at_least(case.version, "2.11")):
        yield from _tensorflow_for(case.python)


def _newer_card(case: Asked) -> Iterator[Fix]:
    """A card that came after the CUDA that is asked for: no library of that CUDA helps it."""
    old = bool(case.cuda) and not at_least(case.cuda, "11")
    if case.framework == "tensorflow" and old and case.gpu and at_least(case.gpu, "8.0"):
        code = f"sm_{case.gpu.replace('.', '')}"
        yield tried(f"This build is for CUDA {case.cuda}, which does not know the card ({code}): take TensorFlow 2.5 to 2.10, with CUDA 11.2 and cuDNN 8.1 on PATH, under Python 3.7 to 3.10 (64 bit)", 'pip install "tensorflow==2.10.1" "numpy<2"')  # fmt: skip


def _imported(case: Asked) -> Iterator[Fix]:
    """`import tensorflow` itself fails: up to 1.13 CUDA's own DLLs, from 1.14 on only the C++ runtime's."""
    if case.library or case.framework != "tensorflow" or not _IMPORT.search(case.text):
        return
    told = _TOLD.search(case.text)
    version = case.version or (told[1] if told else "")
    if not version:
        yield tried("See which release it is, and install its pair, both bin folders on PATH: 1.0 to 1.2 import CUDA 8.0 and cuDNN 5.1 (cudnn64_5.dll), 1.3 and 1.4 CUDA 8.0 and cuDNN 6 (cudnn64_6.dll), 1.5 to 1.12 CUDA 9.0 and cuDNN 7, 1.13 CUDA 10.0 and cuDNN 7", "pip show tensorflow-gpu")  # fmt: skip
    elif at_least(version, "1.14"):
        yield tried(f"Install the DLLs of the Visual C++ runtime (2015 to 2022, x64), then open a new window: TensorFlow {version} opens CUDA only later, so its import cannot fail for want of it", REDISTRIBUTABLE)  # fmt: skip
    else:
        cuda, cudnn = next((cuda, cudnn) for since, cuda, cudnn in _PAIRS if at_least(version, since))
        folder = rf"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v{cuda}\bin"
        yield tried(f"Install CUDA {cuda} (the base installer) and cuDNN {cudnn} for it, its DLL in the same bin folder: TensorFlow {version} imports these very ones, and no newer", on.cmd(f'set "PATH={folder};%PATH%"'))  # fmt: skip


def _activated(case: Asked) -> Iterator[Fix]:
    """CUDA from conda is on PATH only where its environment is activated: in that prompt, in that IDE."""
    found = _CONDA.search(case.text)
    lies = re.search(r"Library\\+bin", case.text)
    inside = lies or re.search(r"conda install[^\n]{0,60}(?:cudatoolkit|cudnn)", case.text)
    if case.library and inside and (found or lies):
        name = next(filter(None, found.groups())) if found else "ENVIRONMENT"
        yield tried("Activate the environment in the very window that starts the program (an IDE: start it from there): only then are conda's DLLs, in its Library\\bin, on PATH", on.cmd(f"conda activate {name}"))  # fmt: skip


def _zlib(case: Asked) -> Iterator[Fix]:
    """A part of cuDNN 8 that is there and does not load lacks zlib's DLL."""
    if _EIGHT.search(case.text):
        yield tried("If that file is in a folder of PATH: it needs zlibwapi.dll, which cuDNN 8 does not bring: put the 64-bit one (zlib123dllx64.zip) beside it, and open a new window", on.cmd("where cudnn_ops_infer64_8.dll zlibwapi.dll"))  # fmt: skip


_LOADED = Later(r"Loaded runtime CuDNN library: (\d+)\.\d+", re.IGNORECASE)


def _whole(case: Asked) -> Iterator[Fix]:
    """Another cuDNN than the framework was compiled with: every file of one release, in the folder that wins."""
    if found := _LOADED.search(case.text):
        yield tried(f"See which copies are on PATH (the first is taken), and replace all cudnn*64_{found[1]}.dll in its folder together by those of a cuDNN {found[1]} that is new enough; then open a new window", on.cmd(f"where cudnn64_{found[1]}.dll"))  # fmt: skip


def _of_programs(case: Asked) -> Iterator[Fix]:
    """ONNX Runtime in a program of one's own: the pair of its release, on the program's PATH or beside it."""
    if case.framework != "onnxruntime" or not case.tools & {"dotnet", "native"}:
        return
    told = _NATIVE.search(case.text)
    minor = int(told[1]) if told else int(case.version.split(".")[1]) if re.match(r"1\.\d", case.version) else 0
    pair = "CUDA 12 and cuDNN 9" if minor >= 19 else "CUDA 11.8 and cuDNN 8 with zlibwapi.dll" if minor else "the CUDA and the cuDNN of its release (1.19 and newer: CUDA 12, cuDNN 9; 1.11 to 1.18: CUDA 11.6 to 11.8, cuDNN 8 with zlibwapi.dll)"  # fmt: skip
    yield tried(f"Install {pair}, and put both bin folders on PATH or their DLLs beside the program; then start Visual Studio anew; see which one is missing", on.cmd("dumpbin /dependents onnxruntime_providers_cuda.dll"))  # fmt: skip


_BY_ITSELF = Later(
    r"illegal (?:memory )?a(?:ccess|ddress)|ILLEGAL_ADDRESS|out of resource|too many resources|misaligned",
    re.IGNORECASE,
)


def _watchdog(case: Asked) -> Iterator[Fix]:
    """A kernel that runs for more than two seconds on the card of the display is ended by Windows."""
    if case.framework not in ("tensorflow", "") or _BY_ITSELF.search(case.lines):  # it has a reason of its own
        return
    yield tried("Give kernels more time: on Windows the card of a display is reset after two seconds (TDR; the event viewer then has nvlddmkm); as an administrator, then restart", _TDR, safe=False)  # fmt: skip
    yield tried("Or update NVIDIA's driver on Windows (nvidia.com/drivers)", safe=False)


_ENTRY = Later(r"WinError 127|procedure could not be found|procedure entry point|процедура|die angegebene prozedur|procédure spécifiée|procedimiento especificado|procedura specificata|procedimento especificado|找不到指定的程序|プロシージャ|프로시저", re.IGNORECASE)  # fmt: skip
_OF_TORCH = Later(r"\\torch(?:vision|audio)?\\|importing _C\b|torch", re.IGNORECASE)


def _one_release(case: Asked) -> Iterator[Fix]:
    """A DLL is found and lacks a function: it is of another release than the one that asks."""
    if not _ENTRY.search(case.lines or case.text) or not _OF_TORCH.search(case.text):
        return
    told = case.version.partition("+")[0]
    which = f"torch=={told}" if told else "torch"
    yield tried("A DLL is there and lacks a function: it is of another release. Install torch, torchvision and torchaudio together, of one index, in place of what is there", f"python -m pip install uv\npython -m uv pip install --reinstall {which} torchvision torchaudio --torch-backend=auto")  # fmt: skip
    yield tried("And what was compiled for another torch (xformers, flash-attn, a custom node's part): install it again after that", "pip install --force-reinstall --no-deps EXTENSION")  # fmt: skip


_REFUSED = Later(r"Tried to allocate ([\d.]+) ([MG])iB[^\n]*?([\d.]+) ([MG])iB (?:is )?free", re.IGNORECASE)
PAGE_FILE = on.cmd("powershell Start-Process SystemPropertiesPerformance")


def _commit(case: Asked) -> Iterator[Fix]:
    """Windows counts the card's memory against that of the computer: a full paging file refuses what the card has free."""
    found = _REFUSED.search(case.lines) or _REFUSED.search(case.text)
    size = {"M": 1, "G": 1024}
    if found and float(found[3]) * size[found[4].upper()] > float(found[1]) * size[found[2].upper()]:
        yield tried("The card has more free than was asked for: on Windows the computer's own memory refuses it. Enlarge the paging file (this opens the dialog; there Advanced, Virtual memory, Change: system managed, or 32768 to 65536 MB), close other programs, then restart", PAGE_FILE, safe=False)  # fmt: skip


_CODE_43 = Later(r"\bcode 43\b|has stopped this device", re.IGNORECASE)


def _no_card(case: Asked) -> Iterator[Fix]:
    """The device manager's own words; another maker's card."""
    if _CODE_43.search(case.text):
        yield tried("Windows has stopped the card (code 43): remove the driver wholly (Display Driver Uninstaller, in safe mode), install the newest one from NVIDIA as a clean installation, and restart", safe=False)  # fmt: skip
        yield tried("Where it comes back: try the card in another slot or computer, with its power cables seated anew; in a virtual machine hide the hypervisor from the guest, or use driver 465 and newer", safe=False)  # fmt: skip


_BUILT = Later(r"while importing (\w+)|ImportError: DLL load failed", re.IGNORECASE)
_SEARCHED = Later(r"\bPATH\b|built (?:\w+ )?(?:\S+ )?(?:with CUDA|from source)|CUDA_PATH|bin folder|add_dll_directory|compiled (?:\w+ )?with CUDA", re.IGNORECASE)  # fmt: skip


def _beside_path(case: Asked) -> Iterator[Fix]:
    """Python 3.8 and newer does not search PATH for what its modules need: CUDA there does not help them."""
    old = bool(case.python) and numbers(case.python) < (3, 8)
    brings = case.framework in ("torch", "tensorflow") and not case.tools & {"cupy"}
    if old or brings or case.library or not _BUILT.search(case.text) or not _SEARCHED.search(case.text):
        return
    module = next(iter(_BUILT.findall(case.text)), "") or "the module"
    yield tried(f"Python 3.8 and newer does not look along PATH for the DLLs of {module}: name CUDA's folder (and cuDNN's bin, where it is another) before the import", on.code("import os; os.add_dll_directory(os.path.join(os.environ['CUDA_PATH'], 'bin'))"))  # fmt: skip


_CUPY = Later(r"Failed to import CuPy|CuPy is not correctly installed", re.IGNORECASE)


def _cupy(case: Asked) -> Iterator[Fix]:
    """CuPy's own report: its wheel is for a CUDA that is not here."""
    if _CUPY.search(case.text):
        yield tried("This CuPy is a wheel for another CUDA than the one that is here: remove it, and install the one for CUDA 12 with the libraries that it opens (CuPy 14, Python 3.10 and newer; else without [ctk], with the CUDA 12 toolkit)", 'pip uninstall -y cupy cupy-cuda11x cupy-cuda12x cupy-cuda13x\npip install "cupy-cuda12x[ctk]"')  # fmt: skip


_ZLUDA = Later(r"zluda|\\AMD\\ROCm|hip sdk", re.IGNORECASE)


def _zluda(case: Asked) -> Iterator[Fix]:
    """ZLUDA puts its own files in the place of CUDA's: an update of PyTorch brings the others back."""
    if _ZLUDA.search(case.text):
        yield tried("ZLUDA on an AMD card: each installation of PyTorch puts NVIDIA's files back: run its patch step again (patchzluda.bat, or the install.bat of that ComfyUI or web UI), with the bin folder of AMD's HIP SDK on PATH; no driver or CUDA of NVIDIA belongs here", on.cmd("install.bat"))  # fmt: skip
        yield tried("Else make its environment anew: delete the folder .venv (or venv), then start its install.bat")


_NODE = Later(r"tfjs-node-gpu\W{1,6}\^?~?(\d+)\.", re.IGNORECASE)
_OF_NODE = {"1": "CUDA 10.0 and cuDNN 7", "2": "CUDA 10.1 and cuDNN 7.6", "3": "CUDA 11.2 and cuDNN 8.1 (before 3.6: CUDA 11.0 and cuDNN 8.0)", "4": "CUDA 11.8 and cuDNN 8.6"}  # fmt: skip


def _node(case: Asked) -> Iterator[Fix]:
    """TensorFlow.js asks for the CUDA of the TensorFlow that its release brings."""
    if "tfjs-node-gpu" not in case.text:
        return
    found = _NODE.search(case.text)
    pair = _OF_NODE.get(found[1], _OF_NODE["4"]) if found else "the CUDA and the cuDNN of its release (1.x: CUDA 10.0, cuDNN 7; 2.x: 10.1, 7.6; 3.x: 11.2, 8.1; 4.x: 11.8, 8.6)"  # fmt: skip
    yield tried(f"Install {pair}, which this tfjs-node-gpu opens, with the bin folder on PATH, then open a new window")
    yield tried("Where tensorflow.dll is not in node_modules\\@tensorflow\\tfjs-node-gpu\\deps\\lib, build its part again; without a GPU take @tensorflow/tfjs-node", on.cmd("npm rebuild @tensorflow/tfjs-node-gpu --build-from-source"))  # fmt: skip


_STANDALONE = Later(r"\b((?:faster-)?whisper(?:-faster)?(?:-xxl)?|whisper-standalone\S*)\.exe|Subtitle ?Edit|Purfview", re.IGNORECASE)  # fmt: skip


def _beside_exe(case: Asked) -> Iterator[Fix]:
    """A program of one file, with no Python to install into: the DLLs lie beside it."""
    if not _STANDALONE.search(case.text):
        return
    old = re.search(r"_8\.dll|64_11\.dll", case.text)
    pair = "cuBLAS and cuDNN 8 (with zlibwapi.dll)" if old else "cuBLAS 12 and cuDNN 9"
    yield tried(f"Put the DLLs of {pair} beside the program's exe: its release page has them as one archive (cuBLAS.and.cuDNN); a CUDA toolkit of another major does not help")  # fmt: skip


def _runtime(case: Asked) -> Iterator[Fix]:
    if _IMPORT.search(case.text) and not _ENTRY.search(case.lines or case.text):
        yield tried("Install the DLLs of the Visual C++ runtime (2015 to 2022, x64), which the module needs, then open a new window", REDISTRIBUTABLE)  # fmt: skip


_LIBRARIES = (
    _zluda, _cupy, more.bundled, more.of_numpy, more.beside_ggml, more.other_interpreter, _newer_card, _node, _imported,
    _beside_path, _beside_exe, _activated, more.listed, _zlib, _of_programs,
)  # fmt: skip
_STEPS: tuple[tuple[tuple[str, ...], tuple[Callable[[Asked], Iterator[Fix]], ...]], ...] = (
    (("cuda.missing_library", "cudnn.missing"), _LIBRARIES),
    (("env.path",), (more.bare_nvcc, more.bare_smi, *_LIBRARIES)),
    (("cuda.version_mismatch",), (more.that_toolkit, _one_release, *_LIBRARIES)),
    (("cudnn.version_mismatch", "cudnn.mixed"), (more.listed, _newer_card, _imported, _activated, _zlib, _whole, _of_programs)),
    (("install.", "framework.extension_abi", "cuda.mixed_libraries"), (_zluda, more.bundled, more.by_policy, more.listed, _one_release)),
    (("other.not_gpu",), (_zluda, more.bundled, more.of_numpy, more.by_policy, _node, more.other_interpreter, _one_release, more.without_avx, _runtime)),
    (("program.build",), (more.that_toolkit, more.bare_nvcc, with_visual_studio, _llama)),
    (("cuda.compiler_missing",), (more.bare_nvcc,)),
    (("memory.host",), (more.more_to_page, _commit)),
    (("memory.",), (_commit,)),
    (("driver.missing", "device.hardware"), (more.in_session_zero, more.lost, _no_card, more.bare_smi)),
    (("device.selection", "driver.permission"), (more.in_session_zero,)),
    (("framework.platform_dropped",), (more.other_interpreter, _for_that_python)),
    (("program.illegal_access", "program.launch"), (more.crashed, _watchdog)),
    (("framework.bug",), (more.crashed,)),
    (("framework.cpu_only", "env.setting"), (more.beside_ggml, more.other_interpreter, _of_another_python, _llama)),
)  # fmt: skip
"""What is tried for a cause, in this order."""


def at_a_prompt(cause: str, case: Asked) -> Iterator[Fix]:
    """The fixes for this cause that a text from Windows asks for before all others."""
    for causes, steps in _STEPS if case.windows else ():
        if cause.startswith(causes):
            yield from (fix for step in steps for fix in step(case))


_PAGED = Later(r"1455|paging file", re.IGNORECASE)
_PINNED_MEMORY = Later(r"pin_memory|pinned|cudaHostAlloc|cudaMallocHost", re.IGNORECASE)
_RAM = Later(r"\b(\d{1,3}) ?GB?(?:i?B)?\b(?! (?:GPU|VRAM|card|of VRAM|free|model))", re.IGNORECASE)
_SIZES = frozenset({16, 32, 48, 64, 96, 128, 192, 256})
"""Of a computer's memory, as it is sold."""


def under_wsl(cause: str, case: Asked) -> Iterator[Fix]:
    """WSL has half of the computer's memory: a process that is killed there wants more of it."""
    desktop = case.windows and "container" in case.tools  # Docker Desktop's containers are in WSL
    if cause != "memory.host" or not (desktop or "wsl" in case.tools) or _PAGED.search(case.lines):
        return
    if _PINNED_MEMORY.search(case.text):
        yield tried("WSL lets a process pin only a part of the computer's memory: do without pinned memory", on.code("DataLoader(dataset, pin_memory=False)"))  # fmt: skip
    told = max((int(one) for one in _RAM.findall(case.text) if int(one) in _SIZES), default=0)
    size = f"memory={told * 3 // 4}GB, three quarters of the {told} GB" if told else "memory=24GB where the computer has 32 (three quarters of what it has; without it WSL takes half)"  # fmt: skip
    yield tried(f"Give WSL more of the computer's memory: in the file .wslconfig of your Windows folder, below [wsl2]: {size}, and swap=32GB; then stop WSL, and start it again", on.across("notepad %USERPROFILE%\\.wslconfig && wsl --shutdown"))  # fmt: skip
