"""Walks one group of native stages of `check --probe`.

`probe.py GROUP [--FAMILY PATH …] [--preload PATH …] [--skip STAGE[:GPU] …]`
Groups: driver, device, runtime, blas, cudnn, convolution, nccl (see probe/stages.py).
`--no-gpu` says that the driver shows none, `--no-driver` that not even cuInit may be called.
Prints one JSON object a line (probe_talk.py says which).
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import probe_driver
import probe_libraries
from probe_talk import Failed, Stage, begin, leave

GROUPS = {
    "driver": probe_driver.driver,
    "device": probe_driver.device,
    "runtime": probe_libraries.runtime,
    "blas": probe_libraries.blas,
    "cudnn": probe_libraries.cudnn,
    "convolution": probe_libraries.handle,
    "nccl": probe_libraries.nccl,
}


class Options(argparse.Namespace):
    """What the command line asked for."""

    def wants(self, stage, device):
        """Whether a stage is to run: neither it nor it on this GPU is to be skipped."""
        return stage not in self.skip and "%s:%s" % (stage, device) not in self.skip


def parsed(arguments):
    """The group, and its options."""
    parser = argparse.ArgumentParser()
    parser.add_argument("group", choices=sorted(GROUPS))
    for name in ("cuda", "nvrtc", "cudart", "cublas", "cudnn", "nccl"):
        parser.add_argument("--" + name)
    for name in ("--preload", "--skip"):
        parser.add_argument(name, action="append", default=[])
    for name in ("gpu", "driver"):
        parser.add_argument("--no-" + name, dest=name, action="store_false")
    options = parser.parse_args(arguments, Options())
    options.gpu = options.gpu and options.driver
    return options


def main(arguments):
    """Run the group; a failure before its first stage is that stage's, which the reader names."""
    options = parsed(arguments)
    begin()
    os.environ["CUDA_CACHE_DISABLE"] = "1"  # the driver's compiler leaves no files
    try:
        GROUPS[options.group](options)
    except Failed as failure:
        with Stage(""):
            raise failure


if __name__ == "__main__":
    main(sys.argv[1:])
    leave()
