"""What the failing process says of its own memory."""

from __future__ import annotations

from types import SimpleNamespace

from gpuwhy.api.own_memory import own_memory
from tests.api.standins import module


def test_torch_tells_what_it_holds(monkeypatch):
    cuda = SimpleNamespace(
        is_initialized=lambda: True,
        device_count=lambda: 2,
        memory_allocated=lambda index: (3 << 30, 0)[index],
        memory_reserved=lambda index: (5 << 30, 0)[index],
        max_memory_allocated=lambda index: (4 << 30, 0)[index],
    )
    module(monkeypatch, "torch", cuda=cuda)
    assert own_memory() == (
        "PyTorch here holds 3.0 GiB in tensors (at most 4.0 GiB so far) and 5.0 GiB in all on GPU 0",
    )


def test_jax_tells_what_it_holds(monkeypatch):
    stats = {"bytes_in_use": 1 << 30, "bytes_limit": 2 << 30}
    card = SimpleNamespace(platform="gpu", id=0, memory_stats=lambda: stats)
    processor = SimpleNamespace(platform="cpu", id=0, memory_stats=lambda: None)
    client = SimpleNamespace(local_devices=lambda: [card, processor])
    module(monkeypatch, "jax._src.xla_bridge", _backends={"cuda": client})
    assert own_memory() == ("JAX here holds 1.0 GiB of 2.0 GiB that it may take on GPU 0",)


def test_a_broken_context_is_left_out(monkeypatch):
    def broken(*_):
        raise RuntimeError("CUDA error: device-side assert triggered")

    module(
        monkeypatch, "torch", cuda=SimpleNamespace(is_initialized=lambda: True, device_count=broken)
    )
    assert own_memory() == ()


def test_nothing_initialised_tells_nothing(monkeypatch):
    module(monkeypatch, "torch", cuda=SimpleNamespace(is_initialized=lambda: False))
    assert own_memory() == ()
