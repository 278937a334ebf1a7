"""env.path in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.installs import PRELOADS
from gpuwhy.knowledge.messages import NO_GPU
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.ending import PYTHON, USER
from gpuwhy.model.signature import error, told
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.version import at_least
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.builds import of_tool
from gpuwhy.rooms.text.common import SAID_TO_FAIL, nothing_else
from gpuwhy.rooms.text.conditions import all_of, alone, alone_beside, asks, field, line, no, wants, whole, with_
from gpuwhy.rooms.text.libraries import same_file_told
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import CUDA_HOME, NOT_ALONG_PATH
from gpuwhy.rooms.text.room import Text

_GPU_DLL = field("library", r"llama|ggml|whisper|cuda|gpu|ctranslate|mxnet|onnxruntime|nv")

_ANY = asks("cuda", "cudnn", "nvrtc", "nccl", "tensorrt")

_OUTSIDE = "{library} may be installed outside the folders the loader searches"

_THERE = "{library} exists, outside the folders the loader searches"


_OPENS = re.compile(r"CDLL|LoadLibrary|load_library|dlopen|cffi|\bload\(")


def _of_its_own(s: Symptom, r: Reading) -> bool:
    """The program opens a library of its own: one without a release in its name, which no distribution installs."""
    last = next((f for f in reversed(r.ending.stack) if f.owner != PYTHON), None)
    opened = last is not None and last.owner == USER and bool(_OPENS.search(last.code))
    return opened or "error while loading shared libraries" in s.text


_OWN_LIBRARY = all_of(asks("other"), field("library", r"(?:\S*/)?lib[\w+-]+\.so$"), _of_its_own)

_PLACES = r"(?-i:LD_LIBRARY_PATH|CUDA_HOME|CUDA_PATH|CUDNN_PATH|CUDA_ROOT|CUDA_TOOLKIT_ROOT_DIR|CUDNN_HOME|DYLD_LIBRARY_PATH|CONDA_PREFIX|PATH|ld\.so\.conf\S*)"

_MISSING = with_(
    "loader.",
    "windows.",
    "title.library",
    "numba.nvvm",
    "build.nvcc",
    "build.cuda_home",
    "tf.libdevice",
    "tf.ptxas",
    "tf.skipping",
    "cupy.",
    "nvrtc.",
    "triton.libcuda",
    "title.undef",
    "python.command",
    "hashcat.",
    "ort.",
    "ct2.",
    "bnb.",
)
"""A library or a tool is said not to be found."""


def _cudart_told(s: Symptom, r: Reading) -> bool:
    """The text shows where the CUDA runtime's library lies."""
    return any("libcudart.so" in name for name in r.told.files)


def _made(case: Asked) -> Iterator[Fix]:
    opened = any(map(case.reading.has, ("loader.tf_skip", "tf.libdevice", "tf.ptxas")))  # said after libcuda was opened
    if "wsl" in case.tools and not opened:
        yield Fix(on.in_wsl("add the folder of its own libcuda to LD_LIBRARY_PATH; the driver is Windows' own"), on.wsl("export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH"), safe=True)  # fmt: skip
    if case.framework == "tensorflow" and case.reading.has("loader.tf_skip") and not case.windows:
        wanted = f"=={case.version}" if at_least(case.version or "0", "2.14") else ""
        yield Fix("Let TensorFlow bring the CUDA libraries that it was built for, as wheels (2.14 and newer)", f'pip install "tensorflow[and-cuda]{wanted}"', safe=True)  # fmt: skip
    if "bitsandbytes" in case.tools:
        yield Fix("Install the newest release of bitsandbytes: it looks for PyTorch's own CUDA, and has libraries for more", "pip install --upgrade bitsandbytes", safe=True)  # fmt: skip
    if not case.library:
        return
    if call := PRELOADS.get(case.framework):
        yield Fix(f"Call {call} at the start of the program: it finds the wheels of the environment", safe=True)
    if case.windows:
        library = case.library.split(";")[0]
        yield Fix(f"Find {library}", on.cmd(f"where /R C:\\ {library}"), safe=True)
        yield Fix("Add its folder to PATH in this window; permanently: in Windows' environment variables",
                  on.cmd("set PATH=FOLDER;%PATH%"), safe=True)  # fmt: skip
        return
    folder, find = case.folder, ""
    if not folder:  # the shell stops where nothing is found: "." on the search path would be worse than none
        folder = '"${folder:?not found}"'
        find = f"folder=$(find / -name '{case.library}*' -not -path '*/stubs/*' -printf %h -quit 2>/dev/null)\n"
    found = "Add the library's folder" if case.folder else f"Find {case.library}, and add its folder"
    path = f"{folder}:$LD_LIBRARY_PATH"
    yield Fix(f"{found} to LD_LIBRARY_PATH", on.linux(f"{find}export LD_LIBRARY_PATH={path}"), safe=True)
    yield Fix(
        "Or add the folder to the loader's configuration permanently",
        on.linux(f"{find}sudo tee /etc/ld.so.conf.d/cuda.conf <<< {folder} && sudo ldconfig"),
        root=True,
    )


