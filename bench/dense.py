"""How fast is a log read whose every line holds words of GPU messages, with the standard library's engine?

    python bench/dense.py [--size MB] [numbers] [words] [literals]

Three logs: messages that repeat but for their numbers; messages of which none is like another; literals of the
catalogue thrown together. CPU seconds of one pass in this process, after the catalogue is loaded. The row below each
tells how fast this machine is just now: lines split and counted, which any reader must do.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator

MESSAGES = (
    "RuntimeError: CUDA error: no kernel image is available for execution on the device",
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate {n}.00 MiB (GPU {d}; 15.{n} GiB in total)",
    "2026-01-0{d} 10:{m}:{m}.{n}: W tensorflow/stream_executor/dso_loader.cc:{m}] Could not load dynamic "
    "library 'libcudart.so.1{d}.0'; dlerror: libcudart.so.1{d}.0: cannot open shared object file: No such file",
    "2026-01-0{d} 10:{m}:{m}.{n}: I tensorflow/core/gpu_device.cc:1510] Created device GPU:{d} with {n} MB",
    "node{n}:{n}:{n} [{d}] NCCL INFO Channel {m}/32 : {d}[{n}] -> {m}[{n}] via P2P/IPC/read",
    "node{n}:{n}:{n} [{d}] NCCL WARN NET/IB : Got completion from peer {d}.{m} with error 12, opcode 0, len 0",
    "[rank{d}]:[E ProcessGroupNCCL.cpp:{n}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={n})",
    "E tensorflow/stream_executor/cuda/cuda_dnn.cc:3{m}] Loaded runtime CuDNN library: 8.{d}.0 but source was compiled "
    "with: 8.{m}.0.",
    "[{n}.{m}] NVRM: Xid (PCI:0000:{m}:00): 79, pid={n}, GPU has fallen off the bus.",
    "ImportError: libcudnn.so.{d}: cannot open shared object file: No such file or directory (worker {n})",
    "epoch {m} step {n} cuda memory allocated {n} MiB gpu {d} util {m}% driver nvidia loss 0.{n}",
)
WORDS = ("alpha", "worker", "loader", "tensor", "batch", "shard", "layer", "attention", "stream", "bucket")


def numbers(rng: random.Random) -> str:
    """A message with other numbers."""
    return rng.choice(MESSAGES).format(n=rng.randrange(10, 99999), d=rng.randrange(10), m=rng.randrange(10, 60))


def words(rng: random.Random) -> str:
    """A message with other words after it."""
    return f"{numbers(rng)} {' '.join(rng.choices(WORDS, k=3))} {rng.randrange(1 << 32):#x}"


def literals(rng: random.Random) -> str:
    """Two literals of the catalogue around a word that is none."""
    from gpuwhy.symptoms.reader import anchors

    return f"{rng.choice(anchors())} {''.join(rng.choices('abcdefghij', k=6))} {rng.choice(anchors())}"


def log(size: int, line: Callable[[random.Random], str]) -> Iterator[bytes]:
    """Pieces of a mebibyte of such lines."""
    rng, made = random.Random(5), 0
    while made < size:
        piece, length = [], 0
        while length < 1 << 20:
            piece.append(line(rng).encode() + b"\n")
            length += len(piece[-1])
        made += length
        yield b"".join(piece)


def main() -> None:
    """Print a row for each log."""
    from gpuwhy.symptoms.reader import read

    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--size", type=int, default=20, help="megabytes of each log")
    parser.add_argument("logs", nargs="*", help="which of numbers, words, literals; all")
    options = parser.parse_args()
    size = options.size * 1_000_000
    read([b"CUDA error\n"], fast=False)
    for line in (one for one in (numbers, words, literals) if not options.logs or one.__name__ in options.logs):
        pieces = list(log(size, line))
        start = time.process_time()
        reading = read(pieces, fast=False)
        took = time.process_time() - start
        print(f"{line.__name__:<9} {sum(map(len, pieces)) / 1e6 / took:7.1f} MB/s  {len(reading.symptoms)} symptoms")
        start = time.process_time()
        for piece in pieces:
            Counter(piece.split(b"\n"))
        took = time.process_time() - start
        print(f"  counted {sum(map(len, pieces)) / 1e6 / took:7.1f} MB/s")


if __name__ == "__main__":
    main()
