"""A third set of failing builds, all really provoked: other linkers, other build systems, newer CMake, what CUDA 13 took away.

Written before the reader of builds was looked at, and scored once before anything was changed for it. `$LLVM` is a folder
with clang 14, lld and mold unpacked (usr/bin, usr/lib), `$TOOLS` one with meson, scons and CMake 4.
"""

from __future__ import annotations

from typing import NamedTuple

CUDA = "/usr/local/cuda"
NVCC = f"{CUDA}/bin/nvcc"
LLVM = "export LD_LIBRARY_PATH=$LLVM/usr/lib/x86_64-linux-gnu PATH=$LLVM/usr/bin:$LLVM/usr/lib/llvm-14/bin:$PATH; "
NO_CUDA = "export PATH=$TOOLS:/usr/bin:/bin; unset CUDACXX CUDA_HOME CUDA_PATH; "
RUNTIME = "#include <cuda_runtime.h>\nint main() { void *p; return cudaMalloc(&p, 16); }\n"
KERNEL = "__global__ void k(float *x) { *x = 1; }\nint main() { k<<<1, 1>>>(0); }\n"
BARE = 'extern "C" int cudaMalloc(void **, unsigned long);\nint main() { void *p; return cudaMalloc(&p, 16); }\n'
CUBLAS = 'extern "C" int cublasCreate_v2(void **);\nint main() { void *h; return cublasCreate_v2(&h); }\n'
CMAKE = "cmake_minimum_required(VERSION 3.18)\nproject(prog LANGUAGES CXX)\n"
CMAKE_CUDA = "cmake_minimum_required(VERSION 3.18)\nproject(prog LANGUAGES CXX CUDA)\n"


class Third(NamedTuple):
    """As `build_failures.Case`."""

    id: str
    causes: str
    fix: str
    files: dict[str, str]
    command: str


