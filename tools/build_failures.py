"""Builds that fail on purpose: what compilers, linkers, CMake, Make, Bazel and pip print, each with the cause that is true.

    python -m tools.build_failures capture OUT.jsonl [ID…]     really provoke them (needs nvcc, g++, cmake, make, bazel)
    python -m tools.build_failures score FILE.jsonl -- gpuwhy explain --log-only --json

A case is right when the cause is the first one, and served when one of the first three fixes says what helps in that
build system. `$TORCH` names a Python with a CUDA build of torch 2.6, for the cases of torch's extensions.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tools.build_failures_third import THIRD

CUDA = "/usr/local/cuda"
HOME = "/home/me/project"


class Case(NamedTuple):
    """One failing build: files, the command, the cause that is true, and what a fix for that build system says."""

    id: str
    causes: str  # the ids that are right, separated by spaces
    fix: str  # an expression that one of the first three fixes must hold
    files: dict[str, str]
    command: str


CUDNN = "#include <cudnn.h>\nint main() { cudnnHandle_t h; return cudnnCreate(&h); }\n"
RUNTIME = "#include <cuda_runtime.h>\nint main() { void *p; return cudaMalloc(&p, 16); }\n"
DRIVER = "#include <cuda.h>\nint main() { return cuInit(0); }\n"
KERNEL = "__global__ void k(float *x) { *x = 1; }\nint main() { k<<<1, 1>>>(0); }\n"
FAKE_CUDNN = '#pragma once\nextern "C" { typedef struct c *cudnnHandle_t; int cudnnCreate(cudnnHandle_t *); }\n'
FAKE_CUBLAS = '#pragma once\nextern "C" { typedef struct c *cublasHandle_t; int cublasCreate_v2(cublasHandle_t *); }\n'
CUBLAS = "#include <cublas_v2.h>\nint main() { cublasHandle_t h; return cublasCreate_v2(&h); }\n"
TOO_NEW = '#!/bin/sh\nexec g++ -U__GNUC__ -D__GNUC__=17 "$@"\n'
NO_NVCC = "export PATH=/usr/bin:/bin; unset CUDACXX CUDA_HOME CUDA_PATH; "
SETUP = """from setuptools import setup, Extension
setup(name="mykernels", version="0.1", ext_modules=[Extension("mykernels", ["mykernels.cpp"])])
"""
TORCH_SETUP = """import torch
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(name="mykernels", version="0.1", ext_modules=[CUDAExtension("mykernels", ["mykernels.cu"])],
      cmdclass={"build_ext": BuildExtension})
