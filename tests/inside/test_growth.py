"""memory_growth: set in time, or said to be too late."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest

import gpuwhy
from tests.inside.standins import module


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    for name in ("TF_FORCE_GPU_ALLOW_GROWTH", "XLA_PYTHON_CLIENT_PREALLOCATE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    for name in ("tensorflow", "tensorflow.python.eager.context", "jax", "jax._src.xla_bridge"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def tensorflow(monkeypatch, started=False, gpus=("GPU:0", "GPU:1"), growing=(), version="2.21.0", refuses=False):
    growth = set(growing)

    def set_growth(gpu, on):
        if refuses:
            raise RuntimeError("Physical devices cannot be modified after being initialized")
        growth.add(gpu)

    experimental = SimpleNamespace(get_memory_growth=lambda gpu: gpu in growth, set_memory_growth=set_growth)
    config = SimpleNamespace(list_physical_devices=lambda kind: list(gpus), experimental=experimental)
    module(monkeypatch, "tensorflow", config=config, __version__=version)
    context = SimpleNamespace(_initialized=started)
    module(monkeypatch, "tensorflow.python.eager.context", context_safe=lambda: context)
    return growth


def test_before_any_import_the_variables_are_set():
    done = gpuwhy.memory_growth()
    assert {name: one.state for name, one in done.items()} == {
        "tensorflow": "later", "jax": "later", "torch": "not needed",
    }  # fmt: skip
    assert os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"


def test_tensorflow_2_before_its_first_tensor(monkeypatch):
    growth = tensorflow(monkeypatch)
    done = gpuwhy.memory_growth()["tensorflow"]
    assert (done.state, done.text) == ("set", "set_memory_growth on 2 GPUs")
    assert growth == {"GPU:0", "GPU:1"}


def test_tensorflow_2_after_its_first_tensor_is_too_late(monkeypatch):
    growth = tensorflow(monkeypatch, started=True)
    with pytest.warns(RuntimeWarning, match="TensorFlow: too late: its GPU devices are created"):
        done = gpuwhy.memory_growth()
    assert done["tensorflow"].state == "too late"
    assert growth == set()
    assert "TF_FORCE_GPU_ALLOW_GROWTH" not in os.environ


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_tensorflow_says_itself_that_it_is_too_late(monkeypatch):
    tensorflow(monkeypatch, refuses=True)
    done = gpuwhy.memory_growth()["tensorflow"]
    assert done.state == "too late"
    assert "Physical devices cannot be modified" in done.text


@pytest.mark.parametrize("growing, variable", [(("GPU:0", "GPU:1"), ""), ((), "true")])
def test_tensorflow_that_grows_already(monkeypatch, growing, variable):
    tensorflow(monkeypatch, started=True, growing=growing)
    monkeypatch.setenv("TF_FORCE_GPU_ALLOW_GROWTH", variable)
    assert gpuwhy.memory_growth()["tensorflow"].state == "set"


def test_tensorflow_without_a_gpu(monkeypatch):
    tensorflow(monkeypatch, gpus=())
    assert gpuwhy.memory_growth()["tensorflow"].state == "not needed"


def test_tensorflow_1_gets_the_variable_and_the_text(monkeypatch):
    module(monkeypatch, "tensorflow", __version__="1.15.5")
    done = gpuwhy.memory_growth()["tensorflow"]
    assert done.state == "set"
    assert "config.gpu_options.allow_growth = True" in done.text


def test_jax_before_and_after_its_first_use(monkeypatch):
    module(monkeypatch, "jax")
    bridge = module(monkeypatch, "jax._src.xla_bridge", _backends={})
    assert gpuwhy.memory_growth()["jax"].state == "set"
    bridge._backends = {"cpu": 1, "cuda": 2}
    assert gpuwhy.memory_growth()["jax"].text.endswith("was set before its first use")
    monkeypatch.delenv("XLA_PYTHON_CLIENT_PREALLOCATE")
    with pytest.warns(RuntimeWarning, match="JAX: too late: its GPU backend is running"):
        assert gpuwhy.memory_growth()["jax"].state == "too late"
    bridge._backends = {"cpu": 1}
    assert gpuwhy.memory_growth()["jax"].state == "not needed"
