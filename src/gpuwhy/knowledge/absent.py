"""Absent: names that people ask the package index for, and that it has not, or has for something else."""

from __future__ import annotations

from gpuwhy.knowledge.tables import source

KNOW = source("the package index, asked for each of these names", "November 2026")

_GIT = "its repository: pip install git+https://github.com/"
_CONDA = "that is a package of conda's"

ABSENT: dict[str, str] = {
    "detectron2": _GIT + "facebookresearch/detectron2",
    "tinycudann": "its repository (NVlabs/tiny-cuda-nn, folder bindings/torch)",
    "nvdiffrast": _GIT + "NVlabs/nvdiffrast",
    "torchsparse": "its repository (mit-han-lab/torchsparse)",
    "pointnet2-ops": "its repository (erikwijmans/Pointnet2_PyTorch)",
    "diff-gaussian-rasterization": "its repository (graphdeco-inria)",
    "groundingdino": "groundingdino-py, or its repository (IDEA-Research/GroundingDINO)",
    "sam-2": "its repository (facebookresearch/sam2)",
    "flashinfer": "flashinfer-python",
    "pyg-lib": "-f https://data.pyg.org/whl/torch-…html, where its wheels are",
    "onnx-runtime-gpu": "onnxruntime-gpu",
    "onnxruntime-cuda": "onnxruntime-gpu",
    "tensorflow-cuda": "tensorflow[and-cuda]",
    "jax-cuda": "jax[cuda12]",
    "jaxlib-cuda": "jax[cuda12]",
    "xformers-cuda": "xformers",
    "bitsandbytes-cuda": "bitsandbytes",
    "llama-cpp-python-cuda": "llama-cpp-python",
    "opencv-python-gpu": "opencv-python (its wheels have no CUDA; with CUDA it is compiled)",
    "opencv-python-cuda": "opencv-python (its wheels have no CUDA; with CUDA it is compiled)",
    **dict.fromkeys(
        ["pytorch-gpu", "torch-gpu", "torch-cuda", "torch-rocm", "pytorch-cpu", "torchvision-cpu"], "torch"
    ),
    **dict.fromkeys(["cupy-cuda", "cupy-cuda12", "cupy-cuda120", "cupy-cuda121"], "cupy-cuda12x"),
    "cupy-cuda11": "cupy-cuda11x",
    **dict.fromkeys(["dgl-cu113", "dgl-cu116", "dgl-cu117", "dgl-cu118"], "dgl with -f https://data.dgl.ai/wheels/…"),
    **dict.fromkeys(
        ["pytorch-cuda", "cudatoolkit", "cudnn", "cuda", "cuda-nvcc", "cpuonly", "cuda100"],
        f"{_CONDA}: leave it out, or install with conda",
    ),
}
"""Names that the index does not have, and what is meant."""

OTHERS: dict[str, str] = {
    "apex": "its repository (NVIDIA/apex)",
    "clip": _GIT + "openai/CLIP",
    "whisper": "openai-whisper",
    "kaolin": "-f https://nvidia-kaolin.s3.us-east-2.amazonaws.com/torch-…html, where its wheels are",
}
"""Names that belong to another project, or to an empty one: a library for web pages, a command for lines of text, a
database of Graphite's, a placeholder."""
