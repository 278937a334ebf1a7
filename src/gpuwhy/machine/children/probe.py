"""Walks one group of native stages of `check --probe`.

`probe.py GROUP [--FAMILY PATH …] [--preload PATH …] [--skip STAGE[:GPU] …]`
Groups: driver, device, runtime, blas, cudnn, convolution, nccl (see probe/stages.py).
`--limit BYTES` is the GPU memory that tests may allocate; `--no-gpu` says that the driver shows
none, `--no-driver` that not even cuInit may be called. Prints one JSON object a line
(probe_talk.py says which). A stage that needs one which failed is left out.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from probe_talk import Failed, Options, Stage

FIRST = {
    "driver": "libcuda",
    "device": "context",
    "runtime": "cudart",
    "blas": "cublas",
    "cudnn": "cudnn",
    "convolution": "cudnn_create",
    "nccl": "nccl",
}
"""The stage of each group that a failure before any stage belongs to."""


def work(group):
    """The function of a group; only its own modules are loaded."""
    if group == "driver":
        import probe_driver as module
    elif group == "device":
        import probe_device as module
    elif group in ("cudnn", "convolution"):
        import probe_cudnn as module
    else:
        import probe_math as module
    return getattr(module, group)


def main(group, arguments):
    """Run the group; a failure before its first stage is that stage's."""
    os.environ["CUDA_CACHE_DISABLE"] = "1"  # the driver's compiler leaves no files
    if os.name != "nt":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # nor does a crash
    try:
        work(group)(Options(arguments))
    except Failed as failure:
        with Stage(FIRST[group]):
            raise failure
    if "probe_driver" in sys.modules:
        sys.modules["probe_driver"].tell_memory()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
    os._exit(0)  # a library's own end is not under test
