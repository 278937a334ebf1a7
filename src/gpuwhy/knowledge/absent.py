"""Absent: names that people ask the package index for, and that it has not, or has for something else."""

from __future__ import annotations

from gpuwhy.knowledge.tables import source

KNOW = source("the package index, asked for each of these names", "November 2026")

_GIT = "its repository: pip install git+https://github.com/"
_CONDA = "that is a package of conda's"
_UBUNTU = "that is a package of the distribution's"

WHOLE = (_CONDA, _UBUNTU)
"""How the answer begins for packages of which a frozen system has many."""

_OF_CONDA = """
    pytorch-cuda cudatoolkit cudnn cuda cuda-nvcc cpuonly cuda100 cudatoolkit-dev cuda-cudart cuda-cupti cuda-libraries
    cuda-nvrtc cuda-nvtx cuda-runtime cuda-compiler nccl nvcc libcublas libcufft libcufile libcurand libcusolver
    libcusparse libnpp libnvjpeg pytorch-mutex torchtriton magma-cuda110 magma-cuda121 blas libblas libcblas libopenblas
    libgcc-ng libstdcxx-ng libgfortran-ng libgomp ld-impl-linux-64 gcc-linux-64 gxx-linux-64 ca-certificates openssl
    python-abi numpy-base vs2015-runtime libuv py-xgboost py-xgboost-gpu libprotobuf libffi ncurses lz4-c openh264
"""
_OF_UBUNTU = """
    pkg-resources python-apt ubuntu-advantage-tools ubuntu-pro-client command-not-found language-selector
    unattended-upgrades cloud-init ufw apturl usb-creator xkit ubuntu-drivers-common cupshelpers brlapi lsb-release
    chrome-gnome-shell ec2-hibinit-agent hibagent
"""
_ROCM = "torch with --index-url https://download.pytorch.org/whl/rocm…"
_MEANT: dict[str, str] = {
    "torch": "pytorch-gpu torch-gpu torch-cuda pytorch-cpu torch-cpu torch-cu117 torch-cu118 torch-cu121 torch-nightly"
    " pytorch-nightly pytorch-cuda12 torch-xpu",
    _ROCM: "torch-rocm torchrocm pytorch-rocm torch-hip torchvision-hip torchaudio-hip",
    "torchvision": "torchvision-cpu torchvision-cuda torchvision-gpu torchvision-nightly pytorch-vision",
    "torchaudio": "torchaudio-cuda torchaudio-gpu pytorch-audio",
    "cupy-cuda11x": "cupy-cuda11 cupy-cuda118 cupy-cuda119",
    "cupy-cuda12x": "cupy-cuda cupy-cuda12 cupy-cuda120 cupy-cuda121 cupy-cuda122 cupy-cuda123 cupy-cuda124"
    " cupy-cuda125 cupy-cuda126 cupy-cuda128",
    "cupy-cuda13x": "cupy-cuda13 cupy-cuda130",
    "cupy-rocm-7-0 (there are 4-0, 4-2, 4-3, 5-0 and 7-0)": "cupy-rocm cupy-rocm-5-4 cupy-rocm-5-7 cupy-rocm-6-0"
    " cupy-rocm-6-1 cupy-rocm-6-2 cupy-rocm-6-3 cupy-rocm-6-4 cupy-rocm-7-1 cupy-rocm-7-2",
    "dgl with -f https://data.dgl.ai/wheels/…": "dgl-cu113 dgl-cu116 dgl-cu117 dgl-cu118 dgl-cu121 dgl-cu124 dgl-cuda"
    " dgl-gpu",
    "jax[cuda12]": "jax-gpu jax-cuda12 jax-cuda11 jaxlib-cuda12 jaxlib-cuda11",
    "jax[cuda13]": "jax-cuda13",
    "jax": "jax-cpu",
    "onnxruntime-gpu": "onnxruntime-gpu-cuda12 onnxruntime-gpu-cu12 onnxruntime-tensorrt onnxruntime-trt",
    "onnxruntime": "onnx-runtime",
    "onnx-tensorrt's repository, or tensorrt": "onnx-tensorrt tensor-rt tensorrt-python nvidia-tensorrt-cu12",
    "tensorflow": "tensorflow2 tensorflow-2 tensorflow-gpu-cuda tensorflow-cpu-only keras-gpu keras-cuda",
    "tensorflow-cpu or tensorflow[and-cuda] 2.0": "tf-nightly-2-0-preview",
    "mxnet-cu112 (1.9.1 is the last release)": "mxnet-cu118 mxnet-cu121 mxnet-gpu mxnet-cuda",
    "paddlepaddle-gpu": "paddle-gpu paddlepaddle-cuda paddlepaddle-gpu-cu118",
    "xgboost (its wheel has CUDA)": "xgboost-gpu",
    "lightgbm": "lightgbm-gpu",
    "catboost (its wheel has CUDA)": "catboost-gpu",
    "faiss-gpu-cu12 or faiss-cpu": "faiss-gpu-cuda",
    "dlib": "dlib-gpu dlib-cuda",
    "horovod": "horovod-gpu",
    "deepspeed": "deepspeed-gpu deep-speed",
    "bitsandbytes": "bitsandbytes-cuda118 bitsandbytes-cuda121 bitsandbytes-rocm bitsandbyte bits-and-bytes",
    "flash-attn": "flashattention flash-attn-2",
    "sageattention": "sage-attention sageattention2",
    "auto-gptq": "autogptq auto-gptq-cuda",
    "autoawq": "awq",
    "vllm": "vllm-gpu vllm-cuda",
    "llama-cpp-python": "llama-cpp-python-cu121 llama-cpp",
    "llama-index": "llamaindex",
    "ctransformers[cuda]": "ctransformers-cuda ctransformers-gpu",
    "transformers": "transformer huggingface-transformers hugging-face",
    "sentence-transformers": "sentence-transformer",
    "open-clip-torch": "open-clip openclip",
    "timm": "pytorch-image-models",
    "torch-scatter, torch-sparse or torch-geometric": "torch-scatter-cuda torch-sparse-cuda torch-geometric-cuda",
    "spconv-cu120 or its like": "spconv-gpu",
    "pytorch-lightning": "torch-lightning",
    "tensorboardx or tensorboard": "tensorboard-x torch-tensorboard",
    "nvidia-ml-py": "nvidia-ml-py2 py-nvml",
    "gputil": "gpuutil",
    "tritonclient": "triton-client triton-inference-server nvidia-triton",
    "opencv-python": "cv2 opencv opencv-gpu python-opencv",
    "opencv-contrib-python": "opencv-python-contrib opencv-contrib",
    "opencv-python-headless": "opencv-headless",
    "pillow": "pil",
    "pyyaml": "yaml",
    "python-dateutil": "dateutil",
    "jaeger-client": "py-jaeger-client",
    "simpleitk": "sitk",
    "clean-fid": "cleanfid",
    "warp-lang": "nvidia-warp",
    "nemo-toolkit": "nvidia-nemo",
    "megatron-core": "megatron-lm",
    "intel-extension-for-pytorch": "ipex",
    "its repository": "torch2trt pointnet2 pointnet2-ops-lib knn-cuda chamfer-distance diffvg pydiffvg"
    " maskrcnn-benchmark mask-rcnn lavis isaacgym isaac-gym legged-gym rsl-rl rlpyt nvidia-apex"
    " text-generation-inference",
    "another Python: pip does not install Python itself, so leave the line out": "python",
    "nothing: it belongs to Python itself": "os sys re time random math collections itertools pickle subprocess tkinter"
    " urllib shutil copy glob csv threading json sqlite3 io string warnings traceback distutils contextlib"
    " tempfile zipfile base64 socket queue",
}
"""What is meant, and the names that the index does not have."""

FAILING: dict[str, str] = {
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    **{name: f"{name}-cu12 or {name}-cu13" for name in ("cudf", "cuml", "cugraph", "rmm")},
    **dict.fromkeys(["cuspatial", "cuxfilter", "nvstrings"], "NVIDIA's own index or conda"),
    **dict.fromkeys(
        ["nvidia-dali", "nvidia-dali-cuda100", "nvidia-dali-cuda102"], "nvidia-dali-cuda120"
    ),
    **dict.fromkeys(["graphsurgeon", "uff"], "NVIDIA's own index (nvidia-pyindex first)"),
    "tf-nightly-gpu": "tf-nightly",
}
"""Names whose project on the index is a placeholder without a wheel, whose installation fails."""

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
    **dict.fromkeys(_OF_CONDA.split(), f"{_CONDA}: leave it out, or install with conda"),
    **dict.fromkeys(_OF_UBUNTU.split(), f"{_UBUNTU}: leave it out"),
    **{name: meant for meant, names in _MEANT.items() for name in names.split()},
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
