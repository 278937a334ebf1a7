"""Walks one group of native stages of `check --probe`.

`probe.py GROUP [--FAMILY PATH …] [--preload PATH …] [--skip STAGE[:GPU] …]`
Groups: driver, device, runtime, blas, cudnn, convolution, nccl (see probe/stages.py).
`--limit BYTES` is the GPU memory that tests may allocate; `--no-gpu` says that the driver shows
none, `--no-driver` that not even cuInit may be called. Prints one JSON object a line
(probe_talk.py says which). A stage that needs one which failed is left out.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from probe_talk import Failed, Stage

FAMILIES = ("cuda", "nvrtc", "cudart", "cublas", "cudnn", "nccl")
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


class Options(argparse.Namespace):
    """What the command line asked for."""

    def wants(self, stage, device):
        """Whether a stage is to run: neither it nor it on this GPU is to be skipped."""
        return stage not in self.skip and "%s:%s" % (stage, device) not in self.skip


def parsed(arguments):
    """The group, and its options."""
    parser = argparse.ArgumentParser()
    parser.add_argument("group", choices=sorted(FIRST))
    for name in FAMILIES:
        parser.add_argument("--" + name)
    for name in ("--preload", "--skip"):
        parser.add_argument(name, action="append", default=[])
    parser.add_argument("--limit", type=int, default=300 * 10**6)
    for name in ("gpu", "driver"):
        parser.add_argument("--no-" + name, dest=name, action="store_false")
    options = parser.parse_args(arguments, Options())
    options.gpu = options.gpu and options.driver
    return options


def main(arguments):
    """Run the group; a failure before its first stage is that stage's."""
    options = parsed(arguments)
    os.environ["CUDA_CACHE_DISABLE"] = "1"  # the driver's compiler leaves no files
    if os.name != "nt":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # nor does a crash
    if options.group in ("driver", "device"):
        import probe_driver as module
    else:
        import probe_libraries as module
    try:
        getattr(module, options.group)(options)
    except Failed as failure:
        with Stage(FIRST[options.group]):
            raise failure


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # a library's own end is not under test
