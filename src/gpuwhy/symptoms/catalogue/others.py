"""CuPy, Numba, Triton, PyCUDA, bitsandbytes, CTranslate2, DeepSpeed, OpenCV, PaddlePaddle, llama.cpp and friends."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, echo, error

SIGNATURES: tuple[Signature, ...] = (
    error(
        "cupy.load_failed",
        r"cupy failed to load (?P<library>[\w.-]+\.(?:so(?:\.\d+)*|dll))",
        "cupy failed to load",
        covers=("loader.cannot_open", "loader.asked"),
    ),
    echo("cupy.not_installed", r"cupy is not correctly installed", "cupy is not correctly installed"),
    error("cupy.no_cuda_path", r"cuda path could not be detected|failed to auto-detect cuda root", "cuda path could not be detected",
          "auto-detect cuda root"),
    error("nvrtc.headers", r"cannot open source file ['\"]?(?P<header>cuda\w*\.h|\w*fp16\w*\.h|vector_types\.h|cstdint|cuda/\w+)",
          "cannot open source file"),
    error("nvrtc.temp", r"cannot open source file \"[^\"]*(?:temp|tmp)[^\"]*\.cu\"", "cannot open source file", covers=("build.nvcc_error",)),
    error(
        "nvrtc.arch",
        r"invalid value for --gpu-architecture|(?:value|option) '?(?P<arch>(?:sm|compute)_\d+\w?)'? is not"
        r" (?:defined|supported)(?: for option)?|'(?P<arch2>sm_\d+\w?)' is not a recognized processor",
        "--gpu-architecture", "is not defined for option", "is not supported for option", "is not a recognized processor",
    ),
    error(
        "nvrtc.builtins",
        r"(?:failed to open|cannot open|could not (?:find|load)|unable to open)[^\n]*?(?P<library>(?:lib)?nvrtc-builtins[\w.-]*\w)"
        r"|nvrtc[^\n]{0,20}failed to load (?P<library2>builtins)",
        "nvrtc-builtins", "failed to load builtins",
        covers=("loader.cannot_open", "loader.find_failed"),
    ),
    error("numba.no_driver", r"cuda driver library cannot be found|possible cuda driver libraries are found but",
          "cuda driver library cannot be found", "cuda driver libraries are found but"),
    error("numba.nvvm_ir", r"nvvm_error_(?:invalid_ir|ir_version_mismatch)|<unnamed> \(\d+, ?\d+\): parse",
          "nvvm_error_i", "<unnamed> (", covers=("python.", "refused.", "title.", "said.kernel_compile")),
    error("numba.nvvm", r"libnvvm cannot be found|nvvmsupporterror|(?:could not find|no)[^\n]{0,30}nvvm(?:\.dll|\.so)",
          "libnvvm", "nvvmsupporterror", "nvvm.dll", "libnvvm.so"),
    error("numba.unsupported_ptx", r"unsupported \.version (?P<ptx>[\d.]+); current version is '?(?P<knows>[\d.]+)",
          "unsupported .version"),
    error("numba.versions", r"error getting driver and runtime versions", "driver and runtime versions"),
    context("numba.init", r"error at driver init|call to cuinit results in", "error at driver init", "cuinit results in"),
    error("triton.source", r"triton[\w.]*\.compilationerror: (?:at )?\(?\d{1,6}[:,] ?\d{1,6}\)?:|triton[\w.]*\.(?:unsupportedlanguageconstruct|compiletimeassertionfailure)",
          "compilationerror: ", "unsupportedlanguageconstruct", "compiletimeassertionfailure", covers=("triton.compile",)),
    error("triton.compile", r"triton[\w.]*\.compilationerror|failures have been detected while processing an mlir pass"
          r"|passmanager::run failed|unexpected mma|/lib/(?:analysis|dialect|conversion|target)/[\w/]+\.cpp:\d+",
          "compilationerror", "processing an mlir pass", "passmanager::run", "unexpected mma", "/lib/analysis", "/lib/dialect", "/lib/conversion", "/lib/target"),
    error("triton.libcuda", r"libcuda\.so cannot (?:be )?found|libcuda\.so (?:is )?not (?:in )?found", "libcuda.so cannot",
          "libcuda.so not found", "libcuda.so is not"),
    error("triton.shared", r"out of resources?: (?P<what>shared memory|registers?|threads)", "out of resource", covers=("memory.shm", "cuda.")),
    error("loader.pathfinder", r"dynamiclibnotfounderror: failure finding \"(?P<library>lib[\w.+-]+)", "dynamiclibnotfounderror", covers=("title.trouble",)),
    error("triton.no_driver", r"0 active drivers \(\[\]\)", "0 active drivers"),
    context("triton.here", r"\btriton[/.]|torchinductor|inductor", "triton/", "triton.", "inductor"),
    error(
        "bnb.compiled",
        r"bitsandbytes was compiled without gpu support|libbitsandbytes_cpu\.so|none of the available devices",
        "compiled without gpu support", "libbitsandbytes_cpu", "none of the available devices",
        covers=("tf.built_cpu", "generic.cpu_build", "opencv.no_cuda"),
    ),
    error("torch.backend_missing", r"with arguments from the '?cuda'? backend", "with arguments from the"),
    error("ext.not_installed", r"cuda extension not installed|could not (?:find|import) the \w*kernels|cuda kernels? (?:are|is) not (?:available|installed|compiled)",
          "cuda extension not installed", "_kernels", "cuda kernel"),
    error("generic.no_compatible",
          r"no (?:compatible|suitable|supported|visible|usable) (?:cuda |nvidia )?(?:gpu|device)s?"
          r"|no cuda[- ](?:enabled|capable) (?:gpu|device|card)s?|requires cuda, which is not available"
          r"|no (?:cuda|nvidia)(?: gpu)? devices? (?:is |are )?(?:visible|found|detected|available|present)",
          "no compatible", "no cuda-enabled", "no cuda-capable", "no cuda enabled", "requires cuda, which",
          "no cuda device", "no nvidia device", "no nvidia gpu device", "no suitable", "no supported",
          "no visible gpu", "no usable"),
    error("generic.cpu_used", r"fp16 is not supported on cpu|no supported gpu backend found|library=cpu\b"
          r"|using cpu\b[^\n]{0,30}(?:slow|instead|because)|running on cpu\b", "not supported on cpu",
          "supported gpu backend", "library=cpu", "using cpu", "running on cpu"),
    error("hashcat.toolkit", r"cuda sdk toolkit not installed|rtc library not found", "sdk toolkit not installed", "rtc library"),
    echo("chainer.setup", r"cuda environment is not correctly set up", "not correctly set up"),
    error("bnb.no_version", r"libbitsandbytes_cuda(?P<cuda>\d+)\w*\.(?:so|dll)[^\n]*(?:not found|no such|could not)"
          r"|(?:not found|could not find)[^\n]*libbitsandbytes_cuda|required library version not found",
          "libbitsandbytes_cuda", "required library version not found"),
    error("bnb.setup", r"cuda setup failed despite|no libcudart\.so found|did not contain \[?'?libcudart\.so"
          r"|libcudart\.so not found in any", "cuda setup failed", "no libcudart.so found", "did not contain", "libcudart.so not found"),
    error("ct2.not_found", r"library (?P<library>(?:lib)?cu\w+[\w.-]*\.(?:so(?:\.\d+)*|dll)) is not found or cannot be loaded"
          r"|library (?P<library2>(?:lib)?cu\w+[\w.-]*\.(?:so(?:\.\d+)*|dll)) is not found",
          "is not found", covers=("loader.asked", "windows.dll_not_found")),
    error(
        "opencv.no_cuda",
        r"(?:not |without )(?:built|compiled) with(?:out)? cuda|compiled without cuda support|no cuda support"
        r"|getcudaenableddevicecount[^\n]*(?:returns? 0|\b0\b|\(\))",
        "built with cuda", "compiled with cuda", "without cuda", "no cuda support", "cudaenableddevicecount",
    ),
    error("generic.cpu_build", r"(?:not|n't|without)(?: been)? (?:built|compiled|linked|enabled|cuda|gpu)[^\n]{0,30}(?:cuda|gpu|support|build)"
          r"|no (?:gpu|cuda) support|will not use cuda|not integrated in this build|implementation for device cuda(?::\d+)? not found"
          r"|device api (?:gpu|cuda) is not enabled|install the (?:cuda|gpu) version"
          r"|cpu (?:version|build|only)[^\n]{0,20}(?:n't|not) support (?:cuda|gpu)|is not implemented for gpu"
          r"|recompile with (?:the )?(?:cmake (?:option|flag) )?-?d?\w*(?:cuda|gpu)|(?:re)?install \w+ with (?:the )?(?:cuda|gpu)\b"
          r"|\b(?:was|is|has|have|got|installed) (?:only )?(?:the |a )?cpu(?:[- ]only)? (?:version|build|wheel|variant)"
          r"|\b(?:gpu|cuda|kokkos|nvenc|cudnn)(?: \w+)? (?:package|support|backend|module|plugin|platform"
          r"|tree learner|feature|solver"
          r"|device)s?\b[^\n]{0,20}\b(?:not (?:installed|enabled|built|compiled|included|linked)"
          r"|missing from this build)|without (?:the )?(?:gpu|cuda|kokkos) package"
          r"|unknown (?:en|de)coder \W?\w+_(?:nvenc|cuvid|cuda)\b|\bnot a cuda build"
          r"|is a (?:multicore|cpu|serial|non-cuda)(?:-only)? build|built without (?:\w+_)?(?:cuda|gpu|cublas)\b"
          r"|::cuda (?:is )?not enabled|no cuda (?:backend|kernels?) (?:compiled|built)"
          r"|has no attribute '(?:standardgpuresources|index_cpu_to_\w*gpu\w*|gpuindex\w*)'",
          "package", "backend", "module", "plugin", "platform", "learner", "feature", "solver", "device",
          "missing from this", "unknown encoder", "unknown decoder", "not a cuda", "is a multicore", "is a cpu",
          "is a serial", "is a non-cuda", "built without", "::cuda", "no cuda ",
          "without cuda", "without gpu", "not compiled with", "not built with", "no gpu support", "not been built with",
          "n't compiled with", "wasn't built with", "not linked with", "not enabled in this build", "no cuda support",
          "will not use cuda", "not integrated in this build", "implementation for device cuda", "device api",
          "install the cuda version", "install the gpu version", "not support cuda", "not support gpu",
          "n't support cuda", "n't support gpu", "not implemented for gpu", "gpuresources'", "index_cpu_to",
          "attribute 'gpuindex", "recompile with", "cpu version", "cpu build", "cpu wheel", "cpu-only", "cpu only",
          "with cuda", "with the cuda", "with gpu", "with the gpu", covers=("python.attribute",)),
    error("xla.old_driver",
          r"driver'?s? (?:cuda )?version (?:is )?(?P<has>[\d.]+),? which is older than the (?P<what>[\w ]+?) version \(?(?P<needs>[\d.]+)",
          "which is older than the", covers=("said.",)),
    error("paddle.cpu", r"(?:not compiled with cuda|cannot use gpu because you have installed cpu version|paddlepaddle cpu version)",
          "not compiled with cuda", "installed cpu version"),
    error("julia.runtime",
          r"cuda\.jl could not find an appropriate cuda runtime|jlls were precompiled without an nvidia driver",
          "appropriate cuda runtime", "precompiled without an nvidia driver"),
    error("llama.backend_dll",
          r"load_backend: failed to load [^\n]*?(?P<library>ggml-cuda\.dll)|(?P<library2>ggml-cuda\.dll) found but",
          "ggml-cuda.dll", covers=("title.trouble",)),
    context("llama.here", r"\b(?:ggml_|llm_load|llama_|llama\.cpp)", "ggml_", "llm_load", "llama_", "llama.cpp"),
    error("llama.init", r"(?:ggml_cuda_init|unable to init gpu|failed to initialize cuda|ggml_init_cublas)[^\n]*"
          r"(?P<what>unknown error|no cuda-capable|failed|insufficient)", "ggml_cuda_init", "unable to init gpu", "ggml_init_cublas"),
    error("tensorrt.library",
          r"could not initiali[sz]e (?P<what>cublas\w*|cudnn|cusparse|cusolver)\b[^\n]{0,20}check (?:your "
          r"|the )?cuda", "could not initialize cu", "could not initialise cu", covers=("title.",)),
    error("tensorrt.mismatch", r"(?:engine plan file|serialized engine|version tag)[^\n]*(?:not compatible|does not match)"
          r"|serialization (?:error|assertion)[^\n]*version", "engine plan file", "version tag", "serialization assertion"),
)  # fmt: skip
