"""Windows, evident: whole remedies made of what a text from Windows shows: the compiler's folder, the environment, TensorRT's folder, PyTorch's CUDA."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text import windows_steps as steps
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried
from gpuwhy.rooms.text.windows_builds import older_toolset
from gpuwhy.rooms.text.windows_modules import (
    beside_path,
    nvrtc_of_torch,
    of_gsplat,
    of_its_package,
    other_release,
    torch_again,
    vision_of_torch,
)
from gpuwhy.rooms.text.windows_more import old_processor
from gpuwhy.rooms.text.windows_programs import (
    in_the_project,
    of_ctranslate2,
    of_forge,
    of_nuget,
    of_onnxruntime,
    of_plugins,
    of_providers,
    of_the_webui,
    of_torchcodec,
    whole_cudnn,
)

_NO_CL = Later(
    r"Cannot find compiler 'cl\.exe'|compiler version for cl: \[WinError 2\]"
    r"|cl\.exe(?:'| is)? not (?:found|recogni[sz]ed|in PATH)|'cl' is not recogni[sz]ed"
    r"|where cl[^\n]*\n[^\n]*Could not find"
    r"|Could not locate a supported Microsoft Visual C\+\+|No CMAKE_C(?:XX)?_COMPILER could be found"
    r"|could not find any instance of Visual Studio|Failed to find MSVC|CreateProcess failed: The system cannot find"
    r"|Compiler 'cl\.exe' in PATH different"
    r"|Microsoft Visual C\+\+ 14\.\d (?:or greater )?is required|cl\.exe not found in default Visual Studio|Compiler: cl is not found",
    re.IGNORECASE,
)
_OF_CL = Later(r"\bcl(?:\.exe)?\b|Visual C\+\+|Visual Studio|MSVC", re.IGNORECASE)
_NO_HEADERS = Later(r"Cannot open include file: '(?:crtdefs\.h|cerrno|algorithm|cstd\w+|cstring|stddef\.h|stdint\.h|stdlib\.h|corecrt\.h|io\.h|vector|string|memory|type_traits|basetsd\.h|windows\.h|assert\.h|math\.h)'", re.IGNORECASE)  # fmt: skip
_OF_TORCH = Later(
    r"cpp_extension|torch[\\/]utils|setup\.py|bdist_wheel|build_ext|PyTorch extension|\bninja\b", re.IGNORECASE
)
_TCNN = Later(r"tiny-cuda-nn|tinycudann", re.IGNORECASE)
_TCNN_AGAIN = "pip install --no-build-isolation git+https://github.com/NVlabs/tiny-cuda-nn#subdirectory=bindings/torch"


def with_the_compiler(case: Asked) -> Iterator[Fix]:
    """cl.exe is not found, or not what belongs to it: a window that has it, the environment active there, the build again."""
    headers = _NO_HEADERS.search(case.text)
    none = _NO_CL.search(case.text)
    if not (case.windows or _OF_CL.search(case.text)) or not (headers or none):
        return
    own = steps.variable("DISTUTILS_USE_SDK", "1") if _OF_TORCH.search(case.text) else None
    again = steps.Step(_TCNN_AGAIN) if _TCNN.search(case.text) else steps.typed_again(case)
    missing = "the compiler finds none of its own headers: only its folder is on PATH" if headers else "Visual Studio's compiler (cl.exe) is not on this window's PATH"  # fmt: skip
    install = "" if steps.studio(case).folder else " Install its C++ tools (the first line; leave it out where they are there), then, in a new window of cmd,"  # fmt: skip
    said = f"{missing[:1].upper()}{missing[1:]}.{install or ' In a new window of cmd'} load it, activate the environment there, and build again (or start the program again)"
    yield tried(on.in_windows(said), steps.chain(case, steps.tools(case), steps.compiler(case), steps.activated(case), own, again))  # fmt: skip


_TOOLSET = Later(r"No CUDA toolset found|CUDA \d+\.\d+\.(?:props|targets)[^\n]{0,60}not found", re.IGNORECASE)


_PROPS = Later(r"CUDA (\d+\.\d+)\.(?:props|targets)", re.IGNORECASE)
_OTHER = Later(r"\\CUDA\\v(\d+\.\d)|CUDA(?: Toolkit)? v?(1[0-3]\.\d)\b(?!\.(?:props|targets))|release (1[0-3]\.\d), V", re.IGNORECASE)  # fmt: skip


def _of_the_toolkit_there(case: Asked) -> Iterator[Fix]:
    """A project that was made with another CUDA than the one that is installed: its two lines, changed."""
    wanted = _PROPS.search(case.text)
    others = {next(filter(None, one.groups())) for one in _OTHER.finditer(case.text)} - ({wanted[1]} if wanted else set())  # fmt: skip
    if wanted and len(others) == 1:
        there = others.pop()
        yield tried(on.in_windows(f"The project was made with CUDA {wanted[1]}, and CUDA {there} is installed: put {there} in the two lines of its .vcxproj that name it, and load the project again (or, in Visual Studio: Build Dependencies, Build Customizations, tick CUDA {there})"), on.powershell(f"Get-ChildItem -Recurse -Filter *.vcxproj | ForEach-Object {{ (Get-Content $_) -replace 'CUDA {wanted[1]}', 'CUDA {there}' | Set-Content $_ }}"))  # fmt: skip


def into_msbuild(case: Asked) -> Iterator[Fix]:
    """CMake's generator for Visual Studio finds CUDA by four files of the toolkit, in the folder of the Visual Studio that is used."""
    if not case.windows or not _TOOLSET.search(case.text):
        return
    found, cuda = steps.studio(case), steps.kit(case)
    yield from _of_the_toolkit_there(case)
    source = rf"{steps.KITS}\v{cuda}" if cuda else "$env:CUDA_PATH"
    extensions = rf"{source}\extras\visual_studio_integration\MSBuildExtensions\*"
    below = rf"MSBuild\Microsoft\VC\{found.number}\BuildCustomizations"
    year = f" {found.year}" if found.year else ""
    if found.folder:
        command: str = on.cmd(f'copy "{extensions.replace("$env:CUDA_PATH", "%CUDA_PATH%")}" "{found.folder}\\{below}"', f'Copy-Item "{extensions}" "{found.folder}\\{below}"')  # fmt: skip
    else:
        which = {"2019": "-version '[16.0,17.0)'", "2017": "-version '[15.0,16.0)'"}.get(found.year, "-latest")
        command = on.powershell(rf'$vs = & "${{env:ProgramFiles(x86)}}\Microsoft Visual Studio\Installer\vswhere.exe" {which} -products * -property installationPath; Copy-Item "{extensions}" "$vs\{below}"')  # fmt: skip
    yield tried(on.in_windows(f"Visual Studio{year} does not know CUDA: copy the toolkit's four files into its MSBuild (a window as administrator), then configure again in a fresh build folder"), command, safe=False)  # fmt: skip
    yield tried(on.in_windows("Or do without Visual Studio's generator: Ninja, in a window that has its compiler"), steps.chain(case, steps.compiler(case), steps.Step("cmake -B build2 -G Ninja")))  # fmt: skip


