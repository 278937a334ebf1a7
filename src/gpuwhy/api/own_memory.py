"""What this process can tell of its GPU memory, from frameworks that it has initialised."""

from __future__ import annotations

from typing import Any

from gpuwhy.api.loaded import loaded, torch_cuda
from gpuwhy.api.sizes import shown

MOST = 8


def own_memory() -> tuple[str, ...]:
    """A sentence per GPU on which a framework of this process holds memory; starts nothing."""
    out: list[str] = []
    for ask in (_torch, _jax):
        try:
            out += ask()
        except Exception:  # a broken context: what it cannot tell is left out
            continue
    return tuple(out)


def _torch() -> list[str]:
    cuda = torch_cuda()
    if cuda is None:
        return []
    out = []
    for index in range(min(MOST, cuda.device_count())):
        held, kept = cuda.memory_allocated(index), cuda.memory_reserved(index)
        peak = cuda.max_memory_allocated(index)
        if kept:
            tensors = f"{shown(held)} in tensors (at most {shown(peak)} so far)"
            out.append(f"PyTorch here holds {tensors} and {shown(kept)} in all on GPU {index}")
    return out


def _jax() -> list[str]:
    bridge: Any = loaded("jax._src.xla_bridge")
    backends = getattr(bridge, "_backends", None) or {}
    out = []
    for client in backends.values():
        for device in client.local_devices()[:MOST]:
            stats = device.memory_stats() if device.platform in ("gpu", "cuda", "rocm") else None
            if stats:
                most = stats.get("bytes_limit")
                limit = f" of {shown(most)} that it may take" if most else ""
                used = shown(stats["bytes_in_use"])
                out.append(f"JAX here holds {used}{limit} on GPU {device.id}")
    return out
