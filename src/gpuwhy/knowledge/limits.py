"""Limits: packages that fail with a newer neighbour and do not say so; who brings NumPy, and who limits it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import neighbours
from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.pairs import allows
from gpuwhy.knowledge.tables import source


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
    Limit("vllm", "0.10", "0.11.1", "transformers<5", "it reads what transformers 5 removed from its tokenizers",
          source("vllm-project/vllm pull request 29686, VsonicV/es-at-scale issue 41", "0.11.1 and newer forbid it")),
    Limit("basicsr", "1.3.4", "", "torchvision<0.17", "it imports a module (functional_tensor) that 0.17 removed",
          source("XPixelGroup/BasicSR issue 649 and its kin", "1.4.2 is the last release")),
    Limit("realesrgan", "", "", "torchvision<0.17", "its basicsr imports a module of torchvision that 0.17 removed",
          source("XPixelGroup/BasicSR issue 649 and its kin", "1.4.2 is the last release of basicsr")),
    Limit("gfpgan", "", "", "torchvision<0.17", "its basicsr imports a module of torchvision that 0.17 removed",
          source("XPixelGroup/BasicSR issue 649 and its kin", "1.4.2 is the last release of basicsr")),
    Limit("torchvision", "0.2.1", "0.5", "pillow<7", "it imports PILLOW_VERSION, which Pillow 7 removed",
          source("the files and the metadata of 0.2.0 to 0.5.0", "0.4.2 asks for pillow>=4.1.1")),
    Limit("tensorboard", "", "2.9", "protobuf<3.21", "its generated code does not load under protobuf 4 and newer",
          source("installed and imported, November 2026", "1.15.0, 2.1.0, 2.4.1 and 2.8.0 fail with protobuf 4 and 5")),
    *(
        Limit(name, since, until, "huggingface-hub<0.26", "it imports cached_download, which 0.26 removed",
              source("the files of the wheels; easydiffusion issue 1851", f"{first} to {last}"))
        for name, since, until, first, last in (
            ("diffusers", "0.4", "0.29", "0.4.0", "0.28.2"),  # before it, in a module that nothing imports
            ("sentence-transformers", "2.0", "2.3", "2.0.0", "2.2.2"),
        )
    ),
    Limit("torchtext", "0.18", "0.19", "torch<2.4", "its libraries were compiled for PyTorch 2.3",
          source("installed and imported, November 2026", "0.18.0, the last one, misses symbols in PyTorch 2.6.0")),
    *(
        Limit(name, "1.0", "2.0", "keras<2.4", "Keras 2.4 and newer need TensorFlow 2",
              source("Keras' release notes", "2.4.0: requires TensorFlow 2.2"))
        for name in ("tensorflow", "tensorflow-gpu")
    ),
    *(
        Limit(name, "2.2", "2.5", "keras<2.5", "a Keras of its own from 2.6 on imports what this TensorFlow has not",
              source("installed and imported, November 2026", "2.3.4 and 2.4.4 with keras 2.4.3, 2.6, 2.8, 2.10, 2.13"))
        for name in ("tensorflow", "tensorflow-gpu", "tensorflow-cpu")
    ),
    Limit("conda:pytorch", "1.0", "2.3", "mkl<2024.1", "it needs iJIT_NotifyEvent, which MKL 2024.1 removed",
          source("pytorch/pytorch issue 123097, jianlin-cheng/TransFun issue 5", "seen with 1.12.1 and 2.0.1")),
    *(
        Limit(name, since, until, requirement, because, where)
        for name in ("tensorflow", "tensorflow-gpu", "tensorflow-cpu")
        for since, until, requirement, because, where in (
            ("2.6", "2.10", "protobuf<3.21", "its generated code does not load under protobuf 4 and newer",
             source("tensorflow/tensorflow issues 56266 and 59665", "the last patches forbid it themselves")),
            ("2.6", "2.6.2", "keras<2.7", "a Keras of another series registers the same metrics again",
             source("tensorflow/tensorflow issues 51592 and 52937", "2.6.0 and 2.6.1 ask for keras~=2.6")),
        )
    ),
    Limit("pyannote-audio", "3.0", "4.0", "huggingface-hub<1", "it passes use_auth_token, which 1.0 no longer takes",
          source("the files of the wheels", "pyannote.audio 3.0.0 to 3.4.0; huggingface-hub 0.36 and 1.0.0")),
    Limit("pyannote-audio", "3.3", "4.0", "torchaudio<2.9", "it uses AudioMetaData, which torchaudio 2.9 removed",
          source("the files of the wheels", "pyannote.audio 3.3.0 to 3.4.0; torchaudio 2.8.0 and 2.9.0")),
    Limit("speechbrain", "1.0", "1.1", "torchaudio<2.9", "it calls list_audio_backends, which torchaudio 2.9 removed",
          source("the files of the wheels", "SpeechBrain 1.0.0 to 1.0.3; torchaudio 2.8.0 and 2.9.0")),
    Limit("gradio", "4.9", "5.7.1", "huggingface-hub<1", "it imports HfFolder, which 1.0 removed",
          source("the files of the wheels", "gradio 4.9.0 to 5.7.0; huggingface-hub 0.36 and 1.0.0")),
    Limit("ultralytics", "8.0", "8.2.64", "torch<2.6", "it cannot load its own weights there: torch.load became strict",
          source("the files of the wheels", "from 8.2.64 on it says weights_only=False; PyTorch 2.6 release notes")),
    Limit("tts", "0.17", "", "torch<2.6", "it cannot load XTTS there: torch.load became strict",
          source("coqui-ai/TTS issue 4121, aedocw/epub2tts issue 292", "0.22.0 is the last release")),
    Limit("chumpy", "", "0.71", "numpy<1.24", "it imports numpy.bool and others, which 1.24 removed",
          source("mattloper/chumpy issue 55, zju3dv/EasyMocap issue 301", "0.70 is the last release")),
    *(
        Limit(name, since, until, "numpy<2", "it was compiled for NumPy 1, and its metadata lets NumPy 2 in",
              source("installed with NumPy 2.2.6 and imported, Python 3.11, November 2026", tried))
        for name, since, until, tried in (
            ("opencv-contrib-python", "", "4.10", "4.8.1.78 fails; opencv-python 4.10.0.84 works"),
            ("opencv-contrib-python-headless", "", "4.10", "as its siblings: 4.9.0.80 fails, 4.10.0.84 works"),
            ("scikit-image", "", "0.23", "0.20.0, 0.21.0 and 0.22.0 fail, 0.23.2 works"),
            ("scikit-learn", "0.24", "1.3", "1.2.2 fails, 1.3.2 forbids it, 1.4.2 works"),
            ("pandas", "1.1", "2.1", "1.3.5, 1.5.3 and 2.0.3 fail, 2.1.4 forbids it, 2.2.2 works"),
            ("h5py", "3.0", "3.11", "3.8.0, 3.9.0 and 3.10.0 fail, 3.11.0 works"),
            ("statsmodels", "0.13", "0.14.1", "0.14.0 fails, 0.14.1 forbids it, 0.14.2 works"),
            ("pyarrow", "", "15", "12.0.1 and 14.0.2 fail, 15.0.2 forbids it, 16.0.0 works"),
            ("faiss-cpu", "", "1.8", "1.7.4 fails, 1.8.0.post1 forbids it"),
            ("pycocotools", "", "2.0.8", "2.0.7 fails, 2.0.8 works"),
            ("shapely", "2.0", "2.0.3", "2.0.1 fails, 2.0.3 forbids it, 2.0.4 works"),
            ("pywavelets", "", "1.5", "1.4.1 fails, 1.5.0 forbids it, 1.6.0 works"),
            ("numexpr", "", "2.10", "2.8.4 and 2.9.0 fail, 2.10.0 works"),
            ("matplotlib", "", "3.7.2", "3.6.3 and 3.7.1 fail, 3.7.5 forbids it"),
        )
    ),
    *(
        Limit(name, since, until, "numpy<1.24", "it uses names of NumPy that 1.24 removed (typeDict, bool, object)",
              source("installed with NumPy 1.23.5 and 1.24.4 and imported, Python 3.8, November 2026", tried))
        for name, since, until, tried in (
            ("h5py", "", "3.0", "2.10.0 works with 1.23.5, fails with 1.24.4"),
            ("scipy", "", "1.5", "1.4.1 works with 1.23.5, fails with 1.24.4"),
            ("pandas", "", "1.1", "0.25.3, 1.0.1 and 1.0.5 fail, 1.1.5 works"),
            ("scikit-learn", "", "0.24", "0.23.2 fails, 0.24.2 works"),
        )
    ),
    Limit("tensorboard", "1.14", "2.11.1", "numpy<2", "it uses numpy.bool8, which NumPy 2 removed",
          source("installed and imported, November 2026", "2.10.1 works with NumPy 1.26.4, fails with 2.2.6")),
    Limit("datasets", "1.13", "2.14.7", "pyarrow<21", "it uses PyExtensionType, which PyArrow 21 removed",
          source("installed and imported, November 2026", "2.14.6 works with PyArrow 20.0.0, fails with 21.0.0")),
    Limit("gradio", "3.24", "4.0", "gradio-client<1", "it imports a module (serializing) that 1.0 removed",
          source("installed and imported, November 2026", "3.40.1 works with 0.17.0, fails with the newest")),
    Limit("seaborn", "", "0.12", "matplotlib<3.9", "it calls register_cmap, which Matplotlib 3.9 removed",
          source("installed and imported, November 2026", "0.11.2 works with Matplotlib 3.8.4, fails with 3.9.0")),
    Limit("jinja2", "", "3.0", "markupsafe<2.1", "it imports soft_unicode, which MarkupSafe 2.1 removed",
          source("installed and imported, November 2026", "2.11.3 works with MarkupSafe 2.0.1, fails with 2.1.1")),
    Limit("flask", "", "2.0", "jinja2<3.1", "it imports Markup and escape, which Jinja 3.1 removed",
          source("installed and imported, November 2026", "1.0.2 and 1.1.2 fail with the newest Jinja")),
    *(
        Limit(name, since, until, "protobuf<3.21", "its generated code does not load under protobuf 4 and newer",
              source("installed and imported, November 2026", tried))
        for name, since, until, tried in (
            ("wandb", "0.10", "0.13.4", "0.12.10 works with 3.20.3, fails with 6.31.1; generated anew in 0.13.4"),
            ("tensorboardx", "1.5", "2.6.1", "1.6, 2.0 and 2.5 fail with protobuf 6; generated anew since 2.6.1"),
        )
    ),
    *(
        Limit(name, since, until, requirement, because,
              source("installed alone with its newest neighbours and imported, 18 November 2026", tried))
        for name, since, until, requirement, because, tried in (
            ("gensim", "3.8", "4.3.3", "scipy<1.13", "it imports triu, which SciPy 1.13 removed",
             "4.2.0 and 4.3.2 fail with 1.15.3 on Python 3.10, and work with scipy<1.13; 4.3.3 forbids it"),
            ("librosa", "0.7", "0.9", "numpy<1.24", "it uses np.complex, which NumPy 1.24 removed",
             "0.8.1 fails with 2.2.6 on Python 3.10, and works with numpy<1.24; 0.9.2 works"),
            ("librosa", "0.6", "0.8", "numba<0.50", "it imports numba.decorators, which Numba 0.50 removed",
             "0.7.2 fails with the newest Numba on Python 3.10; 0.8.1 does not import it"),
            ("flask", "2.0", "2.2.5", "werkzeug<3", "it imports url_quote, which Werkzeug 3 removed",
             "2.0.3, 2.1.3 and 2.2.2 fail with the newest Werkzeug on Python 3.10, 2.2.5 works"),
            ("spacy", "2.3", "3.6", "numpy<2", "it was compiled for NumPy 1, and its metadata lets NumPy 2 in",
             "2.3.9, 3.0.9, 3.2.6, 3.4.4 and 3.5.4 fail with 2.2.6 on Python 3.10, and work with numpy<2"),
            ("streamlit", "0.80", "1.9", "protobuf<3.21", "its generated code does not load under protobuf 4 and newer",
             "0.84.2 and 1.2.0 fail with the newest protobuf on Python 3.8 and 3.10"),
            ("streamlit", "0.80", "1.22", "altair<5", "it imports a module (altair.vegalite.v4) that Altair 5 removed",
             "1.2.0 and 1.11.1 fail with Altair 5 and 6 on Python 3.10; 1.22.0 works"),
            ("mlflow", "1.10", "1.24", "protobuf<3.21", "its generated code does not load under protobuf 4 and newer",
             "1.20.2 fails with the newest protobuf on Python 3.10; 1.30.1 forbids it"),
            ("onnx", "1.6", "1.12", "protobuf<3.21", "its generated code does not load under protobuf 4 and newer",
             "1.8.1 fails with protobuf 5 on Python 3.8; 1.12.0 forbids it"),
            ("bokeh", "2.0", "3.0", "numpy<2", "it uses np.bool8, which NumPy 2 removed",
             "2.3.3 and 2.4.3 fail with 2.2.6 on Python 3.10"),
            ("numba", "0.50", "0.54", "numpy<1.24", "its ufuncs do not load under NumPy 1.24 and newer",
             "0.53.1 fails with 1.24.4 on Python 3.8, and works with numpy<1.24; 0.54 forbids it"),
            ("catboost", "1.0", "1.2.1", "numpy<2", "it was compiled for NumPy 1, and its metadata lets NumPy 2 in",
             "1.0.6 and 1.2 fail with 2.2.6 on Python 3.10"),
            ("albumentations", "0.4", "1.0", "numpy<2", "its imgaug uses np.sctypes, which NumPy 2 removed",
             "0.5.2 fails with 2.2.6 on Python 3.10; 1.0.3 works"),
            ("statsmodels", "", "0.13", "numpy<1.24", "it uses np.MachAr, which NumPy 1.24 removed",
             "0.12.2 fails with 1.24.4 on Python 3.8"),
        )
    ),
    Limit("imgaug", "", "", "numpy<2", "it uses np.sctypes, which NumPy 2 removed",
          source("installed with NumPy 2.2.6 and imported, November 2026", "0.4.0 is the last release")),
    *(
        Limit(name, since, until, "h5py<3", "it calls decode on what h5py 3 gives as text, when it loads weights",
              source("tensorflow/tensorflow issue 44467, keras-team/keras issue 14265", "h5py 3.0 release notes"))
        for name, since, until in (
            ("keras", "2.0", "2.4"), ("tensorflow", "1.0", "2.2"), ("tensorflow-gpu", "1.0", "2.2"),
        )
    ),
    Limit("tensorflow-addons", "", "", "tensorflow<2.16", "it imports parts of Keras 2, and 2.16 brings Keras 3",
          source("installed and imported, November 2026", "0.23.0, the last one, fails with TensorFlow 2.16.2")),
)  # fmt: skip


def broken(package: str, version: str, installed: Mapping[str, str]) -> list[Limit]:
    """The limits of a release, whichever flavour of it is here, that what is installed beside it does not keep."""
    found: dict[str, Limit] = {}
    for one in LIMITS:
        inside = at_least(version, one.since or "0") and not (
            one.until and at_least(version, one.until)
        )
        if inside and _is_flavour(package, one.package):
            name, wish = split(one.requirement)
            if name in installed and not allows(wish, installed[name]):
                found.setdefault(one.requirement, one)
    return list(found.values())


def _is_flavour(package: str, other: str) -> bool:
    """Whether a package is the other one, or installs the same module: tensorflow-cpu as tensorflow."""
    both = flavour(package), flavour(other)
    return package == other or (
        both[0] is not None and both[1] is not None and both[0].module == both[1].module
    )


def split(requirement: str) -> tuple[str, str]:
    """h5py<3 → h5py, <3."""
    name = re.split("[<>=!~]", requirement)[0]
    return name, requirement.removeprefix(name)


class Floor(msgspec.Struct, frozen=True):
    """Releases [since, until) of a package need another from `floor` on, and their metadata does not say so."""

    package: str
    since: str
    until: str
    other: str
    floor: str
    effect: str


_STOPS, _GOES_ON = "its import fails", "it goes on without PyTorch, and no model can be made"
_PROBABILITY = (
    "0.6 1.13.1", "0.7 1.14", "0.8 1.15", "0.9 2.1", "0.10 2.2", "0.11 2.3", "0.12 2.4", "0.13 2.5", "0.14 2.6",
    "0.15 2.7", "0.16 2.8", "0.17 2.9", "0.18 2.10", "0.19 2.11", "0.20 2.12", "0.21 2.13", "0.22 2.14", "0.23 2.15",
    "0.24 2.16", "0.25 2.18", "0.26",
)  # fmt: skip
_PEFT = ("0.14 4.43", "0.18 4.52", "0.19 4.43", "")
"""peft → transformers: it imports EncoderDecoderCache (4.43), its release 0.18 GradientCheckpointingLayer (4.52)."""
_TRANSFORMERS = ("4.52 2.1", "5.0 2.2", "5.1 2.4", "5.15 2.5", "5.20 2.6", "")


def _floors(package: str, other: str, steps: tuple[str, ...], effect: str) -> tuple[Floor, ...]:
    parts = [step.split() for step in steps]
    return tuple(
        Floor(package, here[0], after[0] if after else "", other, here[1], effect)
        for here, after in pairwise(parts)
    )


FLOORS = (
    *_floors("tensorflow-probability", "tensorflow", _PROBABILITY, _STOPS),
    *_floors("transformers", "torch", _TRANSFORMERS, _GOES_ON),
    *_floors("peft", "transformers", _PEFT, _STOPS),
    Floor("paddleocr", "3.0", "", "paddlepaddle-gpu", "3.0", "its pipelines fail"),
)
FLOORED = source("the files of the wheels: the release that they compare with", "November 2026")


def floor(package: str, version: str) -> Floor | None:
    """What a release needs of its framework."""
    return next(
        (
            row
            for row in FLOORS
            if row.package == package and _is_within(version, row.since, row.until)
        ),
        None,
    )


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


def limits(package: str, version: str) -> tuple[Limit, ...]:
    """The limits of a release; '' = the newest."""
    written = [
        row
        for row in LIMITS
        if row.package == package and _is_within(version, row.since, row.until)
    ]
    named = {row.requirement.partition("<")[0] for row in written}
    return (
        *written,
        *(row for row in _seen(package, version) if row.requirement.partition("<")[0] not in named),
    )


def _seen(package: str, version: str) -> Iterator[Limit]:
    """The frameworks that a release was seen to fail beside."""
    for host, found in neighbours.limits_of(package, version) if version else ():
        yield Limit(package, version, "", f"{host}{found.wants}", found.because, found.row.source)


def _is_within(version: str, since: str, until: str) -> bool:
    if not version:
        return not until
    return (not since or at_least(version, since)) and (not until or not at_least(version, until))


TORCHCODEC = {"0.0": "2.4", "0.1": "2.5", "0.2": "2.6", "0.3": "2.7", "0.4": "2.7", "0.5": "2.7",
              "0.6": "2.8", "0.7": "2.8", "0.8": "2.9", "0.9": "2.9"}  # fmt: skip
"""torchcodec → the torch that it is compiled for, which its metadata does not say (table in its README)."""
