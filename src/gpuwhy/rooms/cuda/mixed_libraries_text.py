"""cuda.mixed_libraries in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.knowledge.messages import NO_CUDNN, NO_START, UNRESOLVED
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.common import LACKS_ENTRY, SAID_TO_FAIL, nothing_else
from gpuwhy.rooms.text.conditions import all_of, asks, field, line, no, own_symbol, whole, with_
from gpuwhy.rooms.text.env_ways import one_copy
from gpuwhy.rooms.text.libraries import beside_another_toolkit
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text

TEXT = Text(
    "cuda.mixed_libraries",
    signatures=(
        error("remark.two_copies",
              r"\blib(?:cu(?!dnn)|nv)\w{2,30}\.so[.\d]* (?:\(|from )[^\n]{1,60}?\band [^\n]{0,10}?lib(?:cu(?!dnn)"
              r"|nv)\w{2,30}\.so[.\d]* (?:\(|from )"
              r"|\btwo (?:different |other )?(?:cuda|cudart|cublas) (?:runtimes|libraries|toolkits)\b"
              r"|\btwo lib(?:cu(?!dnn)|nv)\w{2,20}\b"
              r"|/(?P<library>lib(?:cu(?!dnn)|nv)\w{2,30})\.so[.\d]*[^\n]{1,24}?\b(?:and|over|before"
              r"|instead of) \S{0,120}?(?P=library)\.so"
              r"|\b(?P<library2>\w{3,40})\.dll\b[^\n]{0,12}\bfound first (?:on|in) (?:the )?%?path"
              r"|\bworks? (?:fine )?(?:with|after|under) `?(?:env -u|unset) ld_library_path", "lib", "two cu",
              "two different", "two other", "found first", "env -u", "unset ld_library_path"),
        error("loader.lacks", r"(?P<library>lib(?:cu|nv)\w+\.so[.\d]*)\W{0,2} (?:lacks|has no|does not have"
              r"|misses) (?P<symbol>\w{4,})", "lacks", "has no", "not have", "misses", covers=("loader.version_missing",
            )),
        error("loader.unloaded_symbol",
              r"could not load symbol (?P<symbol>\w{4,80}) from (?P<library>(?:lib)?(?:cu(?!dnn)"
              r"|nv)\w{2,40}(?:\.so(?:\.\d+)*|\.dll))", "load symbol", covers=("loader.asked",
            "loader.undefined_symbol", "windows.could_not_find")),
    ),
    clues=(
        ("remark.two_copies", 4.6, "two copies of the library are in the process, and the wrong one is found first", no(line("cudnn"))),
        ("remark.shadow", 4.8, "the text tells of a second copy that is found first", all_of(no(line("cudnn")), no(whole(r"[/-]compat\b")),
            with_("cublas.", "cufft.", "cusparse.", "cusolver.", "curand.", "cuda.", "loader.", "signal.",
                  "bitsandbytes.", "title."))),
        ("loader.unloaded_symbol", 4.8, "{library} is another copy than the one that is needed: it lacks {symbol}"),
        ("nvrtc.builtins", 4.4, "{library} is there, and the folder of another CUDA is searched before its own", beside_another_toolkit),
        ("loader.lacks", 4.8, "{library} is another copy than the one that is needed: it lacks {symbol}"),
        ("ntstatus.heap_corruption", 2.2, "native code writes past its memory (0xC0000374); this happens with two copies of a runtime"),
        ("ntstatus.entrypoint_not_found", 2.2, "a DLL of another version wins (0xC0000139)"),
        ("ntstatus.error_proc_not_found", 2.2, "a DLL of another version wins (0xC06D007F)"),
        ("title.second_copy", 2.6, "a second copy of the libraries is named", no(line("cudnn"))),
        ("title.second_copy", 1.6, "a second copy of the libraries is named"),
        ("jax.unable_to_load", 3.4, "cuSPARSE needs the nvJitLink of its own CUDA, and another may be found first", field("what", "cusparse")),
        ("loader.undefined_symbol", 4.2, "{symbol} is missing in the copy of the library that was loaded", field("symbol", r"_*nvjitlink")),
        ("loader.undefined_symbol", 3.8, "{symbol} is missing in the copy of the library that was loaded", field("symbol", r"cu(?:blas|sparse|solver|fft|rand|pti)")),
        ("loader.undefined_symbol", 3.8, "{object} meets another copy than the {version} it was built with", field("version", r"lib(?:cu(?!dnn)|nv)")),
        ("loader.undefined_symbol", 3.4, "{object} meets another copy than its own", all_of(field("object", r".*lib(?:cu(?!dnn|da\.so)|nv)"), no(own_symbol))),
        ("loader.undefined_symbol", 2.8, "{symbol} is missing in the libnccl that was loaded", field("symbol", r"p?nccl")),
        ("loader.undefined_symbol", 2.4, "{symbol} is missing in the copy of cuDNN that was loaded", field("symbol", r"cudnn")),
        ("loader.not_defined", 4.0, "{library} is another copy than the one that is needed", asks("cuda", "nvrtc", "nccl")),
        ("loader.cudnn_sub", 3.6, "another copy is loaded behind {library}: {dlerror}", line(r"nvrtc\S*: undefined|cublas\S*: undefined")),
        ("loader.version_missing", 3.4, "{library} is another copy than the one that is needed", field("version", r"lib(?:cu|nv)")),
        ("loader.path_told", 1.4, "LD_LIBRARY_PATH puts {path} before what the framework brings", with_("loader.undefined", "tf.cudnn_loaded", "cublas.", "cudnn.")),
        ("tf.cudnn_loaded", 2.0, "another cuDNN than the framework's own was loaded"),
        ("tf.cudnn_loaded", 3.0, "LD_LIBRARY_PATH leads to another cuDNN", with_("loader.path_told")),
        ("torch.cudnn_mismatch", 1.8, "another cuDNN than PyTorch's own was loaded"),
        ("torch.cudnn_mismatch_note", 2.8, "LD_LIBRARY_PATH leads to another cuDNN"),
        ("cublas.invalid_value", 2.8, "cuBLAS refuses plain arguments; this happens when a copy of another version is loaded"),
        ("cublas.unknown", 2.2, "cuBLAS returns a status that the program does not know; this happens when another copy of the library is loaded"),
        ("cublas.not_supported", 1.2, "cuBLAS does not support what it is asked"),
        ("cublas.execution_failed", 1.1, "cuBLAS failed to run"),
        ("jax.found_version", 1.9, "another {what} than JAX's own was loaded"),
        ("windows.procedure_missing", 2.0, "a DLL of another version was loaded"),
        ("windows.dll_load_failed", 2.0, "a DLL of another version was loaded", LACKS_ENTRY),
        *((said, weight, "another copy of a DLL may be in the process ({number})", field("number", r"(?:127|182|998|1114)$"))
          for said, weight in (("windows.load_library", 2.0), ("windows.error", 0.8))),
        ("signal.segv", 1.1, "a crash, as of mixed libraries"),
        ("nccl.version", 1.8, "two versions of NCCL meet"),
        ("told.path_conflict", 2.4, "LD_LIBRARY_PATH leads to another copy first"),
        ("cublas.internal_error", 3.4, "even asking cuBLAS for its version fails: another copy of it is in the process", line(r"cublas\w*getversion|versions_helpers")),
        ("title.undefined_symbol", 2.8, "{object} meets another copy than its own", field("object", r".*lib(?:cu(?!dnn)|nv)")),
        ("title.undefined_symbol", 1.4, "a library lacks a symbol that is asked for"),
        ("title.trouble", 0.1, SAID_TO_FAIL, nothing_else),
        ("cudnn.execution_failed_cublas", 2.0),
        ("cusolver.not_initialized", 1.8),
        ("cufft.setup_failed", 1.8),
        ("cusparse.not_initialized", 2.2),
        ("cusparse.internal_error", 2.2),
        ("curand.version_mismatch", 3.0),
        ("curand.internal_error", 3.0),
        ("nvrtc.internal_error", 2.0),
        ("nvjitlink.ptx_compile", 1.4),
        ("nvjitlink.internal", 2.0),
        ("nvjitlink.outdated_library", 1.4),
    ),
    ladder=one_copy,
    remedies=(
        meant("Or install NCCL's wheel again, the newest, which has what older ones have", on.linux("pip install --upgrade --force-reinstall nvidia-nccl{cu}"),
              said="loader. nccl. torch. title.", line=r"\bnccl[A-Z]\w+|libnccl", safe=True, more=True),
        meant("Or remove the system's or conda's copy of the library that the message names"),
    ),
    admitted_by=(*NO_CUDNN, *NO_START, *UNRESOLVED),
)  # fmt: skip
