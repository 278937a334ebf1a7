"""cuda.version_mismatch in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.messages import NO_CUDNN, NO_GPU, NO_START, UNRESOLVED
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import echo, error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.bitsandbytes import matching
from gpuwhy.rooms.text.common import (
    CUDA_LIBRARY,
    CUDA_TITLED,
    LACKS_ENTRY,
    SAID_TO_FAIL,
    SKIPPED,
    in_a_package,
    nothing_else,
    said_of,
)
from gpuwhy.rooms.text.conditions import (
    all_of,
    alone,
    any_of,
    asks,
    differ,
    field,
    line,
    no,
    of_the_system,
    only_titles,
    whole,
    with_,
)
from gpuwhy.rooms.text.exactly import newer_ptxas
from gpuwhy.rooms.text.installing import missing_library, newer_ptx, onnxruntime_on_windows, tensorflow_fitting
from gpuwhy.rooms.text.libraries import other_cuda_there, other_file_told, other_major_told
from gpuwhy.rooms.text.library_ways import matched
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import BITSANDBYTES
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.versions import beyond, told_cuda_unfit

_OTHER = "{library} is asked for, and another version is what the text names"


def _two_cudas(s: Symptom, r: Reading) -> bool:
    """The text names two CUDA versions."""
    return len({numbers(v)[:2] for v in r.told.versions.get("cuda", ())}) > 1


_LINKED = re.compile(r"cuLink|LinkerError|application ptx input", re.IGNORECASE)
"""The driver's own compiler speaks, and no ptxas of a toolkit."""


def _made(case: Asked) -> Iterator[Fix]:
    needs = case.fields.get("needs", "")
    if case.fields.get("ptx"):
        yield from newer_ptx(case) if _LINKED.search(case.text) else newer_ptxas(case) or newer_ptx(case)
        return
    if case.framework == "tensorflow" and case.version and not case.library:
        yield from tensorflow_fitting(case)
        return
    if case.windows and case.framework == "onnxruntime":
        yield from onnxruntime_on_windows(case)
    elif case.library and case.kind in ("cuda", "nvrtc"):
        yield from missing_library(case)
    elif numbers(needs) and not case.windows:
        number = major_minor(needs)
        home = f"export CUDA_HOME=/usr/local/cuda-{number} PATH=/usr/local/cuda-{number}/bin:$PATH"
        if at_least(number, "11.3"):
            home = f"{home}    # or conda's: conda install -c nvidia/label/cuda-{number}.0 cuda-toolkit && export CUDA_HOME=$CONDA_PREFIX"
        yield Fix(f"Build with the CUDA {number} toolkit, installed beside the other: point CUDA_HOME to it", on.linux(home), safe=True)  # fmt: skip


