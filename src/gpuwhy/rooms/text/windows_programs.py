"""Windows, programs: what one program's own message needs there, whole: TorchCodec, CTranslate2, web UIs, ONNX Runtime, projects of Visual Studio."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.limits import TORCHCODEC
from gpuwhy.knowledge.windows import INSTALLERS
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least
from gpuwhy.rooms.text import windows_steps as steps
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

_OLD_ARCH = Later(
    r"Unsupported gpu architecture '(?:compute|sm)_(\d+)'|Value '(?:sm|compute)_(\d+)' is not defined", re.IGNORECASE
)
_MADE = Later(r"\bcmake (?:--build|-B|-S|\.\.?)|-DCMAKE_|CMakeFiles|scikit-build|pip3? install")
"""What writes the project itself, anew each time: its own options decide."""
_OF_PROJECT = Later(r"MSB3721|BuildCustomizations|\.vcxproj|CodeGeneration", re.IGNORECASE)


def in_the_project(case: Asked) -> Iterator[Fix]:
    """A project of Visual Studio that names architectures which this nvcc no longer knows: its own page for them, with the card's."""
    found = _OLD_ARCH.search(case.text)
    if not case.windows or not found or not _OF_PROJECT.search(case.text) or _MADE.search(case.text):
        return
    card = (case.gpu or "").replace(".", "")
    wanted = f"compute_{card},sm_{card}" if card else "that of your card (nvidia-smi --query-gpu=compute_cap --format=csv prints it: 8.6 is compute_86,sm_86)"  # fmt: skip
    yield tried(on.in_windows(f"The project names an architecture that this nvcc does not know: Project, Properties, CUDA C/C++, Device, Code Generation: put {wanted} in place of what is there, for every file too (a .cu may have its own), and rebuild; in a .vcxproj it is the line CodeGeneration"), on.code(f"<CodeGeneration>{wanted if card else 'compute_86,sm_86'}</CodeGeneration>"))  # fmt: skip


_CODEC = Later(r"libtorchcodec|torchcodec", re.IGNORECASE)
_FFMPEG = Later(r"FFmpeg is not properly installed|full-shared|Could not load libtorchcodec", re.IGNORECASE)
_TORCH = Later(r"PyTorch version \((\d+\.\d+)|\btorch[ =:]+(\d+\.\d+)", re.IGNORECASE)


def of_torchcodec(case: Asked) -> Iterator[Fix]:
    """TorchCodec is for one PyTorch, and opens FFmpeg's shared DLLs."""
    if not case.windows or not _CODEC.search(case.text):
        return
    found = _TORCH.search(case.text)
    torch = (found[1] or found[2]) if found else ""
    fits = [codec for codec, wanted in TORCHCODEC.items() if wanted == torch]
    pin = f"torchcodec=={fits[-1]}.*" if fits else "torchcodec"
    pairs = "" if fits else " (0.7 for PyTorch 2.8, 0.9 for 2.9, 0.10 for 2.10)"
    yield tried(on.in_windows(f"Install the TorchCodec that was built for this PyTorch{f' {torch}' if torch else ''}{pairs}: another one's DLL lacks functions of it"), f'pip install --force-reinstall --no-deps "{pin}"')  # fmt: skip
    if _FFMPEG.search(case.text):
        yield tried(on.in_windows("And install FFmpeg's shared build, whose DLLs it opens (the usual build has none); then open a new window: its bin folder must be on PATH"), on.cmd("winget install --exact --id Gyan.FFmpeg.Shared"))  # fmt: skip


_CT2 = Later(r"ctranslate2[ =]+(\d+)\.(\d+)", re.IGNORECASE)
_EIGHT = Later(r"cudnn\w*64_8\.dll", re.IGNORECASE)
_WHISPER = Later(r"faster[-_ ]?whisper|ctranslate2|whisperx", re.IGNORECASE)


