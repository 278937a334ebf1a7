"""Modules: import names that a file in the wrong place can stand in for: the GPU stack's, and Python's own."""

from __future__ import annotations

FRAMEWORK_MODULES = frozenset(
    {
        "torch",
        "tensorflow",
        "jax",
        "jaxlib",
        "onnxruntime",
        "cupy",
        "paddle",
        "mxnet",
        "numpy",
        "numba",
        "triton",
        "keras",
    }
)
"""Without these no GPU work begins."""

FAMILIES = {
    **{name: name for name in FRAMEWORK_MODULES - {"keras", "numpy"}},
    **dict.fromkeys(("jaxlib", "jax_plugins", "ml_dtypes"), "jax"),
    **dict.fromkeys(("cupy_backends", "cupyx"), "cupy"),
    **dict.fromkeys(("llvmlite", "numba_cuda"), "numba"),
    **dict.fromkeys(("functorch", "torchgen"), "torch"),
    "scipy": "scipy",
}
"""Modules that are useless in part, by the framework whose code imports their parts."""

STACK_MODULES = FRAMEWORK_MODULES | frozenset(
    {
        "torchvision",
        "torchaudio",
        "torchtext",
        "tf_keras",
        "flax",
        "optax",
        "chex",
        "scipy",
        "pandas",
        "sklearn",
        "onnx",
    }
    | {
        "xformers",
        "flash_attn",
        "bitsandbytes",
        "vllm",
        "deepspeed",
        "transformers",
        "tokenizers",
        "accelerate",
        "diffusers",
    }
    | {
        "peft",
        "safetensors",
        "huggingface_hub",
        "lightning",
        "pytorch_lightning",
        "torchmetrics",
        "timm",
        "einops",
        "cv2",
    }
    | {
        "PIL",
        "h5py",
        "google",
        "absl",
        "ml_dtypes",
        "opt_einsum",
        "sympy",
        "networkx",
        "jinja2",
        "fsspec",
        "filelock",
    }
    | {
        "typing_extensions",
        "packaging",
        "requests",
        "urllib3",
        "yaml",
        "tqdm",
        "six",
        "wrapt",
        "gast",
        "grpc",
        "attr",
    }
    | {
        "nvidia",
        "cuda",
        "tensorboard",
        "matplotlib",
        "psutil",
        "regex",
        "mpmath",
        "tensorrt",
        "llvmlite",
        "setuptools",
    }
)
"""What the frameworks and the packages on them import."""

INNER_MODULES = frozenset(
    {"cupy_backends", "cupyx", "jax_plugins", "functorch", "torchgen", "numba_cuda"}
)
"""What is installed beside a framework and of which it is made."""

NAMESPACES: dict[str, tuple[str, ...]] = {
    "cuda": (),
    "google": ("protobuf",),
    "jax_plugins": (),
    "nvidia": (),
}
"""Names that several distributions share, each with a folder of its own below; the parts that count (none: all)."""

PART_OWNERS = {"google.protobuf": "protobuf", "jax_plugins.xla_cuda12": "jax-cuda12-pjrt"}
"""Distributions that are not called as their part of a shared name is."""

IMPORTED_AS = {
    "pyyaml": "yaml", "pillow": "PIL", "scikit-learn": "sklearn", "google-pasta": "pasta", "libclang": "clang",
    "opencv-python": "cv2", "opencv-python-headless": "cv2", "python-dateutil": "dateutil", "attrs": "attr",
    "markdown-it-py": "markdown_it", "pyzmq": "zmq", "msgpack-python": "msgpack", "antlr4-python3-runtime": "antlr4",
    "grpcio": "grpc", "absl-py": "absl", "cuda-pathfinder": "cuda", "cuda-bindings": "cuda", "protobuf": "google",
    "scikit-image": "skimage", "ipython": "IPython", "tensorboardx": "tensorboardX",
    "python-json-logger": "pythonjsonlogger", "fonttools": "fontTools", "typing-inspect": "typing_inspect",
}  # fmt: skip
"""Distributions whose module has another name than theirs."""

BROUGHT_BY = {"pkg_resources": "setuptools<82", "_distutils_hack": "setuptools"}
"""Modules that come with a distribution of another name, in some of its releases: with which they are there again."""

STANDARD_MODULES = frozenset(
    {
        "argparse",
        "array",
        "ast",
        "asyncio",
        "base64",
        "bdb",
        "bisect",
        "bz2",
        "calendar",
        "cmath",
        "cmd",
        "code",
        "codeop",
    }
    | {
        "collections",
        "colorsys",
        "concurrent",
        "configparser",
        "contextlib",
        "contextvars",
        "copy",
        "copyreg",
        "csv",
    }
    | {
        "ctypes",
        "dataclasses",
        "datetime",
        "decimal",
        "difflib",
        "dis",
        "email",
        "enum",
        "fnmatch",
        "fractions",
        "functools",
    }
    | {
        "getopt",
        "getpass",
        "gettext",
        "glob",
        "gzip",
        "hashlib",
        "heapq",
        "hmac",
        "html",
        "http",
        "inspect",
        "ipaddress",
    }
    | {
        "json",
        "keyword",
        "linecache",
        "locale",
        "logging",
        "lzma",
        "math",
        "mimetypes",
        "mmap",
        "multiprocessing",
        "numbers",
    }
    | {
        "opcode",
        "operator",
        "pathlib",
        "pdb",
        "pickle",
        "pickletools",
        "pkgutil",
        "platform",
        "pprint",
        "profile",
        "queue",
    }
    | {
        "random",
        "re",
        "reprlib",
        "secrets",
        "select",
        "selectors",
        "shlex",
        "shutil",
        "signal",
        "socket",
        "socketserver",
    }
    | {
        "ssl",
        "statistics",
        "string",
        "stringprep",
        "struct",
        "subprocess",
        "sysconfig",
        "tarfile",
        "tempfile",
        "textwrap",
    }
    | {
        "threading",
        "timeit",
        "token",
        "tokenize",
        "traceback",
        "types",
        "typing",
        "unittest",
        "urllib",
        "uuid",
        "warnings",
    }
    | {"weakref", "xml", "zipfile", "zlib"}
)
"""Of Python's library, what PyTorch, TensorFlow, JAX or ONNX Runtime had loaded after their import (seen with 2.6.0,
2.18.1, 0.4.38 and 1.20.2), less what Python itself has loaded before a script's folder counts."""

FOUNDATION = frozenset(
    """numpy scipy pandas pillow h5py ml-dtypes llvmlite protobuf grpcio onnx safetensors tokenizers sentencepiece
    pyarrow matplotlib scikit-learn opencv-python opencv-python-headless""".split()  # noqa: SIM905
)
"""Distributions with libraries of their own that the frameworks, or most programs on them, import."""

USED_BESIDE = frozenset(
    ["lightgbm", "xgboost", "catboost", "datasets", "spacy", "thinc", "tensorboard", "tb-nightly"]
)
"""Distributions that people use in one environment with a framework, and that do not ask for it."""
