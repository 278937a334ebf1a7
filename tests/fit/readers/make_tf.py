"""Real files of Keras, HDF5 and TensorFlow with what those libraries say of them: `python make_tf.py OUT`.

Needs tensorflow and h5py in an environment of its own; adds its lines to OUT/expected.json (make.py).
"""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import h5py
import keras
import numpy as np
import tensorflow as tf

DTYPES = {
    "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "int8": "i8", "uint8": "u8", "int16": "i16",
    "int32": "i32", "int64": "i64", "bool": "bool", "uint16": "u16", "uint32": "u32", "uint64": "u64", "complex64": "c64",
    "complex128": "c128", "half": "f16", "double": "f64",
}  # fmt: skip


def in_h5(file) -> list:
    """Every dataset, as h5py tells it."""
    rows = []

    def visit(name, one):
        if isinstance(one, h5py.Dataset):
            kind = str(one.dtype.newbyteorder("="))
            size = int(one.size or 0)
            known = DTYPES.get(kind, "?")
            bytes_ = size * one.dtype.itemsize if one.shape is not None else 0
            rows.append([name, known, list(one.shape or ()), None if one.dtype.kind == "O" else bytes_])

    file.visititems(visit)
    return rows


def networks():
    """Small networks of different kinds."""
    layers = keras.layers
    cnn = keras.Sequential([
        layers.Input((32, 32, 3)), layers.Conv2D(8, 3, strides=2, name="first"), layers.BatchNormalization(), layers.ReLU(),
        layers.DepthwiseConv2D(3), layers.Conv2DTranspose(4, 2, strides=2), layers.GlobalAveragePooling2D(), layers.Dense(10),
    ])  # fmt: skip
    words = keras.Input((16,), dtype="int32")
    x = layers.Embedding(50, 12)(words)
    x = layers.MultiHeadAttention(3, 4)(x, x)
    x = layers.LSTM(6)(x)
    return {"cnn": cnn, "words": keras.Model(words, layers.Dense(2)(x))}


def of_keras(out: Path, expected: dict) -> None:
    """The archive of Keras 3, the older HDF5 file, weights alone."""
    for name, model in networks().items():
        if name == "cnn":
            model.compile("adam", "mse")
            model.fit(np.zeros((2, 32, 32, 3), "float32"), np.zeros((2, 10), "float32"), verbose=0)
        model.save(out / f"{name}.keras")
        with (
            zipfile.ZipFile(out / f"{name}.keras") as archive,
            h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file,
        ):
            expected[f"{name}.keras"] = in_h5(file)
        model.save_weights(out / f"{name}.weights.h5")
        model.save(out / f"{name}.h5")
        for made in (f"{name}.weights.h5", f"{name}.h5"):
            with h5py.File(out / made) as file:
                expected[made] = in_h5(file)
    half = keras.Sequential(
        [keras.layers.Input((4,)), keras.layers.Dense(3, dtype="bfloat16"), keras.layers.Dense(3, dtype="float16")]
    )
    half.save(out / "half.keras")
    with (
        zipfile.ZipFile(out / "half.keras") as archive,
        h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file,
    ):
        expected["half.keras"] = in_h5(file)


def large(out: Path, expected: dict) -> None:
    """Trees of several levels, heaps of several blocks, long names."""
    for label, version in (("large-old", "earliest"), ("large-new", "latest")):
        with h5py.File(out / f"{label}.h5", "w", libver=version) as file:
            for number in range(6000):
                file.create_dataset(f"all/{'x' * (number % 90)}{number}", data=np.zeros((number % 5 + 1,), "f4"))
        with h5py.File(out / f"{label}.h5") as file:
            expected[f"{label}.h5"] = in_h5(file)
    checkpoint = tf.train.Checkpoint(**{f"block_{n}": tf.Variable(tf.zeros((n % 7 + 1, 2))) for n in range(6000)})
    checkpoint.write(str(out / "large"))
    expected["large.index"] = variables(str(out / "large"))
    big = keras.Sequential([keras.layers.Input((64,)), *(keras.layers.Dense(64) for _ in range(120))])
    big.save(out / "large.keras")
    with (
        zipfile.ZipFile(out / "large.keras") as archive,
        h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file,
    ):
        expected["large.keras"] = in_h5(file)