def of_ctranslate2(case: Asked) -> Iterator[Fix]:
    """CTranslate2 up to 4.4 opens cuDNN 8, and PyTorch from 2.4 on brings cuDNN 9: one of them moves."""
    if not case.windows or not _EIGHT.search(case.text) or not _WHISPER.search(case.text):
        return
    yield tried(on.in_windows("CTranslate2 4.4 and older opens cuDNN 8, and PyTorch from 2.4 on brings cuDNN 9: install CTranslate2 4.5 or newer, which takes that one (whisperx: 3.3.3 or newer with it)"), 'pip install --upgrade "ctranslate2>=4.5" faster-whisper')  # fmt: skip
    path = "import nvidia.cublas as b, nvidia.cudnn as n; print(list(b.__path__)[0] + chr(92) + 'bin;' + list(n.__path__)[0] + chr(92) + 'bin')"  # fmt: skip
    both = steps.chain(case, steps.Step('pip install nvidia-cublas-cu12 "nvidia-cudnn-cu12==8.9.7.29"'), steps.Step(f"for /f \"delims=\" %i in ('python -c \"{path}\"') do set PATH=%i;%PATH%", f'$env:PATH = (python -c "{path}") + ";" + $env:PATH'))  # fmt: skip
    yield tried(on.in_windows("Or keep it, and bring cuDNN 8 as a wheel, with its folder on PATH in the window that then starts the program"), both)  # fmt: skip


_WEBUI = Later(r"webui-user\.bat|stable-diffusion-webui|sd-webui|webui-forge", re.IGNORECASE)
_NONE_FOR = Later(r"No matching distribution found for (?:torch|xformers)", re.IGNORECASE)


def of_the_webui(case: Asked) -> Iterator[Fix]:
    """The web UI wants Python 3.10, whose environment it makes itself."""
    if not case.windows or not _WEBUI.search(case.text) or not _NONE_FOR.search(case.text):
        return
    python = r"%LOCALAPPDATA%\Programs\Python\Python310\python.exe"
    yield tried(on.in_windows(f"The web UI wants Python 3.10, and {f'Python {case.python}' if case.python else 'another one'} made its environment: install 3.10, delete the folder venv, name that Python in webui-user.bat (set PYTHON={python}), and start it again"), on.cmd("winget install --exact --id Python.Python.3.10\nrmdir /s /q venv\nnotepad webui-user.bat"), safe=False)  # fmt: skip


_REFUSES = Later(r"does not support the current version of Torch/CUDA", re.IGNORECASE)


def of_forge(case: Asked) -> Iterator[Fix]:
    """Forge's own words for a PyTorch that sees no GPU."""
    if case.windows and _REFUSES.search(case.text):
        yield tried(on.in_windows("Its PyTorch sees no GPU: update NVIDIA's driver first (nvidia.com/drivers, then restart; nvidia-smi must name the card), then put the build with CUDA in its environment"), "pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/cu128")  # fmt: skip


_CHOICES = Later(
    r"invalid choice: '?(?:cuda|tensorrt)'? \(choose from[^\n]*(?:azure|directml|openvino|coreml)", re.IGNORECASE
)


def of_providers(case: Asked) -> Iterator[Fix]:
    """The choices of a program are ONNX Runtime's providers: the package for the CPU has no CUDA among them."""
    if case.windows and _CHOICES.search(case.text):
        yield tried(on.in_windows("The choices are those of ONNX Runtime, and the package that is installed is the one for the CPU (azure and cpu are its two): remove both of its packages, and install the one for the GPU with the libraries that it opens"), 'pip uninstall -y onnxruntime onnxruntime-gpu onnxruntime-directml\npip install "onnxruntime-gpu[cuda,cudnn]"')  # fmt: skip


_NUGET = Later(r"OnnxRuntime\.(?:Gpu|GPU)\b[^\n]{0,60}?\b1\.(\d{1,2})(?:\.\d+)?\b", re.IGNORECASE)
_HAS = Later(r"CUDA(?: Tool ?kit)?[^\n\d]{0,20}\b(1[0-3])\.(\d)\b|\\CUDA\\v(1[0-3])\.(\d)", re.IGNORECASE)


