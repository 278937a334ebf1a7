"""Lines that people take for errors and that are none."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, harmless

SIGNATURES: tuple[Signature, ...] = (
    harmless("harmless.triton",
             r"a matching triton is not available, some optimizations|error caught was: no module named '?triton",
             "matching triton is not", "error caught was", covers=("triton.missing", "python.module")),
    harmless("harmless.not_preloaded",
             r"ld\.so: object '[^'\n]+' (?:from (?:ld_preload|/etc/ld\.so\.preload) cannot be preloaded"
             r"|cannot be loaded as audit interface)[^\n]*ignored", "cannot be preloaded", "as audit interface",
             covers=("loader.", "install.", "elf.", "file.")),
    harmless("harmless.cpu_torch", r"\b(?:py)?torch(?:vision|audio)?(?: version)?\W+\d+\.\d+[\w.]*\+cpu\b|pytorch(?:vision|audio)?-?\s*[\d.]+[-\s]+py[\d._]+_cpu", "+cpu", "_cpu"),
    harmless("harmless.factory", r"unable to register cu\w+ (?:factory|plugin)|attempting to register factory", "unable to register cu", "register factory"),
    harmless("harmless.nccl_plugin", r"libnccl-(?:net|tuner|profiler|env)\w*\.so", "libnccl-", covers=("loader.cannot_open", "loader.asked", "loader.find_failed")),
    harmless("harmless.numa", r"numa node (?:read from sysfs had negative value|zero)|could not (?:identify|open) (?:file to read )?numa|had negative value \(-1\)",
             "numa node"),
    harmless("harmless.cpu_features", r"(?:your cpu supports instructions|this tensorflow binary is optimized|onednn custom operations are on|avx2|to enable them in other"
             r" operations, rebuild|to enable the following instructions)", "cpu supports instructions", "binary is optimized", "onednn custom operations",
             "rebuild tensorflow"),
    harmless("harmless.jax_frames", r"jax has removed its internal frames|jax_traceback_filtering=off to include",
             "removed its internal frames", "jax_traceback_filtering=off", covers=("title.",)),
    harmless("harmless.lazy", r"cuda lazy loading is not enabled", "lazy loading is not enabled", covers=("title.",)),
    harmless("harmless.trt", r"tf-trt warning|cannot dlopen some tensorrt libraries|could not find tensorrt", "tf-trt warning", "some tensorrt", "find tensorrt",
             covers=("build.cmake_find",)),
    harmless("harmless.xla_host", r"executing computations on platform host|initialized for platform host|xla service 0x", "xla service 0x", "platform host"),
    harmless("harmless.cudart_stub", r"ignore above cudart dlerror if you do not have a gpu", "ignore above cudart dlerror"),
    harmless("harmless.computation_placer", r"computation placer already registered", "computation placer already registered"),
    harmless("harmless.absl", r"all log messages before absl::initializelog", "before absl::initializelog"),
    harmless("harmless.ldconfig", r"ldconfig(?:\.real)?: \S+ is not a symbolic link", "is not a symbolic link"),
    harmless("harmless.deprecation", r"deprecationwarning|futurewarning|deprecated and will be removed|userwarning: torch\.utils\._pytree|pkg_resources is deprecated",
             "deprecationwarning", "futurewarning", "will be removed", "is deprecated"),
    harmless("harmless.process_group", r"destroy_process_group\(\) was not called before"
             r"|process group has not been destroyed before we destruct"
             r"|to perform barrier as devices used by this process are currently unknown"
             r"|find_unused_parameters=true was specified",
             "destroy_process_group() was not", "has not been destroyed before", "to perform barrier as devices",
             "find_unused_parameters=true", covers=("nccl.", "peer.", "torch.")),
    harmless("harmless.allocator", r"the caller indicates that this is not a failure",
             "indicates that this is not a failure", covers=("memory.bfc", "memory.oom_words", "memory.tf_grab",
        "cuda.")),
    harmless("harmless.sshd", r"\b(?:sshd(?:-session)?|cron|postfix/\w+|dhclient)\[\d+\]: ", "sshd[", "sshd-session[",
             "cron[", "postfix/", "dhclient[", covers=("peer.", "limit.", "title.")),
    harmless("harmless.delay_kernel", r"skipping the delay kernel", "skipping the delay kernel"),
    harmless("harmless.shmem", r"shmem allocation limit is set to the default", "shmem allocation limit"),
    harmless("harmless.drop_remainder", r"end of sequence|out_of_range: end|local rendezvous is aborting", "end of sequence", "rendezvous is aborting",
             covers=("nccl.rendezvous",)),
    harmless("harmless.cupti", r"cupti[^\n]*(?:insufficient_privileges|could not|error)"
             r"|could not (?:load|find)[^\n]*(?P<library>libcupti[\w.]*\.so(?:\.\d+)*)|profiling[^\n]*not permitted",
             "cupti", covers=("loader.tf_dso", "loader.cannot_open", "loader.find_failed", "windows.could_not_find", "windows.dll_not_found", "title.library")),
    harmless("harmless.pcie", r"nvml call failed with \d+[^\n]*assuming pcie", "assuming pcie", covers=("nvml.",)),
    harmless("harmless.op_by_op", r"fallback to op-by-op mode", "fallback to op-by-op"),
    harmless("harmless.mlir", r"mlir_graph_optimization_pass|none of the mlir optimization passes", "mlir_graph_optimization", "mlir optimization passes"),
    harmless("harmless.loaded_ok",
             r"successfully opened dynamic library(?: (?P<library>(?:lib)?cudart\S{1,40}))?|loaded cudnn version"
             r"|created (?:tensorflow )?device [^\n]*gpu", "successfully opened dynamic",
             "loaded cudnn version", "created device", "created tensorflow device"),
)  # fmt: skip
