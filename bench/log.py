"""How fast, and in how much memory, is a log read?

    python bench/log.py [--size MB] [ordinary] [numbers] [words] [literals] [line] [zeros] [start]

ordinary: a training's output. numbers, words: messages that repeat but for their numbers, or of which
none is like another. literals: literals of the catalogue thrown together. line: one line of --size
megabytes. zeros: a gzip of 4 GB of zeros. start: one line, from the start of the process. Seconds are
CPU seconds of one pass in a process of its own, after the catalogue is loaded; the peak memory is that
process's.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator


PIECE = 1 << 20
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
WORDS = (
    "alpha",
    "worker",
    "loader",
    "tensor",
    "batch",
    "shard",
    "layer",
    "attention",
    "stream",
    "bucket",
)
ORDINARY = (
    "2026-01-0{d} 10:{m}:{m},{n} INFO trainer: step {n} loss 0.{n} lr 1e-4 throughput {m}.{d} samples/s",
    "Epoch {d}/90: {m}%|████      | {n}/{n} [0{d}:{m}<0{d}:{m}, {m}.{d}it/s, loss=0.{n}]",
    '10.0.{d}.{m} - - [0{d}/Jan/2026:10:{m}:{m}] "GET /v1/items/{n} HTTP/1.1" 200 {n}',
    "validation accuracy 0.{n}, best so far 0.{n}; saved checkpoint checkpoints/{n}.pt",
)


def ordinary(rng: random.Random) -> str:
    """A line of a training that goes well."""
    return rng.choice(ORDINARY).format(
        n=rng.randrange(10, 99999), d=rng.randrange(10), m=rng.randrange(10, 60)
    )


def numbers(rng: random.Random) -> str:
    """A message with other numbers."""
    return rng.choice(MESSAGES).format(
        n=rng.randrange(10, 99999), d=rng.randrange(10), m=rng.randrange(10, 60)
    )


def words(rng: random.Random) -> str:
    """A message with other words after it."""
    return f"{numbers(rng)} {' '.join(rng.choices(WORDS, k=3))} {rng.randrange(1 << 32):#x}"


def literals(rng: random.Random) -> str:
    """Two literals of the catalogue around a word that is none."""
    from gpuwhy.causes.load import catalogue
    from gpuwhy.log.match import rows_of

    known = rows_of(catalogue()).literals.words
    return f"{rng.choice(known)} {''.join(rng.choices('abcdefghij', k=6))} {rng.choice(known)}"


def log(size: int, line: Callable[[random.Random], str]) -> Iterator[bytes]:
    """Pieces of such lines; after 8 different ones they come back with a number before each."""
    rng, made, kept = random.Random(5), 0, list[bytes]()
    while made < size:
        if len(kept) < 8 or line is not ordinary:
            piece, length = list[bytes](), 0
            while length < PIECE:
                piece.append(line(rng).encode() + b"\n")
                length += len(piece[-1])
            kept.append(b"".join(piece))
            kept = kept[-8:]
        made += len(kept[-1])
        yield kept[-1] if line is not ordinary else rng.choice(kept)


def one_line(size: int) -> Iterator[bytes]:
    """A line that does not end."""
    piece = b"epoch 12 step 345 cuda memory allocated 678 MiB gpu 3 loss 0.9 " * (PIECE // 64)
    for _ in range(size // len(piece)):
        yield piece


def zeros() -> Iterator[bytes]:
    """4 GB of zeros, as gzip packs them."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1 << 24)
    for _ in range(256):
        if made := pack.compress(block):
            yield made
    yield pack.flush()


def measured(name: str, size: int) -> None:
    """Read one of them and print a row."""
    from gpuwhy.log.read import read

    kinds = {"ordinary": ordinary, "numbers": numbers, "words": words, "literals": literals}
    read(b"CUDA error\n")
    pieces: list[bytes] | Iterator[bytes]
    if name == "zeros":
        pieces = list(zeros())
    elif name == "line":
        pieces = one_line(size)
    else:
        pieces = log(size, kinds[name])
    taken = spent = 0.0

    def fed() -> Iterator[bytes]:
        nonlocal taken, spent
        source = iter(pieces)
        while True:
            before = time.process_time()
            piece = next(source, None)
            spent += time.process_time() - before
            if piece is None:
                return
            taken += len(piece)
            yield piece

    start = time.process_time()
    found = read(fed())
    took = time.process_time() - start - spent
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    rate = taken / 1e6 / took
    print(
        f"{name:<9}{rate:8.1f} MB/s{took:7.2f} s{peak:6} MiB  {len(found.messages)} {found.notes}"
    )


START = "from gpuwhy.log.read import read; from gpuwhy.diagnose.weigh import diagnose; "
START += "diagnose(read('RuntimeError: CUDA error: no kernel image is available'))"


def started() -> None:
    """The median of five starts, beside Python itself."""
    for name, code in (("python", "pass"), ("start", START)):
        times = []
        for _ in range(5):
            before = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - before)
        print(f"{name:<9}{sorted(times)[2]:8.3f} s")


def main() -> None:
    """Print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--size", type=int, default=20, help="megabytes of each log")
    parser.add_argument("--here", action="store_true", help="measure in this process")
    parser.add_argument("logs", nargs="*")
    options = parser.parse_args()
    names = options.logs or ["start", "ordinary", "numbers", "words", "literals", "line", "zeros"]
    for name in names:
        if name == "start":
            started()
        elif options.here:
            measured(name, options.size * 1_000_000)
        else:
            command = [
                sys.executable,
                "-m",
                "bench.log",
                "--here",
                "--size",
                str(options.size),
                name,
            ]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
