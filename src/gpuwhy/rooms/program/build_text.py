"""program.build in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.windows import BUILD_TOOLS
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import echo, error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.build_parts import by_symbol
from gpuwhy.rooms.text.builds import fixes, system
from gpuwhy.rooms.text.common import at_run_time, in_a_package, nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, any_of, field, line, no, own_module, whole, with_
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import CUDA_HOME
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.where import told_release

_ISOLATED = all_of(
    field("name", r"(?:torch|numpy|tensorflow|jax|jaxlib|cupy|packaging|wheel|setuptools|ninja|psutil)$"),
    with_("build.isolated"),
)

_GCC = r"gcc versions? (?:later|greater|newer) than (?P<gcc>4\.\d|\d+)"


def _unlinked(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """The library that holds the function which the linker misses, named to an extension's build."""
    missed = [one.text for one in symptoms if one.signature == "build.undefined_reference"]
    found = [by_symbol(name) for text in missed for name in re.findall(r"\b(?:__imp_)?((?:cu|nv)[a-zA-Z]\w+)", text)]
    names = list(dict.fromkeys(part.library for part in found if part))
    if not names or system(reading.excerpt) not in ("torch", "pip"):
        return
    windows = reading.told.os == "windows"
    files = " ".join(f"{one}.lib" if windows else f"-l{one}" for one in names)
    folder = "os.path.join(CUDA_HOME, 'lib', 'x64')" if windows else "CUDA_HOME + '/lib64'"
    yield Fix(
        f"Link {files}, which holds it: in the extension's setup.py, add to CUDAExtension(…)",
        on.code(
            f"CUDAExtension(…, libraries={names}, library_dirs=[{folder}])    # CUDA_HOME is of torch.utils.cpp_extension"
        ),
        safe=True,
        check="gpuwhy explain LOG",
    )


_APEX = "git clone https://github.com/NVIDIA/apex && cd apex && pip install -v --no-cache-dir --no-build-isolation --config-settings '--build-option=--cpp_ext' --config-settings '--build-option=--cuda_ext' ./"
_MODULES = {
    "amp_c": _APEX,
    "apex_c": _APEX,
    "fused_layer_norm_cuda": _APEX,
    "exllama_kernels": "pip install --no-build-isolation --force-reinstall auto-gptq",
    "exllamav2_kernels": "pip install --no-build-isolation --force-reinstall auto-gptq",
    "awq_ext": "pip install --force-reinstall autoawq-kernels",
    "flash_attn_2_cuda": "pip install --no-build-isolation --force-reinstall flash-attn",
    "deformable_attention": "cd models/ops && pip install --no-build-isolation .",
    "multiscaledeformableattention": "cd models/ops && sh make.sh",
    "simple_knn": "pip install --no-build-isolation submodules/simple-knn",
    "diff_gaussian_rasterization": "pip install --no-build-isolation submodules/diff-gaussian-rasterization",
    "causal_conv1d_cuda": "pip install --no-build-isolation --force-reinstall causal-conv1d",
    "selective_scan_cuda": "pip install --no-build-isolation --force-reinstall mamba-ssm",
}
"""Compiled modules by the command that builds them."""


def _of_module(symptoms: Sequence[Symptom]) -> Iterator[Fix]:
    """A compiled module that is not there, by the package that has it."""
    for one in symptoms:
        command = _MODULES.get(one.get("name").lower()) if one.signature == "build.ext_module" else None
        if command:
            yield Fix(
                f"Build {one.get('name')} against the installed PyTorch, where nvcc is",
                on.linux(command),
                check="gpuwhy explain LOG",
            )


_BUILT = re.compile(r"\b(flash[-_]attn|xformers|mamba[-_]ssm|causal[-_]conv1d|detectron2|auto[-_]gptq|torch[-_]scatter|torch[-_]sparse|pytorch3d|deepspeed|nvdiffrast|gsplat)\b|pip3? install (?!-)([\w.-]+)")  # fmt: skip


def _wanted(text: str) -> str:
    """The package that was being built, where the text names it."""
    found = _BUILT.search(text)
    return (found[1] or found[2]) if found else "PACKAGE"


