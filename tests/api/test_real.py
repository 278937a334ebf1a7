"""Real frameworks below $GPUWHY_LAB (torch 2.5.1 in t251, TensorFlow in tf, JAX in jax), in their own processes."""

import os
import subprocess
import time
from pathlib import Path

import pytest

import gpuwhy

pytestmark = pytest.mark.real

SRC = Path(gpuwhy.__file__).parent.parent
LAB = Path(os.environ.get("GPUWHY_LAB", "/nonexistent"))
LIMIT = """
import resource, gpuwhy
def limit(more):
    now = int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (now + more,) * 2)
"""


def run(environment: str, code: str) -> str:
    python = LAB / environment / "bin" / "python"
    if not python.exists():
        pytest.skip(f"GPUWHY_LAB has no {environment}")
    quiet = {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environ = {**os.environ, **quiet, "PYTHONPATH": str(SRC)}
    argv = [python, "-c", LIMIT + code]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


TORCH = """
import torch
limit(600 << 20)
found = gpuwhy.fit_batch(lambda n: (torch.ones(n, 1 << 16) * 2).sum(), start=64)
assert 64 <= found.size < 2400, found
assert found.failed.needed and "can't allocate memory" in found.failed.message, found.failed
try:
    gpuwhy.fit_batch(lambda n: torch.ones(2, 3) @ torch.ones(2, n))
except RuntimeError as error:
    assert "shapes cannot be multiplied" in str(error)
x = torch.rand(2, 3, 8, 8)
gpuwhy.expect(x, "b 3 h h", dtype=torch.float32, device="cpu")
for how in ({"shape": "b 8 8 3"}, {"device": "cuda"}, {"dtype": torch.float64}):
    try:
        gpuwhy.expect(x, **how)
    except gpuwhy.MismatchError as error:
        print(error)
"""


def test_torch():
    out = run("t251", TORCH).splitlines()
    assert "dimension 1 is 3, 8 expected" in out[0]
    assert "it is on cpu, cuda expected" in out[1]


TENSORFLOW = """
import os
import tensorflow as tf
from gpuwhy.api.memory import out_of_memory, tensorflow_started
assert not tensorflow_started()
x = tf.ones((2, 3, 8, 8))
assert tensorflow_started()
gpuwhy.expect(x, "b 3 h h", dtype=tf.float32, device="cpu")
gpuwhy.expect(tf.keras.Input((8, 8, 3)), "batch 8 8 3", dtype="float32")
@tf.function
def f(a):
    return gpuwhy.expect(a, "b 3")
f.get_concrete_function(tf.TensorSpec((None, 3)))
f.get_concrete_function(tf.TensorSpec(None))
try:
    tf.zeros((1 << 20, 1 << 20))
except tf.errors.ResourceExhaustedError as error:
    assert out_of_memory(error)
try:
    tf.matmul(tf.ones((2, 3)), tf.ones((2, 3)))
except tf.errors.InvalidArgumentError as error:
    assert not out_of_memory(error)
"""


def test_tensorflow():
    run("tf", TENSORFLOW)


JAX = """
import jax, jax.numpy as jnp
x = jnp.ones((2, 3, 4))
gpuwhy.expect(x, "b 3 4", dtype=jnp.float32, device="cpu")
jax.jit(lambda a: gpuwhy.expect(a, "b 3 4") * 2)(x)
limit(1 << 30)
w = jnp.ones(4)
found = gpuwhy.fit_batch(lambda n: jnp.zeros((n, 1 << 18)) + w[0], start=128)
assert 128 <= found.size < 1024, found
assert found.failed.needed, found.failed
"""


def test_jax():
    run("jax", JAX)


def test_a_kernel_that_dies_is_explained_by_the_next():
    client = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    kernel, talk = client.start_new_kernel()
    shown: list[str] = []

    def show(message: dict) -> None:
        data = message["content"].get("data", {})
        shown.append(data.get("text/plain", ""))

    try:
        for cell in ("%load_ext gpuwhy", "%%gpuwhy\nraise RuntimeError('CUDA out of memory')"):
            talk.execute_interactive(cell, output_hook=show, timeout=60)
        assert any(text.startswith("gpuwhy: ") for text in shown)
        talk.execute("import ctypes; ctypes.string_at(0)")
        until = time.monotonic() + 30
        while kernel.is_alive() and time.monotonic() < until:
            time.sleep(0.05)
        kernel.restart_kernel(now=True)
        talk.wait_for_ready(timeout=60)
        talk.execute_interactive("%load_ext gpuwhy", output_hook=show, timeout=60)
        assert "was ended by SIGSEGV while cell [3] ran" in "\n".join(shown)
    finally:
        kernel.shutdown_kernel(now=True)