"""
CMAKE = "cmake_minimum_required(VERSION 3.18)\nproject(prog LANGUAGES CXX)\n"
MAKE_NVCC = "prog: prog.o\n\tg++ -o prog prog.o -lcudart\nprog.o: prog.cu\n\tnvcc -c prog.cu -o prog.o\n"
FIND_CUDNN = """find_path(CUDNN_INCLUDE_DIR cudnn.h)
find_library(CUDNN_LIBRARY cudnn)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CUDNN REQUIRED_VARS CUDNN_LIBRARY CUDNN_INCLUDE_DIR)
"""
TORCH = "$TORCH setup.py build_ext --inplace"
HIDDEN = 'unshare -m sh -c \'mount -t tmpfs none /usr/local; exec "$0" "$@"\' '
"""Before a command: without a toolkit in /usr/local."""
BAZEL = "bazel --batch --output_user_root=$PWD/.b build //:prog --color=no --curses=no " + " ".join(
    f"--override_repository={name}={folder}" for name, folder in (
        ("rules_cc", "/usr/share/bazel/rules/cc"), ("platforms", "/usr/share/bazel/platforms"),
        ("rules_java", "/usr/share/bazel/rules/java"), ("rules_proto", "/usr/share/bazel/rules/proto"),
        ("bazel_skylib", "/usr/share/bazel/tools/skylib"),
    )
)  # fmt: skip

CASES: tuple[Case, ...] = (
    Case("gcc-cudnn-h", "program.build cudnn.missing", r"cudnn", {"prog.cpp": CUDNN}, "g++ -c prog.cpp"),
    Case("nvcc-cudnn-h", "program.build cudnn.missing", r"cudnn", {"prog.cu": CUDNN}, f"{CUDA}/bin/nvcc -c prog.cu"),
    Case("gcc-cuda-runtime-h", "program.build", r"-I\S*cuda\S*/include|nvcc -x cu", {"prog.cpp": RUNTIME}, "g++ -c prog.cpp"),
    Case("nvcc-cublas-h", "program.build", r"cublas", {"prog.cu": CUBLAS}, f"{CUDA}/bin/nvcc -c prog.cu"),
    Case("nvcc-nccl-h", "program.build", r"nccl", {"prog.cu": "#include <nccl.h>\nint main() {}\n"}, f"{CUDA}/bin/nvcc -c prog.cu"),
    Case("nvcc-tensorrt-h", "program.build", r"(?i)tensorrt|nvinfer", {"prog.cu": "#include <NvInfer.h>\nint main() {}\n"},
         f"{CUDA}/bin/nvcc -c prog.cu"),
    Case("ld-cudart", "program.build", r"-lcudart", {"prog.cpp": RUNTIME}, f"g++ -I{CUDA}/include prog.cpp -o prog"),
    Case("ld-cuda-driver", "program.build", r"-lcuda\b", {"prog.cpp": DRIVER}, f"g++ -I{CUDA}/include prog.cpp -o prog -L{CUDA}/lib64 -lcudart"),
    Case("ld-cublas", "program.build", r"-lcublas", {"prog.cu": CUBLAS, "cublas_v2.h": FAKE_CUBLAS},
         f"{CUDA}/bin/nvcc -I. prog.cu -o prog"),
    Case("ld-cudnn", "program.build", r"-lcudnn", {"prog.cu": CUDNN, "cudnn.h": FAKE_CUDNN}, f"{CUDA}/bin/nvcc -I. prog.cu -o prog"),
    Case("ld-find-cuda", "program.build driver.stub", r"stubs", {"prog.cpp": DRIVER}, f"g++ -I{CUDA}/include prog.cpp -o prog -lcuda"),
    Case("ld-find-cudart", "program.build", r"-L\S*lib64|LIBRARY_PATH", {"prog.cpp": RUNTIME}, f"g++ -I{CUDA}/include prog.cpp -o prog -lcudart"),
    Case("ld-find-cudnn", "program.build cudnn.missing", r"cudnn", {"prog.cpp": "int main() {}\n"}, f"g++ prog.cpp -o prog -L{CUDA}/lib64 -lcudnn"),
    Case("nvcc-arch-old", "program.build", r"list-gpu|sm_75|-arch", {"prog.cu": KERNEL}, f"{CUDA}/bin/nvcc -arch=sm_35 prog.cu"),
    Case("nvcc-gencode-old", "program.build", r"list-gpu|sm_75|-arch|gencode", {"prog.cu": KERNEL},
         f"{CUDA}/bin/nvcc -gencode arch=compute_60,code=sm_60 prog.cu"),
    Case("nvcc-arch-new", "program.build", r"newer CUDA", {"prog.cu": KERNEL}, f"{CUDA}/bin/nvcc -arch=sm_140 prog.cu"),
    Case("nvcc-host-new", "program.build", r"-ccbin", {"prog.cu": KERNEL, "g++-17": TOO_NEW},
         f"chmod +x g++-17; {CUDA}/bin/nvcc -ccbin ./g++-17 prog.cu"),
    Case("nvcc-std", "program.build", r"-std=c\+\+17", {"prog.cu": "#include <thrust/device_vector.h>\nint main() {}\n"},
         f"{CUDA}/bin/nvcc -I{CUDA}/include/cccl -std=c++14 prog.cu 2>&1 | head -40"),
    Case("nvcc-no-rdc", "program.build", r"-rdc=true|-dc\b|SEPARABLE",
         {"a.cu": "extern __device__ int twice(int);\n__global__ void k(int *x) { *x = twice(2); }\nint main() {}\n",
          "b.cu": "__device__ int twice(int x) { return 2 * x; }\n"}, f"{CUDA}/bin/nvcc a.cu b.cu"),
    Case("nvcc-rdc-nvlink", "program.build", r"-rdc=true|-dlink|-dc\b|object",
         {"a.cu": "extern __device__ int twice(int);\n__global__ void k(int *x) { *x = twice(2); }\nint main() {}\n"},
         f"{CUDA}/bin/nvcc -rdc=true a.cu"),
    Case("gcc-global", "program.build", r"nvcc", {"prog.cpp": KERNEL}, f"g++ -I{CUDA}/include -include cuda_runtime.h -c prog.cpp"),
    Case("gcc-rdc-device-link", "program.build", r"-dlink|nvcc|cudadevrt",
         {"a.cu": "__device__ int twice(int x) { return 2 * x; }\n__global__ void k(int *x) { *x = twice(2); }\nint main() { k<<<1,1>>>(0); }\n"},
         f"{CUDA}/bin/nvcc -rdc=true -c a.cu && g++ a.o -L{CUDA}/lib64 -lcudart"),
    Case("cxx11-abi", "program.build framework.extension_abi", r"_GLIBCXX_USE_CXX11_ABI",
         {"a.cpp": "#include <string>\nstd::string name() { return \"x\"; }\n",
          "b.cpp": "#include <string>\nstd::string name();\nint main() { return name().size(); }\n"},
         "g++ -D_GLIBCXX_USE_CXX11_ABI=0 -c a.cpp && g++ -c b.cpp && g++ a.o b.o -o prog"),
    Case("ptxas-shared", "program.launch program.build", r"shared",
         {"prog.cu": "__global__ void k(float *x) { __shared__ float s[30000]; s[threadIdx.x] = *x; __syncthreads(); *x = s[5]; }\nint main() {}\n"},
         f"{CUDA}/bin/nvcc -arch=sm_80 prog.cu"),
    Case("nvcc-feature", "program.build", r"sm_90|-arch",
         {"prog.cu": "__global__ void k(float *x) { asm volatile(\"griddepcontrol.wait;\"); *x = 1; }\nint main() {}\n"},
         f"{CUDA}/bin/nvcc -arch=sm_80 prog.cu"),
    Case("make-no-nvcc", "program.build cuda.compiler_missing env.path", r"PATH=\S*cuda\S*bin|apt install", {"Makefile": MAKE_NVCC, "prog.cu": KERNEL}, f"{NO_NVCC}make"),
    Case("make-link", "program.build", r"-L\S*lib64|LDFLAGS|LIBRARY_PATH", {"Makefile": MAKE_NVCC, "prog.cu": KERNEL}, f"export PATH={CUDA}/bin:$PATH; make"),
    Case("make-cudnn", "program.build cudnn.missing", r"cudnn", {"Makefile": "prog: prog.cpp\n\tg++ -o prog prog.cpp -lcudnn\n", "prog.cpp": CUDNN}, "make"),
    Case("cmake-no-compiler", "program.build cuda.compiler_missing env.path", r"CMAKE_CUDA_COMPILER|CUDACXX",
         {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(prog LANGUAGES CXX CUDA)\n"}, f"{NO_NVCC}cmake -B build ."),
    Case("cmake-findcuda", "program.build cuda.compiler_missing env.path", r"CUDA_TOOLKIT_ROOT_DIR",
         {"CMakeLists.txt": CMAKE + "find_package(CUDA REQUIRED)\n"}, f"{NO_NVCC}{HIDDEN}cmake -B build ."),
    Case("cmake-findcudatoolkit", "program.build cuda.compiler_missing env.path", r"CUDAToolkit_ROOT",
         {"CMakeLists.txt": CMAKE + "find_package(CUDAToolkit REQUIRED)\n"},
         f"{NO_NVCC}{HIDDEN}cmake -B build ."),
    Case("cmake-cudatoolkit-version", "program.build cuda.version_mismatch", r"CUDAToolkit_ROOT|toolkit", {"CMakeLists.txt": CMAKE + "find_package(CUDAToolkit 13.9 REQUIRED)\n"},
         f"export PATH={CUDA}/bin:$PATH; cmake -B build ."),
    Case("cmake-cudnn-nomodule", "program.build cudnn.missing", r"CUDNN", {"CMakeLists.txt": CMAKE + "find_package(CUDNN REQUIRED)\n"}, "cmake -B build ."),
    Case("cmake-cudnn-module", "program.build cudnn.missing", r"CUDNN_(INCLUDE|LIBRARY|ROOT)",
         {"CMakeLists.txt": CMAKE + "list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR})\nfind_package(CUDNN REQUIRED)\n", "FindCUDNN.cmake": FIND_CUDNN},
         "cmake -B build ."),
    Case("cmake-arch-old", "program.build", r"CMAKE_CUDA_ARCHITECTURES",
         {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(prog LANGUAGES CXX CUDA)\n"},
         f"export PATH={CUDA}/bin:$PATH; cmake -B build . -DCMAKE_CUDA_ARCHITECTURES=35"),
    Case("cmake-arch-empty", "program.build", r"CMAKE_CUDA_ARCHITECTURES",
         {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(prog LANGUAGES CXX CUDA)\n"},
         f"export PATH={CUDA}/bin:$PATH; cmake -B build . -DCMAKE_CUDA_ARCHITECTURES="),
    Case("cmake-host-new", "program.build", r"CMAKE_CUDA_HOST_COMPILER|CUDAHOSTCXX",
         {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(prog LANGUAGES CXX CUDA)\n", "g++-17": TOO_NEW},
         f"chmod +x g++-17; export PATH={CUDA}/bin:$PATH CUDAHOSTCXX=$PWD/g++-17; cmake -B build ."),
    Case("cmake-target-cublas", "program.build", r"cublas",
         {"CMakeLists.txt": CMAKE + "find_package(CUDAToolkit REQUIRED)\nadd_executable(prog prog.cpp)\ntarget_link_libraries(prog CUDA::cublas)\n", "prog.cpp": "int main() {}\n"},
         f"export PATH={CUDA}/bin:$PATH; cmake -B build ."),
    Case("cmake-torch", "program.build", r"CMAKE_PREFIX_PATH|Torch_DIR", {"CMakeLists.txt": CMAKE + "find_package(Torch REQUIRED)\n"}, "cmake -B build ."),
    Case("cmake-torch-cuda", "program.build cuda.compiler_missing env.path", r"CUDA_HOME|CUDA_TOOLKIT_ROOT_DIR|CUDACXX|CMAKE_CUDA_COMPILER",
         {"CMakeLists.txt": CMAKE + "find_package(Torch REQUIRED)\n"},
         f"{NO_NVCC}{HIDDEN}cmake -B build . -DCMAKE_PREFIX_PATH=$($TORCH -c 'import torch.utils as t; print(t.cmake_prefix_path)')"),
    Case("cmake-old", "program.build other.not_gpu", r"pip install\b.*cmake", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.99)\nproject(prog LANGUAGES CXX CUDA)\n"}, "cmake -B build ."),
    Case("cmake-build-undefined", "program.build", r"target_link_libraries",
         {"CMakeLists.txt": CMAKE + f"include_directories({CUDA}/include)\nadd_executable(prog prog.cpp)\n", "prog.cpp": RUNTIME},
         "cmake -B build . -G Ninja && cmake --build build"),
    Case("cmake-build-header", "program.build", r"target_include_directories|target_link_libraries|CUDA::cudart",
         {"CMakeLists.txt": CMAKE + "add_executable(prog prog.cpp)\n", "prog.cpp": RUNTIME}, "cmake -B build . && cmake --build build"),
    Case("pip-torch-isolated", "program.build", r"--no-build-isolation", {"setup.py": TORCH_SETUP, "mykernels.cu": KERNEL},
         "$TORCH -m pip install --no-index --find-links $WHEELS ."),
    Case("pip-cuda-h", "program.build", r"-I\S*cuda\S*/include|CPATH|CFLAGS", {"setup.py": SETUP, "mykernels.cpp": DRIVER}, "$TORCH setup.py build_ext"),
    Case("torch-no-cuda-home", "program.build cuda.compiler_missing env.path", r"CUDA_HOME", {"setup.py": TORCH_SETUP, "mykernels.cu": KERNEL},
         f"{NO_NVCC}{HIDDEN}{TORCH}"),
    Case("torch-mismatch", "cuda.version_mismatch program.build", r"12\.4|same CUDA|toolkit", {"setup.py": TORCH_SETUP, "mykernels.cu": KERNEL},
         f"export CUDA_HOME={CUDA}; {TORCH}"),
    Case("torch-arch-unknown", "program.build env.setting", r"TORCH_CUDA_ARCH_LIST", {"setup.py": TORCH_SETUP.replace("import torch\n", "import torch\nimport torch.utils.cpp_extension as e\ne._check_cuda_version = lambda *a: None\n"), "mykernels.cu": KERNEL},
         f"export CUDA_HOME={CUDA} TORCH_CUDA_ARCH_LIST=sm_89; {TORCH}"),
    Case("torch-arch-none", "program.build", r"TORCH_CUDA_ARCH_LIST", {"setup.py": TORCH_SETUP.replace("import torch\n", "import torch\nimport torch.utils.cpp_extension as e\ne._check_cuda_version = lambda *a: None\n"), "mykernels.cu": KERNEL},
         f"unset TORCH_CUDA_ARCH_LIST; export CUDA_HOME={CUDA}; {TORCH}"),
    Case("torch-arch-old", "program.build", r"TORCH_CUDA_ARCH_LIST", {"setup.py": TORCH_SETUP.replace("import torch\n", "import torch\nimport torch.utils.cpp_extension as e\ne._check_cuda_version = lambda *a: None\n"), "mykernels.cu": KERNEL},
         f"export CUDA_HOME={CUDA} TORCH_CUDA_ARCH_LIST=3.7; {TORCH}"),
    Case("torch-ninja", "program.build", r"ninja", {"load.py": "from torch.utils.cpp_extension import load_inline\nload_inline('m', 'int f() { return 1; }', functions=['f'])\n"},
         "PATH=/nowhere $TORCH load.py"),
    Case("bazel-cudnn-h", "program.build cudnn.missing", r"cudnn|includes|--copt|CUDNN",
         {"WORKSPACE": "", "BUILD": 'genrule(name = "prog", srcs = ["prog.cc"], outs = ["p"], cmd = "g++ $< -o $@")\n', "prog.cc": CUDNN},
         BAZEL),
    Case("bazel-undefined", "program.build", r"linkopts|--linkopt",
         {"WORKSPACE": "", "BUILD": f'genrule(name = "prog", srcs = ["prog.cc"], outs = ["p"], cmd = "g++ -I{CUDA}/include $< -o $@")\n', "prog.cc": RUNTIME},
         BAZEL),
    Case("run-missing-so", "cuda.missing_library env.path", r"LD_LIBRARY_PATH|rpath", {"prog.cpp": RUNTIME.replace("cuda_runtime.h", "cuda_runtime.h"), "v": "{ libcudart.so.12 { global: *; }; };"},
         "echo 'int cudaMalloc(void **p, unsigned long n) { return 0; }' > f.c; gcc -shared -Wl,-soname,libcudart.so.12 -o libcudart.so.12 f.c && "
         f"g++ -I{CUDA}/include prog.cpp ./libcudart.so.12 -o prog && rm libcudart.so.12 && ./prog"),
)  # fmt: skip

SECOND: tuple[Case, ...] = (
    Case("2-make-curand-h", "program.build", r"curand", {"Makefile": "prog: prog.cpp\n\tg++ -I/usr/local/cuda/include prog.cpp -o prog\n", "prog.cpp": "#include <curand_kernel.h>\nint main() {}\n"}, "make"),
    Case("2-ninja-fp16", "program.build", r"CUDA::cudart|include", {"CMakeLists.txt": CMAKE + "add_executable(prog prog.cpp)\n", "prog.cpp": "#include <cuda_fp16.h>\nint main() {}\n"}, "cmake -B build -G Ninja . && cmake --build build"),
    Case("2-ld-nvrtc", "program.build", r"-lnvrtc", {"prog.cpp": "extern \"C\" int nvrtcVersion(int *, int *);\nint main() { int a, b; return nvrtcVersion(&a, &b); }\n"}, "g++ prog.cpp"),
    Case("2-ld-nvml", "program.build", r"nvidia-ml", {"prog.c": "int nvmlInit_v2(void);\nint main(void) { return nvmlInit_v2(); }\n"}, "gcc prog.c -o prog"),
    Case("2-ld-find-nccl", "program.build", r"nccl", {"prog.cpp": "int main() {}\n"}, "g++ prog.cpp -o prog -lnccl"),
    Case("2-ld-find-cublaslt", "program.build", r"cublas|-L", {"prog.cpp": "int main() {}\n"}, "g++ prog.cpp -o prog -lcublasLt"),
    Case("2-ld-launch", "program.build", r"-lcudart|nvcc", {"prog.cu": KERNEL}, f"{CUDA}/bin/nvcc -c prog.cu && g++ prog.o -o prog"),
    Case("2-make-arch", "program.build", r"list-gpu|-arch", {"Makefile": "all:\n\tnvcc -gencode arch=compute_52,code=sm_52 prog.cu -o prog\n", "prog.cu": KERNEL}, f"export PATH={CUDA}/bin:$PATH; make"),
    Case("2-cmake-arch-build", "program.build", r"CMAKE_CUDA_ARCHITECTURES", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(prog LANGUAGES CXX CUDA)\nadd_executable(prog prog.cu)\nset_target_properties(prog PROPERTIES CUDA_ARCHITECTURES 61)\n", "prog.cu": KERNEL}, f"export PATH={CUDA}/bin:$PATH; cmake -B build . && cmake --build build"),
    Case("2-cmake-nccl", "program.build", r"(?i)nccl", {"CMakeLists.txt": CMAKE + "list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR})\nfind_package(NCCL REQUIRED)\n", "FindNCCL.cmake": FIND_CUDNN.replace("CUDNN", "NCCL").replace("cudnn", "nccl")}, "cmake -B build ."),
    Case("2-cmake-tensorrt", "program.build", r"(?i)tensorrt", {"CMakeLists.txt": CMAKE + "find_package(TensorRT REQUIRED)\n"}, "cmake -B build ."),
    Case("2-cmake-rdc", "program.build", r"SEPARABLE|-rdc", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(prog LANGUAGES CXX CUDA)\nadd_executable(prog a.cu b.cu)\nset_target_properties(prog PROPERTIES CUDA_ARCHITECTURES 80)\n", "a.cu": "extern __device__ int twice(int);\n__global__ void k(int *x) { *x = twice(2); }\nint main() { k<<<1, 1>>>(0); }\n", "b.cu": "__device__ int twice(int x) { return 2 * x; }\n"}, f"export PATH={CUDA}/bin:$PATH; cmake -B build . && cmake --build build"),
    Case("2-nvcc-device-std", "program.build", r"nvcc|device|__device__", {"prog.cu": "#include <string>\n__global__ void k(int *x) { std::string s = \"a\"; *x = s.size(); }\nint main() {}\n"}, f"{CUDA}/bin/nvcc -c prog.cu"),
    Case("2-pip-nccl-h", "program.build", r"nccl", {"setup.py": SETUP, "mykernels.cpp": "#include <nccl.h>\n"}, "$TORCH setup.py build_ext"),
    Case("2-torch-link-cuda", "program.build", r"LIBRARY_PATH|stubs|-L", {"setup.py": SETUP.replace('["mykernels.cpp"]', '["mykernels.cpp"], libraries=["cuda"]'), "mykernels.cpp": "int f() { return 1; }\n"}, "$TORCH setup.py build_ext"),
    Case("2-gcc-device-h", "program.build", r"nvcc", {"prog.cpp": "#include <cuda_runtime.h>\n__global__ void k(float *x);\nint main() { k<<<1, 32>>>(nullptr); }\n"}, f"g++ -I{CUDA}/include prog.cpp"),
)  # fmt: skip
"""A second set, written when the first was mended, and scored once before anything was changed for it."""


class Format(NamedTuple):
    """A failing build that cannot be provoked here, in the format that its tool prints; the words are ours."""

    id: str
    causes: str
    fix: str
    log: str


FORMATS: tuple[Format, ...] = (
    Format("bazel-cc-header", "program.build cudnn.missing", r"cudnn|CUDNN",
           "ERROR: /home/me/project/BUILD:1:10: Compiling prog.cc failed: (Exit 1): gcc failed: error executing command /usr/bin/gcc -U_FORTIFY_SOURCE\n"
           "prog.cc:1:10: fatal error: cudnn.h: No such file or directory\n    1 | #include <cudnn.h>\ncompilation terminated.\n"
           "Target //:prog failed to build\nUse --verbose_failures to see the command lines of failed build steps.\nFAILED: Build did NOT complete successfully\n"),
    Format("bazel-cc-link", "program.build", r"linkopt",
           "ERROR: /home/me/project/BUILD:1:10: Linking prog failed: (Exit 1): gcc failed: error executing command /usr/bin/gcc @bazel-out/k8-fastbuild/bin/prog-2.params\n"
           "/usr/bin/ld: bazel-out/k8-fastbuild/bin/_objs/prog/prog.o: in function `main':\nprog.cc:(.text+0x15): undefined reference to `cublasCreate_v2'\n"
           "collect2: error: ld returned 1 exit status\nTarget //:prog failed to build\n"),
    Format("tf-configure-cudnn", "program.build cudnn.missing", r"CUDNN_INSTALL_PATH|TF_CUDA_PATHS|HERMETIC",
           "Could not find any cudnn.h, cudnn_version.h matching version '8' in any subdirectory:\n        ''\n        'include'\n        'include/cuda'\nof:\n        '/lib'\n        '/usr'\n        '/usr/local/cuda'\n"
           "Asking for detailed CUDA configuration...\n"),
    Format("tf-configure-cuda", "program.build", r"TF_CUDA_PATHS|CUDA_TOOLKIT_PATH|HERMETIC",
           "ERROR: An error occurred during the fetch of repository 'local_config_cuda':\n   Traceback (most recent call last):\n\tFile \"/home/me/tensorflow/third_party/gpus/cuda_configure.bzl\", line 1430, column 38, in _cuda_autoconf_impl\n"
           "Error in fail: Repository command failed\nCould not find any cuda.h matching version '11.2' in any subdirectory:\n        ''\n        'include'\nof:\n        '/usr'\n"),
    Format("tf-crosstool", "program.build", r"--config=cuda|configure",
           "ERROR: error loading package 'tensorflow/tools/pip_package': no such package '@local_config_cuda//crosstool': BUILD file not found in directory 'crosstool' of external repository @local_config_cuda.\n"),
    Format("msvc-header", "program.build cudnn.missing", r"(?i)cudnn", "prog.cpp(1): fatal error C1083: Cannot open include file: 'cudnn.h': No such file or directory\n"),
    Format("msvc-lib", "program.build cudnn.missing", r"(?i)cudnn", "LINK : fatal error LNK1104: cannot open file 'cudnn.lib'\n"),
    Format("msvc-unresolved", "program.build", r"cudart\.lib|cudart",
           "prog.obj : error LNK2019: unresolved external symbol cudaMalloc referenced in function main\nprog.exe : fatal error LNK1120: 1 unresolved externals\n"),
    Format("msvc-toolset", "program.build", r"(?i)visual studio|-T cuda|MSBuildExtensions|Ninja",
           "CMake Error at C:/Program Files/CMake/share/cmake-3.27/Modules/CMakeDetermineCompilerId.cmake:503 (message):\n  No CUDA toolset found.\nCall Stack (most recent call first):\n  CMakeLists.txt:2 (project)\n"),
    Format("msvc-cl", "program.build", r"(?i)native tools|vcvars|-ccbin", "nvcc fatal   : Cannot find compiler 'cl.exe' in PATH\n"),
    Format("msvc-version", "program.build", r"(?i)visual studio|build tools|-allow-unsupported",
           "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v11.8\\include\\crt/host_config.h(153): fatal error C1189: #error:  -- unsupported Microsoft Visual Studio version! Only the versions between 2017 and 2022 (inclusive) are supported!\n"),
    Format("clang-cuda", "program.build cuda.compiler_missing", r"--cuda-path",
           "clang: error: cannot find CUDA installation; provide its path via '--cuda-path', or pass '-nocudainc' to build without CUDA includes\n"),
    Format("meson-cuda", "program.build cuda.compiler_missing env.path", r"PATH|CUDA_PATH|nvcc", "meson.build:1:0: ERROR: Unknown compiler(s): [['nvcc']]\nThe following exception(s) were encountered:\nRunning `nvcc --version` gave \"[Errno 2] No such file or directory: 'nvcc'\"\n"),
    Format("cargo-nvcc", "program.build cuda.compiler_missing env.path", r"PATH|CUDA_HOME|CUDA_PATH|toolkit",
           "error: failed to run custom build command for `cudarc v0.11.0`\n\nCaused by:\n  process didn't exit successfully: `/home/me/project/target/debug/build/cudarc/build-script-build` (exit status: 101)\n  thread 'main' panicked at build.rs:54:14:\n  Failed to execute `nvcc`: Os { code: 2, kind: NotFound, message: \"No such file or directory\" }\n"),
    Format("pip-cmake-cuda", "program.build cuda.compiler_missing env.path", r"CUDACXX|CMAKE_CUDA_COMPILER|CMAKE_ARGS",
           "Building wheel for llama-cpp-python (pyproject.toml): finished with status 'error'\n  error: subprocess-exited-with-error\n  *** Configuring CMake...\n  -- Could not find nvcc, please set CUDAToolkit_ROOT.\n  CMake Error at vendor/llama.cpp/CMakeLists.txt:258 (message):\n  CUDA Toolkit not found\n  *** CMake configuration failed\n  ERROR: Failed building wheel for llama-cpp-python\n"),
    Format("ninja-cudnn-frontend", "program.build cudnn.missing", r"cudnn",
           "FAILED: src/conv.o\n/usr/local/cuda/bin/nvcc -DUSE_CUDNN -c src/conv.cu -o src/conv.o\nIn file included from src/conv.cu:3:\ninclude/conv.h:2:10: fatal error: cudnn_frontend.h: No such file or directory\nninja: build stopped: subcommand failed.\n"),
)  # fmt: skip


def provoke(case: Case) -> str:
    """What the build prints, with our folders named as a user's."""
    with tempfile.TemporaryDirectory(prefix="build") as folder:
        for name, text in case.files.items():
            (Path(folder) / name).write_text(text)
        environ = {**os.environ, "LC_ALL": "C", "TERM": "dumb"}
        environ.setdefault("TORCH", "python3")
        environ.setdefault("WHEELS", folder)
        done = subprocess.run(
            ["bash", "-c", case.command],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            env=environ,
            errors="replace",
        )
        if done.returncode == 0 and "| head" not in case.command:
            print(f"{case.id}: did not fail", file=sys.stderr)
        text = done.stdout + done.stderr
        kits = [(environ[name], f"/opt/{name.lower()}") for name in ("LLVM", "TOOLS") if environ.get(name)]
        for mine, theirs in (*kits, (os.path.realpath(folder), HOME), (folder, HOME)):
            text = text.replace(mine, theirs)
        text = re.sub(r"/root\b|/\w+/\S*?/tenv", "/home/me", text)
        return re.sub(r"/tmp/build\w+", HOME, text)