def of_nuget(case: Asked) -> Iterator[Fix]:
    """A package of NuGet opens the CUDA of its release, and another one is installed: the package for it, or the CUDA for the package."""
    package, kit = _NUGET.search(case.text), _HAS.search(case.text)
    if not case.windows or not package or not kit or not case.tools & {"dotnet", "native"}:
        return
    wants, has = (12 if int(package[1]) >= 19 else 11), int(kit[1] or kit[3])
    if wants == has:
        return
    if has == 12:
        yield tried(on.in_windows(f"This package (1.{package[1]}) opens CUDA 11.8 and cuDNN 8, and CUDA 12 is installed: take the release for CUDA 12, which wants cuDNN 9 (put its DLLs beside the exe or its bin folder on PATH), delete the folders bin and obj, and build again"), on.cmd("dotnet add package Microsoft.ML.OnnxRuntime.Gpu --version 1.20.1\ndotnet build"))  # fmt: skip
    folder = rf"{steps.KITS}\v{'11.8' if wants == 11 else '12.4'}"
    needs = "CUDA 11.8 and cuDNN 8.9 for CUDA 11 (its DLLs in the same bin folder, with zlibwapi.dll)" if wants == 11 else "CUDA 12.4 and cuDNN 9 (its DLLs in the same bin folder)"  # fmt: skip
    yield tried(on.in_windows(f"Or keep the package, and install {needs} beside the other, its bin folder first on PATH; then start Visual Studio anew"), steps.chain(case, steps.Step(f"winget install --exact --id Nvidia.CUDA --version {folder[-4:]}"), steps.first_on_path(rf"{folder}\bin")))  # fmt: skip


_LOADED = Later(r"Loaded runtime CuDNN library: (\d+\.\d+(?:\.\d+)?) but source was compiled with: (\d+\.\d+)", re.IGNORECASE)  # fmt: skip


_GOES_WITH = {"5.1": "8.0", "6.0": "8.0", "7.0": "9.0", "7.1": "9.0", "7.2": "9.0", "7.3": "9.0", "7.4": "10.0"}
"""The CUDA of the TensorFlow that was compiled with a cuDNN, where no installer's row tells."""


def whole_cudnn(case: Asked) -> Iterator[Fix]:
    """TensorFlow loads an older cuDNN than it was compiled with: the whole set of the right one, by its archive, over the folder that wins."""
    found = _LOADED.search(case.text)
    if not case.windows or not found:
        return
    row = next((one for one in INSTALLERS if one.cudnn.startswith(found[2])), None)
    cuda = steps.kit(case) or (row.cuda if row else _GOES_WITH.get(found[2], "11.2"))
    archive = f"{row.archive}, from NVIDIA's cuDNN archive" if row else f"cuDNN {found[2]} for CUDA {cuda}, from NVIDIA's cuDNN archive"  # fmt: skip
    major = found[1].split(".")[0]
    folder = rf"{steps.KITS}\v{cuda}\bin"
    yield tried(on.in_windows(f"cuDNN {found[1]} is found first, and TensorFlow wants {found[2]}: the first line names the copies, the topmost is taken; replace all cudnn*64_{major}.dll in that folder together by those of the bin folder of {archive} (unpacked here as C:\\cudnn), then start the program, and its editor, anew"), steps.chain(case, steps.Step(f"where cudnn64_{major}.dll", f"where.exe cudnn64_{major}.dll"), steps.Step(rf'copy /Y C:\cudnn\bin\cudnn*.dll "{folder}"', rf'Copy-Item -Force C:\cudnn\bin\cudnn*.dll "{folder}"')), safe=False)  # fmt: skip