_KIT_FOLDER = Later(r"([A-Za-z]:\\(?:[^\n\\\"'<>|*?:;,]+\\)*TensorRT-(\d+(?:\.\d+)+))(?:\\|\b)", re.IGNORECASE)
_KIT_NAMED = Later(r"TensorRT[ -](?:v|version:? ?)?(\d+\.\d+\.\d+(?:\.\d+)?)", re.IGNORECASE)
_NVINFER = Later(
    r"nvinfer\w*\.dll|nvonnxparser\w*\.dll|Unable to open library: nvinfer|module named '?tensorrt", re.IGNORECASE
)
_BY_PROVIDER = Later(r"ExecutionProvider|onnxruntime", re.IGNORECASE)


def of_tensorrt(case: Asked) -> Iterator[Fix]:
    """TensorRT's own DLLs lie in the lib folder of its archive: that folder, as the text names it; or its wheel."""
    if not case.windows or not _NVINFER.search(case.text) or _BY_PROVIDER.search(case.text):
        return
    found, named = _KIT_FOLDER.search(case.text), _KIT_NAMED.search(case.text)
    release = found[2] if found else named[1] if named else ""
    folder = found[1] if found else rf"C:\TensorRT-{release or '10.4.0.26'}"
    known = f"{folder}\\lib" if found else f"the lib folder of TensorRT's archive ({folder}\\lib, where it was unpacked there)"  # fmt: skip
    both = f"{folder}\\lib;{folder}\\bin"
    yield tried(on.in_windows(f"TensorRT's DLLs lie in {known}, which is not on PATH: put it there in the window that starts the program; for good under Windows' environment variables (rundll32 sysdm.cpl,EditEnvironmentVariables), then open a new window"), steps.chain(case, steps.first_on_path(both)))  # fmt: skip
    wheel = f"tensorrt=={'.'.join(release.split('.')[:3])}" if release else "tensorrt"
    yield tried(on.in_windows("Or install its wheel in place of the archive's: it brings the DLLs, and Python finds them"), f"pip install --upgrade {wheel}")  # fmt: skip