def capture(out: str, ids: list[str]) -> None:
    """Provoke the cases and keep what they print."""
    kept = []
    for case in (*CASES, *SECOND, *(Case(*one) for one in THIRD)):
        if ids and case.id not in ids:
            continue
        try:
            log = provoke(case)
        except subprocess.TimeoutExpired:
            print(f"{case.id}: took too long", file=sys.stderr)
            continue
        kept.append({"id": case.id, "causes": case.causes.split(), "fix": case.fix, "log": log[:20000]})
    kept += [{**one._asdict(), "causes": one.causes.split()} for one in FORMATS if not ids or one.id in ids]
    Path(out).write_text("".join(json.dumps(row) + "\n" for row in kept))
    print(f"{len(kept)} cases in {out}")


def score(path: str, command: list[str]) -> None:
    """How many causes are right, and how many builders are served by one of the first three fixes."""
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    right = served = 0
    for row in rows:
        done = subprocess.run(command, input=row["log"], capture_output=True, text=True)
        report = json.loads(done.stdout)
        best = report["causes"][0] if report["causes"] else {"id": "-", "fixes": []}
        fixes = "\n".join(f"{fix['text']} {fix['command']}" for fix in best["fixes"][:3])
        ok, helps = best["id"] in row["causes"], bool(re.search(row["fix"], fixes))
        right, served = right + ok, served + (ok and helps)
        if not (ok and helps):
            print(f"{row['id']:26} {best['id'] if not ok else '':24} {'' if helps else 'fix: ' + fixes[:150]!r}")
    print(f"{len(rows)} builds: cause {right}, fix for that build {served}")


if __name__ == "__main__":
    if sys.argv[1] == "capture":
        capture(sys.argv[2], sys.argv[3:])
    else:
        score(sys.argv[2], sys.argv[sys.argv.index("--") + 1 :])
