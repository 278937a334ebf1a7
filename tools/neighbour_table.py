"""The neighbours that tools/neighbours.py tries, and the framework releases it tries them beside."""

from __future__ import annotations

from typing import NamedTuple


class Neighbour(NamedTuple):
    """A package that people install beside a framework: from which release on, and what uses it once."""

    package: str
    host: str
    since: str
    code: str
    more: tuple[str, ...] = ()  # what else is installed with it


HOSTS = {
    "jax": ("0.12.0", "0.8.3", "0.6.2", "0.5.3", "0.4.35", "0.4.30", "0.4.26", "0.4.20", "0.4.13"),
    "torch": ("2.15.0", "2.6.0", "2.4.1", "2.2.2", "2.0.1"),
    "tensorflow": ("2.21.0", "2.18.1", "2.16.2", "2.15.1", "2.11.1", "2.5.3"),
}  # fmt: skip
"""Newest first."""

FORCED = frozenset([
    "torchvision", "torchaudio", "xformers", "torchtext", "tensorflow-text", "tf-keras", "keras", "tensorflow-probability",
    "tensorflow-addons", "torchdata", "bitsandbytes",
])  # fmt: skip
"""Neighbours that people force beside another release than the stated one: `--no-deps`, or the framework replaced."""

MODULES = {
    "haiku": "dm-haiku", "orbax": "orbax-checkpoint", "sonnet": "dm-sonnet", "pyro": "pyro-ppl", "torch-geometric": "torch-geometric",
    "sklearn": "scikit-learn", "pil": "pillow", "tensorflow-model-optimization": "tensorflow-model-optimization",
}  # fmt: skip
"""Modules whose distribution has another name."""

NEIGHBOURS = (
    Neighbour("flax", "jax", "0.5", "import flax, flax.linen, flax.training.train_state"),
    Neighbour("optax", "jax", "0.1", "import optax"),
    Neighbour("chex", "jax", "0.1", "import chex"),
    Neighbour("dm-haiku", "jax", "0.0.6", "import haiku"),
    Neighbour("equinox", "jax", "0.9", "import equinox"),
    Neighbour("numpyro", "jax", "0.10", "import numpyro, numpyro.distributions"),
    Neighbour("orbax-checkpoint", "jax", "0.2", "import orbax.checkpoint"),
    Neighbour("jaxopt", "jax", "0.5", "import jaxopt"),
    Neighbour("diffrax", "jax", "0.3", "import diffrax"),
    Neighbour("torchvision", "torch", "0.21", "import torchvision, torchvision.ops; torchvision.ops.nms"),
    Neighbour("torchaudio", "torch", "2.9", "import torchaudio"),
    Neighbour("xformers", "torch", "0.0.29", "import xformers, xformers.ops"),
    Neighbour("bitsandbytes", "torch", "0.40", "import bitsandbytes"),
    Neighbour("torchtext", "torch", "0.14", "import torchtext"),
    Neighbour("torchdata", "torch", "0.5", "import torchdata, torchdata.datapipes"),
    Neighbour("torchao", "torch", "0.1", "import torchao, torchao.quantization"),
    Neighbour("timm", "torch", "0.4", "import timm"),
    Neighbour("pytorch-lightning", "torch", "1.5", "import pytorch_lightning"),
    Neighbour("torchmetrics", "torch", "0.6", "import torchmetrics"),
    Neighbour("transformers", "torch", "4.40", "from transformers import AutoModel, BertModel, Trainer", ("accelerate",)),
    Neighbour("diffusers", "torch", "0.20", "from diffusers import StableDiffusionPipeline", ("transformers",)),
    Neighbour("peft", "torch", "0.6", "from peft import LoraConfig, get_peft_model"),
    Neighbour("accelerate", "torch", "0.12", "from accelerate import Accelerator"),
    Neighbour("sentence-transformers", "torch", "2.2", "from sentence_transformers import SentenceTransformer"),
    Neighbour("torch-geometric", "torch", "2.2", "import torch_geometric, torch_geometric.nn"),
    Neighbour("keras", "tensorflow", "2.2", "import os; os.environ['KERAS_BACKEND'] = 'tensorflow'; import keras; keras.layers.Dense(1)"),
    Neighbour("tf-keras", "tensorflow", "2.15", "import tf_keras; tf_keras.layers.Dense(1)"),
    Neighbour("tensorflow-text", "tensorflow", "2.8", "import tensorflow_text"),
    Neighbour("tensorflow-io", "tensorflow", "0.20", "import tensorflow_io as t; t.audio.resample"),
    Neighbour("tensorflow-probability", "tensorflow", "0.11", "import tensorflow_probability as t; t.distributions.Normal(0., 1.)"),
    Neighbour("tensorflow-addons", "tensorflow", "0.11", "import tensorflow_addons as t; t.activations.mish"),
    Neighbour("tensorflow-hub", "tensorflow", "0.8", "import tensorflow_hub as t; t.KerasLayer"),
    Neighbour("tensorflow-datasets", "tensorflow", "4.2", "import tensorflow_datasets as t; t.load"),
    Neighbour("tensorflow-model-optimization", "tensorflow", "0.5", "import tensorflow_model_optimization as t; t.sparsity.keras.prune_low_magnitude"),
    Neighbour("tf-agents", "tensorflow", "0.6", "import tf_agents, tf_agents.agents"),
    Neighbour("keras-tuner", "tensorflow", "1.0.2", "import keras_tuner"),
    Neighbour("keras-cv", "tensorflow", "0.3", "import keras_cv"),
    Neighbour("tf2onnx", "tensorflow", "1.8", "import tensorflow, tf2onnx, tf2onnx.convert"),
    Neighbour("dm-sonnet", "tensorflow", "2.0", "import sonnet"),
)  # fmt: skip
