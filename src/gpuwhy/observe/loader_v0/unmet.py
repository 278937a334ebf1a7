"""Unmet symbols: what a loaded CUDA library needs from another that the copy loaded for it does not define.

A program with such a pair dies at import (`undefined symbol: __nvJitLinkComplete_12_4`, error 127 on Windows), or at
the first call.
"""

from __future__ import annotations

from gpuwhy.observe.loader_v0.systems import Process, System
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import UnmetSymbol


def unmet_symbols(process: Process, system: System) -> tuple[UnmetSymbol, ...]:
    """Every pair of asker and provider with a symbol missing between them."""
    out = []
    for asker in process.loaded:
        for name in asker.needs if system.concerns_gpu(asker.path) else ():
            pattern = system.provides(name)
            provider = process.get(name) if pattern is not None else None
            if provider is None or provider is asker:
                continue
            lacking = process.host.unmet(asker.path, pattern or "", provider.path)
            if isinstance(lacking, Known) and lacking.value:
                out.append(UnmetSymbol(asker.path, provider.path, lacking.value[:3], len(lacking.value)))
    return tuple(out)
