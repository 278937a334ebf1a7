"""PyTorch: its own errors and warnings (the CUDA words it quotes are in codes.py, memory in memory.py)."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, echo, error, harmless, told

SIGNATURES: tuple[Signature, ...] = (
    error("torch.no_driver", r"found no nvidia driver on your system", "found no nvidia driver"),
    error("torch.driver_init", r"cuda driver initialization failed", "cuda driver initialization failed"),
    error("torch.no_gpus", r"no cuda gpus are available", "no cuda gpus are available"),
    error(
        "torch.unknown_init",
        r"cuda unknown error - this may be due to an incorrectly set up environment",
        "incorrectly set up environment",
        covers=("cuda.",),
    ),
    context("torch.device_count", r"unexpected error from cudagetdevicecount", "error from cudagetdevicecount"),
    error("torch.cpu_build", r"torch not (?:compiled|linked) with cuda enabled|pytorch (?:was )?(?:not )?compiled without cuda",
          "not compiled with cuda enabled", "not linked with cuda enabled", "compiled without cuda"),
    told(
        "told.cpu_torch",
        r"\b(?:py)?torch(?:vision|audio)?\W+(?:version\W+)?(?P<version>\d+\.\d+[\w.]*\+cpu)|pytorch\s+[\d.]+\s+py[\d._]+_cpu_\d"
        r"|^\s*cpuonly\s|pytorch-mutex\s+\S+\s+cpu",
        "+cpu", "_cpu_", "cpuonly", "pytorch-mutex",
    ),
    told("told.torch_local", r"^\s*['\"]?(?P<version>[12]\.\d+\.\d+\+cu\d{2,3})['\"]?\s*$", "+cu"),
    error(
        "torch.deserialize_cpu",
        r"attempting to deserialize object on a cuda device but torch\.cuda\.is_available\(\) is false",
        "deserialize object on a cuda device",
    ),
    context(
        "torch.arch_list",
        r"current pytorch install supports cuda capabilities (?P<archs>[\w ]+)",
        "install supports cuda capabilities",
    ),
    error(
        "torch.gpu_needs_cuda",
        r"found gpu ?\d+ (?P<gpu>[^\n]+?) which requires cuda_version >= (?P<needs>\d+)",
        "which requires cuda_version",
    ),
    error("torch.no_plans", r"no (?:valid )?execution plans?|cudnn frontend error|\[cudnn_frontend\] error", "execution plan", "cudnn frontend error", "[cudnn_frontend]",
          covers=("python.runtime",)),
    harmless("torch.plan_failed", r"plan failed with an? (?:cudnnexception|outofmemoryerror)", "plan failed with", covers=("cudnn.", "memory.", "cuda.")),
    error("torch.no_kernel_found", r"no kernel found to launch|no (?:available|suitable|compatible) kernel",
          "no kernel found", "no available kernel", "no suitable kernel", "no compatible kernel"),
    context("torch.asks_cuda", r"cuda\.is_available\(\)\W{0,3}$", "is_available()"),
    error("torch.probability", r"probability tensor contains either", "probability tensor contains"),
    error("torch.namespace", r"'_opnamespace' '(?P<name>\w+)' object has no attribute", "_opnamespace", covers=("python.attribute",)),
    error("torch.dynamo", r"internaltorchdynamoerror|backendcompilerfailed|inductorerror|loweringexception|in inductor"
          r"|torch\._(?:inductor|dynamo)\.exc\.(?!unsupported|torchruntimeerror)", "torchdynamoerror",
          "backendcompilerfailed", "inductorerror", "loweringexception", "in inductor",
          "torch._inductor.exc", "torch._dynamo.exc", covers=("python.runtime",)),
    error(
        "torch.cudnn_mismatch",
        r"cudnn version incompatibility: pytorch was compiled\s+against \((?P<built>[\d, ]+)\) but found runtime version"
        r" \((?P<loaded>[\d, ]+)\)",
        "cudnn version incompatibility",
    ),
    error("torch.cudnn_mismatch_note", r"one of the reasons? may be that your ld_library_path contains incompatible"
          r"|looks like your ld_library_path contains incompatible version of cudnn", "contains incompatible"),
    error(
        "torch.no_engine",
        r"(?P<who>get|find) was unable to find an engine to execute this computation|unable to find a valid cudnn algorithm|no valid convolution algorithms available in cudnn",
        "unable to find an engine", "no valid convolution algorithms", "unable to find a valid cudnn algorithm",
    ),
    error(
        "torch.cudnn_arch",
        r"cudnn version (?P<cudnn>\d+) is not compatible with devices with sm < (?P<needs>[\d.]+)",
        "is not compatible with devices with sm",
    ),
    error("torch.nvml_init", r"nvml_success == driverapi::get\(\)->nvmlinit", "nvmlinit_v2_"),
    error("torch.nvml_assert", r"nvml_success == r? ?internal assert failed|nvml_success == r\b", "nvml_success == r"),
    error("torch.nvml_cant", r"can'?t initialize nvml", "t initialize nvml"),
    error("torch.nccl_no_gpu", r"processgroupnccl is only supported with gpus, no gpus found", "no gpus found", covers=("nccl.other", "title.gpu_unseen")),
    error("torch.bf16", r"setup doesn't support bf16|bf16 (?:is )?not supported (?:on|by) (?:this|your)", "support bf16", "bf16 not supported", "bf16 is not supported",
          covers=("python.exception",)),
    error("torch.internal_assert", r"internal assert failed at [\"'](?P<file>[^\"'\n]+)", "internal assert failed"),
    error("torch.no_nccl", r"distributed package doesn't have nccl|nccl is not available|nccl backend not available",
          "have nccl", "nccl is not available"),
    error(
        "torch.cuda_mismatch",
        r"(?:detected )?cuda version \((?P<has>[\d.]+)\) (?:mismatches|has a minor version mismatch with)(?: the version that was"
        r" used to compile\s*(?:pytorch)?(?: ?\((?P<needs>[\d.]+)\))?)?",
        "cuda version (",
    ),
    error(
        "torch.different_cuda",
        r"detected that pytorch and (?P<what>\w+) were compiled with different cuda(?: major)? versions",
        "compiled with different cuda",
    ),
    error(
        "torch.extension_versions",
        r"couldn't load custom c\+\+ ops|mmcv==[\d.]+ is used but incompatible"
        r"|operator (?P<what>\w+::\w+) does not exist|torchvision::nms does not exist"
        r"|no such operator (?P<what2>\w+::\w+)"
        r"|xformers (?:can't load|was built for)|was built for:? *pytorch"
        r"|could not load (?:custom )?(?:c\+\+|cuda) (?:ops|extension)|torch_(?:scatter|sparse|cluster)[^\n]*compiled for"
        r"|built (?:with|against|for) (?:a different|another) (?:version of )?(?:py)?torch",
        "custom c++ ops", "is used but incompatible", "does not exist", "no such operator", "xformers", "was built for", "different version of torch",
        "compiled for",
    ),
    harmless("torch.image_extension", r"failed to load image python extension", "image python extension"),
    error("torch.webui",
          r"(?:requires?|needs?) a gpu\b|a gpu is (?:needed|required)|no nvidia gpu found|only supports gpus\b"
          r"|accelerator is not available|torch is not able to use gpu|failed to infer device type"
          r"|no platform detected", "not able to use gpu", "requires a gpu", "require a gpu", "needs a gpu",
          "need a gpu", "a gpu is", "no nvidia gpu", "only supports gpus", "accelerator is not", "infer device type",
          "no platform detected", covers=("python.exception", "generic.no_compatible", "title.gpu_unseen")),
    error("torch.invalid_requested", r"invalid cuda '?device=?(?P<device>\d{0,3})\S*'? requested|cuda unavailable, invalid device", "requested", "cuda unavailable"),
    error("torch.no_runtime", r"no cuda runtime is found, using cuda_home", "no cuda runtime is found"),
    context("torch.old_allocator", r"/thc/|thcstorage|thccachingallocator|generic/thc", "/thc/", "thcstorage", "thccachinghost"),
    error("torch.state_dict", r"error\(s\) in loading state_dict", "in loading state_dict"),
    error("torch.checkpoint", r"pytorchstreamreader failed|invalid magic number; corrupt file|unpicklingerror", "pytorchstreamreader", "invalid magic number",
          "unpicklingerror"),
    error("cublas.execution_failed", r"cublas runtime error ?: the gpu program failed to execute", "cublas runtime error"),
    error("cublas.alloc_failed", r"cublas runtime error ?: resource allocation failed", "cublas runtime error"),
    error("cublas.not_initialized", r"cublas runtime error ?: library not initialized", "cublas runtime error"),
    error("cublas.internal_error", r"cublas runtime error ?: an internal operation failed", "cublas runtime error"),
    error("cublas.invalid_value", r"cublas runtime error ?: an (?:invalid|unsupported) (?:numeric )?value", "cublas runtime error"),
    harmless("torch.build_settings", r"build settings: blas_info=", "build settings: blas", covers=("build.gcc_new",)),
    context("torch.own_import", r"from torch\._c import \*|in _preload_cuda_deps", "from torch._c import", "_preload_cuda_deps"),
    error("torch.preload", r"(?P<library>lib[\w.]+?)\.?\*?(?:\[0-9\])?\*? not found in the system path", "in the system path", covers=("python.exception",)),
    error("torch.xformers_unbuilt", r"xformers wasn'?t buil[dt] with cuda|operator wasn'?t built - see",
          "wasn't build with cuda", "wasn't built with cuda", "operator wasn't built", covers=("generic.cpu_build",
        "torch.capability_short", "torch.arch_words")),
    error("torch.no_operator", r"no operator found for [`']memory_efficient_attention", "no operator found for"),
    error(
        "torch.not_implemented_half",
        r"[\"'](?P<op>\w*cpu\w*|\w+_impl|slow_conv\w*|LayerNormKernelImpl|addmm_impl_cpu_)[\"'] not implemented for '?half",
        "not implemented for 'half'",
    ),
    error(
        "torch.unavailable",
        r"torch\.cuda\.is_available\(\)[^\n]{0,40}?\bfalse|cuda (?:is )?(?:not )?available\W{0,4}(?:\?|:|=)?\W{0,3}false"
        r"|is_available\W+false|cuda_available\W+false|\bcuda (?:is |was )?(?:not|un|non) ?available\b(?! in this)",
        "is_available", "cuda available", "cuda is available", "available:", "cuda_available", "cuda is not available",
        "cuda not available", "cuda non available", "cuda unavailable", "cuda is unavailable",
    ),
    echo("torch.falls_back", r"(?:setting the available devices to be zero|falling back to cpu|using cpu instead|switching to cpu)",
         "available devices to be zero", "falling back to cpu", "using cpu instead", "switching to cpu"),
    context("torch.hints", r"torch_use_cuda_dsa|cuda kernel errors might be|consider passing cuda_launch_blocking",
            "torch_use_cuda_dsa", "kernel errors might be", "cuda_launch_blocking"),
    context("torch.lazy_init", r"_cuda_init\(\)|in _lazy_init|_cuda_setdevice|_cuda_getdevicecount", "_cuda_init", "_lazy_init",
            "_cuda_setdevice", "_cuda_getdevicecount"),
)  # fmt: skip