_NO_HOME = Later(r"CUDA_HOME(?: environment variable)?(?: is not set| does not exist|\W+None)|CUDA_HOME is (?:undefined|not set)|nvcc(?:\.exe)? (?:was )?not found|bare_metal_version|No CUDA toolkit|CUDA_HOME environment|Unable to find `?include/cuda\.h", re.IGNORECASE)  # fmt: skip
_DEEPSPEED = Later(r"deepspeed", re.IGNORECASE)
_NO_WHEEL = Later(r"flash[-_]attn", re.IGNORECASE)


_AIO = Later(r"\baio\.lib\b|\basync_io\b")


def _without_ops(case: Asked) -> Fix:
    skips = steps.chain(case, steps.variable("DS_BUILD_OPS", "0"), steps.variable("DS_BUILD_AIO", "0"), steps.Step("pip install deepspeed --no-build-isolation"))  # fmt: skip
    return tried(on.in_windows("Install DeepSpeed without compiling its operators, which then needs no CUDA toolkit (they are compiled when they are first used)"), skips)  # fmt: skip


def of_deepspeed(case: Asked) -> Iterator[Fix]:
    """DeepSpeed's operator for Linux' asynchronous files, which Windows has no library for."""
    if case.windows and _DEEPSPEED.search(case.text) and _AIO.search(case.text):
        yield _without_ops(case)
        yield tried(on.in_windows("Or use WSL 2, where all of it is built: libaio is there by apt install libaio-dev"), on.across("wsl --install -d Ubuntu"))  # fmt: skip


def of_torchs_cuda(case: Asked) -> Iterator[Fix]:
    """A build that finds no CUDA toolkit: the one of PyTorch's own CUDA, its variable, the compiler, and the build again."""
    if not case.windows or not _NO_HOME.search(case.text) or steps.kit(case) or _NO_WHEEL.search(case.text):
        return
    cuda = steps.built_for(case)
    number = cuda or "12.4"
    of = f"CUDA {cuda}, which this PyTorch was built with" if cuda else "the CUDA toolkit (the lines name 12.4)" if "torch" not in case.text.lower() else "CUDA of the number that python -c \"import torch; print(torch.version.cuda)\" prints (the lines name 12.4)"  # fmt: skip
    if _DEEPSPEED.search(case.text):
        yield _without_ops(case)
    folder = rf"{steps.KITS}\v{number}"
    whole = steps.chain(case, steps.Step(f"winget install --exact --id Nvidia.CUDA --version {number}"), steps.tools(case), steps.variable("CUDA_HOME", folder), steps.first_on_path(rf"{folder}\bin"), steps.compiler(case), steps.activated(case), steps.variable("DISTUTILS_USE_SDK", "1"), steps.typed_again(case))  # fmt: skip
    yield tried(on.in_windows(f"Install {of}, and Visual Studio's C++ tools; then, in a new window, name the toolkit, load the compiler, and build again"), whole)  # fmt: skip


_MISMATCH = Later(r"detected CUDA version \(([\d.]+)\) mismatches[^\0]{0,300}?PyTorch \((\d+\.\d+)\)")


