"""Files of old frameworks: `python3.7 make_old.py OUT` with torch 1.4 and TensorFlow 1.15 in an environment of its own."""

import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import torch

SHORT = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "int64": "i64",
    "int32": "i32",
    "uint8": "u8",
    "bool": "bool",
}


def of_torch(out, expected):
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.LSTM(4, 5))
    state = net.state_dict()
    rows = [
        [k, SHORT[str(v.dtype).split(".")[1]], list(v.shape), v.numel() * v.element_size()] for k, v in state.items()
    ]
    torch.save(state, out + "/torch14.pt")
    torch.save(state, out + "/torch14-zip.pt", _use_new_zipfile_serialization=True)
    torch.save(net, out + "/torch14-module.pt")
    torch.jit.script(net).save(out + "/torch14-script.pt")
    for name in ("torch14.pt", "torch14-zip.pt", "torch14-script.pt"):
        expected[name] = rows
    expected["torch14-module.pt"] = rows


def of_tensorflow(out, expected):
    tf.compat.v1.reset_default_graph()
    x = tf.compat.v1.placeholder(tf.float32, [None, 8, 8, 3], "x")
    with tf.compat.v1.variable_scope("net"):
        kernel = tf.compat.v1.get_variable("kernel", [3, 3, 3, 4])
        dense = tf.compat.v1.get_variable("dense", [4, 2], partitioner=tf.compat.v1.fixed_size_partitioner(2))
    y = tf.matmul(tf.reduce_mean(tf.nn.conv2d(x, kernel, 1, "SAME"), [1, 2]), tf.convert_to_tensor(dense), name="y")
    step = tf.compat.v1.train.AdamOptimizer().minimize(tf.reduce_sum(y))
    big = tf.constant(np.ones((40, 40), "float32"), name="table")
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        session.run(step, {x: np.zeros((1, 8, 8, 3))})
        tf.compat.v1.train.Saver().save(session, out + "/tf1")
        tf.compat.v1.train.Saver(write_version=1).save(session, out + "/tf1-v1.ckpt")
        tf.compat.v1.saved_model.simple_save(session, out + "/tf1-saved", {"x": x}, {"y": y})
        frozen = tf.compat.v1.graph_util.convert_variables_to_constants(session, session.graph_def, ["y", "table"])
        with open(out + "/frozen.pb", "wb") as file:
            file.write(frozen.SerializeToString())
        del big
    reader = tf.train.load_checkpoint(out + "/tf1")
    types = reader.get_variable_to_dtype_map()
    rows = [
        [n, SHORT[types[n].name], s, int(np.prod(s)) * types[n].size]
        for n, s in reader.get_variable_to_shape_map().items()
    ]
    expected["tf1.index"] = rows
    expected["tf1-v1.ckpt"] = rows
    expected["tf1-saved"] = [*rows, ["table", "f32", [40, 40], 6400]]
    expected["frozen.pb"] = [["table", "f32", [40, 40], 6400]]


def of_keras(out, expected):
    import h5py

    tf.keras.backend.clear_session()
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(4, 3, strides=2, input_shape=(8, 8, 3)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(3),
        ]
    )
    model.compile("adam", "mse")
    model.fit(np.zeros((2, 8, 8, 3)), np.zeros((2, 3)), verbose=0)
    model.save(out + "/keras1.h5")
    rows = []
    with h5py.File(out + "/keras1.h5", "r") as file:

        def visit(name, one):
            if isinstance(one, h5py.Dataset):
                rows.append([name, SHORT[str(one.dtype)], list(one.shape), int(one.size) * one.dtype.itemsize])

        file.visititems(visit)
    expected["keras1.h5"] = rows


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    expected = {}
    of_torch(out, expected)
    for part in (of_keras, of_tensorflow):
        part(out, expected)
    with open(out + "/expected.json", "w") as file:
        json.dump(expected, file)
