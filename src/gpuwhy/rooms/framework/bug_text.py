"""framework.bug in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.windows import REDISTRIBUTABLE
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.ending import PYTHON, USER
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.asked import TITLES
from gpuwhy.rooms.text.calls import own_program
from gpuwhy.rooms.text.common import SAID_TO_FAIL, nothing_else
from gpuwhy.rooms.text.conditions import all_of, alone, any_of, field, line, no, own_call, with_, with_framework, xid
from gpuwhy.rooms.text.fragments import NOT_OURS, PACKAGE, RELEASE
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.package_ways import other_release
from gpuwhy.rooms.text.remedies import CRASH, FAULTS
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.versions import beyond

_FINE = re.compile(
    r"(?:(?P<name>[a-z][\w-]{1,30})[ =]{1,2})?v?(?P<version>\d+\.\d+(?:\.\d+){0,2})(?: and (?:below|earlier))? (?:was|is|works?|worked|ran|runs) (?:fine|ok|well|correctly|without)"
    r"|(?:works?|worked|fine|ok) (?:in|with|on|under) (?:version |v)?(?:(?P<name2>[a-z][\w-]{1,30})[ =]{1,2})?v?(?P<version2>\d+\.\d+(?:\.\d+){0,2})"
    r"|(?:downgrad|revert|roll)\w* (?:back )?(?:(?P<name3>[a-z][\w-]{1,30}) )?to (?:version |v)?(?P<version3>\d+\.\d+(?:\.\d+){0,2})",
    re.IGNORECASE,
)
_FILLERS = ("", "version", "release", "the", "and", "since")

_SET = re.compile(
    r"(?:export |set |environ\[['\"])((?:TF|XLA|CUDNN|CUBLAS|NCCL|TORCH|PYTORCH|JAX|TRITON|CUDA|NVIDIA)_(?!VISIBLE|HOME|PATH|LOGS|LAUNCH|DEBUG|CPP)\w+)"
)


def _named(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """The release that worked, a setting that the text makes; else the newest of the package whose code failed."""
    owner = next((f.owner for f in reversed(reading.ending.stack) if f.owner not in ("", USER, PYTHON)), "")
    package, version = next(_worked(reading, owner), ("", ""))
    if package:
        yield _tried(f"Install the release that worked: {package} {version}", f'pip install "{package}=={version}"')
    if found := _SET.search(reading.excerpt):
        yield _tried(f"Try it without {found[1]}, which the text sets", f"unset {found[1]}")
    if owner and owner not in TITLES and not package:
        yield _tried(f"Install the newest release of {owner}, whose code failed", f"pip install --upgrade {owner}")


def _tried(text: str, command: str) -> Fix:
    return Fix(text, command, safe=True, check="gpuwhy explain LOG")


def _worked(reading: Reading, owner: str) -> Iterator[tuple[str, str]]:
    """Packages and releases of which the text says that they worked."""
    for found in _FINE.finditer(reading.excerpt):
        name = (found["name"] or found["name2"] or found["name3"] or "").lower()
        version = found["version"] or found["version2"] or found["version3"]
        if name in _FILLERS:
            name = owner
        if name and (name == owner or reading.told.version(name)):
            yield name, version


def _unexplained(s: Symptom, r: Reading) -> bool:
    """Nothing but the compiler's own wrapping and plain Python tells what failed inside of it."""
    return all(o.speaker in ("python", "title", "ending", "signal") for o in r.errors if o.signature != s.signature)


_TELLS_MORE = (
    "loader.undefined_symbol",
    "torch.arch_unsupported",
    "cuda.no_binary_for_gpu",
    "packages.no_match",
    "pairs.",
    "remark.needs",
    "remark.both",
    "remark.instead",
    "python.numpy_abi",
    "python.protobuf",
    "tf.built_cpu",
)
"""Messages that say why one release works and another does not."""
_FINE_THERE = r"(?:fine|ok|okay|good|works?|worked|runs?|ran|passes)"

