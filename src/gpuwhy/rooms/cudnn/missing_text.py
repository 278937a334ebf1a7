"""cudnn.missing in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.messages import NO_CUDNN, NO_GPU
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.common import CUDNN_LIBRARY, CUDNN_TITLED, SKIPPED, said_of
from gpuwhy.rooms.text.conditions import all_of, alone, asks, beside_missing, field, line, no, wants, with_
from gpuwhy.rooms.text.installing import cudnn, own
from gpuwhy.rooms.text.library_ways import applications, brought
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text

_MISSING = "{library} is asked for, and the loader does not find it"


def _made(case: Asked) -> Iterator[Fix]:
    yield from applications(case)
    yield from own(case)
    if case.kind == "cudnn" and case.major:
        yield from cudnn(case, case.major)


TEXT = Text(
    "cudnn.missing",
    signatures=(
        error("loader.no_cudnn", r"unable to dynamically load the \W?cudnn\W", "dynamically load", covers=("loader.", "title.", "cuda.", "python.")),
        error("tf.no_dnn", r"(?:no dnn in stream executor|dnn library is not found|unimplemented: dnn library)", "no dnn in stream",
              "dnn library is not found"),
        error("title.cudnn_missing",
              r"cudnn (?:library |is |was )*(?:not (?:found|installed|available|detected|enabled)|missing)"
              r"|no module named '?cupy\.cudnn|'cupy\.cuda' has no attribute 'cudnn'|cudnn_enabled\W{1,4}false"
              r"|(?:could not|cannot|can't|unable to|failed to) (?:find|load|locate) cudnn"
              r"|no cudnn|cudnn is required|cudnn (?:is )?unavailable|\.cudnn unavailable", "cudnn", covers=("packages.partial", "python.attribute", "python.module")),
    ),
    clues=(
        ("loader.no_cudnn", 4.6, "no cuDNN is found under any of its names"),
        ("remark.no_cudnn", 3.8, "the text says that cuDNN was not installed", with_("loader.", "title.", "windows.", "tf.", "torch.", "cudnn.", "opencv.")),
        ("opencv.no_cuda", 4.6, "cuDNN is what is not found", line(r"cudnn\S* (?:is |was )?(?:not found|missing)")),
        ("windows.dotnet", 2.2, "{library}, or a DLL that it needs, is not found by the program"),
        ("ntstatus.error_mod_not_found", 1.8, "a DLL is not found at its first use (0xC06D007E)"),
        ("windows.jni", 2.0, "a DLL that {library} needs is not found, cuDNN's perhaps"),
        ("windows.self_check", 3.2, "TensorFlow wants cuDNN {version}, and it is not found", field("what", "cudnn")),
        ("title.library", 2.4, "{library} is named beside an error", CUDNN_TITLED),
        ("tf.registered", 2.0, "the GPU is there, and TensorFlow's libraries did not open", field("devices", ".*xla_gpu")),
        ("loader.prose", 3.2, _MISSING, CUDNN_LIBRARY),
        ("loader.mac_library", 3.2, _MISSING, CUDNN_LIBRARY),
        ("torch.preload", 3.0, "{library} is not found", asks("cudnn")),
        ("ort.cuda_path", 2.4, "cuDNN may not be there"),
        ("loader.cannot_open", 3.4, _MISSING, CUDNN_LIBRARY),
        ("loader.tf_dso", 3.4, _MISSING, all_of(CUDNN_LIBRARY, no(beside_missing("cuda")))),
        ("loader.tf_dso", 2.9, "{library} is missing like the rest of CUDA", all_of(CUDNN_LIBRARY, beside_missing("cuda"))),
        ("loader.asked", 3.2, _MISSING, CUDNN_LIBRARY),
        ("loader.find_failed", 3.2, _MISSING, CUDNN_LIBRARY),
        ("loader.ldd_missing", 3.2, _MISSING, CUDNN_LIBRARY),
        ("loader.cudnn_sub", 3.2, _MISSING, wants("cudnn")),
        ("loader.cudnn_by_path", 2.4, "{library} is not found"),
        ("loader.cudnn_windows", 3.2, "{library} is not found", field("number", "126")),
        ("loader.cudnn_path", 3.2, "{library} is asked for, and not found"),
        ("ort.load_shared", 1.9, "a library behind the CUDA provider is not found"),
        ("loader.cudnn_load", 3.0, "cuDNN's part {library} could not be loaded"),
        ("loader.cudnn_unable", 3.0, "cuDNN's part {library} could not be loaded"),
        ("loader.cudnn_symbol", 2.6, "cuDNN's part with {symbol} could not be loaded"),
        ("loader.cudnn_locate", 3.4, "{library} is not found"),
        ("cudnn.not_supported_sublibrary_unavailable", 3.2, "a part of cuDNN is not there"),
        ("cudnn.sublibrary_loading_failed", 2.8, "a part of cuDNN could not be loaded"),
        ("windows.dll_not_found", 3.4, _MISSING, CUDNN_LIBRARY),
        ("windows.could_not_find", 3.3, _MISSING, CUDNN_LIBRARY),
        ("windows.tf_needs", 3.4, _MISSING, CUDNN_LIBRARY),
        ("windows.dll_needs", 3.4, _MISSING, CUDNN_LIBRARY),
        ("windows.third_party", 2.8, _MISSING, CUDNN_LIBRARY),
        ("windows.load_library", 2.0, "a DLL behind the CUDA provider is not found, cuDNN's most often", field("number", r"(?:126|1157)$")),
        ("ct2.not_found", 3.2, _MISSING, CUDNN_LIBRARY),
        ("cupy.load_failed", 3.2, _MISSING, CUDNN_LIBRARY),
        ("jax.unable_to_load", 4.2, "JAX cannot load cuDNN", field("what", "cudnn")),
        ("tf.pywrap", 2.0, "TensorFlow's own library did not load: cuDNN is missing"),
        ("title.empty_devices", 1.0, "TensorFlow lists no GPU"),
        ("loader.cudnn_dso", 3.2, "TensorFlow opened a cuDNN without {symbol}, or none"),
        ("signal.windows", 1.6, "a crash; this happens when cuDNN's DLLs are not found"),
        ("tf.no_dnn", 2.4, "TensorFlow has no cuDNN", no(with_("tf.cudnn_loaded"))),
        ("tf.cudnn_version", 3.0, "TensorFlow cannot ask cuDNN for its version"),
        ("loader.tf_skip", 2.2, "TensorFlow could not open some library, cuDNN's most often", SKIPPED),
        ("title.cudnn_missing", 2.6, "the text says that cuDNN is missing"),
        ("build.header", 2.6, "{header} is not found", field("header", "cudnn")),
        ("build.cannot_find_l", 2.6, "the linker does not find cuDNN", field("library", "cudnn")),
        ("build.cmake_find", 2.0, "CMake does not find cuDNN", field("what", "cudnn")),
        ("ort.create_failed", 1.8, "the CUDA provider wants cuDNN {cudnn}", alone),
        ("windows.ort_dll", 1.8, "a DLL behind the CUDA provider is not found"),
        ("title.undef_var", 3.2, "{library} is not found", field("library", "libcudnn")),
        ("title.trouble", 1.6, "the text says that cuDNN fails", said_of("cudnn")),
    ),
    ladder=brought,
    remedies=(
        meant("Jetson: cuDNN comes with JetPack: install its parts of the release that is on the board; PyTorch must be the wheel for that JetPack",
              on.linux("sudo apt update && sudo apt install nvidia-jetpack"), by="jetson", said="loader. title.", root=True),
        meant("pip: install the cuDNN whose major number is in the file's name", 'pip install "nvidia-cudnn-cu12"', safe=True),
        meant("conda", "conda install -c conda-forge cudnn", safe=True),
        meant(on.in_windows("unpack cuDNN into the CUDA folder, so that its DLLs are on PATH")),
    ),
    admitted_by=(*NO_GPU, *NO_CUDNN),
    made=_made,
)  # fmt: skip
