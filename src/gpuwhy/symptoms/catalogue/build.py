"""Builds: nvcc, CMake, gcc, the linkers of Linux and Windows, Bazel's configure, torch's cpp_extension."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, error

SIGNATURES: tuple[Signature, ...] = (
    error("build.nvcc_arch", r"nvcc (?:fatal|error)[ :]+unsupported gpu architecture '?(?P<arch>\w+)|unsupported gpu architecture '?(?P<arch2>\w+)",
          "unsupported gpu architecture", covers=("build.nvcc_error",)),
    error("build.ptx_target", r"instruction '(?P<instruction>[\w.:]+)[^'\n]*' not supported on \.target '?(?P<arch>sm_\w+)", "not supported on .target",
          covers=("build.nvcc_error",)),
    error("build.ptx_isa", r"(?:modifier|feature|instruction)[^\n]{0,60} requires ptx isa \.version (?P<needs>[\d.]+)", "requires ptx isa",
          covers=("build.nvcc_error",)),
    error("build.nvcc_missing", r"nvcc[`'\"]?:? (?:(?:command )?not found|no such file or directory)|'?nvcc(?:\.exe)?'? is not recognized|no such file or directory:? '?[^'\n]*nvcc"
          r"|(?:could not|cannot|failed to|unable to|can't) (?:find|locate|run|execute)[^\n]{0,30}nvcc|nvcc (?:was |could )?not (?:be )?found"
          r"|command 'nvcc' not found|nvcc'? failed: no such file|no nvcc|ptxas: (?:command )?not found|no such file or directory: '?ptxas",
          "nvcc", "ptxas"),
    error("build.cuda_home", r"cuda_home environment variable is not set|cuda_home (?:is )?(?:not set|does not exist)|please set (?:it to your cuda|cuda_home)"
          r"|cuda_(?:path|home|root)[^\n]{0,30}(?:not set|not defined|undefined|is not|doesn't exist|not found)|environment variable cuda_path",
          "cuda_home", "cuda_path", "cuda_root"),
    error("build.cuda_home_colon", r"(?:^|[\s'\"])(?P<path>:/[\w./-]*cuda[\w./-]*/bin/nvcc)", "/bin/nvcc", covers=("build.nvcc_missing",)),
    error("build.ext_module",
          r"no module named '?(?P<name>[\w.]*(?:_cuda|_ext|\._c|\.ext|_kernels?|_backend|deform\w*|quant_cuda|amp_c"
          r"|apex_c|awq_ext|exllama\w*|marlin\w*|fused_\w+|nvdiffrast\w*|_gpu|_plugin|[gc]pu_nms|_rasterization"
          r"|simple_knn))\b|cannot import name '?(?P<name2>_c|_ext|\w*_cuda\w*|\w*_kernels)'? from"
          r"|name '(?P<name3>\w*(?:_cuda|_ext|_kernel)\w*)' is not defined", "no module named", "cannot import name",
          "is not defined",
          covers=("python.module", "python.import_name", "python.exception", "packages.partial")),
    error("build.plugin",
          r"failed to build cuda kernels for|setting up (?:pytorch|tensorflow) plugin \"?\w+\.?\w*\"?\.{3} ?failed",
          "failed to build cuda kernels", "setting up pytorch plugin", "setting up tensorflow plugin"),
    error("build.cmake_compiler", r"no cmake_cuda_compiler could be found|the cuda compiler identification is unknown|failed to detect a default cuda"
          r"|cmake_cuda_architectures must be|cuda_architectures is empty|failed to compile a simple cuda"
          r"|cuda compiler[^\n]*(?:is not able|broken)|compiler for language cuda|no cuda toolset found"
          r"|requires the language dialect \"?cuda",
          "cmake_cuda_compiler", "compiler identification is unknown", "default cuda", "cmake_cuda_architectures", "cuda_architectures", "cuda compiler", "language cuda",
          "cuda toolset", "language dialect", "compile a simple cuda"),
    error("build.cmake_find", r"could not find (?:a )?package (?:configuration file )?[^\n]{0,30}(?P<what>cudnn|cudatoolkit|cuda|tensorrt|nccl|cublas|torch)"
          r"|could not find (?P<what2>cudatoolkit|cuda|cudnn|nccl)(?! drivers)\b|cuda_toolkit_root_dir not found|\(missing: [^\n)]*(?P<what3>cuda|cudnn|nccl)"
          r"|specify cuda_toolkit_root_dir|cannot find the cuda libraries|failed to find cuda"
          r"|but the target was not found|cuda_cudart_library[^\n]*notfound|cuda_cublas\w*library"
          r"|cudnn_[^\n]*notfound",
          "could not find", "cuda_toolkit_root_dir", "but the target was not found", "(missing:", "notfound", "cuda_cublas", "failed to find cuda", "cannot find the cuda"),
    error("build.bazel", r"cuda configuration error|auto-configuration error|find_cuda_config\.py|cuda_configure\.bzl|could not find any (?P<what>\w+\.\w+)[^\n]* matching version"
          r"|cannot find cuda library|inconsistent cuda toolkit|error in configuring|invalid path to cuda|(?:repository|package) '?@?local_config_cuda"
          r"|undeclared inclusion\(s\) in rule|missing dependency declarations|(?:compilation|linking) of rule '[^'\n]*' failed|target //\S+ failed to build",
          "undeclared inclusion", "missing dependency declarations", "' failed", "failed to build",
          "cuda configuration error", "auto-configuration error", "find_cuda_config", "cuda_configure",
          "could not find any", "cannot find cuda library", "inconsistent cuda", "local_config_cuda",
          "invalid path to cuda"),
    error("build.header", r"(?:fatal error|error c1083)[: ][^\n]*?(?P<header>(?:cuda|cudnn|cublas|cusparse|cusolver|curand|cufft|nccl|nvml|nvtoolsext|"
          r"thrust|cub|nv|cooperative)[\w/]*\.(?:h|hpp|cuh))[^\n]*(?:no such file|not found|cannot open)|cannot open include file: '(?P<header2>cu\w+\.h)",
          "no such file or directory", "file not found", "cannot open include file", covers=("build.other_header",)),
    error("build.damaged", r"(?P<library>[\w./+-]*\.(?:so|a|o|lib)(?:\.\d+)*): file not recognized: file (?:truncated|format not recognized)", "file not recognized",
          covers=("packages.damaged_words",)),
    error("build.other_header", r"(?P<header>[\w/.+-]+\.(?:h|hpp|cuh)): no such file or directory"
          r"|fatal error: '(?P<header2>[\w/.+-]+\.(?:h|hpp|cuh))' file not found"
          r"|fatal error: (?P<header3>[\w/.+-]+): no such file or directory", "fatal error: ", ".h: no such file",
          "' file not found", ".hpp: no such file", ".cuh: no such file"),
    error("build.python_header", r"fatal error: '?python\.h|python\.h: no such file", "python.h", covers=("build.other_header",)),
    error("build.cannot_find_l", r"(?:cannot find|unable to find library|library not found for) -l(?P<library>\w+)"
          r"|mold: fatal: library not found: (?P<library4>\w+)|lnk1181[^\n]*'(?P<library2>[\w.]+)'"
          r"|lnk1104[^\n]*'(?P<library3>[\w.]+)'",
          "cannot find -l", "find library -l", "library not found", "lnk1181", "lnk1104", covers=("else.",)),
    error("build.cu_error", r"\.(?:cu|cuh|cuh?\.h|cpp|cc|h|hpp)[:(]\d+(?:[:,]\d+)?\)?:? (?:fatal )?error(?: ?[#c]?\w*)?: (?!\(-\d+:)(?P<what>[^\n]*)",
          "error: ", "error #", "error c"),
    error("build.packs", r"more than one (?:operator|instance)[^\n]{0,60}matches|parameter packs not expanded"
          r"|identifier \"?__builtin|std_function\.h|identifier \"?\w+\"? is undefined|has no member"
          r"|no instance of (?:overloaded )?function|was not declared in this scope|no matching function for call",
          "parameter packs", "more than one ", "std_function.h", "is undefined", "has no member", "no instance of", "not declared in this scope", "no matching function"),
    error("build.gcc_new", r"glibcxx_use_cxx11_abi|-d_glibcxx", "glibcxx_use_cxx11"),
    error("build.msvc", r"microsoft visual c\+\+ \d+(?:\.\d+)? (?:or greater )?is required|unable to find vcvarsall|cl(?:\.exe)?'? (?:is not recognized|not found)"
          r"|cannot find compiler 'cl\.exe'|error checking compiler version for cl|buildcustomizations\\cuda [\d.]+\.(?:props|targets)\"? was not found",
          "buildcustomizations", "microsoft visual c++", "vcvarsall", "'cl.exe'", "cl.exe", "version for cl", "'cl'"),
    error("build.missing_tool",
          r"(?:(?:collect2|gcc|g\+\+|cc|c\+\+|clang)[^\n]{0,20}: (?:fatal )?error: (?:cannot (?:find|exec(?:ute)?)"
          r"|unable to execute)|ninja is required|ninja: not found|no such file or directory: 'ninja'"
          r"|cmake: (?:command )?not found|gcc: (?:command )?not found"
          r"|g\+\+: (?:command )?not found|make: command not found|unable to execute '?gcc)",
          "collect2: ", "gcc: ", "ninja is required", "ninja: not found", "'ninja'", "cmake: ", "gcc: ", "g++: ", "make: command", "execute 'gcc", "execute gcc"),
    context("build.package", r"\b(?:collecting|building wheels? for(?: collected packages:)?|failed to build"
            r"|pip3? install(?: -[\w-]{1,40}){0,4}) [`'\"]?(?P<package>flash[-_]attn|xformers|apex"
            r"|deepspeed|detectron2|mmcv|torch[-_](?:scatter|sparse|cluster|spline[-_]conv)|pytorch3d|causal[-_]conv1d|mamba[-_]ssm|auto[-_]gptq|nvdiffrast|transformer[-_]engine"
            r"|natten|gsplat|grouped[-_]gemm|vllm|tinycudann)\b", "collecting ", "building wheel", "failed to build", "pip install ", "pip3 install "),
    context("build.isolated", r"pip-build-env|get_requires_for_build_wheel|getting requirements to build wheel|prepare_metadata_for_build|preparing metadata \(pyproject\.toml\)"
            r"|preparing metadata \(setup\.py\) \.\.\. error|setup\.py egg_info did not run"
            r"|[\\\\/]pip-install-\w+[\\\\/]|originates from a subprocess|/builds-v\d/|build-isolation"
            r"|failed to build `?[\w-]+|build backend (?:failed|returned)",
            "pip-build-env", "egg_info did", "pip-install-", "for_build_wheel", "to build wheel", "metadata_for_build",
            "preparing metadata", "from a subprocess", "/builds-v", "build-isolation", "failed to build",
            "build backend"),
    context("build.here", r"^\s*(?:--|\[ *\d+%\]|building nvcc|running build_ext|building '|/usr/bin/(?:nvcc|gcc|g\+\+)|bazel build|cmake )",
            "building nvcc", "build_ext", "bazel build", "cmake ", "%] building"),
)  # fmt: skip