_SHARE = line(r"utili[sz]ation|fraction|\bshare\b|threshold|learning rate|\blr\b")
"""A number between 0 and 1 that is no release."""

TEXT = Text(
    "framework.bug",
    signatures=(
        error("windows.driver_fault",
              r"faulting module (?:name|path): [^\n]{0,200}\bnv(?:cuda64|cuda|oglv64|wgf2umx|rtum64|lddmkm"
              r"|ptxJITCompiler64?)\.(?:dll|sys)", "faulting module", covers=("python.runtime", "signal.windows",
            "title.")),
        error("ollama.discovery", r"failed to finish discovery before timeout|failure during gpu discovery",
              "failed to finish discovery", "failure during gpu discovery", covers=("title.", "generic.cpu_used")),
        error("remark.release",
              rf"(?<!not )(?<!n't )\b(?:fixed|solved|resolved|patched|corrected|repaired|cured|addressed|closed|gone)\b(?: \w+)? (?:in|by|with|since|from|as of) (?:the )?(?:(?:release|version) )?{PACKAGE}(?P<version>{RELEASE})"
              rf"|\bonly (?:\w+ ){{0,3}}(?:in|with|on|under|since|from) {PACKAGE}(?P<version2>{RELEASE})[^\n]{{0,80}}\b{_FINE_THERE}\b"
              rf"|\b{_FINE_THERE}\b (?:\w+ ){{0,2}}?(?:with|in|on|under|using|after (?:up|down)grading to|after upgrading \w+ to) (?:release |version )?{PACKAGE}(?P<version3>{RELEASE})(?![^\n]{{0,20}}\b(?:but|however)\b)"
              rf"|(?<![\w.]){RELEASE}(?:(?:,| and| or) {RELEASE})?(?: (?:is|are|was|were|both|all))? (?:fine|ok|okay|works?|unaffected|does(?:n't| not) (?:have|show|crash|fail|hang))\b"
              rf"|(?:down|up)grad\w+ (?:{NOT_OURS}\w+ ){{0,3}}(?:from {RELEASE} )?to {PACKAGE}(?P<version4>{RELEASE})(?![^\n]{{0,30}}(?:\bnot\b|n't))[^\n]{{0,20}}\b(?:cure|fix|solve|help|work|resolve)\w*"
              rf"|\bgone after[^\n]{{0,30}}{RELEASE}|(?:went|goes|gone) away (?:after|with|when|in|since)[^\n]{{0,60}}{RELEASE}|\bonly (?:in|with|on) {PACKAGE}(?P<version5>{RELEASE})[^\n]{{0,60}}\bsame\b[^\n]{{0,40}}{RELEASE}",
              "fixed", "solved", "resolved", "patched", "corrected", "repaired", "cured", "addressed", "closed",
              "gone", "only ", "fine", " ok", "okay", "work", "runs ", "ran ", "good ", "passes", "unaffected",
              "doesn't", "does not", "grading", "graded", "went away", "goes away"),
        error("remark.known_bug",
              r"\bknown (?:bug|regression|defect)\b|\b(?:is|was) a (?:known )?(?:bug|regression) (?:in|of|since)\b"
              r"|\bhas (?:this|that|a) regression\b"
              r"|\b(?:bug|regression) (?:in|of) (?:that|this) (?:release|version)\b|upstream (?:bug|issue) ",
              "known bug", "regression", "known defect", "a bug", "bug in", "bug of", "upstream "),
        error("tf.xla_refuses", r"detected unsupported operations when trying to compile graph", "detected unsupported operations", covers=("title.",)),
        error("title.illegal", r"illegal memory|misaligned address", "illegal memory", "misaligned address"),
        error("title.wrong_result",
              r"\b(?:wrong|incorrect|inconsistent|garbage) (?:numerical )?(?:results?|outputs?|gradients?)\b(?! or )",
              "wrong ", "incorrect ", "inconsistent ", "garbage "),
        error("title.regression", r"\b(?:regression(?!\W{1,3}\d)|worked (?:in|with|on|fine)"
              r"|works (?:in|with|fine|on) (?:the )?(?:v(?:ersion)? ?)?\d"
              r"|after (?:upgrading|updating|upgrade|update)|since (?:v(?:ersion)? ?)?\d|broken in|bug in"
              r"|does(?: not|n't) have th(?:is|e same) (?:bug|problem|issue|error)"
              r"|only (?:appear|happen|occur)\w* (?:in|with|on) \w+ ?\d+\.\d"
              r"|starting (?:on|from|with|in) [^\n]{0,20}(?:nightly|\d+\.\d))\b",
              "regression", "have this ", "have the same ", "only appear", "only happen", "only occur", "starting ",
              "worked ", "works ", "after upgrad", "after updat", "since v", "broken in", "bug in"),
    ),
    clues=(
        ("windows.driver_fault", 4.4, "the program crashes inside the driver's own DLL"),
        ("ollama.discovery", 4.2, "Ollama gives its search for GPUs up: a fault of that release, or a driver that answers late"),
        ("signal.heap", 2.4, "compiled code of a library wrote beyond its memory", with_framework),
        ("cublas.invalid_value", 2.6, "cuBLAS refuses sizes that fit: a limit or a bug of that release", all_of(field("call", r"cublas[sd]ge(?:mm|mv)"), line("gemv"))),
        ("told.other_release", 2.8, "the text names a release that works beside this one that does not", line(r"(?:breaks?|fails?|crash)\w*")),
        ("remark.release", 4.6, "another release of the same package is said to be free of it", all_of(no(with_(*_TELLS_MORE)), no(_SHARE))),
        ("remark.release", 2.0, "another release is said to work", all_of(with_(*_TELLS_MORE), no(_SHARE))),
        ("remark.known_bug", 3.4, "it is said to be a known bug of that release"),
        ("cuda.not_initialized", 3.2, "the framework's own check asks the driver before it initialises it", line(r"versions_helpers")),
        ("tf.xla_refuses", 3.6, "XLA was asked to compile an operation that it has no kernel for"),
        ("ntstatus.heap_corruption", 2.0, "native code writes past its memory (0xC0000374)"),
        ("ntstatus.integer_divide_by_zero", 2.8, "native code divides by zero (0xC0000094)"),
        ("ntstatus.stack_overflow", 2.6, "the stack is used up (0xC00000FD)"),
        ("ntstatus.microsoft_c_exception", 2.6, "nobody catches a C++ exception (0xE06D7363)"),
        ("torch.no_plans", 3.4, "cuDNN has no plan for the graph; this happens in releases with a known bug"),
        ("torch.plan_failed", 1.0, "a plan of cuDNN failed, and another was taken"),
        ("torch.dynamo", 2.4, "PyTorch's compiler failed inside", _unexplained),
        ("torch.dynamo", 1.4, "PyTorch's compiler failed inside"),
        ("triton.source", 1.6, "Triton's compiler stops at a kernel"),
        ("triton.compile", 2.8, "Triton's compiler failed inside"),
        ("torch.no_kernel_found", 1.8, "no kernel fits"),
        ("torch.probability", 1.3, "the numbers went astray"),
        ("windows.torch_dll", 3.2, "{library} of that release needs a DLL that the wheel did not bring", field("library", r"fbgemm|shm|asmjit|c10\.dll")),
        ("build.ptx_isa", 3.2, "the framework wrote PTX that asks for {needs} and declares less", with_("jax.", "tf.", "triton.")),
        ("build.ptx_isa", 2.8, "PTX was written that asks for {needs} and declares less"),
        ("torch.internal_assert", 2.6, "PyTorch asks to report its own assertion in {file}"),
        ("torch.nvml_assert", 2.2, "PyTorch's allocator met an assertion of its own"),
        ("torch.nvml_init", 1.4, "PyTorch's allocator met an assertion of its own"),
        ("tf.rnn", 1.2, "cuDNN's RNN failed"),
        ("title.regression", 2.8, "it worked with another release", no(alone)),
        ("title.regression", 1.4, "it worked with another release", all_of(alone, with_("title.trouble"), no(line("memory|vram")))),
        ("title.wrong_result", 2.4, "results are said to be wrong"),
        ("title.regression", -0.2, "it worked with another release", alone),
        ("cuda.illegal_address", 2.6, "a library's kernel may be at fault (error 700)"),
        ("program.illegal_words", 2.4, "a library's kernel may be at fault"),
        ("title.illegal", 1.2, "a library's kernel may be at fault"),
        ("cuda.misaligned_address", 2.2, "a library's kernel may be at fault (error 716)"),
        ("cuda.launch_failed", 1.4, "a library's kernel may be at fault (error 719)"),
        ("cuda.invalid_value", 2.2, "a library passed a wrong argument (error 1)", no(any_of(line("cuinit"), own_call))),
        ("cuda.invalid_configuration", 2.2, "a library launched a kernel wrongly (error 9)", no(own_call)),
        ("cuda.invalid_handle", 2.0, "a library used a wrong handle (error 400)", no(own_call)),
        ("cuda.stream_capture_", 2.4, "the capture of a CUDA graph met an operation that it does not allow"),
        ("cuda.graph_exec_", 2.4, "a CUDA graph was updated wrongly"),
        ("cudnn.internal_error", 1.7, "a bug of that release of cuDNN or of the framework"),
        ("cudnn.execution_failed", 1.5, "a bug of that release of cuDNN or of the framework"),
        ("cudnn.bad_param", 1.9, "the framework passed something wrong to cuDNN"),
        ("cudnn.not_supported", 2.0, "the framework asked cuDNN for what it does not support"),
        ("cudnn.mapping_error", 1.6, "cuDNN could not map memory"),
        ("cublas.not_initialized", 1.5, "a bug of that release of cuBLAS"),
        ("cublas.internal_error", 1.6, "a bug of that release of cuBLAS"),
        ("cublas.not_supported", 2.2, "the framework asked cuBLAS for what it does not support"),
        ("cublas.invalid_value", 1.4, "the framework passed something wrong to cuBLAS"),
        ("cusolver.internal_error", 2.4, "a bug of that release of cuSOLVER"),
        ("cusolver.", 1.8, "cuSOLVER failed"),
        ("cufft.", 2.4, "cuFFT failed; this happens in releases with a known bug"),
        ("curand.", 1.6, "cuRAND failed"),
        ("cusparse.", 1.6, "cuSPARSE failed"),
        ("torch.no_engine", 1.9, "cuDNN has no algorithm for this operation"),
        ("tf.no_algorithm", 1.4, "cuDNN has no algorithm for this convolution"),
        ("signal.segv", 2.4, "a crash without words", no(own_program)),
        ("signal.windows", 1.2, "a crash without words"),
        ("loader.static_tls", 2.6, "{library} needs more thread storage than the loader has left"),
        ("triton.shared", 2.0, "the kernel wants more {what} than the GPU has"),
        ("tf.conv_check", 1.4, "a check inside TensorFlow failed"),
        ("tf.libdevice", 1.0, "some releases look in the wrong folder"),
        ("said.too_new", 3.8, "this release is older than the driver, and does not know its CUDA {has}", all_of(beyond, line("driver"))),
        ("said.too_new", 2.6, "this release does not know a CUDA as new as {has}", beyond),
        ("numba.nvvm_ir", 2.4, "the release makes code that this NVVM does not read"),
        ("nvrtc.builtins", 1.6, "some wheels lack the file under this name"),
        ("tf.skipping", 0.5, "some releases lack a folder in their search path"),
        ("cuda.not_supported", 1.4, "an operation that is not supported (error 801)"),
        ("torch.extension_versions", 0.8, "an operator is not there"),
        ("jax.plugin_abi", 0.6, "the plug-in and jaxlib do not fit"),
        ("title.hang", 1.4, "it hangs"),
        ("title.empty_devices", 2.4, "TensorFlow lists no GPU although its own CUDA libraries were installed with it", with_("told.and_cuda")),
        ("title.empty_list", 2.4, "TensorFlow lists no GPU although its own CUDA libraries were installed with it", with_("told.and_cuda")),
        ("told.other_release", 1.6, "the text says that another release works"),
        ("title.crash", 1.6, "it crashes", all_of(nothing_else, no(with_("python.numpy_abi")))),
        ("title.held", 0.8, "memory is said not to be given back", nothing_else),
        ("title.trouble", 1.0, SAID_TO_FAIL, nothing_else),
        ("cudnn.not_supported_graph_pattern", 1.4),
        ("cufft.invalid_plan", 2.2),
        ("cufft.invalid_type", 3.0),
        ("curand.not_initialized", 3.0),
        ("curand.internal_error", 2.2),
        ("nvrtc.invalid_input", 2.0),
        ("nvrtc.internal_error", 1.4),
        ("nvjitlink.missing_arch", 2.0),
        ("nvjitlink.internal", 1.4),
        ("nvml.uninitialized", 2.0),
        ("kernel.xid", 2.0, "Xid {xid}: a library or the driver gave the GPU a wrong command", xid(32, 69, 109)),
        ("kernel.xid", 1.2, "Xid {xid}: a kernel of a library may be at fault", xid(31)),
        ("cuda.host_memory_already_registered", 3.4),
        ("cuda.host_memory_not_registered", 3.4),
    ),
    ladder=other_release,
    remedies=(
        meant(on.in_windows("the program crashes inside NVIDIA's driver: remove that driver wholly (Display Driver Uninstaller, in safe mode), install another release of it, newer or the one before (nvidia.com/drivers, Studio), as a clean installation, and restart"),
              on.cmd("nvidia-smi --query-gpu=driver_version,name --format=csv"), said="windows.driver_fault"),
        meant(on.in_windows("where a program injects itself (overlays, RivaTuner, a screen recorder) or the card is overclocked: end it, take the clocks back, and start again"),
              said="windows.driver_fault"),
        meant(on.in_windows("install the newest Ollama over this one (0.12.6 and newer wait longer), quit it in the tray, and start it again"),
              on.cmd("winget upgrade --exact --id Ollama.Ollama"), said="ollama.discovery"),
        meant(on.in_windows("and NVIDIA's newest driver, then restart; see what it finds"), on.cmd("set OLLAMA_DEBUG=1\nollama serve"), said="ollama.discovery"),
        meant("Have the loader take this library first, while its room for thread-local storage is free; or import what needs it before all else",
              on.linux("export LD_PRELOAD={path}"), said="loader. limit. memory. python.", line=r"(?P<path>/[\w./+-]+\.so[\d.]*): cannot allocate memory in static TLS",
              safe=True),
        meant(on.in_windows("install torch 2.4.1 or newer, or 2.3.1: the wheel of 2.4.0 lacks libomp140.x86_64.dll, which its fbgemm.dll needs"),
              "python -m pip install uv\npython -m uv pip install \"torch>=2.4.1\" --torch-backend=auto", said="windows.torch_dll",
              line="fbgemm", safe=True),
        meant(on.in_windows("install the newest Visual C++ runtime, which this release needs (an older one makes c10.dll fail at its start, 1114); then open a new window"),
              REDISTRIBUTABLE, said="windows.torch_dll", line=r"c10\.dll", more=True),
        meant(on.in_windows("or install the PyTorch before it"),
              "python -m pip install uv\npython -m uv pip install \"torch<2.9\" --torch-backend=auto", said="windows.torch_dll",
              line=r"c10\.dll", safe=True, more=True),
        meant(on.in_windows("or install the Visual C++ runtime and the C++ build tools, which bring libomp140.x86_64.dll"),
              REDISTRIBUTABLE, said="windows.torch_dll", line="fbgemm|shm|asmjit"),
        meant(CRASH, FAULTS, said="signal.segv", safe=True),
        meant("Then try another release of the package that the last call belongs to", said="signal.segv"),
        meant("Install another release of the package whose code fails: the newest, or the one before", look=True),
        meant("Report it with a small program that shows it", look=True),
    ),
    named=_named,
)  # fmt: skip
