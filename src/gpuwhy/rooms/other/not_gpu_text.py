"""other.not_gpu in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re

from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.common import LAUNCHED, OF_SHM, nothing_else, of_a_job, of_a_server, of_gpu_package, of_network
from gpuwhy.rooms.text.conditions import (
    all_of,
    any_of,
    asks,
    field,
    line,
    no,
    no_errors,
    own_output,
    stacks_own,
    users_file,
    users_reading,
    with_,
    with_framework,
)
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.plain_ways import by_its_words
from gpuwhy.rooms.text.remedies import CRASH, FAULTS, MSVC
from gpuwhy.rooms.text.room import Text

_LOGGED = re.compile(r"\.(?:cc|py|cpp|cu):\d|\]|^\S+/|^\W*\d{4}-|rebuild tensorflow|importerror|warning", re.IGNORECASE)


def _taken_for_error(s: Symptom, r: Reading) -> bool:
    """A person complains, and the only message of a program is a harmless one."""
    return no_errors(s, r) and any(o.signature == "title.trouble" and not _LOGGED.search(o.text) for o in r.symptoms)


_NOTES = (
    "numa",
    "factory",
    "trt",
    "computation_placer",
    "ldconfig",
    "cupti",
    "pcie",
    "op_by_op",
    "delay_kernel",
    "cpu_features",
)


def _only_plain(s: Symptom, r: Reading) -> bool:
    """Every error in the text is a plain Python one."""
    return all(o.speaker in ("python", "title", "signal", "packages") for o in r.errors)


_GPU_WORDS = re.compile(
    r"cuda|gpu|nvidia|cudnn|nccl|device|tensor|memory|shape|dtype|capability|libcu|triton|kernel|ptxas|nvrtc|\bptx\b"
    r"|nvvm|xla(?:_extension\.|Runtime)|\bXLA\b|stream_executor",
    re.IGNORECASE,
)


def _no_gpu_words(s: Symptom, r: Reading) -> bool:
    """A plain Python error whose words are not of the GPU."""
    return _only_plain(s, r) and not _GPU_WORDS.search(s.text) and not r.has("torch.lazy_init")


def _past_warning(s: Symptom, r: Reading) -> bool:
    """A plain Python error that ended a program which had outlived a warning."""
    return _no_gpu_words(s, r) and any(o.warned and o.role == "echo" and o.line < s.line for o in r.symptoms)


def _trt_only(s: Symptom, r: Reading) -> bool:
    """TensorFlow's note that TensorRT is absent, and nothing that went wrong."""
    return with_("harmless.trt")(s, r) and all(o.signature == "loader.tensorrt" for o in r.errors)


def _past_notes(s: Symptom, r: Reading) -> bool:
    """Python raised it after TensorFlow had noted that it goes on without a library."""
    notes = ("loader.tf_dso", "loader.tf_skip", "tf.skipping", "windows.could_not_find", "title.", "python.", "signal.")
    return r.has("harmless.cudart_stub") and all(o.signature.startswith(notes) for o in r.errors)


_CUDA = re.compile(r"cuda|nvidia|nvml|nvcc|cudnn|/cu[./]", re.IGNORECASE)


def _without_cuda(s: Symptom, r: Reading) -> bool:
    """The text has no word of the CUDA stack but in the names of files and folders."""
    return not _CUDA.search(_QUOTED_PATH.sub("", r.excerpt))


_QUOTED_PATH = re.compile(r"'[^'\n]{0,200}[/.][^'\n]{0,200}'")


_CPU = re.compile(
    r"(?:using|running on) (?:the )?(?:device\W{1,3})?cpu\b|no gpu\b|gpu(?::\d)? not requested|cpu[- ]only|\[CpuDevice",
    re.IGNORECASE,
)
_GPU = re.compile(
    r"device:gpu:\d|cuda:\d|created device|\.cuda\(|to\(['\"]cuda|device\W{1,3}cuda|on cuda|nvidia (?:geforce|rtx|a\d|h\d|tesla|l\d)",
    re.IGNORECASE,
)


def _on_cpu(s: Symptom, r: Reading) -> bool:
    """The text says that the work is done on the CPU, and nothing of one on a GPU."""
    return bool(_CPU.search(r.excerpt)) and not _GPU.search(r.excerpt)


