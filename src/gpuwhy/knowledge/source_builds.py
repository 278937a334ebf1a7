"""Source builds: packages that the index has as sources only, whose setup.py imports torch without asking for it."""

from __future__ import annotations

from gpuwhy.knowledge.tables import source

NEED_TORCH = frozenset(
    [
        "flash-attn", "torch-scatter", "torch-sparse", "torch-cluster", "torch-spline-conv", "minkowskiengine",
        "inplace-abn", "fast-hadamard-transform", "warp-rnnt", "ctcdecode", "adam-atan2",
    ]
)  # fmt: skip

REPOSITORIES = frozenset(
    ["detectron2", "nvdiffrast", "diffoctreerast", "diff-gaussian-rasterization", "simple-knn", "tiny-cuda-nn"]
)
"""Projects that are built from their repositories, in the same way."""

KNOW = source(
    "the sources of the newest release of each on the package index",
    "no wheel, setup.py imports torch, and nothing demands torch for the build; November 2026",
)
