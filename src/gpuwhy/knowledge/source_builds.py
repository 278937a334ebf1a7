"""Source builds: packages that the index has as sources only, whose setup.py imports torch without asking for it."""

from __future__ import annotations

from gpuwhy.knowledge.tables import source

NEED_TORCH = frozenset(
    [
        "flash-attn", "torch-scatter", "torch-sparse", "torch-cluster", "torch-spline-conv", "minkowskiengine",
        "inplace-abn", "fast-hadamard-transform", "warp-rnnt", "ctcdecode", "adam-atan2", "mamba-ssm", "causal-conv1d",
        "neural-renderer-pytorch",
    ]
)  # fmt: skip

REPOSITORIES = frozenset(
    [
        "detectron2", "nvdiffrast", "diffoctreerast", "diff-gaussian-rasterization", "simple-knn", "tiny-cuda-nn",
        "pytorch3d", "apex", "torchsparse", "minkowskiengine", "pointnet2-pytorch", "flash-attention",
        "pytorch-scatter", "pytorch-sparse", "pytorch-cluster", "chamferdist", "lietorch",
    ]
)  # fmt: skip
"""Projects that are built from their repositories, in the same way."""

OPERATORS = {"mmcv": ">=2.0.0rc1", "mmcv-full": ""}
"""Packages that leave their operators for the GPU out, without a word, where they are built before torch is there."""

WITHOUT = source("open-mmlab/mmcv, setup.py", "Skip building ext ops due to the absence of torch")

KNOW = source(
    "the sources of the newest release of each on the package index",
    "no wheel, setup.py imports torch, and nothing demands torch for the build; November 2026",
)

COMPILED = {
    **dict.fromkeys(
        (
            "hnswlib",
            "dlib",
            "fasttext",
            "llama-cpp-python",
            "annoy",
            "cython-bbox",
            "kenlm",
            "pyworld",
        ),
        ("", "g++"),
    ),
    **dict.fromkeys(
        ("webrtcvad", "pyaudio", "pesq", "psycopg2", "mysqlclient", "uwsgi", "evdev", "madmom"),
        ("", "gcc"),
    ),
    "insightface": ("1.0", "g++"),
    "lap": ("0.5.12", "g++"),
    "chroma-hnswlib": ("0.7.3", "g++"),
    "pycocotools": ("2.0.7", "gcc"),
}
"""Packages with code in C or C++ that the index has as sources only, up to a release ('' = all), and their compiler."""

ASKING = {"face-recognition": "dlib", "resemblyzer": "webrtcvad"}
"""Packages whose every release asks for one of these."""

SOURCES_ONLY = source(
    "the files of the package index", "no wheel for Linux in any such release; November 2026"
)