def of_one_cuda(case: Asked) -> Iterator[Fix]:
    """The toolkit is of another CUDA than PyTorch: the PyTorch for the toolkit, where there is such; else the toolkit for it."""
    found = _MISMATCH.search(case.text)
    if not case.windows or not found:
        return
    there, wanted = found[1], found[2]
    folder = rf"{steps.KITS}\v{wanted}"
    whole = steps.chain(case, steps.Step(f"winget install --exact --id Nvidia.CUDA --version {wanted}"), steps.variable("CUDA_HOME", folder), steps.first_on_path(rf"{folder}\bin"), steps.compiler(case), steps.activated(case), steps.variable("DISTUTILS_USE_SDK", "1"), steps.typed_again(case))  # fmt: skip
    yield tried(on.in_windows(f"Install CUDA {wanted}, which this PyTorch was built with, beside {there} (without its driver); then, in a new window of cmd, name it, load Visual Studio's compiler, and build again"), whole)  # fmt: skip
    index = {"11.8": "cu118", "12.1": "cu121", "12.4": "cu124", "12.6": "cu126", "12.8": "cu128", "12.9": "cu129", "13.0": "cu130"}.get(there)  # fmt: skip
    if index:
        yield tried(on.in_windows(f"Or take the PyTorch for CUDA {there}, which is there, and build again after it"), f"pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/{index}")  # fmt: skip


_EMBEDDED = Later(r"include file 'Python\.h' not found|Failed to find Python libs|tcc\.exe[^\0]{0,1500}?(?:non-zero exit status|returned)", re.IGNORECASE)  # fmt: skip


def with_headers(case: Asked) -> Iterator[Fix]:
    """Triton compiles against Python's headers, which a portable Python has not: the two folders, of the same release."""
    if not case.windows or not _EMBEDDED.search(case.text):
        return
    python = case.python or "3.12"
    where = re.search(r"([A-Za-z]:\\+(?:[^\n\\\"'<>|*?:]+\\+)*?(?:python_embed\w*|system\\+python|python))\\+(?:Lib|Include|python\.exe)", case.text, re.IGNORECASE)  # fmt: skip
    folder = re.sub(r"\\+", r"\\", where[1]) if where else r".\python_embeded"
    copy = f'robocopy "%LOCALAPPDATA%\\Programs\\Python\\Python{python.replace(".", "")}\\Include" "{folder}\\Include" /E\nrobocopy "%LOCALAPPDATA%\\Programs\\Python\\Python{python.replace(".", "")}\\libs" "{folder}\\libs" /E\nrmdir /s /q "%USERPROFILE%\\.triton\\cache"'  # fmt: skip
    yield tried(on.in_windows(f"Triton compiles a small C file against Python's own headers, and a portable Python has none: copy the folders Include and libs of an installed Python {python} (of the same release) into {folder}, and delete Triton's cache; the page of releases of woct0rdho/triton-windows has both folders as one archive (python_{python}_include_libs.zip)"), on.cmd(f"winget install --exact --id Python.Python.{python}\n{copy}"))  # fmt: skip
    yield tried(on.in_windows("Or do without Triton: no SageAttention (leave --use-sage-attention out) and no torch.compile"))  # fmt: skip


_CUDNN_BIN = Later(r"([A-Za-z]:\\[^\n\"'<>|*?;]*?\\CUDNN\\v(?:9|1\d)\.\d+\\bin)(?:\\(\d+\.\d+))?", re.IGNORECASE)
_ELEVEN = Later(r"cublas64_11|cudart64_110|cu11\d|CUDA (?:Version: )?11\.", re.IGNORECASE)


