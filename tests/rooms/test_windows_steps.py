"""Whole remedies for Windows: what a text shows (folder, environment, shell, numbers) stands in the command, and no step is missing."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text

_VC = r"C:\Program Files (x86)\Microsoft Visual Studio\2022\BuildTools"
_ROWS = (
    # the compiler is not on PATH: it is installed where the text shows none, loaded, the environment active, the build typed again
    (
        r"""(splat) C:\w>pip install submodules\rasterizer
C:\Users\u\anaconda3\envs\splat\lib\site-packages\torch\utils\cpp_extension.py:384: UserWarning: Error checking compiler version for cl: [WinError 2] The system cannot find the file specified
error: [WinError 2] The system cannot find the file specified
ERROR: Failed building wheel for rasterizer""",
        ("BuildTools", "vcvars64.bat", "conda activate splat", "set DISTUTILS_USE_SDK=1", r"pip install submodules\rasterizer"),
        (),
    ),
    (
        rf"""PS C:\w> cargo build --features cuda
  nvcc fatal   : Cannot find compiler 'cl.exe' in PATH
"{_VC}\VC\Tools\MSVC\14.38.33130\bin\link.exe" """,
        ("Launch-VsDevShell.ps1", f'$vs = "{_VC}"', "cargo build --features cuda"),
        ("winget", "vcvars64"),
    ),
    # the set of the compiler that this nvcc takes, by its own name
    (
        r"""C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v11.3\include\crt/host_config.h(160): fatal error C1189: #error:  -- unsupported Microsoft Visual Studio version! Only the versions between 2017 and 2019 (inclusive) are supported!""",
        ("VC.14.29.16.11", "-vcvars_ver=14.29"),
        ("14.38",),
    ),
    # CUDA in the MSBuild of the Visual Studio that is used
    (
        r"""CMake Error at C:/Program Files/CMake/share/cmake-3.19/Modules/CMakeDetermineCompilerId.cmake:412 (message):
  No CUDA toolset found.
-- Building for: Visual Studio 16 2019""",
        ("[16.0,17.0)", r"VC\v160\BuildCustomizations"),
        ("v170",),
    ),
    # TensorRT's folder as the text names it
    (
        r"""FileNotFoundError: Could not find: nvinfer_10.dll. Is it on your PATH?
D:\kits\TensorRT-10.4.0.26\python""",
        (r"D:\kits\TensorRT-10.4.0.26\lib",),
        ("CUDAExecutionProvider",),
    ),
    # the folder below bin that is of this CUDA, in the shell of the prompt
    (
        r"""PS C:\w> python stt.py
Could not locate cudnn_ops64_9.dll. Please make sure it is in your library path!
PS C:\w> dir "C:\Program Files\NVIDIA\CUDNN\v9.8\bin\11.8"
PS C:\w> dir "C:\Program Files\NVIDIA\CUDNN\v9.8\bin\12.8"
faster_whisper""",
        (r'$env:PATH = "C:\Program Files\NVIDIA\CUDNN\v9.8\bin\12.8;$env:PATH"',),
        ("set PATH", r"bin\11.8;"),
    ),
    # a compiled package from its own list, for the very PyTorch
    (
        r"""  File "D:\anaconda3\envs\mm\lib\site-packages\mmcv\utils\ext_loader.py", line 13, in load_ext
ImportError: DLL load failed while importing _ext: The specified procedure could not be found.
torch 1.13.1+cu116
mmcv 2.0.0""",
        ("mmcv==2.0.0", "dist/cu116/torch1.13/index.html"),
        (),
    ),
    # Python 3.8 and PATH: the toolkit that the text names
    (
        r"""    import pycuda._driver as _drv
ImportError: DLL load failed while importing _driver: The specified module could not be found.
Cuda compilation tools, release 11.2, V11.2.152
Windows 10, Python 3.9""",
        ("add_dll_directory", r"CUDA\v11.2\bin"),
        (),
    ),
    # a line for R is typed in R
    (
        r"""> library(torch)
C:\Users\d\AppData\Local\R\win-library\4.4\torch/lib\lantern.dll - The specified procedure could not be found.""",
        ("torch::install_torch(reinstall = TRUE)",),
        ("Rscript",),
    ),
    # CUDA of the number that this PyTorch was built with
    (
        r"""C:\w>pip install my-ext --no-build-isolation
OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.
torch 2.8.0+cu128""",
        ("--version 12.8", r"set CUDA_HOME=C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.8", "pip install my-ext --no-build-isolation"),
        ("12.4",),
    ),
)  # fmt: skip


@pytest.mark.parametrize(("log", "wanted", "never"), _ROWS)
def test_the_first_remedy_is_whole(log: str, wanted: tuple[str, ...], never: tuple[str, ...]) -> None:
    found = explain_text(log)
    command = str(found.causes[0].fixes[0].command)
    assert [one for one in wanted if one not in command] == [], command
    assert [one for one in never if one in command] == [], command


def test_a_line_for_both_shells_is_said_for_the_one_of_the_prompt() -> None:
    said = (
        "Could not locate cudnn_ops64_9.dll. Please make sure it is in your library path!\nfaster_whisper ctranslate2"
    )
    at_powershell = explain_text(f"PS C:\\w> python stt.py\n{said}").causes[0].fixes[0].command
    at_cmd = explain_text(f"C:\\w>python stt.py\n{said}").causes[0].fixes[0].command
    assert "$env:PATH" in at_powershell
    assert "%PATH%" not in at_powershell
    assert "%PATH%" in at_cmd
    assert "$env:PATH" not in at_cmd
