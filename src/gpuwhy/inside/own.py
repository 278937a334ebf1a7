"""What this process itself can tell of its GPU memory, from frameworks that it has already initialised."""

from __future__ import annotations

from typing import Any

from gpuwhy.api.loaded import loaded, torch_cuda
from gpuwhy.api.sizes import shown

MOST = 8


def own_view() -> tuple[str, ...]:
    """One sentence per GPU on which a framework of this process holds memory; asks nothing that is not there yet."""
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
            out.append(
                f"PyTorch in this process holds {shown(held)} in tensors and {shown(kept)} in all on GPU {index}"
                f" (most so far: {shown(peak)} in tensors)"
            )
    return out


def _jax() -> list[str]:
    bridge: Any = loaded("jax._src.xla_bridge")
    backends = getattr(bridge, "_backends", None) or {}
    out = []
    for client in backends.values():
        for device in client.local_devices()[:MOST]:
            stats = device.memory_stats() if device.platform in ("gpu", "cuda", "rocm") else None
            if stats:
                limit = f" of {shown(stats['bytes_limit'])} that it may take" if "bytes_limit" in stats else ""
                out.append(f"JAX in this process holds {shown(stats['bytes_in_use'])}{limit} on GPU {device.id}")
    return out
