"""Pairs: which releases go together: what they state of each other, what they do not state, and who refuses whom.

`check` and `run` read what is stated from the installed metadata and take the rest from here; `lint` and `plan`, which
have no installation, take both from here. The unstated limits are the rows of `caps.CAPS`.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import tables
from gpuwhy.knowledge.flavours import flavour

STATED = tables.source(
    "METADATA of the published wheels", "knowledge/data/stated.json, by tools/harvest/stated.py"
)

NEIGHBOURS = re.compile(
    r"torch.+|pytorch-.+|tensorflow-.+|tf-.+|keras(-.+)?|jax.+|flax|optax|chex|orbax-checkpoint|equinox|numpyro|dm-haiku"
    r"|transformers|accelerate|diffusers|peft|sentence-transformers|lightning|pytorch-lightning|timm|deepspeed|sglang|unsloth"
    r"|auto-gptq|trl|tensordict|onnx|ctranslate2|faster-whisper|openai-whisper|llvmlite|ml-dtypes|cuda-python|cuda-bindings"
)
"""Packages that people run on a GPU through a framework: what they ask for counts as what a framework asks for."""

LEFT_TO_LOADER = re.compile(
    r"nvidia-.+|cuda-toolkit|triton-windows|pytorch-triton.*|tensorrt(?!.*-bindings).*|tensorflow-io-gcs-filesystem|tensorflow-intel"
)
"""What causes of their own judge by the files that would be loaded, or what a platform may lack without harm."""

EXTRAS_COUNT = re.compile(
    r"jax jax-cuda\d+-(?:plugin|pjrt)|tensorflow-(?:io|addons|text|probability|decision-forests) tensorflow"
)
"""`by name`: what only an extra asks for counts where nobody installs `name` beside `by` for another reason."""


class Refusal(msgspec.Struct, frozen=True):
    """A package that looks at another's version when it is imported, and what it does where that does not fit."""

    by: str  # expression
    name: str  # expression
    effect: str
    source: Source
    stops: bool = True  # False: it goes on without it


def _tried(what: str) -> Source:
    return tables.source("installed and imported, Linux x86_64, November 2026", what)


_TF = r"tensorflow(?:-cpu|-gpu|-intel)?"

REFUSALS: tuple[Refusal, ...] = (
    Refusal("jax", "jaxlib", "so its import fails",
            _tried("jax 0.4.38 with jaxlib 0.4.36, and 0.4.35 with 0.4.38: RuntimeError at import")),
    Refusal("transformers", "tokenizers|huggingface-hub|numpy|safetensors|regex|packaging|filelock|tqdm|pyyaml",
            "so its import fails", _tried("transformers 4.46.3, tokenizers 0.15.2: ImportError at import")),
    Refusal(_TF, "keras", "so tf.keras fails",
            _tried("tensorflow 2.16.1 with keras 2.15.0, and 2.15.1 with keras 3.6.0: errors on tf.keras.layers")),
    Refusal("tensorflow-text", _TF, "so its import fails",
            _tried("tensorflow-text 2.15.0 with tensorflow 2.16.1: undefined symbol")),
    Refusal("tensorflow-addons", _TF, "so its import fails",
            _tried("tensorflow-addons 0.23.0 with tensorflow 2.16.1 and 2.17.0: No module named keras.src.engine")),
)  # fmt: skip


def refusal(by: str, name: str) -> Refusal | None:
    """The row of a package that looks at another's version itself."""
    return next(
        (r for r in REFUSALS if re.fullmatch(r.by, by) and re.fullmatch(r.name, name)), None
    )


class _Stated(msgspec.Struct, frozen=True):
    schema: str
    packages: dict[str, list[tuple[list[str], dict[str, list[str]]]]]


@cache
def _table() -> dict[str, list[tuple[list[str], dict[str, list[str]]]]]:
    return tables.load("stated.json", _Stated).packages


@cache
def stated(name: str, version: str) -> dict[str, tuple[str, ...]]:
    """What a published release states of others: alternatives, each `<2,>=1.23` or with its marker behind `;`."""
    for versions, said in _table().get(name, ()):
        if version in versions:
            return {other: tuple(wishes) for other, wishes in said.items()}
    return {}


def knows(name: str) -> bool:
    """Whether the published releases of a package were read."""
    return name in _table()


def known_versions(name: str) -> tuple[str, ...]:
    """The releases of a package whose metadata states something, oldest first."""
    return tuple(version for versions, _ in _table().get(name, ()) for version in versions)


def fitting(name: str, other: str, version: str) -> str:
    """The newest release of a package whose metadata goes with a release of another; "" where none is known."""
    for candidate in reversed(known_versions(name)):
        wishes = stated(name, candidate).get(other, ())
        if wishes and any(
            allows(wish.partition(";")[0], version) and is_tight(wish) for wish in wishes
        ):
            return candidate
    return ""


def is_tight(wish: str) -> bool:
    """Whether a range has an upper end, so that being inside says something."""
    return "<" in wish or "==" in wish or "~=" in wish


def allows(wish: str, version: str) -> bool:
    """Whether `<2,>=1.23` lets a version in, as pip reads it; local parts and previews included."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    try:
        return SpecifierSet(wish.strip()).contains(Version(version), prereleases=True)
    except ValueError:  # no specifier, no version, or thousands of digits
        return True


def providers(name: str) -> frozenset[str]:
    """The distributions that answer for a requirement: tensorflow-cpu is a tensorflow."""
    own = flavour(name)
    return frozenset({name}) if own is None else _of_module(own.module) | {name}


@cache
def _of_module(module: str) -> frozenset[str]:
    from gpuwhy.knowledge.flavours import ALL

    return frozenset(name for name, one in ALL.items() if one.module == module)


EXACT_SINCE = "0.5.3"
"""From this jaxlib on a CUDA plugin of any other release is left aside (see installs.EXACT_PLUGIN)."""


def plugin_left_aside(jaxlib: str) -> bool:
    """Whether this jaxlib goes on without a plugin of another release, rather than failing."""
    return at_least(jaxlib, EXACT_SINCE)


RIVAL_PLUGINS = "and JAX takes one of them only: the other is refused at every start (PJRT_Api already exists for cuda)"
RIVALS_TRIED = (
    "jax 0.7.2 with jax-cuda12-plugin and jax-cuda13-plugin 0.7.2, both initialised, November 2026"
)
