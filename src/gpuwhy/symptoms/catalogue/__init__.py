"""The signatures, a file per speaker: those that speak for several causes, for none, or say less than their neighbours.

A message that speaks for one cause alone is in the room of that cause. The order is that in which two messages of one
line are told, and the first counts most: what says less comes later.
"""

from __future__ import annotations

from functools import cache

from gpuwhy.model.signature import Signature
from gpuwhy.rooms.text.rooms import rooms


@cache
def signatures() -> tuple[Signature, ...]:
    """All signatures; those of the rooms come before the first of the same speaker here."""
    from gpuwhy.symptoms.catalogue import (
        build,
        codes,
        containers,
        harmless,
        jax,
        kernel,
        kin,
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
        remarks,
        reports,
        sentences,
        settings,
        signals,
        tensorflow,
        titles,
        torch,
        windows,
    )  # fmt: skip

    modules = (
        loader, windows, settings, tensorflow, torch, jax, onnxruntime, others, codes, kin, memory, launch, limits, order,
        peers, programs, nccl, nvidia, kernel, containers, build, packages, pairs, python, signals, titles, reports,
        remarks, sentences, harmless, machine,
    )  # fmt: skip
    shared = [one for module in modules for one in module.SIGNATURES]
    first = {one.speaker: place for place, one in reversed(list(enumerate(shared)))}
    own = [(first.get(one.speaker, 0), 0, one) for room in rooms().values() for one in room.signatures]
    every = [*own, *((place, 1, one) for place, one in enumerate(shared))]
    return tuple(one for _, _, one in sorted(every, key=lambda row: row[:2]))
