"""The signatures, a file per speaker. Order matters only where two match one line and one covers the other."""

from __future__ import annotations

from functools import cache

from gpuwhy.symptoms.signature import Signature


@cache
def signatures() -> tuple[Signature, ...]:
    """All signatures."""
    from gpuwhy.symptoms.catalogue import (
        build,
        codes,
        containers,
        harmless,
        jax,
        kernel,
        launch,
        limits,
        loader,
        machine,
        memory,
        nccl,
        nvidia,
        onnxruntime,
        order,
        others,
        packages,
        pairs,
        peers,
        programs,
        python,
        reports,
        settings,
        signals,
        tensorflow,
        titles,
        torch,
        windows,
    )  # fmt: skip

    modules = (
        loader, windows, settings, tensorflow, torch, jax, onnxruntime, others, codes, memory, launch, limits, order,
        peers, programs, nccl, nvidia, kernel, containers, build, packages, pairs, python, signals, titles, reports,
        harmless, machine,
    )  # fmt: skip
    return tuple(one for module in modules for one in module.SIGNATURES)
