"""framework.gpu_unsupported in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.messages import NO_CUDNN, NO_START
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.arch_ways import for_arch, has_code, told_arch
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.calls import by_program
from gpuwhy.rooms.text.common import SAID_TO_FAIL, nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, any_of, differ, line, no, only_titles, own_module, with_
from gpuwhy.rooms.text.exactly import PROJECTS, for_any_gpu, for_gpu, newer_compiler
from gpuwhy.rooms.text.feature_ways import without_feature
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.versions import told_gpu_newer

_OLD_PTXAS = re.compile(r"ptxas does not support CC (?P<capability>[\d.]+\d)", re.IGNORECASE)


def _made(case: Asked) -> Iterator[Fix]:
    around = tuple(without_feature(case))
    yield from around
    if around:
        return
    lines = "\n".join(line for _, line, _ in case.behind)
    if old := _OLD_PTXAS.search(lines):
        least = archs.first_toolkit(old["capability"]) or "12.8"
        yield from newer_compiler(least, f"the first that knows compute capability {old['capability']}")
        return
    arch = case.fields.get("arch") or case.fields.get("has", "")
    digits = "".join(c for c in arch if c.isdigit())
    capability = f"{digits[:-1]}.{digits[-1]}" if len(digits) > 1 else case.gpu or told_arch(case)
    capability = capability if archs.of(capability) else ""
    yield from for_arch(case, capability)
    if case.framework == "torch" and has_code(case, capability):
        return
    if capability:
        yield from for_gpu(case, capability)
        yield from _range(case, capability)
    else:
        yield from for_any_gpu(case)


def _range(case: Asked, capability: str) -> Iterator[Fix]:
    """Which builds have code for it, for those who cannot take the release that is named."""
    row, code = archs.of(capability), f"sm_{capability.replace('.', '')}"
    if project := PROJECTS.get(case.framework, ""):
        listing = f"gpuwhy releases {project} --works-with gpu={code}"
        yield Fix(f"Or another release with code for {code}: list them", listing, safe=True, role="look")
    elif row and (row.last_toolkit or row.first_toolkit):
        ends = f"{row.last_toolkit} or older" if row.last_toolkit else f"{row.first_toolkit} or newer"
        yield Fix(f"Install a release of {case.title} with code for {code} ({row.name}): one built for CUDA {ends}")


TEXT = Text(
    "framework.gpu_unsupported",
    signatures=(
        error("nvenc.lacks", r"openencodesession\w*[^\n]{0,40}(?:unsupported device|no encode device|\((?:1|2)\))"
              r"|\[\w+_nvenc[^\]\n]{0,40}\][^\n]{0,60}not supported\W*$"
              r"|\[\w+_cuvid[^\]\n]{0,40}\] (?:codec|hardware)[^\n]{0,60}(?:not supported|lacks support)"
              r"|hardware is lacking required capabilities",
              "openencodesession", "_nvenc", "_cuvid", "lacking required capabilities", covers=("nvenc.session", "title.", "memory.")),
        error("tensorrt.sm", r"unsupported sm\b[^\n\w]{0,3}(?:0x)?[0-9a-f]{2,4}\b"
              r"|\bcask (?:convolution|gemm|pooling|deconvolution) execution|error in checkcaskexecerror",
              "unsupported sm", "cask ", "checkcaskexecerror", covers=("title.", "tf.trt_mismatch")),
        error("generic.sm_dropped", r"\btarget gpu sm ?\d+ is not supported"
              r"|\(compute capability \d+\.\d\) or newer architecture is required", "target gpu sm",
              "architecture is required", covers=("build.", "tensorrt.", "python.", "said.", "title.")),
        error(
            "triton.too_old",
            r"too old to be supported by the triton|triton[^\n]*(?:requires|supports)[^\n]*(?:compute|cuda) capability",
            "supported by the triton", "compute capability", "cuda capability",
        ),
        error("ext.built_for", r"kernel `?\w+`? is for sm\d+[-\w]*, but was built for sm(?P<built>\d+)|has no device code compatible with cuda arch (?P<arch>\d+)",
              "but was built for sm", "no device code compatible", covers=("build.cu_error",)),
        error("triton.no_instruction", r"llvm error: cannot select: intrinsic %llvm\.nvvm", "cannot select: intrinsic"),
        error("opencv.arch", r"was not built to work with the selected device|check cuda_arch_(?:ptx|bin)", "to work with the selected device", "cuda_arch_ptx",
              "cuda_arch_bin", covers=("opencv.no_cuda", "generic.cpu_build")),
        error(
            "tf.jit_from_ptx",
            r"not built with cuda kernel binaries compatible with compute capability (?P<has>[\d.]+\w*)",
            "not built with cuda kernel binaries",
            covers=("generic.cpu_build", "opencv.no_cuda"),
        ),
        error("title.arch",
              r"\bsm_?(?P<arch>\d{2,3})[a-z]?\b[^\n]{0,40}(?:not (?:supported|compatible|defined)|unsupported"
              r"|incompatible|missing)|(?:unsupported|support for|no support|add)[^\n]{0,20}\bsm_?\d{2,3}"
              r"|compute capability[^\n]{0,30}(?:not supported|unsupported|too (?:old|low|new)|is not|below|less|lower|minimum)",
              "sm_", "sm1", "compute capability"),
        error("title.newer_gpu", r"(?:rtx ?(?:50[5-9]0|[56]000 pro)|blackwell|b200|gb200|gb10|rtx pro \d+)", "rtx 50", "rtx50", "blackwell", "b200", "gb10", "rtx pro"),
        error(
            "torch.arch_unsupported",
            r"(?:(?P<gpu>[\w .()-]+?) )?with cuda capability (?P<arch>sm_\d+\w?) is not compatible with the current pytorch",
            "is not compatible with the current pytorch",
        ),
        error(
            "torch.gpu_too_old",
            r"found gpu ?(?P<device>\d+) (?P<gpu>[^\n]+?) which is of (?:cuda )?capability (?P<has>\d+\.\d+)",
            "no longer supports this gpu", "which is of cuda capability", "which is of capability", "minimum cuda capability supported",
        ),
        error("torch.capability_min",
              r"minimum (?:cuda |compute )?capability[^\n\d]{0,20}(?P<needs>[\d.]+)[^\n]{0,20}current (?:cuda "
              r"|compute )?capability[^\n\d]{0,6}(?P<has>[\d.]+)", "minimum capability", "minimum compute capability",
              covers=("python.exception",)),
        error("torch.arch_refused", r"(?:not supported|unsupported) (?:in|on|by|for) (?:this|the current|your|current"
              r"|sm_?\d+) ?(?:gpu )?(?:architectures?|gpus?|hardware)|unsupported (?:gpu|cuda) device"
              r"|unsupported compute capability|without support for the current gpu arch",
              "not supported in this", "not supported on this", "not supported for the current",
              "not supported by your", "not supported by this", "not supported on your", "not supported for this",
              "unsupported gpu", "unsupported cuda",
              "unsupported compute", "for the current gpu arch", "not supported on sm", "not supported in the current", covers=("python.exception",)),
        error("torch.arch_words",
              r"\b(?:gpu|card)\b(?![^\n]{0,60}(?:driver|cudnn|version))[^\n]{0,60}(?:is |are )too old"
              r"|no longer supports? (?:this|your) gpu|gpu arch[^\n]{0,20}(?:isn'?t|not) supported"
              r"|or newer (?:gpu )?architecture is required"
              r"|compute capability (?:of )?(?P<has>[\d.]+)[^\n]{0,30}(?:is not supported|not supported"
              r"|too (?:low|old)|isn'?t supported|unsupported)", "too old", "longer support", "gpu arch",
              "architecture is required", "compute capability"),
        error("torch.capability_short", r"requires? device with capability [<>=]+ \(?(?P<needs>[\d, .]+)\)?[^\n]*has capability \(?(?P<has>[\d, .]+)", "device with capability"),
        error(
            "torch.arch_needs",
            r"(?:flash[- ]?attention|flashattention|this kernel|bfloat16|fp8|bf16|marlin|awq|gptq|int8)[^\n]{0,60}"
            r"(?:only supports?|requires?|supported (?:only )?on|is only supported)[^\n]{0,40}"
            r"(?:ampere|hopper|turing|volta|ada|blackwell|compute capability|sm_?\d|gpus?)",
            "ampere", "hopper", "turing", "compute capability", "blackwell",
        ),
    ),
    clues=(
        ("kin.lacks", 3.8, "{library} has no code for this GPU or driver ({name})"),
        ("said.built_for", 4.8, "it was built for {built}, and this GPU is {has}", differ("built", "has")),
        ("nvenc.lacks", 3.8, "the card's encoder or decoder has not what is asked of it"),
        ("tensorrt.sm", 3.8, "this TensorRT has no code for this GPU", line("unsupported sm")),
        ("tensorrt.sm", 2.8, "TensorRT's own kernels do not run; this happens on a GPU that is newer than it", no(line("unsupported sm"))),
        ("generic.sm_dropped", 4.8, "this release does not run on a GPU of this generation"),
        ("cuda.invalid_symbol", 3.6, "the build has no code for this GPU: a symbol of the device code is not there (error 13)", no(by_program)),
        ("said.built_lower", 3.6, "it was built for another GPU than this one"),
        ("said.gpu_older", 3.8, "the text says which GPUs are supported, and this one is not among them"),
        ("said.symbol", 3.8, "the build has no code for this GPU: a symbol of the device code is not there (error 13)", no(by_program)),
        ("said.engine_elsewhere", 4.2, "the engine was built on a GPU of compute capability {built}, and this one has {has}"),
        ("tf.cudnn_handle", 3.8, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("tf.conv_algorithm", 3.6, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("tf.blas", 3.6, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("tf.no_algorithm", 3.6, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("tf.rnn", 3.4, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("cudnn.", 3.2, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("cublas.", 3.4, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("title.hang", 3.2, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("title.gpu_unseen", 2.8, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("cuda.launch_failed", 3.2, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("tf.stream_failed", 2.8, "the GPU is newer than this CUDA version supports", told_gpu_newer),
        ("told.gpu", 2.2, "the GPU is newer than this CUDA version supports", all_of(only_titles, told_gpu_newer)),
        ("torch.arch_words", 3.8, "the text says that the GPU is too old, or not supported"),
        ("tf.ptxas_old", 1.8, "the GPU is newer than ptxas knows"),
        ("tf.malloc_async", 1.8, "the GPU or its mode has no asynchronous allocator"),
        ("torch.capability_min", 4.8, "capability {needs} is needed, and the GPU has {has}"),
        ("torch.arch_refused", 3.8, "this GPU is not supported"),
        ("torch.no_kernel_found", 3.2, "there is no kernel for this GPU"),
        ("torch.no_plans", 1.6, "cuDNN has no plan for this GPU"),
        ("triton.source", 3.0, "Triton's compiler says that this GPU does not support what the kernel uses", lambda s, r: "not supported in this arch" in r.excerpt),
        ("triton.compile", 2.2, "Triton's compiler failed, as for a GPU that it does not know"),
        ("kernel.gpu_refused", 2.4, "the driver does not support the card"),
        ("torch.arch_unsupported", 5.2, "{arch} is not among the architectures this PyTorch was built for"),
        ("torch.gpu_too_old", 4.8, "{gpu} ({has}) is older than this PyTorch supports"),
        ("torch.gpu_needs_cuda", 3.2, "{gpu} needs a build for CUDA {needs}"),
        ("torch.cudnn_arch", 3.2, "cuDNN {cudnn} needs a GPU of {needs} or newer"),
        ("torch.arch_needs", 3.8, "the operation needs a newer GPU"),
        ("torch.no_operator", 2.0, "no kernel for this GPU"),
        ("cuda.no_binary_for_gpu", 4.4, "the build has no code for this GPU (error 209)"),
        ("triton.no_instruction", 3.8, "the GPU, or the one the code was made for, lacks an instruction"),
        ("ext.built_for", 4.6, "the kernel was not built for this GPU"),
        ("build.ptx_target", 2.2, "{arch} lacks {instruction}"),
        ("torch.bf16", 3.8, "the GPU has no bfloat16"),
        ("cuda.invalid_device_function", 3.6, "the build has no code for this GPU (error 98)"),
        ("cuda.invalid_image", 3.2, "the code is not for this GPU (error 200)", no(own_module)),
        ("cuda.invalid_ptx", 2.4, "the driver could not make code for this GPU from the PTX (error 218)", no(own_module)),
        ("cuda.invalid_source", 2.0, "the code is not for this GPU (error 300)"),
        ("cuda.not_found", 2.2, "a kernel is not in the code for this GPU (error 500)", no(any_of(line("cuinit"), own_module))),
        ("cudnn.arch_mismatch", 4.2, "cuDNN does not support this GPU's architecture"),
        ("cudnn.not_supported_arch_mismatch", 4.2, "cuDNN does not support this GPU's architecture"),
        ("cublas.arch_mismatch", 4.2, "cuBLAS does not support this GPU's architecture"),
        ("curand.arch_mismatch", 4.0, "cuRAND does not support this GPU's architecture"),
        ("cusparse.arch_mismatch", 4.0, "cuSPARSE does not support this GPU's architecture"),
        ("cusolver.arch_mismatch", 4.0, "cuSOLVER does not support this GPU's architecture"),
        ("nvjitlink.arch_mismatch", 4.0, "the code is for another architecture"),
        ("tf.ignored_gpu", 4.6, "{gpu} has compute capability {has}, this build needs {needs}"),
        ("tf.ignored_cores", 2.0, "TensorFlow leaves out the smaller GPU"),
        ("opencv.arch", 4.6, "OpenCV was built for other GPUs"),
        ("tf.jit_from_ptx", 3.8, "TensorFlow was not built for compute capability {has}"),
        ("nvrtc.arch", 4.2, "the compiler does not know this GPU's architecture {arch}", no(any_of(line("nvcc"), with_("tf.ptxas_old")))),
        ("nvrtc.arch", 2.2, "nvcc does not know {arch}", line("nvcc")),
        ("torch.capability_short", 3.8, "the operation needs a GPU of {needs} or newer, this one is {has}"),
        ("triton.too_old", 4.6, "the GPU is older than Triton supports"),
        ("triton.shared", 2.2, "the kernel wants more {what} than this GPU has"),
        ("title.arch", 3.2, "an architecture is said not to be supported"),
        ("generic.no_compatible", 1.6, "the GPU is not one of those supported"),
        ("title.newer_gpu", 1.9, "the GPU is newer than most builds"),
        ("cudnn.not_initialized", 1.9, "cuDNN did not start; this happens when the build does not know the GPU"),
        ("cudnn.not_initialized", 3.0, "cuDNN did not start with the smallest batch: it is not the memory", with_("title.batch_one")),
        ("cudnn.execution_failed", 1.9, "cuDNN failed to run, as on a GPU it does not know"),
        ("cublas.execution_failed", 2.0, "cuBLAS failed to run, as on a GPU it does not know"),
        ("cublas.not_supported", 1.6, "cuBLAS does not support what it is asked"),
        ("cublas.not_initialized", 1.3, "cuBLAS did not start"),
        ("tf.no_algorithm", 1.3, "cuDNN has no algorithm for this convolution"),
        ("tf.blas", 1.2, "cuBLAS failed"),
        ("torch.no_engine", 1.6, "cuDNN has no algorithm for this operation"),
        ("cufft.internal_error", 2.4, "cuFFT before CUDA 11.8 does not run on this generation"),
        ("cufft.internal_error", 3.4, "cuFFT before CUDA 11.8 does not run on this generation", line(r"4090|40\d0|ada|h100")),
        ("build.nvcc_arch", 1.6, "nvcc does not know {arch}"),
        ("cuda.launch_failed", 0.6, "a kernel failed"),
        ("cuda.not_supported", 1.2, "the GPU does not support the operation (error 801)"),
        ("cuda.illegal_instruction", 1.4, "a kernel met an instruction that the GPU does not have"),
        ("cuda.launch_out_of_resources", 1.6, "the kernel wants more registers than the GPU has (error 701)"),
        ("cuda.unsupported_exec_affinity", 2.0, "the GPU does not support the affinity"),
        ("told.other_gpu", 1.4, "with another GPU it works, or the GPU is new", with_("cuda.", "cudnn.", "cublas.", "title.", "nvrtc.", "triton.")),
        ("title.trouble", 1.5, "something is not supported", said_of("not support|unsupported|capability")),
        ("title.trouble", 0.6, SAID_TO_FAIL, nothing_else),
        ("cuda.jit_compilation_disabled", 2.0),
        ("cuda.cdp_not_supported", 2.0),
        ("cudnn.not_supported_shared_memory_insufficient", 2.0),
        ("cufft.not_supported", 3.0),
        ("curand.launch_failure", 3.0),
        ("nvrtc.invalid_option", 1.4),
    ),
    remedies=(
        meant("PyTorch: install the newest build that your driver supports, with the pip of the Python that runs the program; RTX 50 GPUs (sm_120) need a build for CUDA 12.8 (cu128) or newer",
              "python -m pip install uv\npython -m uv pip install --reinstall torch torchvision --torch-backend=auto",
              by="torch", safe=True),
        meant("Build what speaks for the GPU's own architecture, or install a release of it that has code for it: a newer one for a new GPU (sm_120 needs CUDA 12.8), an older one for an old GPU (CUDA 13 ends GTX 10 and V100, CUDA 12 Kepler)",
              "nvidia-smi --query-gpu=name,compute_cap --format=csv"),
    ),
    admitted_by=(*NO_CUDNN, *NO_START),
    made=_made,
)  # fmt: skip