def _foreign(s: Symptom, r: Reading) -> bool:
    """Another runtime's own words: no word of CUDA, and nothing that says more than that it ended."""
    if r.ending.own and s.within(r.ending):
        return True
    return _without_cuda(s, r) and all(o.speaker in _SAY_LITTLE for o in r.errors)


_SAY_LITTLE = ("else", "peer", "title", "python", "signal", "ending", "program")
_CALM = -0.15
_STACKS_LIBRARY = r"(?i)cu|nv|nccl|torch|c10|tensor|caffe|onnx|xla|jax|tf|npp|hip|roc|opencl|gomp|stdc|mkl|blas|python|pthread|gcc|kernel|user32|mpi|z\b|[\d.]*lib$"
_CMAKE_STACK = r"(?:find)?(?:cu(?:da|dnn|blas|tensor|b\b|tlass|graph|df|ml)|nv|nccl|tensor|torch|caffe|onnx|thrust|opencl|hip|roc|vulkan|raft|rmm|rapids|dali|xla|jax|kokkos|magma|python|pybind|openmp|mpi|threads|mkl|dnnl|glog|gflags|protobuf|trt|matx|libcudacxx)"
"""Packages of the stack, or of what it is built with, in CMake's words."""

TEXT = Text(
    "other.not_gpu",
    signatures=(
        error("container.other_processor", r"(?:exec user process caused|exec /\S{1,120})\W{1,4}exec format error|requested image's platform \([^)\n]{1,40}\) does not match the detected host platform", "exec format error", "requested image's platform", covers=("packages.tool_damaged", "container.generic")),
        error("ort.no_model", r"no_?suchfile(?![^\n]{0,120}\.(?:dll|so)\b)|load model from [^\n]{1,300}? failed: ?(?:load model|protobuf parsing|this is an invalid model)|invalid_protobuf",
              "no_suchfile", "nosuchfile", "load model from", "invalid_protobuf"),
        error("packages.conflict", r"resolutionimpossible|the conflict is caused by|unsatisfiableerror|conflicting dependencies|packagesnotfounderror"
              r"|dependency resolver does not|found conflicts|libmambaunsatisfiable|requires \S+==[^\n]*(?:but you have|which is incompatible)"
              r"|but you have [^\n]* which is incompatible", "resolutionimpossible", "conflict is caused by", "unsatisfiableerror", "conflicting dependencies",
              "packagesnotfounderror", "dependency resolver", "found conflicts", "libmambaunsatisfiable", "but you have"),
        error("python.avx", r"compiled to use \w+ instructions, but these aren't available|illegal (?:hardware )?instruction(?! was encountered)|-1073741795|0xc000001d", "instructions, but these aren't", "illegal instruction", "illegal hardware instruction", "-1073741795", "0xc000001d",
              covers=("signal.windows",)),
        error("python.openmp", r"omp: error #15|libiomp5md\.dll already initialized|intel mkl fatal error|libmkl_\w+\.so", "omp: error", "libiomp5", "intel mkl fatal", "libmkl_"),
        error("python.command", r"^(?:bash: |sh: |zsh: |/bin/sh: (?:\d+: )?)?(?P<name>(?!nvcc|ptxas|nvidia|cuda|gcc|g\+\+|cmake|make|ninja)[\w.-]+): (?:command )?not found$", ": command not found", ": not found"),
        error("else.scheduler", r"(?:sbatch|salloc|qsub|bsub): error: (?![^\n]*(?:gres|gpu))|\bcancelled at (?![^\n]{0,80}task failure)\d|\bdue to time limit|exceeded (?:its )?time limit|job killed: walltime|\bwall ?(?:clock)? ?time (?:limit )?(?:was )?(?:reached|exceeded|expired)|term_runlimit\b",
              "sbatch: error", "salloc: error", "qsub: error", "bsub: error", "cancelled at", "due to time limit", "time limit", "walltime", "wall time", "wallclock", "term_runlimit", covers=("peer.died", "signal.abort", "limit.")),
        error("else.image", r"failed to pull image|errimagepull|imagepullbackoff|manifest (?:for \S{1,200} )?(?:unknown|not found)|pull access denied|unauthorized: authentication required",
              "failed to pull image", "errimagepull", "imagepullbackoff", "manifest for", "manifest unknown", "pull access denied", "authentication required", covers=("container.generic", "title.trouble")),
        error("else.container", r"error response from daemon: (?:conflict|no such container|driver failed programming|invalid (?:mount|volume|reference)|mounts denied|get \"?https?:|network \S{1,80} not found|ports are not available|bind for)"
              r"|port is already allocated|container name [^\n]{1,120} is already in use", "response from daemon", "already allocated", "container name", covers=("container.generic",)),
        error("else.apt", r"^(?:e: (?:failed to fetch|unable to (?:fetch|lock|acquire)|could not get lock)|err:\d+ http|w: failed to fetch)(?![^\n]*(?:nvidia|cuda|cudnn|nccl|tensorrt|libcu|libnv))",
              "e: failed to fetch", "e: unable to", "e: could not get lock", "err:", "w: failed to fetch", covers=("python.http", "title.trouble")),
        error("else.quota", r"cannot connect to (?:the |a )?gpu backend|usage limits? in colab|gpu quota|quota[^\n]{0,60}\bgpus?\b[^\n]{0,40}exceeded|vcpulimitexceeded|nvidia\w*_gpus' exceeded"
              r"|exceeded quota: |insufficientinstancecapacity|zone_resource_pool_exhausted",
              "gpu backend", "limits in colab", "limit in colab", "quota", "vcpulimit", "insufficientinstance", "resource_pool_exhausted", covers=("title.", "memory.", "container.")),
        error("else.config", r"could not override '[^'\n]{1,200}'|key '[^'\n]{1,200}' is not in struct|missing mandatory value: |^in '[^'\n]{1,80}': could not find '", "could not override", "is not in struct", "missing mandatory value", "': could not find '"),
        error("else.opencv", r"opencv\([\d.]+[^)\n]{0,20}\) [^\n]{0,300}error: \((?!-21[678]:)-\d+:", "opencv(", covers=("build.cu_error", "python.")),
        error("else.foreign", r"^thread '[^'\n]{1,80}'(?: \(\d+\))? panicked at|^panic: (?![^\n]*(?:cuda|gpu|nvml))|^goroutine \d+ \[running\]|exception in thread \"[^\"\n]{1,60}\" java\.|^npm err!|^(?:tar|gzip|unzip|bzip2|xz|curl|wget|lpadmin|mount|useradd|systemctl): (?:\(\d+\) )?[^\n]{0,80}(?:error|not in|cannot|can't|failed|unable|invalid|could not)|^error: near line \d+: |^error: cannot find module|code: 'eaddrinuse'|^\s+at \S+ \(node:"
              r"|^error\[e\d{4}\]: |^fatal: (?:not a git|pathspec|repository|could not read|cannot change to|'[^'\n]{1,200}' does not appear|unable to access|refusing to|destination path|the remote end|couldn't find remote)|error: pathspec '|psql: error|kex_exchange|permission denied \(publickey|could not resolve host(?:name)?\b",
              " panicked at", "panic: ", "tar: ", "gzip: ", "unzip: ", "bzip2: ", "xz: ", "curl: ", "wget: ", "lpadmin: ", "mount: ", "useradd: ", "systemctl: ", "near line ", "goroutine ", "exception in thread \"", "npm err!", "cannot find module", "code: 'eaddrinuse", "(node:", "error[e", "fatal: ", "pathspec '", "psql: error", "kex_exchange", "denied (publickey", "could not resolve host",
              covers=("program.index", "peer.port", "peer.gone", "memory.oom_words", "title.")),
        error("else.remote", r"^(?:ssh|scp|sftp): |kex_exchange_identification|\bport 22: |^rsync(?: error)?: |^lost connection$|^client_loop: |^packet_write_wait: |^connection to \S{1,80} closed(?: by remote host)?\.?$", "ssh: ", "client_loop: ", "packet_write_wait", "connection to ", "scp: ", "sftp: ", "kex_exchange", "port 22: ", "rsync", "lost connection", covers=("peer.unreachable", "peer.waits", "peer.gone", "peer.died", "peer.port", "python.", "title.", "else.foreign")),
        error("else.option", r"could not open requirements file|^error: (?:no such (?:option|command)|invalid value for|missing (?:option|argument|command)|got unexpected|unrecognized arguments|unknown option)|: error: (?:argument |unrecognized arguments|the following arguments|invalid choice)",
              "could not open requirements", "error: no such", "error: invalid value", "error: missing", "error: got unexpected", "unrecognized arguments", "error: unknown option", "error: argument", "the following arguments", "invalid choice", covers=("title.", "setting.")),
        error("else.shell", r"^(?![^\n]{0,200}(?:nvidia|cuda|nvcc|/dev/|libcu|\.cuh?\b))(?:mv|cp|rm|ls|cat|sed|awk|grep|find|xargs|chmod|mkdir|touch|head|tail|sort|convert|date)(?: \w{1,8})?: (?:[^\n]{0,80}: )?(?:no such file|cannot (?:stat|open|access|remove|create)|unterminated|unknown (?:command|option)|invalid (?:option|argument)|missing (?:operand|argument)|unrecognized option|-e expression)|^makefile:\d+: \*\*\*|^[\w./-]{1,60}\.sh: line \d+: [^\n]{0,80}: (?:no such file|unbound variable|syntax error)", "mv: ", "cp: ", "rm: ", "ls: ", "cat: ", "sed: ", "awk: ", "grep: ", "find: ", "xargs: ", "chmod: ", "mkdir: ", "touch: ", "head: ", "tail: ", "sort: ", "date: ", "akefile:", ".sh: line", covers=("title.", "python.", "build.failed")),
        error("else.make", r"no rule to make target '(?![^'\n]*(?:cuda|cudnn|nccl))|cannot find source file:|no sources given to target", "no rule to make target", "cannot find source file", "no sources given", covers=("build.",)),
        error("else.cmake", rf"package configuration file provided by \W?(?!{_CMAKE_STACK})\w|could not find (?!{_CMAKE_STACK})\w{{1,40}} \(missing: (?![^)\n]*(?:cu[db]|nccl|nv))",
              "package configuration file provided by", "(missing: ", covers=("build.failed",)),
        error("else.data", r"not a parquet file|magic bytes not found in footer|arrowinvalid|error tokenizing data", "parquet", "magic bytes", "arrowinvalid", "tokenizing data",
              covers=("packages.", "python.")),
        error("else.model_file", r"gguf_init_from_file: failed to open|failed to open gguf file|error loading model: [^\n]{0,120}failed to (?:open|load model from)", "gguf_init_from_file", "failed to open gguf", "error loading model",
              covers=("llama.init",)),
        error("else.reclaimed", r"\bscheduled for preemption\b|imminent node shutdown|\b(?:spot|preemptible) (?:instance|vm|node)[^\n]{0,60}(?:interrupt|reclaim|preempt|terminat)|\binstance was preempted",
              "scheduled for preemption", "imminent node shutdown", "spot ", "preemptible ", "was preempted", covers=("container.k8s", "peer.", "title.")),
        error("else.fetched", r"error occurred during the fetch of repository '(?!local_|cu|nv|nccl|tensorrt|rocm)|^error in download(?:_and_extract)?: |hash mismatch in fixed-output derivation",
              "fetch of repository", "error in download", "hash mismatch in", covers=("build.", "packages.", "title.", "signal.abort", "python.")),
        error("else.feed", r"missing from input feed|invalid feed input name", "missing from input feed", "invalid feed input", covers=("python.",)),
        error("else.served", r"(?:tensorboard|jupyter|streamlit|gradio|uvicorn|flask|werkzeug|visdom|mlflow|http server)[^\n]{0,120}(?:port|address)[^\n]{0,60}in use", "in use", covers=("peer.port",)),
        error("else.close", r"tensor-likes are not (?:close|equal)|not (?:almost )?equal to (?:tolerance|\d+ decimals|significance)|mismatched elements: \d|arrays are not (?:almost )?equal|scalars are not (?:close|equal)", "are not close", "are not equal", "mismatched elements", "equal to tolerance", "not almost equal", "are not almost",
              covers=("refused.", "program.shape", "python.", "title.")),
        error("else.cpp", r"\.(?:cpp|cc|cxx|h|hpp)[:(]\d+(?:[:,]\d+)?\)?: error: (?![^\n]*(?:cuda|cudnn|cublas|\bnv|thrust|gpu|at::|torch|tensor|c10|tensorflow|__(?!cxx11)))[^\n]*(?:was not declared|expected [^\n]{1,20} before|expected ';'|does not name a type"
              r"|no matching function|has no member named|cannot convert|redefinition of|undeclared identifier|conversion from|no match for|too (?:few|many) arguments|cannot bind|is private)", ": error: ", covers=("build.cu_error", "build.packs")),
        error(
            "tf.trt_mismatch",
            r"linked against (?:cudnn|tensorrt|cublas)[^\n]*(?:but loaded|using) ",
            "linked against",
        ),
    ),
    clues=(
        ("container.other_processor", 5.2, "the image is for another processor than this machine has"),
        ("windows.load_library", 2.8, "a DLL's start failed; this happens with an old Visual C++ runtime ({number})", field("number", r"(?:1114|14001)$")),
        ("ntstatus.dll_not_found", 1.6, "a DLL that the program is linked with is not found (0xC0000135): often the Visual C++ runtime"),
        ("ntstatus.control_c_exit", 4.0, "somebody ended it: Ctrl-C, or the window was closed (0xC000013A)"),
        ("ntstatus.dll_init_failed", 2.6, "a DLL does not start (0xC0000142): often the Visual C++ runtime"),
        ("order.in_place", 3.8, "autograd needs a value that was changed, freed or never recorded: a mistake in the program, on the CPU too"),
        ("signal.told", 3.4, "it was told to end ({what}): by a person, a batch system, a timer or another program; no failure of the GPU does that"),
        ("else.scheduler", 4.4, "the scheduler refused or ended the job; that is no matter of the GPU", no(all_of(with_("peer.exited"), no(line("time ?limit|wall ?time|run_?limit"))))),
        ("memory.heap", 3.4, "the heap of another runtime is full: a limit of its own, no memory of a GPU"),
        ("else.image", 4.4, "the image cannot be fetched"),
        ("else.container", 4.4, "the container's name, ports, network or folders are the matter, not the GPU"),
        ("else.apt", 4.2, "a system package cannot be fetched"),
        ("else.config", 4.4, "the program's configuration has no such key"),
        ("else.opencv", 4.4, "OpenCV got an image or a value that it cannot use; this happens when a file is not there"),
        ("else.model_file", 4.4, "the model's file cannot be opened"),
        ("else.foreign", 4.4, "another program's own error; the GPU stack has no part in it", _foreign),
        ("else.remote", 4.6, "the way to another machine (ssh), not a process of the job", no(LAUNCHED)),
        ("else.option", 4.4, "the program was called with options that it does not accept", no(line(r"invalid choice: '?(?:cuda|gpu|tensorrt)'? \(choose from[^\n]*cpu"))),
        ("else.shell", 3.6, "a command of the shell or of make around the program failed"),
        ("build.cannot_find_l", 4.2, "the linker does not find {library}, which is no library of the GPU stack", no(field("library", _STACKS_LIBRARY))),
        ("else.cmake", 4.4, "CMake does not find a package that is none of the GPU stack's"),
        ("else.make", 4.4, "a file that the build names is not there"),
        ("else.data", 4.4, "a data file is not what it should be"),
        ("else.reclaimed", 4.4, "the provider took the machine back (a spot or preemptible one): what ran there was ended, and waits for another"),
        ("else.fetched", 4.4, "a source could not be fetched for the build, or is another than was named: a matter of network or addresses"),
        ("else.feed", 4.4, "the program names an input that the model does not have"),
        ("else.served", 4.4, "the port of a web page is taken"),
        ("else.close", 4.4, "a test compares numbers that differ by more than it allows"),
        ("peer.port", 4.4, "the port that a server of the program's own asks for is taken by another process", of_a_server),
        ("else.cpp", 4.2, "a plain mistake in C++"),
        ("packages.damaged", 4.4, "the files of a package have other hashes than the requirements file says", all_of(line("match the hashes"), no(of_gpu_package))),
        ("torch.checkpoint", 4.2, "the checkpoint file is damaged or is none", line("checkpoint file is corrupted|central directory|magic number")),
        ("limit.closed", 1.6, "a matter of file rights"),
        ("limit.closed", 3.4, "a file of the user's own may not be opened; no part of the GPU stack has to do with it", all_of(any_of(no(stacks_own), users_reading), no(field("path", r"cache|tmp|temp|\.\w+/")))),
        ("limit.space", 1.4, "a matter of the disk", no(OF_SHM)),
        ("peer.port", 1.6, "the message is about ports or addresses, not about the GPU", no(of_a_server)),
        ("peer.unreachable", 3.4, "a download or a service, not a process of the job", of_network),
        ("peer.gone", 2.6, "a connection to a service was lost", of_network),
        ("peer.gone", 4.2, "the program wrote to a pipe that nobody reads any more", own_output),
        ("limit.vanished", 4.2, "the program asks for a file that is not there: {path}", users_file),
        ("peer.died", 1.4, "a process of the program's own died"),
        ("peer.died", 2.85, "a process that the program started died, and no framework has a part in it; what killed it is not told", no(of_a_job)),
        ("order.deleted", 1.6, "a mistake in the program itself"),
        ("order.main_guard", 2.0, "a missing main guard"),
        ("order.main_guard", 5.0, "a missing main guard, and no word of the GPU", _without_cuda),
        ("order.twice", 1.4, "a mistake in the program itself"),
        ("title.trouble", 0.4, "the GPU need not be at fault", nothing_else),
        ("title.crash", 0.6, "a crash that says nothing", all_of(nothing_else, no(with_("python.numpy_abi")))),
        *((f"harmless.{name}", 1.8, "what is taken for an error is a note", _taken_for_error) for name in _NOTES),
        ("ending.own", 4.2, "{name} ended the program at {where}: {what}; nothing that was printed before explains it", all_of(field("where", "."), no(with_("build.no_toolkit")))),
        ("ending.own", 4.2, "the program ended with “{what}”; nothing that was printed before explains it", all_of(no(field("where", ".")), no(with_("build.no_toolkit")))),
        ("else.quota", 4.4, "the service has no GPU to hand out to this account now: a quota, or all are taken"),
        ("ending.usage", 4.6, "the program was called with arguments that it does not accept: {what}"),
        ("signal.heap", 2.6, "the program itself wrote beyond its memory on the host; no framework has a part in the text", no(with_framework)),
        ("ending.left", 0.25, "the program left with a code of its own after “{what}”; nothing here has to do with the GPU"),
        ("ending.inside", 2.2, "{name} at {where}: {what}; its words are not of the GPU"),
        ("python.module", 5.0, "the module {name} is not installed; the missing library is only a note", _past_notes),
        ("python.import_name", 4.6, "{name} does not exist in the module; the missing library is only a note", _past_notes),
        ("harmless.pcie", _CALM, "a note about the bus, no error", no_errors),
        ("harmless.delay_kernel", _CALM, "a note of XLA's autotuner, no error", no_errors),
        ("harmless.op_by_op", _CALM, "a note of XLA, no error", no_errors),
        ("build.other_header", 1.2, "{header} is not found at compile time"),
        ("tf.addons", 2.2, "packages of different releases"),
        ("packages.node_binding", 2.2, "the package for Node was not built or downloaded"),
        ("python.tf_frames", 0.8, "the traceback ends in TensorFlow's Python code", no_errors),
        ("program.shape_words", 1.4, "a mistake in the program itself"),
        ("refused.", 5.4, "a framework refuses what it was handed, and the program says that it runs on the CPU", _on_cpu),
        ("refused.place", 3.6, "an array of the GPU is handed to code for the host, or the other way round: a mistake in the program", line("^TypeError")),
        ("refused.group", 3.2, "the launcher or the group of processes is called with a value that it does not take"),
        ("refused.moment", 2.0, "a mistake in the program itself"),
        ("program.shape", 5.4, "the tensors do not fit, and the program says that it runs on the CPU", _on_cpu),
        ("packages.wrong_platform", 1.8, "a wheel is not for this platform"),
        ("generic.cpu_used", 1.6, "a note that the CPU is used"),
        ("torch.probability", 1.8, "the numbers went astray: a matter of the model"),
        ("torch.dynamo", 1.0, "PyTorch's compiler failed"),
        ("torch.plan_failed", 2.2, "a warning: another plan is taken", no_errors),
        ("container.compose", 2.2, "the compose file or docker is too old"),
        ("xla.old_driver", 1.4, "a note: compiling is slower"),
        ("python.protobuf", 1.4, "protobuf's versions do not fit"),
        ("python.numpy_abi", 1.4, "a module was compiled against NumPy 1 and meets NumPy 2, or the other way round"),
        ("python.glibc", 3.2, "the system's C or C++ library is too old"),
        ("python.avx", 3.8, "the CPU lacks instructions that the build uses"),
        ("python.keras", 2.4, "Keras versions do not fit"),
        ("python.module", 3.0, "the module {name} is not installed", all_of(_only_plain, no(with_("build.isolated")), no(field("name", r"(?:torch|jax|jaxlib|cupy|cupy_backends|tensorflow|onnxruntime|numba|triton)\.\w")))),
        ("python.import_name", 3.0, "{name} does not exist in the module", _only_plain),
        ("python.attribute", 2.7, "a plain Python error: {what}", _no_gpu_words),
        ("python.attribute", 1.8, "a plain Python error: {what}", _only_plain),
        ("packages.partial", 1.6, "{name} is of another release than the program expects"),
        ("python.exception", 3.6, "a plain Python error, {name}, ended the program; the warning before it is another matter", all_of(_past_warning, no(with_("build.no_toolkit")))),
        ("python.attribute", 3.6, "a plain Python error ended the program: {what}; the warning before it is another matter", _past_warning),
        ("ort.no_model", 4.0, "the model's file is not there, or not a model"),
        ("python.exception", 2.5, "a plain Python error: {name}", _no_gpu_words),
        ("python.exception", 1.0, "a plain Python error: {name}", _only_plain),
        ("python.http", 3.2, "a download failed", _only_plain),
        ("python.runtime", 1.6, "an error that says nothing of the GPU", _no_gpu_words),
        ("python.command", 2.2, "a command is not installed", _only_plain),
        ("python.warning", _CALM, "a warning, no error", no_errors),
        ("tf.old_api", 3.6, "{name} does not exist in this TensorFlow"),
        ("windows.msvc", 4.0, "the Microsoft C++ runtime is not installed"),
        ("windows.dll_load_failed", 1.6, "a DLL of the system is missing"),
        ("windows.dll_load_failed", 2.6, "a DLL failed to start; this happens without the Microsoft C++ runtime or AVX", field("init", ".")),
        ("windows.error", 2.0, "a DLL failed to start (1114)", field("number", "1114")),
        ("windows.torch_dll", 2.0, "{library} needs a DLL of the system", no(any_of(field("number", "127|182|193"), field("library", r"cud|cub|cus|cuf|nv|.*(?:_gpu|cuda)")))),
        ("windows.dll_load_failed", 3.6, "this TensorFlow opens CUDA only later: what its module lacks is the Microsoft C++ runtime", all_of(field("module", "_pywrap_tensorflow"), no(field("invalid", ".")))),
        ("windows.module_missing", 1.2, "a DLL of the system may be missing"),
        ("loader.cannot_open", 3.0, "{library} is not of the GPU stack", asks("other")),
        ("loader.version_missing", 2.8, "{library}, which is found first, is too old", field("version", "glibc|cxxabi|gcc|gomp|^omp|zlib|openssl|lib(?!cu|nv)")),
        ("loader.undefined_symbol", 2.8, "{symbol} is not of the GPU stack", field("symbol", r"_?Py|iJIT|ffi_|SSL|XML|png|jpeg|sqlite|EVP|_gfortran|mkl|cblas_|omp_|GOMP")),
        ("loader.tensorrt", 2.2, "TensorRT is optional: TensorFlow goes on without it", all_of(with_("tf.", "harmless."), no(_trt_only))),
        ("loader.tensorrt", 2.2, "TensorRT is optional: TensorFlow goes on without it", all_of(line("load dynamic library"), no(with_("tf.", "harmless.")))),
        ("loader.tensorrt", _CALM, "TensorRT is optional: TensorFlow goes on without it", _trt_only),
        ("loader.libtpu", _CALM, "JAX looks for a TPU first: nothing is wrong", no_errors),
        ("jax.other_backend", _CALM, "JAX looks for {backend} first: nothing is wrong", no_errors),
        ("jax.tpu", _CALM, "JAX looks for a TPU first: nothing is wrong", no_errors),
        ("tf.trt_mismatch", 2.4, "a note of TensorRT, no error"),
        ("harmless.factory", _CALM, "a registration note, no error", no_errors),
        ("harmless.numa", _CALM, "a note about NUMA, no error", no_errors),
        ("harmless.cpu_features", _CALM, "a note about the CPU, no error", no_errors),
        ("harmless.trt", _CALM, "TensorRT is optional", no_errors),
        ("harmless.xla_host", _CALM, "a note about XLA, no error", no_errors),
        ("harmless.ldconfig", _CALM, "ldconfig's complaint breaks nothing", no_errors),
        ("harmless.computation_placer", _CALM, "a registration note, no error", no_errors),
        ("harmless.mlir", _CALM, "a note, no error", no_errors),
        ("harmless.loaded_ok", _CALM, "a library was loaded", no_errors),
        ("harmless.cupti", _CALM, "profiling is not needed to run", no_errors),
        ("harmless.drop_remainder", _CALM, "the end of the data, no error", no_errors),
        ("harmless.deprecation", _CALM, "a deprecation, no error", no_errors),
        ("harmless.absl", _CALM, "a logging note, no error", no_errors),
        ("memory.bfc", 1.6, "the allocator says that it is not a failure", field("harmless", ".")),
        ("torch.image_extension", 1.4, "torchvision's image reader is optional"),
        ("tf.pywrap", 1.6, "a library of the system is missing, or the CPU is too old"),
        ("python.openmp", 3.8, "OpenMP or MKL is loaded twice or damaged"),
        ("python.numba_numpy", 3.6, "NumPy's version does not fit"),
        ("torch.state_dict", 3.2, "the weights do not fit the model"),
        ("torch.checkpoint", 2.4, "the checkpoint cannot be read"),
        ("packages.conflict", 2.8, "packages ask for versions that exclude each other"),
        ("packages.no_match_other", 2.6, "a package does not exist for this Python or system"),
        ("packages.no_match", 2.0, "a package does not exist for this Python or system"),
        ("packages.gpu_removed", 2.4, "tensorflow-gpu no longer exists"),
        ("program.devices", 2.3, "a mistake in the program itself"),
        ("program.shape", 1.4, "a mistake in the program itself"),
        ("program.index", 1.4, "a mistake in the program itself"),
        ("nvrtc.temp", 1.6, "the path of temporary files cannot be read"),
        ("nccl.rendezvous", 1.4, "the message is about ports or addresses, not about the GPU"),
        ("memory.worker_gone", 1.6, "a data-loader worker vanished, as on Windows without the main guard"),
        ("memory.worker_killed", 1.8, "a data-loader worker crashed", field("signal", "seg|abort")),
        ("signal.segv", 1.6, "a crash that says nothing"),
        ("jax.plugin_abi", 0.6, "packages of different releases"),
        ("loader.static_tls", 2.2, "the order of imports"),
        ("build.python_header", 1.8, "Python's headers are not installed"),
        ("build.missing_tool", 1.6, "a build tool is not there"),
        ("build.msvc", 2.0, "the Microsoft compiler is not found"),
    ),
    ladder=by_its_words,
    remedies=(
        meant("Find what makes the program leave with that code (sys.exit, exit, a script's `set -e`): its last words are quoted above", said="ending.left", safe=True),
        meant("conda asks the driver for its CUDA, and sees none here (a build, a login node, a container): tell it the CUDA of the machine that will run it", on.linux("CONDA_OVERRIDE_CUDA=12.6 conda install PACKAGE"), said="packages.virtual_cuda", line="__cuda"),
        *MSVC,
        meant("Start processes only under the main guard: on Windows and macOS each one imports the main module anew", on.code("if __name__ == '__main__': main()    # or num_workers=0 in the DataLoader"), said="order.main_guard"),
        meant("Two packages bring Intel's OpenMP each (libiomp5): have one, by installing NumPy and PyTorch from one source in a fresh environment; from conda, without MKL", "conda install nomkl", said="python.openmp", line="omp: error|libiomp"),
        meant("Until then let both live together, which may slow it down or give wrong results", "export KMP_DUPLICATE_LIB_OK=TRUE", said="python.openmp", line="omp: error|libiomp"),
        meant(CRASH, FAULTS, said="signal.segv memory.worker_killed", safe=True),
        meant("Update docker and Compose: the file asks for more than they know", said="container.compose"),
        meant("Install a newer C++ runtime (libstdc++) beside the system's, and let programs find it first: conda has one", on.linux("conda install -c conda-forge libstdcxx-ng\nexport LD_LIBRARY_PATH=$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"), said="loader.version_missing python.glibc", line=r"GLIBCXX|CXXABI", safe=True),
        meant("Or build the program on the oldest system that has to run it: it was linked with a newer gcc", said="loader.version_missing python.glibc", line=r"GLIBCXX|CXXABI"),
        meant("The C library (glibc) cannot be updated alone: use a newer system or a container of one, or a package that was built for an older one", said="loader.version_missing python.glibc", line=r"GLIBC_"),
        meant("Read the last line of the traceback: it names the module or file"),
    ),
)  # fmt: skip