THIRD: tuple[Third, ...] = (
    Third("3-clang-header", "program.build", r"-I\S*cuda\S*/include|include", {"prog.cpp": RUNTIME}, LLVM + "clang-14 prog.cpp -c"),
    Third("3-clang-cudnn", "program.build cudnn.missing", r"cudnn", {"prog.cpp": "#include <cudnn.h>\nint main() {}\n"}, LLVM + "clang-14 prog.cpp -c"),
    Third("3-clang-cu-libdevice", "program.build cuda.compiler_missing", r"--cuda-path|-nocudalib|nvcc", {"prog.cu": KERNEL}, LLVM + "clang-14 --cuda-path=/nowhere -c prog.cu"),
    Third("3-clang-cu-version", "program.build", r"(?i)clang|nvcc|older CUDA|--cuda-path", {"prog.cu": KERNEL}, LLVM + f"clang-14 --cuda-path={CUDA} -c prog.cu"),
    Third("3-lld-undefined", "program.build", r"-lcudart", {"prog.cpp": BARE}, LLVM + "g++ -c prog.cpp && ld.lld-14 prog.o -o prog -e main"),
    Third("3-lld-find", "program.build", r"-L\S*lib64|LIBRARY_PATH", {"prog.cpp": BARE}, LLVM + "g++ -c prog.cpp && ld.lld-14 prog.o -o prog -e main -lcudart"),
    Third("3-mold-undefined", "program.build", r"-lcublas", {"prog.cpp": CUBLAS}, LLVM + "g++ -c prog.cpp && mold prog.o -o prog -e main"),
    Third("3-mold-find", "program.build cudnn.missing", r"cudnn", {"prog.cpp": "int main() {}\n"}, LLVM + "g++ -c prog.cpp && mold prog.o -o prog -e main -lcudnn"),
    Third("3-gold-undefined", "program.build", r"-lcublas", {"prog.cpp": CUBLAS}, "g++ -fuse-ld=gold prog.cpp -o prog"),
    Third("3-pic", "program.build", r"-fPIC", {"prog.cu": "int twice[4]; int get(int i) { return twice[i]; }\n__global__ void k(float *x) { *x = 1; }\n"},
          f"{NVCC} -Xcompiler -fno-pie -c prog.cu && g++ -shared prog.o -o libprog.so"),
    Third("3-nvcc-unknown-option", "program.build", r"-Xcompiler", {"prog.cu": KERNEL}, f"{NVCC} -fPIC -Wall -c prog.cu"),
    Third("3-nvcc-march", "program.build", r"-Xcompiler", {"prog.cu": KERNEL}, f"{NVCC} -fopenmp -c prog.cu"),
    Third("3-nvcc-shfl", "program.build", r"__shfl\w*_sync|_sync", {"prog.cu": "__global__ void k(int *x) { *x = __shfl_down(*x, 1); }\nint main() {}\n"}, f"{NVCC} -c prog.cu"),
    Third("3-nvcc-texture", "program.build", r"(?i)texture object|cudaTextureObject_t|CUDA 11|older", {"prog.cu": "texture<float, 1> t;\n__global__ void k(float *x) { *x = tex1Dfetch(t, 0); }\nint main() {}\n"}, f"{NVCC} -c prog.cu"),
    Third("3-nvcc-thread-sync", "program.build", r"cudaDeviceSynchronize", {"prog.cu": "int main() { return cudaThreadSynchronize(); }\n"}, f"{NVCC} -c prog.cu"),
    Third("3-nvcc-prop-clock", "program.build", r"cudaDeviceGetAttribute|attribute", {"prog.cu": "int main() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return p.clockRate; }\n"}, f"{NVCC} -c prog.cu"),
    Third("3-nvcc-ctx-create", "program.build", r"(?i)CUDA 13|argument|cuCtxCreate|older", {"prog.cu": "#include <cuda.h>\nint main() { CUcontext c; return cuCtxCreate(&c, 0, 0); }\n"}, f"{NVCC} -c prog.cu"),
    Third("3-nvtx-h", "program.build", r"nvtx3", {"prog.cu": "#include <nvToolsExt.h>\nint main() {}\n"}, f"{NVCC} -c prog.cu"),
    Third("3-nvtx-lib", "program.build", r"nvtx3|header", {"prog.cu": KERNEL}, f"{NVCC} prog.cu -o prog -lnvToolsExt"),
    Third("3-helper-cuda-h", "program.build", r"(?i)cuda-samples|samples|Common", {"prog.cu": "#include <helper_cuda.h>\nint main() {}\n"}, f"{NVCC} -c prog.cu"),
    Third("3-thrust-gcc", "program.build", r"include/cccl|nvcc|/include", {"prog.cpp": "#include <thrust/device_vector.h>\nint main() {}\n"}, f"g++ -I{CUDA}/include -c prog.cpp"),
    Third("3-cutlass-h", "program.build", r"(?i)cutlass", {"prog.cu": "#include <cutlass/cutlass.h>\nint main() {}\n"}, f"{NVCC} -c prog.cu"),
    Third("3-half-operators", "program.build", r"sm_|-arch|cuda_fp16|__half|CUDA_NO_HALF", {"prog.cu": "#include <cuda_fp16.h>\n__global__ void k(__half *x) { *x = *x + *x; }\nint main() {}\n"}, f"{NVCC} -D__CUDA_NO_HALF_OPERATORS__ -c prog.cu"),
    Third("3-device-lambda", "program.build", r"--extended-lambda", {"prog.cu": "template <class F> __global__ void k(F f) { f(); }\nint main() { auto f = [] __device__() {}; k<<<1, 1>>>(f); }\n"}, f"{NVCC} -c prog.cu"),
    Third("3-constexpr", "program.build", r"--expt-relaxed-constexpr", {"prog.cu": "#include <algorithm>\n__global__ void k(int *x) { *x = std::max(x[0], x[1]); }\nint main() {}\n"}, f"{NVCC} -Werror all-warnings -c prog.cu"),
    Third("3-std20", "program.build", r"-std=c\+\+\d\d|c\+\+", {"prog.cu": "int main() {}\n"}, f"{NVCC} -std=c++23 -c prog.cu"),
    Third("3-tmp-full", "env.limit program.build", r"(?i)TMPDIR|space|disk|folder", {"prog.cu": KERNEL}, f"TMPDIR=/nowhere {NVCC} -c prog.cu"),
    Third("3-cicc-missing", "program.build cuda.compiler_missing install.corrupted", r"(?i)toolkit|reinstall|nvvm|PATH", {"prog.cu": KERNEL}, f"mkdir -p t/bin && cp {CUDA}/bin/nvcc t/bin/ && t/bin/nvcc -c prog.cu"),
    Third("3-cicc-killed", "memory.host program.build", r"(?i)MAX_JOBS|-j|memory|jobs", {"prog.cu": KERNEL, "Makefile": "prog: prog.cu\n\tnvcc -c prog.cu\n", "cicc": "#!/bin/bash\nkill -9 $$\n"},
          f"chmod +x cicc; cp -r {CUDA}/bin t; mkdir -p nvvm/bin; cp cicc nvvm/bin/; sed -i 's#^TOP.*#TOP = .#' t/nvcc.profile; sed -i 's#^CICC_PATH.*#CICC_PATH = ./nvvm/bin#' t/nvcc.profile; t/nvcc -I{CUDA}/include -c prog.cu"),
    Third("3-rpath-link", "program.build", r"rpath|LD_LIBRARY_PATH|-L", {"f.c": "int cudaMalloc(void **p, unsigned long n) { return 0; }\n", "g.c": "int cudaMalloc(void **, unsigned long);\nint g(void) { void *p; return cudaMalloc(&p, 1); }\n", "m.c": "int g(void);\nint main(void) { return g(); }\n"},
          "mkdir d; gcc -shared -fPIC -Wl,-soname,libcudart.so.12 -o d/libcudart.so.12 f.c && gcc -shared -fPIC g.c d/libcudart.so.12 -o libg.so && gcc m.c -L. -lg -o prog"),
    Third("3-dso-missing", "program.build", r"-lcudart", {"m.c": "int cudaMalloc(void **, unsigned long);\nint g(void);\nint main(void) { void *p; g(); return cudaMalloc(&p, 1); }\n", "g.c": "int cudaMalloc(void **, unsigned long);\nint g(void) { void *p; return cudaMalloc(&p, 1); }\n"},
          f"gcc -shared -fPIC g.c -o libg.so {CUDA}/lib64/libcudart.so.13 -Wl,-rpath,{CUDA}/lib64 && gcc m.c -L. -lg -o prog"),
    Third("3-incompatible", "program.build install.corrupted", r"lib64|64-bit|-L", {"m.c": "int main(void) { return 0; }\n", "f.c": "int x;\n"},
          "mkdir lib; printf '\\177ELF\\1\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\1\\0\\3\\0\\1\\0\\0\\0' > lib/libcudart.so; head -c 2000 /dev/zero >> lib/libcudart.so; gcc m.c -Llib -lcudart -o prog"),
    Third("3-cmake4-policy", "program.build other.not_gpu", r"CMAKE_POLICY_VERSION_MINIMUM|cmake<4|cmake", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.0)\nproject(prog LANGUAGES CXX)\nfind_package(CUDA REQUIRED)\n"}, "$TOOLS/cmake -B build ."),
    Third("3-cmake4-findcuda", "program.build", r"CUDAToolkit|CMP0146|enable_language", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.30)\nproject(prog LANGUAGES CXX)\nfind_package(CUDA REQUIRED)\n"}, "$TOOLS/cmake -B build ."),
    Third("3-cmake4-no-cuda", "program.build cuda.compiler_missing env.path", r"CMAKE_CUDA_COMPILER|CUDACXX", {"CMakeLists.txt": CMAKE_CUDA}, NO_CUDA + "cmake -B build ."),
    Third("3-cmake-native", "program.build", r"CMAKE_CUDA_ARCHITECTURES", {"CMakeLists.txt": CMAKE_CUDA + "set(CMAKE_CUDA_ARCHITECTURES native)\nadd_executable(prog prog.cu)\n", "prog.cu": KERNEL},
          f"export PATH={CUDA}/bin:$PATH; /usr/bin/cmake -DCMAKE_CUDA_ARCHITECTURES=native -B build . && cmake --build build"),
    Third("3-cmake-target-cudnn", "program.build cudnn.missing", r"(?i)cudnn", {"CMakeLists.txt": CMAKE + "find_package(CUDAToolkit REQUIRED)\nadd_executable(prog prog.cpp)\ntarget_link_libraries(prog CUDA::cudnn)\n", "prog.cpp": "int main() {}\n"},
          f"export PATH=$TOOLS:{CUDA}/bin:$PATH; cmake -B build ."),
    Third("3-cmake-nvcc-lib", "program.build", r"CUDA::cublas|target_link_libraries|toolkit", {"CMakeLists.txt": CMAKE_CUDA + "add_executable(prog prog.cu)\nset_property(TARGET prog PROPERTY CUDA_ARCHITECTURES 80)\ntarget_link_libraries(prog cublas cusolver)\n", "prog.cu": KERNEL},
          f"export PATH=$TOOLS:{CUDA}/bin:$PATH; cmake -B build . && cmake --build build"),
    Third("3-cmake-standard", "program.build", r"(?i)CUDA_STANDARD|newer", {"CMakeLists.txt": CMAKE_CUDA + "add_executable(prog prog.cu)\nset_target_properties(prog PROPERTIES CUDA_ARCHITECTURES 80 CUDA_STANDARD 26 CUDA_STANDARD_REQUIRED ON)\n", "prog.cu": KERNEL},
          f"export PATH=$TOOLS:{CUDA}/bin:$PATH; cmake -B build ."),
    Third("3-meson-cuda", "program.build cuda.compiler_missing env.path", r"PATH|CUDA_PATH|nvcc", {"meson.build": "project('prog', 'cpp', 'cuda')\n"}, NO_CUDA + "meson setup build"),
    Third("3-meson-dependency", "program.build", r"(?i)CUDA_PATH|toolkit|cuda", {"meson.build": "project('prog', 'cpp')\ndep = dependency('cuda', version: '>=99', modules: ['cublas'])\n"}, f"export CUDA_PATH={CUDA} PATH=$TOOLS:$PATH; meson setup build"),
    Third("3-meson-build", "program.build cudnn.missing", r"cudnn", {"meson.build": "project('prog', 'cpp')\nexecutable('prog', 'prog.cpp')\n", "prog.cpp": "#include <cudnn.h>\nint main() {}\n"}, "export PATH=$TOOLS:$PATH; meson setup build && meson compile -C build"),
    Third("3-scons", "program.build cuda.compiler_missing env.path", r"PATH", {"SConstruct": "DefaultEnvironment(ENV={'PATH': '/usr/bin:/bin'})\nCommand('prog.o', 'prog.cu', 'nvcc -c $SOURCE -o $TARGET')\n", "prog.cu": KERNEL}, NO_CUDA + "scons -Q"),
    Third("3-cargo-link", "program.build driver.stub", r"stubs|RUSTFLAGS|LIBRARY_PATH|-L", {"main.rs": '#[link(name = "cuda")] extern "C" { fn cuInit(f: u32) -> i32; }\nfn main() { unsafe { cuInit(0); } }\n'}, "rustc main.rs"),
    Third("3-cargo-undefined", "program.build", r"-lcudart|rustc-link-lib|cudart", {"main.rs": 'extern "C" { fn cudaMalloc(p: *mut *mut u8, n: usize) -> i32; }\nfn main() { unsafe { let mut p = std::ptr::null_mut(); cudaMalloc(&mut p, 1); } }\n'}, "rustc main.rs"),
    Third("3-bazel-nvcc", "program.build", r"--action_env|PATH|genrule|nvcc", {"WORKSPACE": "", "BUILD": 'genrule(name = "k", srcs = ["prog.cu"], outs = ["k.o"], cmd = "nvcc -c $< -o $@")\n', "prog.cu": KERNEL}, "export HOME=$PWD/h PATH=/usr/bin:/bin; bazel build --spawn_strategy=local //:k 2>&1 | tail -12; false"),
    Third("3-glibcxx", "program.build env.path install.inconsistent framework.extension_abi other.not_gpu", r"(?i)libstdc|gcc|conda", {"m.cpp": "int main() {}\n", "v.map": "GLIBCXX_9.9.99 { global: f; };\n", "f.c": "int f(void) { return 0; }\n", "m.c": "int f(void);\nint main(void) { return f(); }\n"},
          "mkdir d e; gcc -shared -fPIC -Wl,--version-script=v.map -Wl,-soname,libstdc++.so.6 -o d/libstdc++.so.6 f.c && gcc m.c d/libstdc++.so.6 -o prog && gcc -shared -fPIC -Wl,-soname,libstdc++.so.6 -o e/libstdc++.so.6 f.c; LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu ./prog"),
    Third("3-run-old-cudart", "cuda.version_mismatch cuda.mixed_libraries env.path cuda.missing_library", r"LD_LIBRARY_PATH|CUDA", {"f.c": "int f(void) { return 0; }\n", "m.c": "int f(void);\nint main(void) { return f(); }\n", "v.map": "libcudart.so.12 { global: f; };\n", "w.map": "libcudart.so.11.0 { global: f; };\n"},
          "mkdir d e; gcc -shared -fPIC -Wl,--version-script=v.map -Wl,-soname,libcudart.so.12 -o d/libcudart.so.12 f.c && gcc m.c d/libcudart.so.12 -o prog && gcc -shared -fPIC -Wl,--version-script=w.map -Wl,-soname,libcudart.so.12 -o e/libcudart.so.12 f.c; LD_LIBRARY_PATH=e ./prog"),
)  # fmt: skip