TEXT = Text(
    "cuda.version_mismatch",
    signatures=(
        error("numba.no_ccs", r"no supported gpu compute capabilities found", "no supported gpu compute", covers=("numba.nvvm", "generic.no_compatible")),
        error("apex.mismatch", r"cuda extensions are being compiled with a version of cuda that does not match|only supported on cuda (?P<needs>[\d.]+) and above",
              "does not match the version used to compile", "extensions are being compiled with", "only supported on cuda"),
        error(
            "deepspeed.mismatch",
            r"(?:installed cuda version|system cuda version|nvcc version|cuda version) \(?(?P<has>[\d.]+)\)? (?:does not match|mismatches"
            r"|doesn't match) the version (?:\w+ )?(?:torch|pytorch)? ?(?:was )?compiled with \(?(?P<needs>[\d.]+)",
            "does not match the version", "doesn't match the version", "mismatches the version",
        ),
        echo("deepspeed.exception", r"cudamismatchexception", "cudamismatchexception"),
        error(
            "tf.ptxas_version",
            r"you are using ptxas (?P<has>[\d.x]+), but (?:tf|xla|jax) requires ptxas (?P<needs>[\d.x]+)"
            r"|ptxas (?:version )?(?P<has2>[\d.]+) (?:is too old|has a bug)",
            "ptxas",
        ),
        error("title.cuda_version", r"\b(?:cuda|cudatoolkit)(?: toolkit| runtime)? versions? (?:mismatch|conflict|incompatib\w+|is (?:not|too)|differs?)|mismatch\w* cuda|cuda"
              r" mismatch|cuda version[^\n]{0,30}mismatch\w*"
              r"|(?:wrong|incompatible|different) (?:cuda|cuda toolkit) versions?"
              r"|compiled (?:for|with|against) (?:a different|another) cuda",
              "mismatch", "incompatib", "wrong cuda", "different cuda", "cuda version"),
    ),
    clues=(
        ("build.cu_error", 4.4, "a header of an installed package does not fit the CUDA that compiles it: {what}", in_a_package),
        ("said.other_release", 4.8, "{library} is asked for, and only that of release {found} is there", all_of(no(line("cudnn")), differ("wanted", "found"))),
        *((one, 5.2, "the text says that another CUDA is there than the one that is asked for", other_cuda_there) for one in ("loader.", "windows.", "title.library", "ort.")),
        ("bnb.no_version", 4.4, "this bitsandbytes has no library for the CUDA that it finds", line("required library version not found")),
        ("ntstatus.entrypoint_not_found", 2.6, "a DLL of another version is found (0xC0000139)"),
        ("ntstatus.error_proc_not_found", 2.6, "a DLL that is loaded at its first use is of another version (0xC06D007F)"),
        ("loader.tensorrt", 3.2, "this TensorFlow was built for another CUDA than the one named", told_cuda_unfit),
        ("told.tf", 2.2, "this TensorFlow was built for another CUDA than the one named", all_of(only_titles, told_cuda_unfit)),
        ("windows.jni", 2.6, "a DLL that {library} needs is of another version"),
        ("windows.jni", 3.6, "this TensorFlow was built for another CUDA than the one named", told_cuda_unfit),
        ("loader.undefined_symbol", 2.7, "the NCCL that was loaded is older than the one the build is for: it lacks {symbol}", field("symbol", r"p?nccl")),
        ("windows.self_check", 2.6, "TensorFlow wants CUDA {version}, and another may be there", field("what", "cuda")),
        ("title.library", 1.8, "{library} belongs to a CUDA that may not be the installed one", CUDA_TITLED),
        ("title.library", 3.2, _OTHER, all_of(CUDA_TITLED, other_major_told)),
        ("title.other_library", 3.0, _OTHER, CUDA_LIBRARY),
        ("tf.registered", 2.2, "the GPU is there, and TensorFlow's libraries did not open", field("devices", ".*xla_gpu")),
        ("windows.dll_not_found", 3.9, _OTHER, all_of(CUDA_LIBRARY, other_major_told)),
        ("windows.could_not_find", 3.9, _OTHER, all_of(CUDA_LIBRARY, other_major_told)),
        ("windows.tf_needs", 3.9, _OTHER, all_of(CUDA_LIBRARY, other_major_told)),
        ("windows.dll_needs", 3.9, _OTHER, all_of(CUDA_LIBRARY, other_major_told)),
        ("loader.prose", 2.2, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("loader.prose", 3.6, _OTHER, all_of(CUDA_LIBRARY, any_of(other_major_told, other_file_told))),
        ("loader.mac_library", 2.4, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("loader.tf_skip", 3.6, "this TensorFlow was built for another CUDA than the one named", told_cuda_unfit),
        ("windows.dll_load_failed", 3.4, "this TensorFlow was built for another CUDA than the one named", told_cuda_unfit),
        ("loader.tf_skip", 2.8, "Colab has the libraries of one CUDA, and this TensorFlow asks for another's", all_of(with_("told.colab"), SKIPPED)),
        ("chainer.setup", 1.6, "CuPy is not for the CUDA that is there"),
        ("tf.ptxas_old", 3.2, "ptxas is older than the GPU or the framework needs"),
        ("tf.cudart_stub", 2.2, "the CUDA runtime that was opened is another", line("cudageterror")),
        ("ort.cuda_path", 2.7, "the CUDA that CUDA_PATH names may be of another version"),
        ("loader.cannot_open", 2.4, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("loader.cannot_open", 3.8, _OTHER, all_of(CUDA_LIBRARY, any_of(other_major_told, other_file_told))),
        ("loader.cannot_open", 2.7, "{library} belongs to a CUDA that may not be the installed one", asks("nvrtc")),
        ("loader.tf_dso", 2.2, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("loader.tf_dso", 3.6, _OTHER, all_of(CUDA_LIBRARY, any_of(other_major_told, other_file_told))),
        ("loader.asked", 2.3, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("loader.asked", 3.6, _OTHER, all_of(CUDA_LIBRARY, other_major_told)),
        ("loader.find_failed", 2.2, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("ct2.not_found", 2.8, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("ct2.not_found", 3.4, _OTHER, all_of(CUDA_LIBRARY, other_major_told)),
        ("cupy.load_failed", 3.0, "{library} belongs to another CUDA than the installed one"),
        ("windows.dll_not_found", 2.4, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("windows.could_not_find", 2.3, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("windows.tf_needs", 2.4, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("windows.dll_needs", 2.4, "{library} belongs to a CUDA that may not be the installed one", CUDA_LIBRARY),
        ("windows.third_party", 2.4, "{library} belongs to a CUDA that may not be the installed one"),
        ("windows.load_library", 2.2, "the DLLs that are found may be of another CUDA", no(of_the_system)),
        ("windows.load_library", 3.4, "this ONNX Runtime was built for another CUDA than the one named", told_cuda_unfit),
        ("windows.load_library", 3.0, "a DLL lacks a function that is asked for", field("number", r"(?:127|182)$")),
        ("windows.error", 1.6, "a DLL lacks a function that is asked for ({number})", field("number", r"(?:127|182)$")),
        ("windows.dll_load_failed", 2.4, "a DLL lacks a function that is asked for", LACKS_ENTRY),
        ("windows.procedure_missing", 2.2, "a DLL lacks a function that is asked for"),
        ("torch.cuda_mismatch", 5.0, "the toolkit is CUDA {has}, PyTorch was compiled with {needs}"),
        ("torch.different_cuda", 3.0, "PyTorch and {what} were compiled with different CUDA versions"),
        ("deepspeed.mismatch", 4.6, "the toolkit is CUDA {has}, PyTorch was compiled with {needs}"),
        ("apex.mismatch", 4.6, "the toolkit is of another CUDA version than PyTorch"),
        ("deepspeed.exception", 2.0, "the toolkit and PyTorch are of different CUDA versions"),
        ("jax.found_version", 4.4, "{what} {loaded} is there, JAX was built with {built}", field("what", r"(?!cudnn)")),
        ("jax.unable_to_use", 3.0, "the {what} that is there is too old", field("what", r"(?!cudnn)")),
        ("tf.ptxas_version", 4.0, "ptxas {has} is there, {needs} is needed"),
        ("loader.native", 2.8, "the program's library is for another CUDA than the one that is there", whole(r"cuda")),
        ("numba.nvvm_ir", 3.4, "NVVM does not read the code that it is given: it is of another CUDA than the compiler before it is made for"),
        ("said.too_new", 3.6, "the CUDA that is there is newer than this release knows ({has})", all_of(beyond, no(line("driver")))),
        ("said.too_new", 2.8, "the CUDA that is there is newer than this release knows ({has})", beyond),
        ("tensorrt.sm", 2.4, "TensorRT met another CUDA than the one that it is made for", with_("tf.trt_mismatch")),
        ("numba.no_ccs", 4.0, "Numba does not know the CUDA toolkit that it found"),
        ("numba.unsupported_ptx", 2.6, "PTX {ptx} meets a tool that knows {knows}"),
        ("numba.unsupported_ptx", 3.6, "PTX {ptx} meets a ptxas that knows {knows}", all_of(line("ptxas"), no(line("application ptx input")))),
        ("loader.version_missing", 3.0, "{library} has no version {version}", field("version", r"lib(?:cu|nv)")),
        ("torch.gpu_needs_cuda", 2.6, "the GPU needs a build for CUDA {needs}"),
        ("bnb.no_version", 2.7, "bitsandbytes has no library for CUDA {cuda}"),
        ("ort.load_shared", 2.2, "the CUDA that is found may be of another version"),
        ("ort.create_failed", 2.2, "the CUDA provider wants CUDA {cuda} and cuDNN {cudnn}", alone),
        ("cublas.invalid_value", 2.6, "cuBLAS refuses plain arguments; this happens with another cuBLAS version"),
        ("cublas.unknown", 2.6, "cuBLAS returns a status that the program does not know; this happens with another cuBLAS version"),
        ("cublas.not_supported", 1.6, "cuBLAS does not support what it is asked"),
        ("cublas.execution_failed", 1.2, "cuBLAS failed to run"),
        ("cublas.not_initialized", 1.1, "cuBLAS does not start"),
        ("cudnn.not_supported_incompatible_cudart", 4.2, "cuDNN says that the CUDA runtime is another"),
        ("cuda.unsupported_ptx_version", 2.0, "the code was made by a newer CUDA than the driver runs"),
        ("cuda.insufficient_driver", 1.6, "the CUDA runtime is newer than the driver runs"),
        ("cuda.invalid_ptx", 1.5, "the PTX was made by another CUDA"),
        ("build.nvcc_arch", 2.8, "nvcc does not know {arch}: the toolkit is older than the card"),
        ("build.nvcc_arch", 3.4, "nvcc does not know {arch}: the toolkit is older than the card", field("arch", r"\D*(?:[89]\d|1\d\d)")),
        ("cufft.internal_error", 2.0, "cuFFT of that CUDA does not run on newer GPUs"),
        ("title.cuda_version", 2.4, "a mismatch of CUDA versions is named"),
        ("cudnn.execution_failed", 0.8, "cuDNN failed to run"),
        ("loader.undefined_symbol", 1.6, "{symbol} is of another version of the library", field("symbol", r"_*cu(?:blas|sparse|solver|fft|rand|da)(?-i:[A-Z])")),
        ("tf.skipping", 0.8, "TensorFlow skips the GPU", alone),
        ("loader.tf_skip", 1.5, "TensorFlow could not open some CUDA library", SKIPPED),
        ("tf.pywrap", 2.3, "TensorFlow's own library did not load: CUDA is of another version"),
        ("title.cpu_device", 3.4, "this TensorFlow was built for another CUDA than the one named", told_cuda_unfit),
        ("title.empty_devices", 3.4, "this TensorFlow was built for another CUDA than the one named", told_cuda_unfit),
        ("title.gpu_unseen", 3.2, "this TensorFlow was built for another CUDA than the one named", told_cuda_unfit),
        ("nvrtc.arch", 4.6, "the ptxas that is found is of a CUDA older than {arch}", with_("tf.ptxas_old")),
        ("nvrtc.arch", 2.8, "this nvcc does not know {arch}", line("nvcc")),
        ("title.cpu_device", 1.3, "only the CPU is listed"),
        ("title.empty_devices", 1.2, "TensorFlow lists no GPU"),
        ("build.cmake_find", 0.8, "CMake does not find the CUDA that it wants"),
        ("cuda.invalid_image", 1.0, "the code is not for this GPU or driver"),
        ("tensorrt.library", 3.2, "TensorRT's {what} does not start: it is of another CUDA than the one that is there"),
        ("tensorrt.mismatch", 2.2, "the engine was made by another TensorRT"),
        ("title.trouble", 2.2, "two CUDA versions are named", all_of(nothing_else, _two_cudas)),
        ("title.undef_var", 1.0, "{library} may be of another version"),
        ("title.trouble", 1.6, "versions are said to be wrong", said_of("version|compatib")),
        ("title.trouble", 0.9, SAID_TO_FAIL, nothing_else),
        ("cuda.version_translation", 2.0),
        ("nvrtc.invalid_option", 2.0),
        ("nvjitlink.unrecognized_option", 2.0),
        ("nvjitlink.invalid_input", 2.0),
        ("nvjitlink.ptx_compile", 2.0),
        ("nvjitlink.nvvm_compile", 2.0),
        ("nvjitlink.outdated_library", 2.0),
    ),
    ladder=matched,
    remedies=(
        *BITSANDBYTES,
        meant("Install torchvision again from the index of PyTorch's own CUDA, {major}.{minor}",
              "pip install --force-reinstall --no-deps torchvision --index-url=https://download.pytorch.org/whl/cu{major}{minor}    # of the release that belongs to this torch",
              said="torch.different_cuda", line=r"PyTorch has CUDA Version=(?P<major>\d+)\.(?P<minor>\d+)", safe=True),
        meant("Remove both and install them in one command, so that they are of one build",
              "pip uninstall -y torch torchvision torchaudio\npip install torch torchvision", said="torch.different_cuda",
              safe=True),
        meant(on.in_linux("install the toolkit that the framework was built with beside the other, and point CUDA_HOME to it"),
              on.linux("export CUDA_HOME=/usr/local/cuda-12.1"), safe=True),
        meant(on.in_windows("install the toolkit that the framework was built with beside the other (NVIDIA's installer), and put its bin folder first on PATH"),
              on.cmd(r'set "PATH=%CUDA_PATH%\bin;%PATH%"'), safe=True),
    ),
    admitted_by=(*NO_GPU, *NO_CUDNN, *NO_START, *UNRESOLVED),
    made=_made,
    rather=matching,
)  # fmt: skip