_PLUGIN = Later(r"plugins64\\(?P<name>\w*(?:rtc|cuda|trt|gpu)\w*)\.dll\. GetLastError\(\) returned 126", re.IGNORECASE)


def of_plugins(case: Asked) -> Iterator[Fix]:
    """A plug-in of VapourSynth that compiles at run time opens NVRTC, which the driver has not."""
    if case.windows and (found := _PLUGIN.search(case.text)):
        yield tried(on.in_windows(f"{found['name']}.dll opens CUDA's own DLLs (NVRTC), which come with the toolkit and not with the driver: install CUDA 12, then open a new window; a plug-in that you do not use (for CUDA, TensorRT or HIP) may as well be taken out of plugins64"), on.cmd("winget install --exact --id Nvidia.CUDA --version 12.4"))  # fmt: skip


_NO_PROVIDER = Later(r"LoadLibrary failed with error (?:126|127)|CUDA_PATH is set but CUDA|Require cuDNN|Failed to create CUDAExecutionProvider|Error loading \"[^\"\n]*onnxruntime_providers_cuda\.dll", re.IGNORECASE)  # fmt: skip
_ONLY_TENSORRT = Later(r"onnxruntime_providers_tensorrt\.dll", re.IGNORECASE)
_CUDA_PART = Later(
    r"onnxruntime_providers_cuda\.dll|CUDA wasn'?t able|CUDAExecutionProvider\.|Require cuDNN", re.IGNORECASE
)
_BINS = "import glob, nvidia; print(';'.join(glob.glob(list(nvidia.__path__)[0] + chr(92) + '*' + chr(92) + 'bin')))"
_OLD_WHEELS = 'pip install onnxruntime-gpu==1.19.2 nvidia-cublas-cu12 nvidia-cuda-runtime-cu12 nvidia-cufft-cu12 nvidia-curand-cu12 "nvidia-cudnn-cu12==9.*"'  # fmt: skip


def of_onnxruntime(case: Asked) -> Iterator[Fix]:
    """ONNX Runtime for Python does not find its CUDA: the release that brings all of it as wheels, their folders on PATH."""
    if not case.windows or case.framework != "onnxruntime" or case.tools & {"dotnet", "native"}:
        return
    if not _NO_PROVIDER.search(case.text) or (_ONLY_TENSORRT.search(case.text) and not _CUDA_PART.search(case.text)):
        return
    old = bool(case.python) and not at_least(case.python, "3.10")
    wheels = _OLD_WHEELS if old else 'pip install "onnxruntime-gpu[cuda,cudnn]>=1.21"'
    path = steps.Step(f"for /f \"delims=\" %i in ('python -c \"{_BINS}\"') do set PATH=%i;%PATH%", f'$env:PATH = (python -c "{_BINS}") + ";" + $env:PATH')  # fmt: skip
    told = f" (1.18 and older, as {case.version}, open CUDA 11.8 and cuDNN 8)" if case.version and not at_least(case.version, "1.19") else ""  # fmt: skip
    yield tried(on.in_windows(f"Take the ONNX Runtime for CUDA 12 and cuDNN 9, with both as wheels{told}: no toolkit is needed then; put their folders on PATH in the window that then starts the program (in a program of your own onnxruntime.preload_dlls() does the same)"), steps.chain(case, steps.Step("pip uninstall -y onnxruntime onnxruntime-gpu"), steps.Step(wheels), path))  # fmt: skip
    if told:
        folder = rf"{steps.KITS}\v11.8\bin"
        yield tried(on.in_windows(f"Or keep {case.version}: install CUDA 11.8, and unpack cuDNN 8.9 for CUDA 11 (cudnn-windows-x86_64-8.9.7.29_cuda11-archive.zip, from NVIDIA's cuDNN archive) with zlibwapi.dll (zlib123dllx64.zip) into {folder}; then, in a new window"), steps.chain(case, steps.Step("winget install --exact --id Nvidia.CUDA --version 11.8"), steps.first_on_path(folder)))  # fmt: skip
