"""cuda.compiler_missing in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re

from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.knowledge.windows import BUILD_TOOLS
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.builds import of_tool
from gpuwhy.rooms.text.common import at_run_time
from gpuwhy.rooms.text.conditions import all_of, asks, field, line, no, with_
from gpuwhy.rooms.text.env_ways import compilers
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import CUDA_HOME
from gpuwhy.rooms.text.room import Text

_COMPILES = re.compile(r"triton|sage ?attention|torch\.compile|inductor|flex_attention", re.IGNORECASE)
_XLA = "tf.libdevice tf.ptxas jax.no_candidates"

_NVRTC = "nvrtc. numba.nvvm loader. cupy. windows."


def _compiles(_: Symptom, reading: Reading) -> bool:
    """The text speaks of what compiles at run time."""
    return bool(_COMPILES.search(reading.excerpt))


TEXT = Text(
    "cuda.compiler_missing",
    signatures=(
        error("build.no_toolkit", r"\b(?:gsplat|nerfacc|fused[-_]ssim)\b:? no cuda toolkit found"
              r"|unable to find `?include[/\\]cuda\.h`? under", "no cuda toolkit found", "cuda.h` under",
              "cuda.h under", covers=("python.", "title.", "ending.own")),
        error("triton.tcc", r"tcc\.exe'[^\n]{0,400}returned non-zero exit status|include file 'python\.h' not found"
              r"|failed to find python libs", "tcc.exe", "'python.h' not found", "find python libs", covers=("python.",
            "title.", "ending.own")),
        error("jax.no_candidates", r"no candidates could be compiled|failed to get configs for:? \d+ out of \d+ instructions",
              "no candidates could be compiled", "failed to get configs for", covers=("python.", "title.")),
        error("triton.ptxas", r"ptxas(?:error| fatal| stderr)|internal triton ptx codegen error", "ptxaserror", "ptxas fatal",
              "triton ptx codegen"),
        error("build.toolkit_part", r"(?P<name>(?:[^\s:]{0,200}/)?(?:cicc|cudafe\+\+|fatbinary|nvlink"
              r"|bin2c))(?:\W{1,3}(?:command )?not found|: no such file or directory)", "cicc", "cudafe++",
              "fatbinary", "nvlink", "bin2c",
              covers=("python.command", "build.nvcc_missing", "title.trouble", "title.")),
        error("build.not_executable",
              r"(?P<name>(?:[^\s:'\"]{0,200}/)?(?:nvcc|ptxas|cicc|cudafe\+\+|fatbinary|nvlink|bin2c|nvprune"
              r"|cuobjdump|ptxas-blackwell))['\"]?\W{1,3}permission denied"
              r"|permission denied\W{1,4}(?P<name2>[^\s:'\"]{0,200}/(?:nvcc|ptxas|cicc|cudafe\+\+|fatbinary|nvlink"
              r"|bin2c))['\"]?\W*$", "permission denied",
              covers=("python.command", "build.nvcc_missing", "title.", "limit.closed", "limit.cache", "container.generic")),
        error("triton.compiler", r"failed to find c compiler", "failed to find c compiler"),
    ),
    clues=(
        ("build.no_toolkit", 5.2, "no CUDA toolkit is found, by which a part is compiled"),
        ("triton.tcc", 4.6, "Triton's small compiler finds none of Python's headers or libraries"),
        ("said.no_jit", 3.8, "a part that compiles at run time is not there"),
        ("loader.cudarc", 4.4, "NVRTC, which compiles at run time, is not found", asks("nvrtc")),
        ("build.cuda_home", 4.4, "neither nvcc nor a toolkit is there", line(r"could not find nvcc[^\n]{0,60}(?:doesn'?t|does not) exist")),
        ("loader.cannot_open", 3.6, "{library} is part of the compiler that makes GPU code at run time", field("library", r"libnvvm|libdevice")),
        ("said.no_nvcc", 3.2, "nvcc is not found"),
        ("jax.no_candidates", 3.0, "XLA could compile no kernel at all; this happens when ptxas is missing or does not run"),
        ("loader.pathfinder", 3.2, "{library}, the compiler at run time, is not found", asks("nvrtc")),
        ("tf.ptxas_old", 1.8, "the ptxas that is found is not the one needed"),
        ("tf.libdevice", 4.6, "libdevice, which XLA compiles with, is not found"),
        ("tf.ptxas_missing", 3.8, "ptxas is not found"),
        ("numba.nvvm", 4.2, "libNVVM, which Numba compiles with, is not found"),
        ("nvrtc.builtins", 3.8, "{library}, which NVRTC opens, is not found"),
        ("nvrtc.headers", 3.8, "the CUDA header {header} is not found by the run-time compiler"),
        ("cuda.jit_compiler_not_found", 4.4, "the driver's PTX compiler library is not found (error 221)"),
        ("build.toolkit_part", 4.2, "{name}, a part of the CUDA toolkit, is not there"),
        ("windows.no_program", 3.8, "a program that code is compiled with at run time is not found", _compiles),
        ("build.not_executable", 4.0, "{name}, a compiler of the CUDA toolkit, may not be run by this user: its mode, or a folder mounted noexec"),
        ("triton.compiler", 3.8, "Triton does not find a C compiler"),
        ("triton.ptxas", 1.6, "Triton's ptxas failed", at_run_time),
        ("triton.libcuda", 2.6, "Triton does not find libcuda.so to link with"),
        ("build.cannot_find_l", 2.0, "the linker does not find libcuda.so for the code made at run time", field("library", r"cuda$")),
        ("build.cannot_find_l", 3.0, "the linker does not find libcuda.so for the code made at run time", all_of(field("library", r"cuda$"), no(with_("build.failed")))),
        ("build.cannot_find_l", 2.6, "the linker does not find libcuda.so for Triton", all_of(field("library", r"cuda$"), with_("triton.here"))),
        ("build.nvcc_missing", 3.2, "nvcc is not found"),
        ("build.plugin", 2.4, "the program's own CUDA kernels did not compile; this happens without nvcc or a C++ compiler"),
        ("build.cuda_home", 2.8, "CUDA_HOME names no toolkit"),
        ("build.cmake_compiler", 2.4, "CMake does not find a CUDA compiler"),
        ("loader.cannot_open", 2.4, "{library}, the run-time compiler, is not found", asks("nvrtc")),
        ("loader.find_failed", 2.4, "{library}, the run-time compiler, is not found", asks("nvrtc")),
        ("cupy.load_failed", 2.3, "{library}, the run-time compiler, is not found", asks("nvrtc")),
        ("chainer.setup", 1.2, "Chainer does not find CUDA"),
        ("hashcat.toolkit", 3.2, "the CUDA toolkit is not there"),
        ("cupy.no_cuda_path", 2.2, "CuPy does not find a CUDA toolkit"),
        ("nvrtc.builtin_operation_failure", 3.4, "NVRTC's built-ins are not found"),
        ("windows.could_not_find", 3.0, "{library} is not found", asks("nvrtc")),
        ("windows.dll_not_found", 2.6, "{library} is not found", asks("nvrtc")),
        ("build.msvc", 1.4, "there is no C++ compiler"),
        ("build.missing_tool", 1.6, "a build tool is not there"),
    ),
    made=compilers,
    remedies=(
        meant(on.in_windows("install the newest triton-windows, which brings a small C compiler of its own, and let no CC name another one; or start the program in the x64 Native Tools prompt of Visual Studio, where cl.exe is found"),
              "pip install -U triton-windows", said="windows.no_program triton.compiler", safe=True),
        meant(on.in_windows("or do without it: no torch.compile, and no SageAttention (ComfyUI: leave --use-sage-attention or that node out)"),
              said="windows.no_program triton.compiler", safe=True),
        meant("Give the toolkit's programs back the right to be run, or install the toolkit again", on.linux("sudo chmod -R a+rX /usr/local/cuda/bin /usr/local/cuda/nvvm/bin; ls -l $(which nvcc ptxas)"),
              said="build.not_executable", root=True),
        meant("Install a C compiler", on.linux("sudo apt install build-essential"), said="triton.compiler", root=True),
        meant("Or set CC to the compiler that is installed", on.linux("export CC=$(command -v gcc || command -v clang)"), said="triton.compiler", safe=True),
        meant("Or, without root, conda's", "conda install -c conda-forge c-compiler", said="triton.compiler", safe=True),
        meant("Add the folder of libcuda.so to LIBRARY_PATH", on.linux("export LIBRARY_PATH=/usr/local/cuda/lib64/stubs:$LIBRARY_PATH"),
              said="triton.libcuda build.cannot_find_l", safe=True),
        meant("Or renew the loader's list, in which Triton looks for it", on.linux("sudo ldconfig"), said="triton.libcuda build.cannot_find_l", root=True),
        *CUDA_HOME,
        meant(on.in_windows("set the toolkit's folder by its short name: XLA reads its flags only up to a blank",
                            "in cmd"), on.cmd(r'for %I in ("%CUDA_PATH%") do set "XLA_FLAGS=--xla_gpu_cuda_data_dir=%~sI"'),
              said=_XLA, safe=True, more=True),
        meant(on.in_windows("or copy its folder nvvm beside the program, into the folder that it is started from"), on.cmd(r'xcopy /e /i "%CUDA_PATH%\nvvm" nvvm'),
              said=_XLA, safe=True, more=True),
        meant(on.in_linux("if a CUDA toolkit is installed, put its ptxas on PATH: this release looks there, and into no wheel"),
              on.linux("export PATH=/usr/local/cuda/bin:$PATH XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda"),
              said="tf.ptxas", line="external/org_tensorflow", safe=True),
        meant(on.in_linux("or, if a CUDA toolkit is installed, set its folder"), on.linux("export XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda"),
              said=_XLA, safe=True, more=True),
        meant("Or with conda", "conda install -c nvidia cuda-nvcc", said=_XLA, safe=True, more=True),
        meant("With conda, which is where Numba looks first; for CUDA 11 and older the package is cudatoolkit",
              "conda install -c nvidia cuda-nvcc cuda-nvrtc", said="numba. windows.", by="numba", safe=True, more=True),
        meant(on.in_windows("or install the CUDA toolkit with NVIDIA's installer, and set CUDA_HOME"), on.cmd(r'set "CUDA_HOME=%CUDA_PATH%"'),
              said="numba. windows.", by="numba", safe=True, more=True),
        meant(on.in_linux("or, if a CUDA toolkit is installed, set its folder"), on.linux("export CUDA_HOME=/usr/local/cuda"), said="numba.", by="numba", safe=True, more=True),
        meant("Install CuPy with the CUDA libraries it needs (CuPy 14 and newer, Python 3.10 and newer)",
              'pip install --upgrade "cupy-cuda12x[ctk]"', said="cupy. loader.", line=r"libnvrtc\.so\.12\b", by="cupy",
              safe=True),
        meant("Install CuPy with the CUDA libraries it needs (CuPy 14 and newer, Python 3.10 and newer)",
              'pip install --upgrade "cupy-cuda13x[ctk]"', said="cupy. loader.", line=r"libnvrtc\.so\.13\b", by="cupy",
              safe=True),
        meant("Or keep this CuPy: install NVRTC's wheel, and have it found", on.linux("pip install nvidia-cuda-nvrtc-cu12\nexport LD_LIBRARY_PATH=$(python -c \"import nvidia.cuda_nvrtc as n; print(list(n.__path__)[0])\")/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"),
              said="cupy. loader.", line=r"libnvrtc\.so\.12\b", by="cupy", safe=True),
        meant("Or, where CUDA 11 is what is installed: the CuPy for it",
              "pip uninstall -y cupy-cuda12x\npip install cupy-cuda11x", said="cupy. loader.", line=r"libnvrtc\.so\.12\b",
              by="cupy", safe=True),
        meant("Or, where CUDA 12 is what is installed: the CuPy for it",
              "pip uninstall -y cupy-cuda13x\npip install cupy-cuda12x", said="cupy. loader.", line=r"libnvrtc\.so\.13\b",
              by="cupy", safe=True),
        meant("Install the compiler at run time, with what it opens", "pip install nvidia-cuda-nvrtc{cu} nvidia-cuda-nvcc{cu}", said=_NVRTC, unless="numba cupy", safe=True),
        meant("Or with conda", "conda install -c nvidia cuda-nvcc cuda-nvrtc", said=_NVRTC, unless="numba cupy", safe=True),
        meant("Install the library of the driver's own version, which the driver's packages bring", NEWEST_DRIVER, said="cuda.jit_compiler_not_found", root=True, reboot=True),
        meant("In a container: start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility, which mounts the library",
              "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE", said="cuda.jit_compiler_not_found"),
        meant(on.in_windows("install Visual Studio's C++ build tools, and use their x64 Native Tools prompt"), BUILD_TOOLS, said="build.msvc"),
        meant("Install a C compiler and build tools", on.linux("sudo apt install build-essential ninja-build"), said="build.missing_tool", root=True),
        meant("Install nvcc's parts with pip", "pip install nvidia-cuda-nvcc{cu} nvidia-cuda-nvrtc{cu}", safe=True),
        meant("Or with conda", "conda install -c nvidia cuda-nvcc cuda-nvrtc", safe=True),
        meant("XLA: set the folder of the CUDA toolkit", on.linux("export XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda"), by="tensorflow jax", safe=True),
        meant("Install a C compiler", on.linux("sudo apt install build-essential"), root=True),
        meant(on.in_windows("install the CUDA toolkit, and set CUDA_PATH to it")),
    ),
    rather=of_tool,
)  # fmt: skip