def of_h5py(out: Path, expected: dict) -> None:
    """What HDF5 can: both generations of its format, chunks, compression, many links, every plain type."""
    for label, version in (("old", "earliest"), ("new", "latest"), ("v108", ("v108", "v108"))):
        name = f"{label}.h5"
        with h5py.File(out / name, "w", libver=version) as file:
            for kind in ("f4", "f2", "f8", "i1", "u1", "i2", "i4", "i8", "u2", "u4", "u8", "?", "c8", "c16", ">f4"):
                file.create_dataset(
                    f"types/{kind.strip('<>')}{'big' if '>' in kind else ''}", data=np.zeros((3, 2), kind)
                )
            file.create_dataset("chunked", (40, 30), "f4", chunks=(10, 10), compression="gzip", shuffle=True)
            file.create_dataset("growing", (4, 3), "f4", maxshape=(None, 3))
            file["scalar"] = np.float32(3)
            file["empty"] = h5py.Empty("f4")
            file["none"] = np.zeros((0, 5), "f4")
            file["words"] = np.array([b"ab", b"cde"])
            file.create_dataset("texts", data=["a", "bb"], dtype=h5py.string_dtype())
            file.create_dataset("compact", data=np.zeros(3, "f4"))
            many = file.create_group("many")
            for number in range(20 if label != "old" else 60):
                many.create_dataset(f"layer_{number}/weight", data=np.zeros((number + 1,), "f4"))
            file["types"].attrs["note"] = "x" * 200
            file["link"] = h5py.SoftLink("/scalar")
            file["hard"] = file["chunked"]
        with h5py.File(out / name) as file:
            expected[name] = in_h5(file)
    with h5py.File(out / "user-block.h5", "w", userblock_size=512) as file:
        file["a/b/c"] = np.zeros((2, 2))
    with h5py.File(out / "user-block.h5") as file:
        expected["user-block.h5"] = in_h5(file)


def variables(path: str) -> list:
    """Every tensor of a checkpoint, as TensorFlow tells it."""
    reader = tf.train.load_checkpoint(path)
    types, rows = reader.get_variable_to_dtype_map(), []
    for name, shape in reader.get_variable_to_shape_map().items():
        kind = types[name]
        known = DTYPES.get(kind.name, "?")
        size = int(np.prod(shape)) * kind.size if known != "?" else None
        rows.append([name, known, list(shape), size])
    return rows


def of_tensorflow(out: Path, expected: dict) -> None:
    """SavedModels of Keras and of a plain module, checkpoints with an optimizer, many names."""
    nets = networks()
    nets["cnn"].export(out / "exported", verbose=False)
    expected["exported"] = variables(str(out / "exported" / "variables" / "variables"))

    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            kinds = (tf.float32, tf.bfloat16, tf.half, tf.float64, tf.int8, tf.int64, tf.bool, tf.complex64, tf.uint16)
            self.all = {kind.name: tf.Variable(tf.cast(tf.zeros((3, 4)), kind)) for kind in kinds}
            self.scalar = tf.Variable(1.0)
            self.table = tf.constant(np.ones((5, 7), "float32"))

        @tf.function(input_signature=[tf.TensorSpec([7, 2])])
        def __call__(self, x):
            return tf.matmul(self.table, x) + self.scalar

    tf.saved_model.save(Module(), str(out / "module"))
    expected["module"] = variables(str(out / "module" / "variables" / "variables"))
    model = nets["words"]
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    tf.train.Checkpoint(model=model, optimizer=optimizer).write(str(out / "training"))
    expected["training.index"] = variables(str(out / "training"))
    many = tf.train.Checkpoint(**{f"block_{n}": tf.Variable(tf.zeros((n % 7 + 1, 2))) for n in range(400)})
    many.write(str(out / "many"))
    expected["many.index"] = variables(str(out / "many"))


def main(out: str, size: str = "") -> None:
    """All of them, or the large ones."""
    folder = Path(out)
    kept = folder / "expected.json"
    expected = json.loads(kept.read_text()) if kept.exists() else {}
    if size == "large":
        large(folder, expected)
        kept.write_text(json.dumps(expected))
        return
    of_h5py(folder, expected)
    of_keras(folder, expected)
    of_tensorflow(folder, expected)
    kept.write_text(
        "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(expected.items())) + "\n}\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