TEXT = Text(
    "env.path",
    signatures=(
        error("trt.unopened", r"unable to (?:open|load) library: (?P<library>nv\w{1,40}\.dll)", "unable to open library: nv", "unable to load library: nv", covers=("title.",)),
        error("said.searched", r"(?:unable to|failed to|could not|couldn't|cannot|can't) (?:find|locate|detect"
              r"|determine)\b[^\n]{0,100}\b(?P<name>cuda_(?:path|home|root(?:_dir)?|toolkit_root_dir|toolkit_path"
              r"|bin_path))\b", "cuda_path", "cuda_home", "cuda_root", "cuda_toolkit", "cuda_bin_path", covers=("title.",
            "python.", "build.failed", "else.foreign")),
        told("remark.lies_there", r"^/\S{1,120}/(?:bin/nvcc|bin/ptxas|libdevice\.10\.bc)\s*$"
             r"|\b(?:exists|is there|are there)\b[^\n]{0,20}\bpath (?:has|holds|contains) only\b"
             r"|\bi can see the files?\b|\bld_library_path is (?:empty|unset|not set)\b|\bpath order has\b"
             r"|\b(?:export|setting) ld_library_path\b[^\n]{0,160}\b(?:solve[sd]|fixe[sd]|help(?:s|ed)|works?)\b"
             r"|\badd_dll_directory\b[^\n]{0,20}\b(?:solve[sd]|fixe[sd]|help(?:s|ed)|works?)\b"
             r"|\b(?:could not|can't|cannot) find[^\n]{0,40}[;,] (?:but )?(?:it|they)(?:'s| is| lies| are|'re) (?:in"
             r"|at|under) /",
              "/bin/nvcc", "/bin/ptxas", "libdevice.10.bc", "path has only", "path holds only", "path contains only",
              "see the file", "ld_library_path", "path order has", "add_dll_directory", " find"),
        error("remark.path",
              rf"\b{_PLACES}\b[^\n]{{0,100}}(?:too deep|too high|\btypo\b|misspel\w+|\bwrong\b|should (?:be|point)|does(?:n't| not) exist|i deleted|was deleted|deleted|removed|was uninstalled|still points?|points? (?:to|at) (?:a|the|an)? ?(?:old|other|deleted|v?\d|folder))"
              rf"|\b(?:forgot|never ran|did(?:n't| not) run|without running|not run)\b[^\n]{{0,20}}\bldconfig|(?:by hand|from (?:my|the|an interactive) shell|(?:in|from) (?:my|the|a|an interactive) (?:shell|terminal)|with bash -l|interactive shell|interactively|without sudo|not as root)[^\n]{{0,100}}\b(?:works?|fine|ok|runs?|finds? it|found)\b|\bworks? with bash -l|\b{_PLACES}\b is (?:only )?set in (?:my |the )?\S{{0,12}}(?:bashrc|profile|zshrc)|\b{_PLACES}\b (?:was|is) never (?:exported|set)"
              rf"|\b(?:sudo|cron|systemd|ssh|service|daemon|supervisor)\b[^\n]{{0,40}}\b(?:drops?|does(?:n't| not) (?:have|know|set|see|inherit)|loses?|without|lacks?|resets?|ignores?)\b[^\n]{{0,30}}\b{_PLACES}\b|(?:not (?:in|on)|missing (?:in|from)|never added to|not added to|outside)(?: my| the)? \$?{_PLACES}\b",
              "too deep", "too high", "typo", "misspel", "wrong", "should", "exist", "deleted", "removed",
              "uninstalled", "point", "ldconfig", "by hand", "bash -l", "bashrc", "profile", "zshrc", "never ",
              "shell", "terminal", "interactive", "without sudo", "not as root", "sudo", "cron", "systemd", "ssh",
              "service", "daemon", "supervisor", "not in ", "not on ", "missing ", "added to", "outside"),
        error("remark.there", r"(?:\b(?:but|though|although|yet|it|and|while|file|they)\b|[;,→:]"
              r"|->)[^\n]{0,30}(?P<path>/[\w./+-]{1,200}/(?P<library>(?:lib(?:cu|nv|nccl)[\w+-]*\.so[.\d]*|nvcc"
              r"|ptxas|libdevice[\w.]*|nvvm)))\)? (?:exists?|is (?:there|present|installed)|is in place|does exist)"
              r"|(?:although|though|but) (?P<path4>[a-z]:\\[^\n]{1,200}\.(?:exe|dll)) (?:exists"
              r"|is (?:there|present))"
              r"|\b(?:it|they|these|which|the file|the libraries) (?:is|are|lies?|sits?) (?:in|under"
              r"|at) (?P<path2>/[\w./+-]{1,200})"
              r"|(?:nvvm|nvcc|ptxas|lib(?:cu|nv)\w+(?:\.so[.\d]*)?) (?:is|lies|sits) in (?P<path3>/[\w./+-]{1,200})",
              "exist", "is there", "is present", "is installed", "in place", " in /", "under /", "at /", "lies ", "sits "),
        error("env.no_variable", r"\b(?P<name>cuda_path|cudnn_path|cudnn_home|cudnn_root|cuda_root"
              r"|cuda_toolkit_path)\b[^\n]{0,60}\b(?:not set|unset|not defined|undefined|is empty)\b",
              "cuda_path", "cudnn_path", "cudnn_home", "cudnn_root", "cuda_root", "cuda_toolkit_path", covers=("title.",)),
        error("env.no_folder", r"cuda (?:path|folder|directory) [^\n]{0,160}(?:does not exist|not found)"
              r"|paths? (?:are|is) missing from your path", "does not exist", "cuda path", "missing from your path",
              covers=("title.",)),
    ),
    clues=(
        ("trt.unopened", 4.4, "{library} is installed outside the folders that are searched"),
        ("said.searched", 3.8, "what is looked for by {name} is not found there"),
        ("remark.lies_there", 4.4, "what is not found is there, in a folder that is not searched", whole(r"not found|can(?:'t|not) (?:find|open|be loaded)|could not (?:find|load)|load failed"
            r"|unsupported gpu architecture")),
        ("tf.cupti", 4.0, "CUPTI, which the profiler opens, lies in a folder of its own outside the search"),
        ("remark.path", 4.8, "a variable or a setting of the loader does not lead to what is installed", _MISSING),
        ("remark.path", 2.2, "a variable does not lead to what is installed"),
        ("remark.there", 4.6, "what is not found is there: {path}", _MISSING),
        ("loader.tensorrt", 4.8, _THERE, same_file_told),
        ("title.library", 4.6, _THERE, same_file_told),
        ("loader.prose", 4.6, _THERE, all_of(_ANY, same_file_told)),
        ("windows.dotnet", 2.0, "{library}, or a DLL that it needs, is not found by the program"),
        ("build.cannot_find_l", 3.4, "libcuda.so is not where the linker looks for Triton", all_of(field("library", r"cuda$"), with_("triton.here", "torch.dynamo"))),
        ("said.list", 4.4, "{name} holds a list of folders, and it must be one folder"),
        ("said.no_nvcc", 3.0, "nvcc may be installed outside PATH"),
        ("loader.cudarc", 2.4, "the folder of {library} may not be searched"),
        ("windows.ctypes_dll", 3.4,
         "{library} is there with its package, and Python does not find the CUDA DLLs that it needs: from 3.8 on it does not look along PATH",
         all_of(_GPU_DLL, field("path", r".*[\\/]"))),
        ("windows.ctypes_dll", 1.4, "{library}, or a DLL that it needs, lies outside the folders that Python searches"),
        ("ntstatus.dll_not_found", 2.0, "a DLL that the program is linked with is not found (0xC0000135); this happens when PATH does not lead to it"),
        ("ntstatus.error_mod_not_found", 2.0, "a DLL is not found at its first use (0xC06D007E); this happens when PATH does not lead to it"),
        ("windows.jni", 2.2, "PATH may not lead to what {library} needs"),
        ("windows.self_check", 2.6, "PATH may not lead to {what} {version}"),
        ("title.library", 1.6, _OUTSIDE, all_of(_ANY, no(with_("loader.", "windows.")))),
        ("tf.registered", 1.8, "the GPU is there, and TensorFlow's libraries did not open", field("devices", ".*xla_gpu")),
        ("torch.preload", 2.0, "{library} may lie outside the folders that are searched"),
        ("loader.prose", 2.4, _OUTSIDE, _ANY),
        ("loader.mac_library", 2.6, _OUTSIDE, _ANY),
        ("tf.cudart_stub", 2.2, "the folder of libcudart is not searched", line("cudageterror")),
        ("tf.no_cuda_drivers", 1.2, "the folder of libcudart may not be searched"),
        ("ort.cuda_path", 2.5, "CUDA_PATH leads to a CUDA that does not fit"),
        ("loader.cannot_open", 4.6, _THERE, all_of(_ANY, same_file_told)),
        ("loader.cannot_open", 2.5, _OUTSIDE, _ANY),
        ("loader.cannot_open", 4.0,
         "{library}, a library of the program's own, is not where the loader looks: LD_LIBRARY_PATH counts as it was when the process began, knows neither ~ nor blanks, and sudo drops it",
         _OWN_LIBRARY),
        ("loader.cannot_open", 2.2, "the folder of {library} may not be searched", field("library", r"libcuda\.so$")),
        ("loader.tf_dso", 4.6, _THERE, all_of(_ANY, same_file_told)),
        ("loader.tf_dso", 2.2, _OUTSIDE, asks("cuda", "cudnn")),
        ("loader.cudnn_sub", 4.6, _THERE, all_of(wants("cudnn"), same_file_told)),
        ("loader.cudnn_sub", 2.8, _OUTSIDE, wants("cudnn")),
        ("loader.cudnn_sub", 2.8, "{wanted} may lie outside the folders the loader searches", wants("driver")),
        ("loader.cudnn_sub", 1.6, "{wanted} may lie outside the folders the loader searches", wants("nvrtc", "cuda")),
        ("loader.cudnn_load", 2.2, _OUTSIDE),
        ("loader.cudnn_unable", 2.5, _OUTSIDE),
        ("loader.cudnn_symbol", 1.8, "cuDNN's parts may lie outside the folders the loader searches"),
        ("loader.cudnn_locate", 2.5, _OUTSIDE),
        ("loader.asked", 2.4, _OUTSIDE, _ANY),
        ("loader.find_failed", 2.4, _OUTSIDE, _ANY),
        ("loader.ldd_missing", 2.2, _OUTSIDE, _ANY),
        ("loader.tf_skip", 2.6, "libraries may be installed outside the folders the loader searches", alone_beside("tf.no_cuda_drivers", "tf.skipping")),
        ("loader.wrong_class", 2.6, "the loader first finds a library of another kind (for example 32 bit)", no(with_("loader.undefined_symbol", "loader.driver_symbol"))),
        ("loader.undefined_symbol", 4.2,
         "the C++ runtime that was loaded lacks {symbol}: another copy of it is found before the system's", field("version",
            "(?:gcc|glibcxx|cxxabi|glibc)_")),
        ("loader.undefined_symbol", 1.2, "the loader finds another copy of the library first", field("symbol", r"_*nvjitlink|cu(?:blas|sparse)")),
        ("windows.dll_not_found", 2.3, _OUTSIDE, _ANY),
        ("windows.could_not_find", 2.3, _OUTSIDE, _ANY),
        ("windows.tf_needs", 2.4, _OUTSIDE, _ANY),
        ("windows.dll_needs", 2.4, _OUTSIDE, _ANY),
        ("windows.third_party", 2.9, "PATH does not lead to {library}", asks("cuda")),
        ("windows.third_party", 2.2, "PATH may not lead to {library}"),
        ("title.empty_devices", 1.2, "TensorFlow lists no GPU"),
        ("title.empty_devices", 2.2, "TensorFlow does not find the CUDA libraries that were installed with it", with_("told.and_cuda")),
        ("windows.load_library", 2.2, "DLLs may lie outside PATH", field("number", r"(?:126|1157)$")),
        ("windows.load_library", 2.8, "a folder or a DLL is not where it is looked for ({number})", field("number", r"[23]$")),
        ("windows.ort_dll", 2.0, "DLLs may lie outside PATH"),
        ("ct2.not_found", 2.3, _OUTSIDE),
        ("loader.cudnn_dso", 2.4, "the folder of cuDNN is not searched"),
        ("nvrtc.temp", 1.6, "the folder for temporary files is at fault"),
        ("hashcat.toolkit", 1.8, "the toolkit is not where it is looked for"),
        ("signal.windows", 1.4, "a crash; this happens when PATH does not lead to cuDNN"),
        ("env.no_variable", 4.2, "{name} is not set, and this program looks for CUDA or cuDNN there"),
        ("env.no_folder", 4.2, "a CUDA folder that is searched does not exist, or PATH does not have it"),
        ("cupy.no_cuda_path", 3.2, "CUDA_PATH is not set"),
        ("cupy.load_failed", 1.6, _OUTSIDE),
        ("build.nvcc_missing", 3.1, "PATH does not lead to nvcc", no(with_("loader.tf_dso"))),
        ("build.cuda_home_colon", 4.4, "CUDA_HOME begins with a colon: {path}"),
        ("loader.cudnn_windows", 2.4, "PATH may not lead to {library}", field("number", "126")),
        ("loader.cudnn_path", 2.4, "{library} is asked for, and not found"),
        ("ort.load_shared", 2.0, "PATH may not lead to CUDA and cuDNN"),
        ("build.cuda_home", 3.2, "CUDA_HOME is not set, or names no toolkit"),
        ("build.cmake_compiler", 2.9, "PATH does not lead to nvcc"),
        ("build.cmake_find", 2.4, "CMake is not told where {what} is"),
        ("build.cannot_find_l", 1.9, "the linker is not told where {library} is"),
        ("build.bazel", 1.4, "the build is not told where CUDA is"),
        ("build.header", 1.8, "the compiler is not told where {header} is"),
        ("bnb.compiled", 4.8, "the CUDA runtime is there, and bitsandbytes does not find it", _cudart_told),
        ("bnb.setup", 2.4, "LD_LIBRARY_PATH does not lead to the CUDA runtime"),
        ("tf.libdevice", 2.6, "XLA_FLAGS does not lead to the toolkit"),
        ("tf.ptxas_missing", 2.2, "PATH does not lead to ptxas"),
        ("numba.nvvm", 2.0, "CUDA_HOME does not lead to NVVM"),
        ("nvrtc.builtins", 2.0, "the folder of {library} is not searched"),
        ("nvrtc.headers", 2.0, "CUDA_PATH does not lead to the headers"),
        ("triton.libcuda", 2.0, "the folder of libcuda.so is not searched"),
        ("numba.no_driver", 1.6, "the folder of libcuda is not searched"),
        ("nvidia.smi_missing", 1.4, "PATH does not lead to nvidia-smi"),
        ("ort.create_failed", 1.9, "the folders of CUDA and cuDNN may not be searched", alone),
        ("jax.unable_to_load", 1.6, "the folder of {what} is not searched"),
        ("tf.skipping", 1.4, "libraries may lie outside the folders the loader searches", alone),
        ("told.stub_path", 1.0, "LD_LIBRARY_PATH leads to the toolkit's stubs"),
        ("told.path_conflict", 1.6, "LD_LIBRARY_PATH is at fault"),
        ("title.undef_var", 1.8, "{library} may lie outside the folders the loader searches"),
        ("told.ide", 2.4, "one shell finds it, another does not", with_("loader.", "windows.", "build.", "tf.", "torch.", "title.")),
        ("title.trouble", 0.2, SAID_TO_FAIL, nothing_else),
        ("cuda.file_not_found", 2.0),
    ),
    remedies=(
        meant(on.in_windows("put CUPTI's folder on PATH (your release in it); or switch the profiler off: profile_batch=0 in the TensorBoard callback"),
              on.cmd(r'set "PATH=%CUDA_PATH%\extras\CUPTI\lib64;%PATH%"'), said="tf.cupti", safe=True),
        meant(on.in_linux("add CUPTI's folder to LD_LIBRARY_PATH; or switch the profiler off: profile_batch=0 in the TensorBoard callback"),
              on.linux("export LD_LIBRARY_PATH=/usr/local/cuda/extras/CUPTI/lib64:$LD_LIBRARY_PATH"), said="tf.cupti",
              safe=True),
        meant("Give the linker libcuda.so, which the driver installs as libcuda.so.1 alone: make the link, then renew the loader's list",
              on.host("sudo ln -s $(ldconfig -p | grep -m1 -o '/.*libcuda.so.1') /usr/lib/libcuda.so && sudo ldconfig"),
              said="build.cannot_find_l", line=r"-lcuda\b", root=True),
        meant("Or let it link against the toolkit's stub", on.linux("export LIBRARY_PATH=/usr/local/cuda/lib64/stubs:$LIBRARY_PATH"),
              said="build.cannot_find_l", line=r"-lcuda\b", safe=True),
        meant("{name} must be one folder, not a list: name the toolkit's folder alone", on.linux("export CUDA_HOME=/usr/local/cuda CUDA_PATH=/usr/local/cuda"),
              said="said.list", safe=True, more=True),
        meant("Set the variable to the folder of the CUDA toolkit; TensorFlow and PyTorch from pip do not read it, they search PATH and LD_LIBRARY_PATH",
              on.linux("export CUDA_PATH=/usr/local/cuda LD_LIBRARY_PATH=/usr/local/cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"),
              said="env.no_variable", safe=True, more=True),
        meant("Check which CUDA folders there are", on.linux("ls -d /usr/local/cuda*"), said="env.no_folder", look=True, more=True),
        *NOT_ALONG_PATH,
        meant(on.in_wsl("add the folder of its own libcuda to LD_LIBRARY_PATH"), on.wsl("export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH"),
              said="loader.cudarc", safe=True, more=True),
        *CUDA_HOME,
        meant("Start without the variables that put another C++ runtime before the system's", on.linux("unset LD_PRELOAD LD_LIBRARY_PATH"),
              said="loader.undefined_symbol", line=r"__gxx_personality|glibcxx_|cxxabi_|gcc_\d", safe=True),
        meant("Add the library's folder to LD_LIBRARY_PATH", on.linux("export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH"), safe=True),
        meant("Or add the folder to the loader's configuration permanently", on.linux("echo /usr/local/cuda/lib64 | sudo tee /etc/ld.so.conf.d/cuda.conf && sudo ldconfig"),
              root=True),
        meant("For compilers: set CUDA_HOME to the folder of the CUDA toolkit", on.linux("export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH"), safe=True),
        meant(on.in_windows("add the CUDA bin folder to PATH, then open a new window")),
    ),
    admitted_by=NO_GPU,
    made=_made,
    rather=of_tool,
)  # fmt: skip