def below_bin(case: Asked) -> Iterator[Fix]:
    """NVIDIA's installer lays cuDNN 9 into folders by CUDA's number, below the bin that it puts on PATH."""
    found = list(_CUDNN_BIN.finditer(case.text))
    if not case.windows or not found:
        return
    major = "11" if _ELEVEN.search(case.text) else "12"
    known = sorted({one[2] for one in found if one[2] and one[2].startswith(major)}, key=lambda one: [int(part) for part in one.split(".")])  # fmt: skip
    folder = found[0][1]
    if known:
        yield tried(on.in_windows(f"cuDNN's DLLs lie one folder deeper, by CUDA's number: put {folder}\\{known[-1]} first on PATH in the window that starts the program; for good under Windows' environment variables, then open a new window"), steps.chain(case, steps.first_on_path(f"{folder}\\{known[-1]}")))  # fmt: skip
        yield tried(on.in_windows("Python 3.8 and newer does not always look along PATH: name the same folder in the program, before the import"), on.code(f'import os; os.add_dll_directory(r"{folder}\\{known[-1]}")'))  # fmt: skip
    else:
        yield tried(on.in_windows(f"cuDNN 9 lies one folder deeper, by CUDA's number (bin\\{major}.x): put that folder on PATH, in the window that starts the program; for good under Windows' environment variables"), on.powershell(f'$env:PATH = (Get-ChildItem "{folder}" -Directory -Filter "{major}.*" | Select-Object -Last 1).FullName + ";" + $env:PATH'))  # fmt: skip


_R_TF = Later(r"library\((?:tensorflow|keras3?)\)|r-tensorflow|r-reticulate|reticulate", re.IGNORECASE)


def of_tensorflow_in_r(case: Asked) -> Iterator[Fix]:
    """R drives the same TensorFlow: the last one with CUDA for Windows goes into an environment of R's own."""
    if case.windows and _R_TF.search(case.text):
        line = 'reticulate::conda_create("r-tf210", packages = c("python=3.10", "cudatoolkit=11.2", "cudnn=8.1.0"), channel = "conda-forge"); reticulate::conda_install("r-tf210", c("tensorflow==2.10.1", "numpy<2"), pip = TRUE); reticulate::use_condaenv("r-tf210", required = TRUE); tensorflow::tf_config()'  # fmt: skip
        yield tried(on.in_windows("TensorFlow 2.10 is the last one with a GPU on Windows itself, for R too: make an environment with it, Python 3.10, CUDA 11.2 and cuDNN 8.1, and have R use that one (in a new R session; reticulate::install_miniconda() first, where there is no conda)"), on.code(line))  # fmt: skip


_PTXAS = Later(r"invoke ptxas\.exe|Running ptxas --version returned", re.IGNORECASE)


def with_ptxas(case: Asked) -> Iterator[Fix]:
    """TensorFlow compiles with the toolkit's ptxas.exe, which conda's cudatoolkit has not."""
    if not case.windows or not _PTXAS.search(case.text):
        return
    if steps.by_conda(case):
        yield tried(on.in_windows("ptxas.exe is not found: conda's cudatoolkit has none; install it beside it, in the same environment, and activate that in the window that starts the program (without it TensorFlow lets the driver compile, which only starts slower)"), steps.chain(case, steps.activated(case), steps.Step("conda install -c nvidia cuda-nvcc=11.3")))  # fmt: skip
    folder = rf"{steps.KITS}\v{steps.kit(case) or '11.2'}\bin"
    yield tried(on.in_windows(f"Have the toolkit's bin folder, with ptxas.exe, on PATH in the window that starts the program ({folder})"), steps.chain(case, steps.first_on_path(folder)))  # fmt: skip


_R_LIST = Later(r"Currently supported versions are:[^\n]*\"(1[0-3])\.(\d)\"", re.IGNORECASE)


def of_torch_for_r(case: Asked) -> Iterator[Fix]:
    """torch for R names the CUDA releases that it knows: its own build for the last of them, which brings CUDA itself."""
    if found := _R_LIST.search(case.text):
        kind = f"cu{found[1]}{found[2]}"
        line = f'v <- as.character(packageVersion("torch")); options(timeout = 3600, repos = c(torch = sprintf("https://torch-cdn.mlverse.org/packages/{kind}/%s/", v), CRAN = "https://cloud.r-project.org")); install.packages("torch"); library(torch); cuda_is_available()'  # fmt: skip
        yield tried(f"This torch for R knows CUDA {found[1]}.{found[2]} as its newest: install its own build of that kind, which brings CUDA and cuDNN itself, whatever toolkit is there (in a new R session)", on.code(line))  # fmt: skip
        yield tried(f"Or install CUDA {found[1]}.{found[2]} beside the other, name it, and let torch for R install again", on.code(f'Sys.setenv(CUDA = "{found[1]}.{found[2]}"); torch::install_torch(reinstall = TRUE)'))  # fmt: skip


