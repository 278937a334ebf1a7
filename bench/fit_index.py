"""What reading a sharded model of 700 GB costs: `python bench/fit_index.py [PYTHON]`; headers only, nothing downloaded.

Makes 163 sparse safetensors files with the tensors of a mixture of 256 experts in 61 layers (about 90,000, in 8-bit
floats with their scales), their index and a config.json, in a temporary folder: a few megabytes of real bytes. Prints
wall and CPU seconds, the largest memory and how many files were opened by `gpuwhy.fit.read`, in a process of its own,
and the same of reading every header with safetensors, the reference library, where PYTHON (another environment's) has
it; then the ratio. Wall seconds mean something on a quiet machine only: the load is printed with them.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

LIMIT = 0.5
SHARDS = 163
OURS = """
import sys
from gpuwhy.fit import read
model = read(sys.argv[1])
print(len(model.tensors), model.bytes, len(model.unknown))
"""
THEIRS = """
import sys, json, math, pathlib
from safetensors import safe_open
width = {"F8_E4M3": 1, "F32": 4, "BF16": 2}
folder = pathlib.Path(sys.argv[1])
index = json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"]
count = total = 0
for file in sorted(set(index.values())):
    with safe_open(folder / file, "np") as opened:
        for name in opened.keys():
            one = opened.get_slice(name)
            count, total = count + 1, total + math.prod(one.get_shape()) * width[one.get_dtype()]
print(count, total, 0)
"""


def tensors() -> Iterator[tuple[str, str, tuple[int, ...], int]]:
    """Name, type, shape and bytes of each tensor."""

    def quantised(name: str, rows: int, columns: int) -> Iterator[tuple[str, str, tuple[int, ...], int]]:
        yield f"{name}.weight", "F8_E4M3", (rows, columns), rows * columns
        scales = (-(-rows // 128), -(-columns // 128))
        yield f"{name}.weight_scale_inv", "F32", scales, 4 * scales[0] * scales[1]

    yield "model.embed_tokens.weight", "BF16", (129280, 7168), 2 * 129280 * 7168
    for layer in range(61):
        prefix = f"model.layers.{layer}"
        for part, rows, columns in (
            ("q_a", 1536, 7168),
            ("q_b", 24576, 1536),
            ("kv_b", 32768, 512),
            ("o", 7168, 16384),
        ):
            yield from quantised(f"{prefix}.self_attn.{part}_proj", rows, columns)
        yield from quantised(f"{prefix}.self_attn.kv_a_proj_with_mqa", 576, 7168)
        yield f"{prefix}.input_layernorm.weight", "BF16", (7168,), 14336
        sizes = [("mlp", 18432)] if layer < 3 else [(f"mlp.experts.{n}", 2048) for n in range(256)]
        for part, width in sizes:
            yield from quantised(f"{prefix}.{part}.gate_proj", width, 7168)
            yield from quantised(f"{prefix}.{part}.up_proj", width, 7168)
            yield from quantised(f"{prefix}.{part}.down_proj", 7168, width)
    yield "lm_head.weight", "BF16", (129280, 7168), 2 * 129280 * 7168


def make(folder: Path) -> tuple[int, int]:
    """The files; how many tensors, how many bytes."""
    everything = list(tensors())
    total = sum(size for *_, size in everything)
    shards: list[list[tuple[str, str, tuple[int, ...], int]]] = [[]]
    held = 0
    for one in everything:
        if held > total / SHARDS and len(shards) < SHARDS:
            shards.append([])
            held = 0
        shards[-1].append(one)
        held += one[3]
    weight_map = {}
    for number, part in enumerate(shards, 1):
        file = f"model-{number:05}-of-{len(shards):06}.safetensors"
        weight_map.update({name: file for name, *_ in part})
        shard(folder / file, part)
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))
    (folder / "config.json").write_text(json.dumps({"model_type": "deepseek_v3", "num_hidden_layers": 61}))
    return len(everything), total


def shard(path: Path, part: list[tuple[str, str, tuple[int, ...], int]]) -> None:
    """One file with its header and a hole for its data."""
    place, header = 0, {}
    for name, kind, shape, size in part:
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [place, place + size]}
        place += size
    data = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(data)) + data)
        file.truncate(8 + len(data) + place)


def measured(argv: list[str]) -> tuple[str, float, float, float]:
    """What a program prints; its wall and CPU seconds and its largest memory in MiB; the best of five."""
    rows = []
    for _ in range(5):
        begun = time.monotonic()
        child = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert child.stdout
        said = child.stdout.read().strip()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
        assert status == 0, argv
        rows.append((time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said))
    wall, cpu, memory, said = min(rows)
    return said, wall, cpu, memory


def opened(folder: Path) -> int:
    """How many of the files ours opens."""
    from gpuwhy.fit.readers.safetensors import read_index, read_sharded
    from gpuwhy.fit.source import Disk

    disk = Disk(str(folder))
    try:
        return read_sharded(disk, read_index(disk.open("model.safetensors.index.json"))).opened
    finally:
        disk.close()


def main(rival: str = "") -> int:
    """One row each, and the ratio."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count, total = make(folder)
        print(f"{count:,} tensors, {total / 1e9:.0f} GB in {SHARDS} files; ours opens {opened(folder)} of them")
        print(f"{'':24} {'wall s':>7} {'CPU s':>7} {'MiB':>7}")
        said, wall, cpu, memory = measured([sys.executable, "-c", OURS, name])
        print(f"{'gpuwhy.fit.read':24} {wall:7.2f} {cpu:7.2f} {memory:7.0f}")
        assert said == f"{count} {total} 0", said
        if rival:
            theirs, other, cpu, memory = measured([rival, "-c", THEIRS, name])
            print(f"{'safetensors, all headers':24} {other:7.2f} {cpu:7.2f} {memory:7.0f}")
            assert theirs == said, theirs
            print(f"{other / wall:.1f} times as fast, with the same answer")
        load = os.getloadavg()[0] / (os.cpu_count() or 1)
        print(f"limit {LIMIT} s: {'kept' if wall <= LIMIT else 'MISSED'} (load of {load:.1f} for each core)")
        return wall > LIMIT


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
