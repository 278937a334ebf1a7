"""Real model files by the reference libraries, with what those libraries say of them: `python make.py OUT [part …]`.

Needs torch, safetensors, gguf and onnx in an environment of its own; nothing of gpuwhy is imported. Each file gets a
line in OUT/expected.json: path → [[name, dtype, shape, bytes], …], told by the library that reads the format.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np

DTYPES = {
    "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "int8": "i8", "uint8": "u8", "int16": "i16",
    "int32": "i32", "int64": "i64", "bool": "bool", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "complex64": "c64", "complex128": "c128", "float8_e4m3fn": "f8_e4m3", "float8_e5m2": "f8_e5m2",
    "float8_e4m3fnuz": "f8_e4m3fnuz", "float8_e5m2fnuz": "f8_e5m2fnuz", "float8_e8m0fnu": "f8_e8m0",
    "float4_e2m1fn_x2": "f4x2",
    "qint8": "i8", "quint8": "u8", "qint32": "i32",
}  # fmt: skip


def told(tensors):
    """Torch tensors as rows, by name; of those in one storage the largest has its bytes, and the others none."""
    largest = {}
    for name, one in sorted(tensors.items(), key=lambda item: -item[1].numel()):
        if one.device.type != "meta":
            largest.setdefault(one.untyped_storage().data_ptr() or name, name)
    owners = set(largest.values()) | {name for name, one in tensors.items() if one.device.type == "meta"}
    return [row(name, one, name in owners) for name, one in tensors.items()]


def row(name, one, owner=True):
    """One of them."""
    dtype = DTYPES[str(one.dtype).removeprefix("torch.")]
    return [name, dtype, list(one.shape), one.numel() * one.element_size() * owner]


def safetensors(out: Path, expected: dict) -> None:
    """Every dtype, no dimension, no element, metadata, shards with an index."""
    import torch
    from safetensors import safe_open
    from safetensors.torch import save_file

    names = [n for n in DTYPES if hasattr(torch, n) and not n.startswith("q")]
    tensors = {}
    for name in names:
        plain = torch.zeros((4, 6), dtype=torch.uint8)
        tensors[f"t.{name}"] = (
            plain.view(torch.float4_e2m1fn_x2) if "float4" in name else plain.to(getattr(torch, name))
        )
    tensors |= {"scalar": torch.tensor(2.5), "empty": torch.zeros((0, 7)), "deep": torch.zeros(1, 2, 3, 1, 2)}
    kept = {}
    for name, one in tensors.items():
        try:
            save_file({name: one}, out / "one.safetensors")
            kept[name] = one
        except Exception as error:
            print("safetensors does not keep", name, error)
    (out / "one.safetensors").unlink(missing_ok=True)
    save_file(kept, out / "types.safetensors", metadata={"format": "pt", "öäü": "z" * 300})
    with safe_open(out / "types.safetensors", "pt") as file:
        rows = []
        for name in file.keys():  # noqa: SIM118
            rows.append(row(name, file.get_tensor(name)))
            if rows[-1][1] == "f4x2":  # the file counts numbers, torch counts pairs
                rows[-1][1:3] = ["f4", [*rows[-1][2][:-1], rows[-1][2][-1] * 2]]
        expected["types.safetensors"] = rows
    folder = out / "sharded"
    folder.mkdir(exist_ok=True)
    from huggingface_hub import save_torch_state_dict

    state = {"model.embed_tokens.weight": torch.zeros(64, 16, dtype=torch.bfloat16)}
    for layer in range(6):
        for part, shape in {"self_attn.q_proj": (16, 16), "self_attn.k_proj": (8, 16), "mlp.up_proj": (48, 16)}.items():
            state[f"model.layers.{layer}.{part}.weight"] = torch.zeros(shape, dtype=torch.bfloat16)
        state[f"model.layers.{layer}.input_layernorm.weight"] = torch.zeros(16)
    save_torch_state_dict(state, folder, max_shard_size=4000)
    expected["sharded"] = told(state)


def gguf(out: Path, expected: dict) -> None:
    """Every block type, architectures, another byte order, split files."""
    import gguf as lib

    def tell(path: Path) -> list:
        return [
            [t.name, t.tensor_type.name.lower(), [int(n) for n in reversed(t.shape.tolist())], int(t.n_bytes)]
            for t in lib.GGUFReader(path).tensors
        ]

    writer = lib.GGUFWriter(out / "types.gguf", "llama")
    writer.add_string("general.name", "types")
    writer.add_array("tokenizer.ggml.tokens", ["a", "b", "ä" * 30])
    writer.add_array("some.numbers", [1, 2, 3])
    writer.add_bool("some.flag", True)
    for kind, (block, size) in lib.GGML_QUANT_SIZES.items():
        data = np.zeros((3, 2 * size), dtype=np.uint8)
        plain = {
            "F32": np.float32,
            "F16": np.float16,
            "F64": np.float64,
            "I8": np.int8,
            "I16": np.int16,
            "I32": np.int32,
            "I64": np.int64,
        }
        if kind.name in plain:
            writer.add_tensor(f"t.{kind.name}", np.zeros((3, 2 * block), dtype=plain[kind.name]))
        else:
            writer.add_tensor(f"t.{kind.name}", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    expected["types.gguf"] = tell(out / "types.gguf")
    big = lib.GGUFWriter(out / "big-endian.gguf", "llama", endianess=lib.GGUFEndian.BIG)
    big.add_block_count(3)
    big.add_tensor("token_embd.weight", np.zeros((8, 4), dtype=np.float32))
    big.write_header_to_file()
    big.write_kv_data_to_file()
    big.write_tensors_to_file()
    big.close()
    expected["big-endian.gguf"] = tell(out / "big-endian.gguf")
    split = lib.GGUFWriter(out / "split.gguf", "qwen2", split_max_tensors=2)
    split.add_block_count(2)
    split.add_embedding_length(32)
    split.add_head_count(4)
    split.add_head_count_kv(2)
    split.add_context_length(4096)
    for number in range(5):
        split.add_tensor(f"blk.{number}.attn_q.weight", np.zeros((4, 32), dtype=np.float16))
    split.write_header_to_file()
    split.write_kv_data_to_file()
    split.write_tensors_to_file()
    split.close()
    parts = sorted(out.glob("split-*.gguf"))
    expected[parts[0].name] = [row for part in parts for row in tell(part)]


def onnx(out: Path, expected: dict) -> None:
    """Initializers of every type, typed and raw, outside data, sparse, subgraphs."""
    import onnx as lib
    from onnx import TensorProto, helper

    types = {
        "FLOAT": "f32", "UINT8": "u8", "INT8": "i8", "UINT16": "u16", "INT16": "i16", "INT32": "i32", "INT64": "i64",
        "BOOL": "bool", "FLOAT16": "f16", "DOUBLE": "f64", "UINT32": "u32", "UINT64": "u64", "COMPLEX64": "c64",
        "COMPLEX128": "c128", "BFLOAT16": "bf16", "FLOAT8E4M3FN": "f8_e4m3", "FLOAT8E4M3FNUZ": "f8_e4m3fnuz",
        "FLOAT8E5M2": "f8_e5m2", "FLOAT8E5M2FNUZ": "f8_e5m2fnuz", "UINT4": "u4", "INT4": "i4", "FLOAT4E2M1": "f4",
        "FLOAT8E8M0": "f8_e8m0", "UINT2": "u2", "INT2": "i2",
    }  # fmt: skip
    bits = {"f4": 4, "u4": 4, "i4": 4, "u2": 2, "i2": 2, "bool": 8}

    def width(name: str) -> int:
        digits = "".join(c for c in name.split("_")[0] if c.isdigit())
        return bits.get(name) or int(digits)

    made, rows = [], []
    for name, ours in types.items():
        code = getattr(TensorProto, name, None)
        if code is None:
            continue
        size = -(-7 * 3 * width(ours) // 8)
        made.append(helper.make_tensor(f"raw.{name}", code, [7, 3], b"\0" * size, raw=True))
        rows.append([f"raw.{name}", ours, [7, 3], size])
        try:
            made.append(helper.make_tensor(f"typed.{name}", code, [5], [1] * 5))
            rows.append([f"typed.{name}", ours, [5], -(-5 * width(ours) // 8)])
        except Exception as error:
            print("onnx has no typed", name, error)
    made.append(helper.make_tensor("scalar", TensorProto.FLOAT, [], [1.0]))
    rows.append(["scalar", "f32", [], 4])
    inner = helper.make_graph(
        [helper.make_node("Identity", ["w"], ["y"])],
        "inner",
        [],
        [helper.make_tensor_value_info("y", 1, [2])],
        [helper.make_tensor("w", 1, [2], [1.0, 2.0])],
    )
    nodes = [
        helper.make_node("Conv", ["x", "raw.FLOAT"], ["c"], kernel_shape=[3, 3], strides=[2, 2]),
        helper.make_node("If", ["b"], ["z"], then_branch=inner, else_branch=inner),
        helper.make_node("Constant", [], ["k"], value=helper.make_tensor("k", 7, [3], [1, 2, 3])),
    ]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, ["batch", 3, 224, 224])], [], made)
    model = helper.make_model(graph)
    lib.save(model, out / "types.onnx")
    rows += [["z.then_branch.w", "f32", [2], 8], ["z.else_branch.w", "f32", [2], 8], ["k", "i64", [3], 24]]
    expected["types.onnx"] = rows
    weights = {"conv.weight": (8, 3, 3, 3), "conv.bias": (8,), "fc.weight": (10, 8)}
    net = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "conv.weight", "conv.bias"], ["a"], strides=[2, 2], kernel_shape=[3, 3]),
            helper.make_node("Relu", ["a"], ["r"]),
            helper.make_node("GlobalAveragePool", ["r"], ["p"]),
            helper.make_node("Flatten", ["p"], ["f"]),
            helper.make_node("Gemm", ["f", "fc.weight"], ["y"], transB=1),
        ],
        "net", [helper.make_tensor_value_info("x", 1, [1, 3, 32, 32])], [helper.make_tensor_value_info("y", 1, [1, 10])],
        [lib.numpy_helper.from_array(np.zeros(s, np.float32), n) for n, s in weights.items()],
    )  # fmt: skip
    (out / "outside").mkdir(exist_ok=True)
    lib.save(
        helper.make_model(net),
        out / "outside" / "net.onnx",
        save_as_external_data=True,
        size_threshold=0,
        location="net.data",
    )
    loaded = lib.load(out / "outside" / "net.onnx")
    expected["outside/net.onnx"] = [
        [t.name, types[TensorProto.DataType.Name(t.data_type)], list(t.dims), lib.numpy_helper.to_array(t).nbytes]
        for t in loaded.graph.initializer
    ]


def torch(out: Path, expected: dict) -> None:
    """Zip and legacy files, views, parameters, whole modules, checkpoints of training, scripts."""
    import warnings

    import torch as lib

    warnings.simplefilter("ignore")
    names = [n for n in DTYPES if hasattr(lib, n) and not n.startswith("q")]
    state = {}
    for name in names:
        try:
            state[f"t.{name}"] = lib.zeros((3, 4), dtype=lib.uint8).to(getattr(lib, name))
        except (RuntimeError, TypeError) as error:
            print("torch does not make", name, str(error)[:60])
    base = lib.zeros(10, 6)
    state |= {
        "view": base[2:5, ::2], "base": base, "transposed": base.t(), "scalar": lib.tensor(1.0),
        "parameter": lib.nn.Parameter(lib.zeros(2, 2)), "empty": lib.zeros(0, 3), "meta": lib.zeros(4, 5, device="meta"),
    }  # fmt: skip
    lib.save(state, out / "types.pt")
    expected["types.pt"] = told(state)
    legacy = {
        k: v
        for k, v in state.items()
        if v.dtype not in (lib.uint16, lib.uint32, lib.uint64) and "float8" not in k and k != "meta"
    }
    lib.save(legacy, out / "legacy.pt", _use_new_zipfile_serialization=False)
    expected["legacy.pt"] = told(legacy)
    net = lib.nn.Sequential(
        lib.nn.Conv2d(3, 8, 3, stride=2), lib.nn.BatchNorm2d(8), lib.nn.ReLU(), lib.nn.Flatten(), lib.nn.Linear(8, 4)
    )
    lib.save(net, out / "module.pt")
    expected["module.pt"] = told(net.state_dict())
    lib.save(net.state_dict(), out / "protocol4.pt", pickle_protocol=4)
    expected["protocol4.pt"] = told(net.state_dict())
    optimizer = lib.optim.AdamW(net.parameters())
    net(lib.zeros(2, 3, 3, 3)).sum().backward()
    optimizer.step()
    lib.save(
        {"epoch": 3, "lr": 1e-3, "model": net.state_dict(), "optimizer": optimizer.state_dict()}, out / "training.pt"
    )
    rows = told({f"model.{k}": v for k, v in net.state_dict().items()})
    for number, one in optimizer.state_dict()["state"].items():
        rows += told({f"optimizer.state.{number}.{k}": v for k, v in one.items()})
    expected["training.pt"] = rows
    lib.jit.save(lib.jit.script(net), out / "script.pt")
    expected["script.pt"] = told(net.state_dict())
    shared = lib.nn.Linear(4, 4)
    tied = {"a.weight": shared.weight, "b.weight": shared.weight, "c.bias": shared.bias}
    lib.save(tied, out / "tied.pt")
    expected["tied.pt"] = told(tied)
    folder = out / "bin-sharded"
    folder.mkdir(exist_ok=True)
    from huggingface_hub import save_torch_state_dict

    small = {f"layers.{n}.weight": lib.zeros(8, 8) for n in range(5)}
    save_torch_state_dict(small, folder, max_shard_size=600, safe_serialization=False)
    expected["bin-sharded"] = told(small)
    buffer = io.BytesIO()
    lib.save({"q": lib.quantize_per_tensor(lib.zeros(3, 3), 0.1, 0, lib.qint8), "s": lib.eye(4).to_sparse()}, buffer)
    (out / "quantised.pt").write_bytes(buffer.getvalue())
    expected["quantised.pt"] = [["q", "i8", [3, 3], 9], ["s.indices", "i64", [2, 4], 64], ["s.values", "f32", [4], 16]]


def distributed(out: Path, expected: dict) -> None:
    """A checkpoint of torch.distributed, as FSDP saves it."""
    import torch
    from torch.distributed import checkpoint

    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2).to(torch.bfloat16))
    optimizer = torch.optim.AdamW(net[0].parameters())
    net[0](torch.zeros(1, 4)).sum().backward()
    optimizer.step()
    checkpoint.save(
        {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "step": 3}, checkpoint_id=out / "distributed"
    )
    known = checkpoint.FileSystemReader(out / "distributed").read_metadata().state_dict_metadata
    expected["distributed"] = [
        row(name, torch.empty(one.size, dtype=one.properties.dtype))
        for name, one in known.items()
        if hasattr(one, "size")
    ]


PARTS = {"distributed": distributed, "safetensors": safetensors, "gguf": gguf, "onnx": onnx, "torch": torch}


def main(out: str, *parts: str) -> None:
    """Make them all, or some, and keep what was expected of the others."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "expected.json"
    expected = json.loads(kept.read_text()) if kept.exists() else {}
    for part in parts or PARTS:
        PARTS[part](folder, expected)
    kept.write_text(
        "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(expected.items())) + "\n}\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