_ARTIFACT = Later(r"([A-Za-z]:\\[^\n\"'<>|*?]*?\\\.julia\\artifacts\\[0-9a-f]{12,40})", re.IGNORECASE)


def of_artifacts(case: Asked) -> Iterator[Fix]:
    """Julia brings CUDA and cuDNN as artifacts of its own: no DLL of NVIDIA's archives belongs there."""
    if not case.windows or not (found := _ARTIFACT.search(case.text)):
        return
    yield tried(on.in_windows("CUDA.jl brings its CUDA and cuDNN itself, and this release of it brought them without what they need, or not whole: update it (and cuDNN.jl, where it is used), typed at Julia's prompt, then start Julia anew"), on.code('using Pkg; Pkg.update(); Pkg.add("CUDA"); Pkg.add("cuDNN"); using CUDA; CUDA.versioninfo()'))  # fmt: skip
    folder = found[1]
    yield tried(on.in_windows("Where it says the same again: end Julia, delete the folder of that artifact, and have it brought again (Pkg.instantiate())"), steps.chain(case, steps.Step(f'rmdir /s /q "{folder}"', f'Remove-Item -Recurse -Force "{folder}"')), safe=False)  # fmt: skip


WINDOWS_SHOWN: tuple[tuple[tuple[str, ...], Callable[[Asked], Iterator[Fix]]], ...] = (
    (("cuda.compiler_missing", "program.build", "env.path", "framework.bug"), with_headers),
    (("program.build", "cuda.compiler_missing", "other.not_gpu", "env.path"), with_the_compiler),
    (("program.build", "env.path", "cuda.compiler_missing"), into_msbuild),
    (("program.build", "cuda.version_mismatch"), older_toolset),
    (("env.path", "cuda.", "cudnn.", "other.not_gpu", "install."), of_tensorrt),
    (("cuda.version_mismatch", "program.build"), of_one_cuda),
    (("cuda.compiler_missing", "env.path", "program.build"), of_gsplat),
    (("cuda.compiler_missing", "cuda.missing_library", "env.path", "framework.bug"), nvrtc_of_torch),
    (("program.build", "other.not_gpu", "cuda.compiler_missing", "env."), of_deepspeed),
    (("env.path", "cuda.compiler_missing", "program.build"), of_torchs_cuda),
    (("cuda.", "framework.extension_abi", "install.", "other.not_gpu"), of_its_package),
    (("cuda.", "env.path", "cudnn.", "other.not_gpu"), beside_path),
    (("cuda.", "framework.", "driver."), other_release),
    (("install.", "cudnn.", "cuda.", "other.", "framework."), torch_again),
    (("install.", "framework.", "program.build"), vision_of_torch),
    (("cuda.", "cudnn.", "env.path", "install.", "framework.bug"), of_artifacts),
    (("cudnn.missing", "env.path", "cuda.missing_library"), below_bin),
    (("framework.platform_dropped", "framework.cpu_only", "cuda.missing_library"), of_tensorflow_in_r),
    (("other.not_gpu", "framework."), old_processor),
    (("program.build",), in_the_project),
    (("cuda.", "env.path", "cudnn.", "install.", "other."), of_plugins),
    (("cudnn.",), whole_cudnn),
    (("cuda.", "framework.", "install."), of_torch_for_r),
    (("cuda.compiler_missing", "env.path", "other.not_gpu"), with_ptxas),
    (("cuda.", "cudnn.", "env.path"), of_nuget),
    (("cuda.", "cudnn.", "env.path"), of_onnxruntime),
    (("framework.cpu_only", "install."), of_providers),
    (("install.", "framework.", "env.path", "cuda.", "other."), of_torchcodec),
    (("cudnn.", "cuda.", "env.path", "install."), of_ctranslate2),
    (("framework.platform_dropped", "install.", "other."), of_the_webui),
    (("framework.", "driver.", "cuda."), of_forge),
)
"""How the ids of causes begin, and what of a text from Windows is looked at for them."""
