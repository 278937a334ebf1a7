"""Limits: packages that fail with a newer neighbour and do not say so; who brings NumPy, and who limits it."""

from __future__ import annotations

import msgspec

from gpuwhy.knowledge.tables import source
from gpuwhy.model.fact import Source
from gpuwhy.model.version import at_least


class Limit(msgspec.Struct, frozen=True):
    """Releases [since, until) of a package need `requirement`; '' = no bound."""

    package: str
    since: str
    until: str
    requirement: str
    because: str
    source: Source


LIMITS: tuple[Limit, ...] = (
    Limit("vllm", "0.8.5", "0.10", "transformers<4.54", "it registers 'aimv2', which transformers 4.54 has itself",
          source("vllm-project/vllm-ascend issue 2046, gpustack/gpustack issue 2665", "July and August 2025")),
    Limit("basicsr", "", "", "torchvision<0.17", "it imports a module (functional_tensor) that 0.17 removed",
          source("XPixelGroup/BasicSR issue 649 and its kin", "1.4.2 is the last release")),
    Limit("realesrgan", "", "", "torchvision<0.17", "its basicsr imports a module of torchvision that 0.17 removed",
          source("XPixelGroup/BasicSR issue 649 and its kin", "1.4.2 is the last release of basicsr")),
    Limit("torchvision", "0.2.1", "0.5", "pillow<7", "it imports PILLOW_VERSION, which Pillow 7 removed",
          source("the files and the metadata of 0.2.0 to 0.5.0", "0.4.2 asks for pillow>=4.1.1")),
    Limit("tensorboard", "", "2.9", "protobuf<3.21", "its generated code does not load under protobuf 4 and newer",
          source("installed and imported, November 2026", "1.15.0, 2.1.0, 2.4.1 and 2.8.0 fail with protobuf 4 and 5")),
    *(
        Limit(name, "", until, "huggingface-hub<0.26", "it imports cached_download, which 0.26 removed",
              source("the files of the wheels; easydiffusion issue 1851", f"{last} is the last that does"))
        for name, until, last in (("diffusers", "0.29", "0.28.2"), ("sentence-transformers", "2.3", "2.2.2"))
    ),
    Limit("torchtext", "0.18", "0.19", "torch<2.4", "its libraries were compiled for PyTorch 2.3",
          source("installed and imported, November 2026", "0.18.0, the last one, misses symbols in PyTorch 2.6.0")),
    *(
        Limit(name, "1.0", "2.0", "keras<2.4", "Keras 2.4 and newer need TensorFlow 2",
              source("Keras' release notes", "2.4.0: requires TensorFlow 2.2"))
        for name in ("tensorflow", "tensorflow-gpu")
    ),
    Limit("conda:pytorch", "1.0", "2.3", "mkl<2024.1", "it needs iJIT_NotifyEvent, which MKL 2024.1 removed",
          source("pytorch/pytorch issue 123097, jianlin-cheng/TransFun issue 5", "seen with 1.12.1 and 2.0.1")),
    Limit("tensorflow-addons", "", "", "tensorflow<2.16", "it imports parts of Keras 2, and 2.16 brings Keras 3",
          source("installed and imported, November 2026", "0.23.0, the last one, fails with TensorFlow 2.16.2")),
)  # fmt: skip

BRINGS_NUMPY = frozenset(
    [
        "torchvision", "torchtext", "transformers", "diffusers", "accelerate", "datasets", "pandas", "scipy",
        "scikit-learn", "matplotlib", "opencv-python", "opencv-python-headless", "opencv-contrib-python", "librosa",
        "numba", "timm", "openai-whisper", "faster-whisper", "pyannote-audio", "pytorch-lightning", "lightning",
        "gym", "gymnasium", "onnx", "onnxruntime", "onnxruntime-gpu", "tensorboard", "sentence-transformers",
        "albumentations", "scikit-image", "torchmetrics", "seaborn", "peft", "trl", "kornia", "einops-exts",
        "imageio", "h5py", "nibabel", "ultralytics", "torch-geometric", "fairscale", "evaluate", "xformers",
        "deepspeed", "soundfile",
    ]
)  # fmt: skip
"""Packages that require NumPy."""

CAPS_NUMPY = frozenset(
    [
        "scipy", "pandas", "numba", "scikit-learn", "scikit-image", "spacy", "thinc", "streamlit", "langchain",
        "langchain-community", "chromadb", "mediapipe", "tensorflow", "tensorflow-gpu", "tensorflow-cpu",
        "tf-nightly", "facenet-pytorch", "gensim", "catboost", "mlflow", "ray", "ultralytics", "tts", "coqui-tts",
        "monai", "faiss-cpu", "faiss-gpu", "stable-baselines3", "gradio", "pyarrow",
        "statsmodels", "shap", "paddlepaddle", "paddlepaddle-gpu", "contourpy", "matplotlib",
        "nemo-toolkit", "pytorch3d", "dgl", "xarray", "scanpy", "anndata", "umap-learn", "cudf-cu12",
        "cudf-cu11", "cupy-cuda11x", "cupy-cuda12x", "numexpr", "llama-index", "whisperx", "rembg",
        "insightface", "deepface", "autogluon", "darts", "prophet", "nnunet", "nnunetv2", "totalsegmentator",
        "detoxify", "fastai", "flair", "pymatting", "open3d", "vllm", "outlines", "audiocraft", "demucs",
        "pytorch-forecasting", "gluonts", "optimum", "bokeh", "tables", "imgaug", "modelscope",
        "funasr", "allennlp", "hdbscan", "tsfresh", "mmcv", "mmdet", "mmengine",
    ]
)  # fmt: skip
"""Packages some of whose releases limit NumPy: where one of them is pinned, nobody here knows which NumPy comes."""


CAPS_PROTOBUF = frozenset(
    [
        "paddlepaddle", "paddlepaddle-gpu", "onnx", "mediapipe", "streamlit", "wandb", "mlflow", "google-api-core",
        "googleapis-common-protos", "grpcio-tools", "tensorflow-metadata", "tensorflow-serving-api", "tfx", "ray",
        "opentelemetry-proto", "tf2onnx", "google-cloud-storage", "libprotobuf",
    ]
)  # fmt: skip
"""Packages some of whose releases limit protobuf."""

_SOMETIMES = {"transformers": ("4.41", "4.45"), "accelerate": ("0.29", "0.34"), "opencv-python": ("4.13", "4.13")}
"""Packages of which only the releases [since, until) limit NumPy."""


def may_limit_numpy(package: str, version: str) -> bool:
    """Whether a pinned package may keep NumPy back; '' = a range."""
    if package in _SOMETIMES:
        since, until = _SOMETIMES[package]
        return not version or (at_least(version, since) and not at_least(version, until))
    return package in CAPS_NUMPY


def limits(package: str, version: str) -> tuple[Limit, ...]:
    """The limits of a release; '' = the newest."""
    return tuple(row for row in LIMITS if row.package == package and _is_within(version, row.since, row.until))


def _is_within(version: str, since: str, until: str) -> bool:
    if not version:
        return not until
    return (not since or at_least(version, since)) and (not until or not at_least(version, until))


TORCHCODEC = {"0.0": "2.4", "0.1": "2.5", "0.2": "2.6", "0.3": "2.7", "0.4": "2.7", "0.5": "2.7",
              "0.6": "2.8", "0.7": "2.8", "0.8": "2.9", "0.9": "2.9"}  # fmt: skip
"""torchcodec → the torch that it is compiled for, which its metadata does not say (table in its README)."""