def _named(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """The library to link; and to build where the module is installed, not in pip's own environment."""
    yield from _of_module(symptoms)
    yield from _unlinked(symptoms, reading)
    module = next((s.get("name") for s in reading.symptoms if s.signature == "python.module"), "")
    if module and reading.has("build.isolated"):
        package = next((s.get("package") for s in reading.all("build.package")), "") or _wanted(reading.excerpt)
        yield _in_this_environment(module, package, bool(told_release(reading, module)))


def _in_this_environment(module: str, package: str, is_there: bool) -> Fix:
    """A build beside the module that it wants, which is not installed anew where the text tells its release."""
    tools = "ninja packaging wheel setuptools" if module == "torch" else ""
    before = " ".join(filter(None, ("" if is_there else module, tools)))
    text = f"Build in the environment that has {module}, not in pip's own"
    return Fix(
        text if is_there else f"{text}; install {module} there first",
        "\n".join([*([f"pip install {before}"] if before else []), f"pip install --no-build-isolation {package}"]),
        safe=True,
        check="gpuwhy explain LOG",
    )


TEXT = Text(
    "program.build",
    signatures=(
        error("build.no_visual_c",
              r"could not locate a supported microsoft visual c\+\+|\bcl\.exe (?:was )?not found\b"
              r"|\bcompiler: cl is not found"
              r"|(?:unable|failed|not able) to (?:find|locate) (?:a |any )?(?:visual studio|vcvarsall|msvc"
              r"|visual c\+\+)|no visual studio (?:installation )?(?:was )?found", "microsoft visual c++", "cl.exe",
              "cl is not found", "visual studio", "vcvarsall", "msvc", "visual c++", covers=("python.", "title.")),
        error("matlab.no_compiler", r"no supported compiler was found"
              r"|(?:selected|nvidia cuda) c?\+*\s?compiler[^\n]{0,20} is not supported",
              "no supported compiler was found", "compiler is not supported", "compiler' is not supported", covers=("title.",
            )),
        error("libtorch.unlinked",
              r"torch::cuda::is_available\(\)[^\n]{0,80}(?:prints|returns|is|gives|:|->|=+)\s*(?:0|false)\b",
              "torch::cuda::is_available", covers=("python.runtime", "title.")),
        error("build.host_compiler", r"unsupported (?:gnu|microsoft visual studio|clang) version|gcc versions? (?:later|greater|newer) than"
              r"|#error -- unsupported|only the versions between"
              r"|version of (?:g\+\+|gcc|clang) \([\d.]+\) (?:is|required by)[^\n]{0,30}(?:less|greater|lower|newer)"
              r"|unsupported compiler",
              "unsupported gnu version", "unsupported microsoft", "versions later than", "#error -- unsupported",
              "only the versions between", "version of g++", "version of gcc", "version of clang",
              "unsupported clang"),
        error("build.stl", r"stl1002|unexpected compiler version, expected cuda", "stl1002", "expected cuda", covers=("build.cu_error", "build.packs", "else.")),
        error("build.configure_lacks",
              r"^(?:error: )?(?:cuvid|nvenc|nvdec|ffnvcodec|libnpp|npp|cuda_(?:llvm|nvcc|sdk)) not found\b",
              "cuvid not", "nvenc not", "nvdec not", "ffnvcodec not", "npp not", "cuda_llvm not", "cuda_nvcc not",
              "cuda_sdk not", covers=("title.", "else.", "python.")),
        error("build.needs_cudnn", r"cuda backend requires cudnn", "requires cudnn", covers=("build.failed", "title.cudnn_missing")),
        error("build.standard", r"requires at least c\+\+ ?\d\d|you need (?:a )?c\+\+ ?\d\d(?: compiler)? to compile"
              r"|c\+\+ ?\d\d or later compatible compiler is required", "you need c++", "at least c++",
              "you need a c++",
              "or later compatible compiler"),
        error("build.undefined_reference", r"undefined reference to (?:symbol )?[`'‘]?(?P<symbol>[\w:~<>@ ]+)"
              r"|(?:lld(?:-\d+)?|mold|ld64|lld-link)(?:\.exe)?: error: undefined symbol: (?P<symbol3>\w+)"
              r"|unresolved external symbol (?P<symbol2>\S+)|lnk2019|lnk2001"
              r"|undefined symbols for architecture", "undefined reference", "unresolved external", "lnk2019",
              "lnk2001", "undefined symbols for", ": error: undefined symbol", covers=("loader.undefined_symbol",
                  "else.")),
        error("build.names_option",
              r"requires (?P<flag>--[\w-]+) nvcc flag|(?:flag|option) '(?P<flag2>--[\w-]+)' can be used"
              r"|recompile with (?P<flag3>-f\w+)|add (?P<flag4>-d\w+=[\w.]+) to try",
              "nvcc flag", "can be used", "recompile with -f", "to try configuring", covers=("build.cu_error", "build.host_call", "else.")),
        error("build.no_host_compiler",
              r"no working c\+\+ compiler found in (?P<where>[\w.]{1,80})(?:: (?P<what>[^\n]{1,120}))?",
              "no working c++ compiler", covers=("python.", "torch.", "title.", "build.", "else.")),
        error("build.autoconf", r"configure: error: (?P<what>[^\n]{0,60}(?:cuda|nvcc|nvidia|\blib(?:cu|nv|nccl)\w"
              r"|\bcu(?:blas|dnn|fft|rand|sparse|solver|tensor)|\bnccl)[^\n]*)", "configure: error", covers=("else.",
            "title.", "generic.", "torch.")),
        error("build.nvcc_option", r"nvcc (?:fatal|error) *: unknown option '(?P<flag>-[^']+)'", "unknown option", covers=("build.nvcc_error",)),
        error("build.nvcc_value",
              r"nvcc (?:fatal|error) *: value '(?P<value>[^']+)' is not defined for option '(?P<option>[\w-]+)'",
              "is not defined for option", covers=("build.nvcc_error",)),
        error("build.native",
              r"cuda_architectures is set to \"native\", but no|cannot find valid gpu for '-arch=native'",
              "\"native\", but no", "'-arch=native'", covers=("build.failed", "title.", "build.cmake_compiler")),
        error("build.dialect", r"requires the language dialect \"?cuda(?P<standard>\d\d)", "language dialect", covers=("build.cmake_compiler",)),
        error("build.find_cuda_gone", r"by not providing \"findcuda\.cmake\"", "findcuda.cmake", covers=("build.cmake_find",)),
        error("build.clang_version", r"cuda version[^\n]{0,30} is newer than the latest[^\n]{0,20} supported version (?P<version>[\d.]+)", "is newer than the latest"),
        error("build.nvcc_error", r"nvcc (?:error|fatal) *:? *(?P<what>[^\n]*)|nvlink (?:error|fatal) *:|cudafe\+\+' died|ptxas error|catastrophic error",
              "nvcc error", "nvcc fatal", "nvlink error", "nvlink fatal", "cudafe", "ptxas error", "catastrophic error"),
        error("build.tool", r"\b(?P<tool>ptxas|fatbinary|cuobjdump|nvdisasm|nvprune|bin2c|cicc|cudafe\+\+) (?:[^\n:]{1,120}, line \d+; *)?(?:error|fatal) *: *(?P<what>[^\n]*)",
              "ptxas", "fatbinary", "cuobjdump", "nvdisasm", "nvprune", "bin2c", "cicc", "cudafe++"),
        echo("build.failed", r"ninja: build stopped|error compiling objects|failed building wheel|ld returned \d+ exit status|collect2: error"
             r"|make(?:\[\d+\])?: \*\*\* \[[^\]\n]{0,200}(?:\.(?:o|so|a|cu|c|cc|cpp|ptx|ko)\b|cmakefiles|build|all\b|install|\blib|modules|makefile2|cuda)"
             r"|error: command '?[^\n]*(?:gcc|nvcc|g\+\+|cl|cmake|ninja)[^\n]*failed|configuring incomplete|cmake error at|subprocess-exited-with-error"
             r"|build (?:did not complete|failed)|error building extension|error: aborting due to \d+ previous|error: linking with `",
             "build stopped", "compiling objects", "building wheel", "exit status", "collect2", ": *** [", "error: command", "configuring incomplete",
             "cmake error", "subprocess-exited", "build did not complete", "build failed", "building extension",
             "aborting due to", "linking with `", covers=("windows.error", "else.")),
        error("build.configure", r"tf_cuda_compute_capabilities|tf_unofficial_setting|torch_cuda_arch_list|tf_need_cuda", "tf_cuda_compute_capabilities",
              "tf_unofficial_setting", "tf_need_cuda"),
        error("build.device_link",
              r"ptxas (?:fatal|error) *: unresolved extern (?:function|variable) '(?P<symbol>[^']+)"
              r"|nvlink error *: undefined reference to '(?P<symbol2>[^']+)",
              "unresolved extern", "nvlink error", covers=("build.nvcc_error", "build.undefined_reference", "nvrtc.")),
        error("build.feature",
              r"(?:feature|instruction|modifier) '(?P<what>[^']+)' requires \.target (?P<arch>sm_\w+) or higher",
              "requires .target", covers=("build.nvcc_error",)),
        error("build.host_syntax",
              r"'?__(?:global|device|host)__'? (?:does not name a type|was not declared|undeclared)"
              r"|expected primary-expression before '[<>]' token", "__global__", "__device__", "__host__",
              "primary-expression before", covers=("build.cu_error", "else.", "python.")),
        error("build.host_call",
              r"calling a __host__ (?:__device__ )?function(?:\(\"(?P<symbol>[^\"]{1,120}))?[^\n]{0,200} from a __(?:global"
              r"|device)__ function", "calling a __host__", covers=("build.cu_error", "else.")),
        error("build.arch_list",
              r"arch_list\[-1\] \+= '\+ptx'|unknown cuda arch \((?P<arch>[^)]*)\) or gpu not supported",
              "arch_list[-1]", "unknown cuda arch", covers=("python.",)),
        error("build.cmake_old", r"cmake (?P<needs>[\d.]+) or higher is required\. +you are running version (?P<has>[\d.]+)", "or higher is required", covers=("build.failed",)),
        error("build.cmake_target", r"links to:|target [\w:\"]+ links to target \"?(?P<target>cuda::\w+)"
              r"|the link interface of target[^\n]*contains|^\s+(?P<target2>cuda::\w+)$", "cuda::", covers=("build.failed",
            )),
        error("build.clang", r"cannot find (?:cuda installation|libdevice)[^\n]*--cuda-path", "--cuda-path"),
        error("tf.no_factory", r"no session factory registered", "no session factory registered"),
    ),
    clues=(
        ("build.no_visual_c", 4.6, "the build finds no Visual C++"),
        ("matlab.no_compiler", 4.4, "MATLAB finds no compiler that it and nvcc take"),
        ("libtorch.unlinked", 4.4, "the program is linked without LibTorch's CUDA part"),
        ("said.kernel_compile", 4.2, "the kernel's own source does not compile for the GPU (the message names what)"),
        ("said.build_script", 3.4, "the build itself failed, in its own script"),
        ("said.platform", 1.6, "it was built without that part"),
        ("cuda.invalid_symbol", 3.4, "a variable of the GPU code is not in the program as it was linked, or has another name (error 13)"),
        ("cuda.duplicate_", 3.4, "two parts of the program define the same name"),
        ("cuda.cdp_version_mismatch", 3.6, "parts of the program were compiled for different forms of launches from kernels (error 76)"),
        ("cuda.unsupported_devside_sync", 3.4, "kernels wait for kernels, which this card and CUDA no longer allow (error 223)"),
        ("cuda.function_not_loaded", 2.6, "a kernel's module is not loaded"),
        ("triton.compile", 4.2, "the kernel's own source cannot be compiled: the place and the reason stand below it",
         line(r"at \d+:\d+:\s*$|errors\.(?:compilationerror|unsupportedlanguage\w*): at \d")),
        ("build.stl", 4.6, "the C++ library of this Visual Studio wants a newer CUDA"),
        ("build.needs_cudnn", 4.2, "CMake does not find cuDNN"),
        ("build.other_header", 2.6, "{header} is not found at compile time"),
        ("packages.node_binding", 2.4, "the compiled part of the package was not built"),
        ("tf.no_factory", 4.0, "the program is not linked with TensorFlow's sessions"),
        ("memory.compiler_killed", 2.4, "the compiler was killed"),
        ("build.ext_module", 3.4, "the extension {name} was not built"),
        ("build.cuda_home_colon", 1.8, "CUDA_HOME is set wrongly"),
        ("ext.not_installed", 2.8, "the extension was not built"),
        ("torch.backend_missing", 2.2, "the program is not linked with the CUDA part"),
        ("build.host_compiler", 4.8, "nvcc does not accept this host compiler"),
        ("build.names_option", 5.0, "the compiler names the option that is missing: {flag}"),
        ("build.no_host_compiler", 4.2, "no C++ compiler is where {where} looks"),
        ("build.autoconf", 5.0, "configure stops: {what}"),
        ("build.nvcc_option", 4.6, "nvcc does not know the option {flag}: it is the host compiler's, or a newer nvcc's"),
        ("build.nvcc_value", 4.6, "this CUDA does not know {value} for --{option}"),
        ("build.native", 5.2, "the build asks the GPU for its architecture (native), and there is none on this machine"),
        ("build.dialect", 4.6, "this nvcc does not know the C++ that the project asks for (C++{standard})"),
        ("build.find_cuda_gone", 4.6, "this CMake no longer has find_package(CUDA)"),
        ("build.clang_version", 4.8, "this clang knows CUDA up to {version} only"),
        ("build.undefined_reference", 4.6, "undefined reference: the linker does not find {symbol}"),
        ("build.header", 3.4, "{header} is not found at compile time"),
        ("build.python_header", 4.6, "Python's headers are not installed"),
        ("build.packs", 2.9, "the compiler and the CUDA headers do not fit", no(in_a_package)),
        ("build.cu_error", 3.6, "the compiler stops: {what}", no(any_of(line(r"nvrtc_builtin"), in_a_package))),
        ("build.cu_error", 1.6, "the compiler stops in a header of an installed package: {what}", in_a_package),
        ("build.nvcc_error", 3.4, "nvcc stops: {what}"),
        ("build.tool", 3.4, "{tool} refuses its input or an option: {what}", no(at_run_time)),
        ("nvrtc.arch", 3.4, "nvcc does not know {arch}", line("nvcc")),
        ("build.standard", 4.2, "the compiler is told an older C++ than the headers need"),
        ("build.ptx_target", 3.8, "the code uses {instruction}, which {arch} does not have"),
        ("build.ptx_isa", 2.4, "the code needs PTX {needs}"),
        ("build.plugin", 3.4, "the program's own CUDA kernels did not compile"),
        ("build.nvcc_arch", 4.2, "nvcc does not know {arch}"),
        ("build.cmake_compiler", 3.1, "CMake does not find a working CUDA compiler"),
        ("build.cmake_find", 3.2, "CMake does not find {what}"),
        ("build.configure_lacks", 3.8, "configure does not find the headers or libraries that it is told to build with"),
        ("build.bazel", 4.2, "the build's configuration does not find CUDA"),
        ("build.cannot_find_l", 3.0, "the linker does not find {library}"),
        ("build.configure", 3.6, "the build's CUDA settings are in play"),
        ("build.gcc_new", 2.8, "the C++ ABI flag is in play"),
        ("build.msvc", 3.2, "the Microsoft compiler is not found"),
        ("build.missing_tool", 3.2, "a build tool is not there"),
        ("build.cuda_home", 2.3, "CUDA_HOME names no toolkit"),
        ("build.nvcc_missing", 2.2, "nvcc is not found"),
        ("build.failed", 2.4, "a build failed"),
        ("build.device_link", 4.8, "device code of another file is called, and each file was compiled alone: {symbol}"),
        ("build.feature", 4.6, "the code uses {what}, which needs {arch} or newer, and is compiled for an older GPU"),
        ("build.host_syntax", 4.6, "CUDA code was given to the C++ compiler instead of nvcc"),
        ("build.host_call", 4.8, "a kernel calls a function that exists for the CPU only: {symbol}"),
        ("build.arch_list", 5.4, "the build does not know for which GPU to compile: TORCH_CUDA_ARCH_LIST is not set and there is no GPU to ask"),
        ("torch.no_runtime", 5.4, "the build asks the GPU for which architecture to compile, and there is none: TORCH_CUDA_ARCH_LIST is not set", with_("build.arch_list")),
        ("build.cmake_old", 4.6, "the project needs CMake {needs}, and {has} is installed"),
        ("build.cmake_target", 4.0, "CMake's CUDA toolkit lacks {target}"),
        ("build.clang", 4.4, "clang does not find the CUDA toolkit"),
        ("python.module", 5.2, "the build imports {name}, and pip builds in an environment of its own that has none", _ISOLATED),
        ("build.damaged", 2.6, "the linker refuses {library}"),
        ("kernel.dkms", 1.8, "a module build failed"),
        ("opencv.no_cuda", 1.8, "the library was built without CUDA"),
        ("tf.ignored_gpu", 1.8, "the own build was made for {needs}"),
        ("loader.undefined_symbol", 1.4, "the own build lacks {symbol}", field("symbol", "_Z")),
        ("torch.cuda_mismatch", 1.6, "an extension is being built"),
        ("triton.source", 4.0, "Triton's compiler refuses the source of a kernel, at the line that it quotes"),
        ("nvrtc.compilation", 2.6, "NVRTC could not compile the program", no(in_a_package)),
        ("launch.shared", 1.8, "the compiler refuses the kernel", line("ptxas|error")),
        ("launch.parameters", 2.6, "the compiler refuses the kernel"),
        ("cuda.invalid_ptx", 3.6, "the program's own PTX does not compile (error 218)", own_module),
        ("cuda.not_found", 3.6, "the program's own module has no function of that name (error 500)", own_module),
        ("cuda.invalid_image", 2.8, "the program's own module is not code for a GPU (error 200)", own_module),
        ("cuda.file_not_found", 3.2, "the program's own module is not at that path (error 301)", own_module),
        ("limit.preprocess", 3.4, "nvcc could not run its host compiler, which is not there", whole(r"(?:\+\+|cc|clang)(?:-\d[\d.]{0,8})?['\"]?: (?:no such file|(?:command )?not found)")),
        ("limit.preprocess", 2.4, "nvcc could not run its host compiler"),
        ("title.trouble", 1.6, "the text says that a build fails", said_of(r"compil|\bbuild|nvcc|cmake")),
        ("title.trouble", 1.0, "the text says that a build fails", all_of(nothing_else, with_("build.here", "build.failed", "told.nvcc"))),
        ("curand.version_mismatch", 2.2),
    ),
    remedies=(
        meant("CuPy: install CUDA's headers, which NVRTC reads, as wheels (CuPy 14 and newer), for CUDA 12; for 13: cupy-cuda13x",
              'pip install --upgrade "cupy-cuda12x[ctk]"', said="nvrtc.", by="cupy", safe=True),
        meant("Or conda's", "conda install -c conda-forge cupy cuda-cudart-dev", said="nvrtc.", by="cupy", safe=True),
        meant("Compile so that files may call each other's device code", "nvcc -rdc=true *.cu -o PROGRAM", said="build.device_link", safe=True),
        meant("Add every file or library that defines {symbol} to that command line", said="build.device_link"),
        meant("CMake: set_target_properties(TARGET PROPERTIES CUDA_SEPARABLE_COMPILATION ON)", said="build.device_link"),
        meant("Compile for {arch} or newer, if the GPU is one", "nvcc -arch={arch} FILE.cu", said="build.feature", safe=True),
        meant("Or leave {what} out for older GPUs: #if __CUDA_ARCH__ >= 900", said="build.feature"),
        meant("Compile it with nvcc: rename the file to .cu, or mark it as CUDA (-x cu)", "nvcc -x cu -c FILE.cpp", said="build.host_syntax", safe=True),
        meant("CMake: set_source_files_properties(FILE.cpp PROPERTIES LANGUAGE CUDA), with CUDA among the languages of project()", said="build.host_syntax"),
        meant("Mark the function __device__ if it is yours, or use one that CUDA has: std:: classes and streams do not run in a kernel (cuda::std:: has many of them)",
              said="build.host_call"),
        meant("For constexpr functions", "nvcc --expt-relaxed-constexpr FILE.cu", said="build.host_call", safe=True),
        meant("Set the compute capability to compile for, for example 8.6", "export TORCH_CUDA_ARCH_LIST=8.6", said="build.arch_list torch.no_runtime", safe=True),
        meant("Install a newer CMake beside the system's", "pip install --upgrade cmake", said="build.cmake_old", safe=True),
        meant("Install the part of the CUDA toolkit that has it (cuBLAS, cuFFT and others are packages of their own)",
              on.linux("sudo apt install nvidia-cuda-toolkit"), said="build.cmake_target", root=True),
        meant("Give clang the toolkit's folder (--cuda-path)", on.linux("clang++ --cuda-path=/usr/local/cuda --cuda-gpu-arch=sm_86 FILE.cu -L/usr/local/cuda/lib64 -lcudart"),
              said="build.clang", safe=True),
        meant("Use the newest host compiler that this nvcc accepts", on.linux("sudo apt install g++-{gcc}\nexport NVCC_PREPEND_FLAGS='-ccbin g++-{gcc}'    # or nvcc -ccbin g++-{gcc}"),
              said="build.host_compiler", line=_GCC, root=True),
        meant("Or, without root, conda's", on.linux("conda install -c conda-forge gxx={gcc}\nexport NVCC_PREPEND_FLAGS=\"-ccbin $CONDA_PREFIX/bin/g++\""),
              said="build.host_compiler", line=_GCC, safe=True),
        meant("Or install a newer CUDA toolkit, which accepts newer compilers", said="build.host_compiler"),
        meant(on.in_windows("install the older Visual Studio build tools that this CUDA accepts, beside the others"), said="build.host_compiler", line="visual studio"),
        meant("Leave that architecture out: set only those that this nvcc knows",
              "nvcc --list-gpu-arch\nexport TORCH_CUDA_ARCH_LIST=8.6", said="build.nvcc_arch nvrtc.arch", safe=True),
        meant("Or, where the GPU itself is of that architecture, install a newer CUDA toolkit", said="build.nvcc_arch nvrtc.arch"),
        meant("Install Python's headers", on.linux("sudo apt install python3-dev"), said="build.python_header", root=True),
        meant("Ask for a newer C++", "export CXXFLAGS=-std=c++17 NVCC_APPEND_FLAGS=-std=c++17", said="build.standard", safe=True),
        meant("Compile for the GPU's own architecture", "export TORCH_CUDA_ARCH_LIST=8.6", said="build.ptx_target build.configure", safe=True),
        meant("Tell configure where the CUDA toolkit is (./configure --help names its options)", on.linux("export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH CPPFLAGS=-I/usr/local/cuda/include LDFLAGS=-L/usr/local/cuda/lib64\n./configure --with-cuda=/usr/local/cuda"),
              said="build.autoconf", safe=True),
        meant("Install the build tools", on.linux("sudo apt install build-essential ninja-build cmake"), said="build.missing_tool", root=True),
        meant(on.in_windows("install Visual Studio's C++ build tools, where they are not there, and build in their x64 Native Tools prompt: it puts cl.exe on PATH"),
              BUILD_TOOLS, said="build.msvc", more=True),
        meant(on.in_windows("install Visual Studio's C++ build tools, where they are not there, and build in their x64 Native Tools prompt: it puts cl.exe on PATH"),
              BUILD_TOOLS, said="build.nvcc_error", line=r"cl\.exe"),
        meant(on.in_windows("MATLAB takes the Visual Studio of its own time, with its C++ workload (R2020b to R2022a: 2019; R2022b and newer: 2022; never MinGW for mexcuda), and the CUDA toolkit that gpuDevice names as ToolkitVersion: install both, then choose the compiler in MATLAB"),
              on.code("mex -setup C++; gpuDevice().ToolkitVersion; mexcuda -v FILE.cu"), said="matlab.no_compiler"),
        meant(on.in_windows("the compiler alone, by its build tools (for MATLAB before R2022b take Microsoft.VisualStudio.2019.BuildTools)"),
              BUILD_TOOLS, said="matlab.no_compiler"),
        meant("Compile with fewer jobs at once: the compiler was killed for memory", "export MAX_JOBS=2", said="memory.compiler_killed", safe=True),
        meant("Build the extension under the installed PyTorch",
              "pip install --no-build-isolation --no-cache-dir --force-reinstall EXTENSION", said="build.ext_module ext.not_installed",
              safe=True),
        meant("Compare the CUDA that the project is written for (its README) with the one that compiles", "nvcc --version", said="build.cu_error build.packs", look=True),
        meant("Read the first error, not the last: it names the file and the line that the compiler does not accept", said="build.cu_error build.packs"),
        *CUDA_HOME,
        meant("Build in an image that has nvcc and CUDA's headers, one called devel; slim, base and runtime images have none",
              on.dockerfile("FROM nvidia/cuda:12.4.1-devel-ubuntu22.04    # or pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel"),
              by="image", safe=True),
        meant("Or install a ready-made wheel for this PyTorch, CUDA and Python, from the project's release page", by="image", safe=True),
        meant(on.in_windows("set CUDA_HOME to the folder of one CUDA toolkit, and leave only its bin folder on PATH where several nvcc.exe are found (where nvcc)"),
              on.cmd(r'set "CUDA_HOME=%CUDA_PATH%"'), safe=True),
        meant("Set CUDA_HOME to the folder of the CUDA toolkit", on.linux("export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH"), safe=True, unless="image"),
        meant("Set the compute capability to compile for, for example 8.6", "export TORCH_CUDA_ARCH_LIST=8.6", by="torch", safe=True, unless="linker"),
        meant(on.in_windows("build in the x64 Native Tools prompt of Visual Studio")),
    ),
    rather=fixes,
    named=_named,
)  # fmt: skip
