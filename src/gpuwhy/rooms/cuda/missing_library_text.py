"""cuda.missing_library in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.knowledge.installs import pip_newest
from gpuwhy.knowledge.messages import NO_GPU
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.shared.commands import search_first
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.bitsandbytes import matching
from gpuwhy.rooms.text.common import CUDA_LIBRARY, CUDA_TITLED, SAID_TO_FAIL, SKIPPED, nothing_else
from gpuwhy.rooms.text.conditions import all_of, alone, any_of, asks, field, line, no, whole, with_
from gpuwhy.rooms.text.installing import missing_library
from gpuwhy.rooms.text.libraries import none_listed
from gpuwhy.rooms.text.library_ways import applications, brought
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import BITSANDBYTES, MSVC, NOT_ALONG_PATH
from gpuwhy.rooms.text.room import Text

_MISSING = "{library} is asked for, and the loader does not find it"

_TF = with_("tf.", "harmless.", "loader.tf_skip", "loader.tf_dso")

_NEEDS_CUDA = r"^(?!.*error loading)|(?:_gpu|cuda|cu\w+64_\d+)\w*\.dll"

_PLAIN_DLL = r"error loading (?!.*(?:_gpu|cuda|cu\w+64_\d+)\w*\.dll)"


def _named(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """The folder in which the text itself says that the library is."""
    for one in symptoms:
        name = one.get("library").rpartition("/")[2]
        found = (
            re.search(rf"{re.escape(name)}\b[^\n]{{0,40}} (?:in|at|under) (/[\w./-]+)", reading.excerpt)
            if name
            else None
        )
        if found and ".so" in name:
            folder = found[1].removesuffix(f"/{name}").rstrip("./")
            yield search_first(f"Add {folder}, where the text says that {name} is, to LD_LIBRARY_PATH", (folder,))
            return


def _made(case: Asked) -> Iterator[Fix]:
    yield from applications(case)
    if case.framework in ("onnxruntime", "cupy") and not case.windows and not case.brings:
        yield from brought(case)
    yield from missing_library(case)


def _profiling(s: Symptom, r: Reading) -> bool:
    """Profiling is what the text is about."""
    return bool(
        re.search(
            r"(?i)\b(?:trying|want\w*|doing|use|using|run\w*|enable\w*|start\w*)\b[^\n]{0,30}\bprofil|profiler\.\w+\(|tensorboard[^\n]{0,20}profil|profile_batch",
            r.excerpt,
        )
    )


TEXT = Text(
    "cuda.missing_library",
    clues=(
        ("tf.cupti", 2.8, "CUPTI, which the profiler opens, lies in a folder of its own outside the search"),
        ("julia.runtime", 4.4, "CUDA.jl found no CUDA runtime that fits"),
        ("remark.no_toolkit", 3.8, "the text says that no CUDA toolkit is installed", with_("loader.", "title.library", "windows.", "tf.skip", "tf.cudart", "tf.no_cuda_drivers")),
        ("llama.backend_dll", 5.0, "{library} is there, and a DLL that it needs is not"),
        ("windows.dotnet", 3.4, "{library}, or a DLL that it needs, is not found by the program"),
        ("harmless.cupti", 3.0, "the profiler asks for CUPTI, and the loader does not find it", _profiling),
        ("python.module", 5.0, "TensorRT, which this program runs on, is not installed", field("name", r"tensorrt(?:_libs|_bindings)?$")),
        ("ntstatus.dll_not_found", 2.4, "a DLL that the program is linked with is not found (0xC0000135)"),
        ("ntstatus.error_mod_not_found", 2.4, "a DLL is not found at its first use (0xC06D007E)"),
        ("jax.falls_back", 1.5, "JAX sees no GPU; this happens when the libraries of its CUDA part are not found"),
        ("windows.jni", 2.8, "a DLL that {library} needs is not found"),
        ("windows.self_check", 3.0, "TensorFlow wants CUDA {version}, and it is not found", field("what", "cuda")),
        ("title.library", 2.2, "{library} is named beside an error", CUDA_TITLED),
        ("tf.registered", 2.8, "the GPU is there, and TensorFlow's libraries did not open", field("devices", ".*xla_gpu")),
        ("torch.preload", 3.0, "{library} is not found", asks("cuda", "nccl", "nvrtc")),
        ("loader.prose", 3.0, _MISSING, CUDA_LIBRARY),
        ("loader.mac_library", 3.0, _MISSING, CUDA_LIBRARY),
        ("tf.no_opkernel", 1.6, "TensorFlow has only the CPU; this happens without its CUDA libraries"),
        ("tf.cudart_stub", 3.0, "TensorFlow could not open the CUDA runtime", line("cudageterror")),
        ("tf.cudart_stub", 4.4, "TensorFlow calls a library that it could not open", no(line("cudageterror"))),
        ("tf.no_cuda_drivers", 1.8, "TensorFlow could not open libcudart, which it takes for a missing driver"),
        ("ort.cuda_path", 2.0, "a library behind the CUDA provider is not found"),
        ("tensorrt.library", 2.2, "{what} may not be there"),
        ("loader.native", 3.2, "the program's library for CUDA does not load: what it needs of CUDA is not found", whole(r"cuda")),
        ("loader.pathfinder", 3.2, _MISSING, CUDA_LIBRARY),
        ("loader.pathfinder", 2.8, _MISSING, asks("nvrtc")),
        ("loader.cannot_open", 3.2, _MISSING, CUDA_LIBRARY),
        ("loader.cannot_open", 2.8, _MISSING, asks("nvrtc")),
        ("loader.cannot_open", 2.4, _MISSING, asks("tensorrt")),
        ("loader.tensorrt", 1.6, _MISSING, no(any_of(_TF, line("load dynamic library")))),
        ("loader.tf_dso", 3.2, _MISSING, CUDA_LIBRARY),
        ("loader.asked", 3.0, _MISSING, CUDA_LIBRARY),
        ("loader.find_failed", 3.0, _MISSING, CUDA_LIBRARY),
        ("loader.ldd_missing", 3.0, _MISSING, CUDA_LIBRARY),
        ("loader.find_failed", 2.2, _MISSING, asks("nvrtc")),
        ("loader.cudnn_sub", 1.8, "the loader finds {library}, but not {wanted}, which {library} needs", line(r"Error: lib(?:cublas|cudart|nvrtc)")),
        ("loader.tf_skip", 2.4, "TensorFlow could not open some CUDA library", SKIPPED),
        ("loader.tf_skip", 4.4, "TensorFlow could not open some CUDA library, and none of NVIDIA's packages is installed", none_listed("nvidia|cuda")),
        ("ct2.not_found", 2.9, _MISSING, CUDA_LIBRARY),
        ("cupy.load_failed", 2.6, _MISSING, asks("cuda", "nvrtc")),
        ("windows.dll_not_found", 3.2, _MISSING, CUDA_LIBRARY),
        ("windows.could_not_find", 3.1, _MISSING, CUDA_LIBRARY),
        ("windows.tf_needs", 3.2, _MISSING, CUDA_LIBRARY),
        ("windows.dll_needs", 3.0, _MISSING, CUDA_LIBRARY),
        ("windows.third_party", 2.6, _MISSING, asks("cuda")),
        ("windows.load_library", 2.4, "a DLL behind the CUDA provider is not found", field("number", r"(?:126|1157)$")),
        ("loader.cudarc", 4.2, "{library} is asked for, and the loader does not find it", no(field("library", "^(?:nv)?cuda$"))),
        ("windows.ctypes_dll", 2.6, "{library}, or a CUDA DLL that it needs, is not found", field("library", r"llama|ggml|whisper|cuda|gpu|ctranslate|mxnet|onnxruntime|nv")),
        ("windows.torch_dll", 3.2, "{library} needs CUDA's DLLs, and one of them is not found", all_of(field("library",
            r".*(?:_gpu|cuda)"), no(field("number", "127|182|193|1114")))),
        ("windows.torch_dll", 1.8, "{library} or a DLL that it needs is not found", no(field("number", "127|182|193|1114"))),
        ("windows.ort_dll", 2.2, "a DLL behind the CUDA provider is not found"),
        ("windows.dll_load_failed", 2.0, "a DLL behind the module is not found", all_of(field("what",
            r".*(?:modul|módulo|модуль|模|モジュール|모듈)"), no(field("module", "_pywrap_tensorflow")))),
        ("windows.module_missing", 1.4, "a DLL is not found"),
        ("windows.error", 1.4, "a DLL is not found ({number})", field("number", r"(?:126|1157)$")),
        ("jax.unable_to_load", 4.2, "JAX cannot load {what}", field("what", r"(?!cudnn)")),
        ("bnb.setup", 2.5, "bitsandbytes does not find the CUDA runtime"),
        ("bnb.no_version", 1.8, "bitsandbytes has no library for this CUDA"),
        ("ort.load_shared", 2.2, "a library behind the CUDA provider is not found"),
        ("ort.create_failed", 1.9, "the CUDA provider wants CUDA {cuda} and cuDNN {cudnn}", alone),
        ("numba.nvvm", 1.8, "the toolkit's NVVM is not there"),
        ("nvrtc.builtins", 2.2, "{library} is not found"),
        ("build.cannot_find_l", 1.5, "the linker does not find {library}", asks("cuda")),
        ("tf.pywrap", 2.2, "TensorFlow's own library did not load: a CUDA library is missing"),
        ("title.cpu_device", 1.3, "only the CPU is listed"),
        ("title.empty_devices", 1.5, "TensorFlow lists no GPU"),
        ("title.empty_list", 1.0, "the list of GPUs is empty"),
        ("tf.skipping", 1.6, "TensorFlow skips the GPU", alone),
        ("harmless.cudart_stub", 0.4, "the CUDA runtime is not found"),
        ("title.undef_var", 3.0, "{library} is not found", no(field("library", "libcudnn"))),
        ("title.trouble", 0.3, SAID_TO_FAIL, nothing_else),
    ),
    ladder=brought,
    remedies=(
        meant(on.in_windows("put CUPTI's folder on PATH (your release in it); or switch the profiler off: profile_batch=0 in the TensorBoard callback"),
              on.cmd(r'set "PATH=%CUDA_PATH%\extras\CUPTI\lib64;%PATH%"'), said="tf.cupti", safe=True),
        meant(on.in_linux("add CUPTI's folder to LD_LIBRARY_PATH; or switch the profiler off: profile_batch=0 in the TensorBoard callback"),
              on.linux("export LD_LIBRARY_PATH=/usr/local/cuda/extras/CUPTI/lib64:$LD_LIBRARY_PATH"), said="tf.cupti",
              safe=True),
        meant("CUDA.jl: tell it the CUDA that the driver speaks (nvidia-smi names it), then start Julia anew; it was installed where no driver was seen",
              on.code('using CUDA; CUDA.set_runtime_version!(v"12.4")'), said="julia.runtime"),
        meant("Or let it use the toolkit that is installed", on.code("using CUDA; CUDA.set_runtime_version!(local_toolkit=true)"), said="julia.runtime"),
        *BITSANDBYTES,
        meant(on.in_windows("install triton-windows of the series that belongs to this PyTorch, and delete its cache (.triton in your folder)"),
              "pip install -U triton-windows", said="windows.dll_load_failed", line="cuda_utils|triton"),
        meant("An extension of PyTorch: import torch before it, which loads the DLLs that it needs; else build it again for this PyTorch",
              said="windows.dll_load_failed", line="dll load failed: |_ext|_cuda|_C\\b", by="torch", more=True),
        *NOT_ALONG_PATH,
        meant(on.in_windows("install the CUDA toolkit that this PyTorch was built for (NVIDIA's installer), or a PyTorch whose wheel contains it"),
              said="windows.torch_dll", line=r"(?:_gpu|cuda)\w*\.dll"),
        meant("Or reinstall the CUDA build of PyTorch", "pip install --force-reinstall torch", said="windows.torch_dll", line=r"(?:_gpu|cuda)\w*\.dll", safe=True),
        *(structs.replace(one, more=True, line=one.line or _NEEDS_CUDA) for one in MSVC),
        *(structs.replace(one, line=one.line or _PLAIN_DLL) for one in MSVC),
        meant("TensorFlow 2.14 or newer: install it with its CUDA libraries", pip_newest("tensorflow"), by="tensorflow", safe=True),
        meant("ONNX Runtime: install it with its CUDA libraries", pip_newest("onnxruntime"), by="onnxruntime", safe=True),
        meant("conda: install the toolkit's libraries of the asked version", "conda install -c conda-forge cudatoolkit", safe=True),
        meant(on.in_windows("install the CUDA toolkit whose number is in the DLL's name (cudart64_101.dll: CUDA 10.1)")),
    ),
    admitted_by=NO_GPU,
    made=_made,
    named=_named,
    rather=matching,
)  # fmt: skip
