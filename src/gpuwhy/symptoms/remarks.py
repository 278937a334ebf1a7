"""Remarks: what a person says beside a message, where that decides what the message means.

"Both are installed", "fixed in 4.36.2", "the checkout hides the wheel": `remark.` signatures find most of them, in the
rooms those that name one cause, in `catalogue/remarks.py` those that are facts for several. Here are the remarks that
need the whole text, and what each explains. One that names a cause counts only where the GPU stack is spoken of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from gpuwhy.model.symptom import Symptom
from gpuwhy.rooms.text.fragments import VARIABLE
from gpuwhy.symptoms.wording import stack_speaks

SPEAKER = "remark"
IDS = ("remark.both", "remark.echoed")
"""Remarks that no signature finds."""
_STACKS_OWN = (
    "remark.both", "remark.echoed", "remark.variable", "remark.torn", "remark.mig_pending", "remark.wsl_one",
    "remark.wsl_driver", "remark.no_accelerator",
)  # fmt: skip
"""Remarks that name packages or variables of the stack themselves."""
_NAMES = re.compile(
    r"\b(?:torch\w*|pytorch|tensorflow|jax|jaxlib|flax|cupy|numba|triton|onnxruntime|vllm|xformers|deepspeed|transformers"
    r"|diffusers|cuda|cudf|cuml|gpus?|nvidia|tensorrt|bitsandbytes|flash[-_]attn|mxnet|paddle\w*|monai|keras)\b",
    re.IGNORECASE,
)
_PLAIN = ("python.", "title.", "ending.")
_IMPORTS = (
    *_PLAIN, "packages.partial", "packages.damaged_words", "build.ext_module", "shadow.", "pairs.between", "tf.old_api",
    "tf.partial", "ort.partial",
)  # fmt: skip
_CPU = (
    "torch.cpu_build", "torch.version_none", "generic.cpu_build", "generic.cpu_used", "opencv.no_cuda", "paddle.cpu",
    "tf.built_cpu", "mxnet.cpu", "ort.not_available", "ort.listed", "ct2.cpu", "told.cpu_torch",
)  # fmt: skip
_NATIVE = (
    "packages.damaged_words", "cublas.", "cudnn.", "cuda.illegal", "cuda.launch_failed", "cuda.misaligned", "signal.",
    "triton.", "program.shape_words", "program.illegal",
)  # fmt: skip
EXPLAINS: dict[str, tuple[str, ...]] = {
    "remark.release": (*_PLAIN, *_NATIVE),
    "remark.both": (*_IMPORTS, *_CPU, "loader.undefined_symbol", "loader.cannot_open"),
    "remark.instead": (*_IMPORTS, *_CPU, "loader.cannot_open", "cuda.no_binary_for_gpu"),
    "remark.own_file": _IMPORTS,
    "remark.pair": _IMPORTS,
    "remark.needs": _IMPORTS,
    "remark.torn": _IMPORTS,
    "remark.broken_off": (*_IMPORTS, "limit.space"),
    "remark.variable": (*_PLAIN, *_CPU, "jax.backend", "jax.unknown_backend"),
}
"""The messages that a remark explains, wherever it stands; the others explain Python's own words."""
_LACKS = (
    "python.import_name", "python.attribute", "python.module", "python.exception", "python.runtime", "packages.partial",
    "tf.old_api", "shadow.", "pairs.", "loader.undefined_symbol", "build.ext_module", "torch.different_cuda",
)  # fmt: skip
"""What two releases that do not fit end in."""


_TOLD_TWO = ".two_packages"
"""By which a program itself says that two packages are there: no remark of a person."""
_UNFIT = re.compile(
    r"\b(?:not compatible|incompatible|does not fit|mismatch|operator \w{1,30}::\w{1,40} does not exist)", re.IGNORECASE
)
"""Words by which two releases are said not to fit."""


def with_remarks(symptoms: Sequence[Symptom], text: str) -> tuple[Symptom, ...]:
    """The symptoms with the remarks that need the whole text; without those that speak of nothing of the stack."""
    kept = [one for one in symptoms if not _decides(one)]
    both = () if any(one.signature.endswith(_TOLD_TWO) for one in symptoms) else _both(text)
    said = [*filter(_decides, symptoms), *both, *_echoed(text)]
    meant = _meant(said, kept, text)
    if len(meant) + len(kept) == len(symptoms):
        return tuple(symptoms)
    ordered = sorted([*kept, *meant], key=lambda one: (one.line, one.order))
    return tuple(msgspec.structs.replace(one, order=at) for at, one in enumerate(ordered))


def _decides(one: Symptom) -> bool:
    """Whether it is a remark that names what is wrong, not only a fact."""
    return one.speaker == SPEAKER and one.role == "error"


def _meant(said: Sequence[Symptom], others: Sequence[Symptom], text: str) -> list[Symptom]:
    """The remarks that concern the failure: of the stack, and two releases only where something lacks a name."""
    if not any(one.signature.startswith(_LACKS) for one in others) and not _UNFIT.search(text):
        said = [one for one in said if one.signature != "remark.pair"]
    said = [one for one in said if one.signature != "remark.needs" or _of_kin(one)]
    if stack_speaks(text) or _NAMES.search(text):
        return list(said)
    return [one for one in said if one.signature in _STACKS_OWN]


def _of_kin(one: Symptom) -> bool:
    """Whether one of the two packages of a remark is of the stack, or stands on it."""
    return bool(_KIN.search(f"{one.get('by')} {one.get('name')} {one.text}"))


_KIN = re.compile(
    rf"{_NAMES.pattern}|torch|tensor|jax|onnx|cuda|nv|gpu|numpy|protobuf|tokenizers|huggingface|safetensors|peft|accelerate|lightning"
    r"|timm|trl|einops|optax|orbax|scipy|ml[-_]dtypes|chex|sentence|dataset|evaluate|ray\b|faiss|llama|open_?clip|gradio",
    re.IGNORECASE,
)
"""Packages that stand on a framework, or on which one stands."""


def explained(symptoms: Sequence[Symptom]) -> tuple[Symptom, ...]:
    """The symptoms; those that a remark explains follow it."""
    out = tuple(symptoms)
    for remark in filter(_decides, tuple(out)):
        which = EXPLAINS.get(remark.signature, _PLAIN)
        out = tuple(
            msgspec.structs.replace(one, follows=remark.order) if _told_by(one, remark, which) else one for one in out
        )
    return out


def _told_by(one: Symptom, remark: Symptom, which: tuple[str, ...]) -> bool:
    return one.role in ("error", "echo") and one.speaker != SPEAKER and one.signature.startswith(which)


_FAMILY = (
    r"tensorflow|tf-nightly|intel-tensorflow|onnxruntime|cupy|paddlepaddle|paddle|mxnet|dgl|bitsandbytes|faiss|spconv|jaxlib"
    r"|xgboost|lightgbm|ctranslate2|opencv|cudf|cuml|rmm|tensorrt|nvidia-dali"
    r"|nvidia-(?:nccl|cudnn|cublas|cuda-runtime|cufft|curand|cusolver|cusparse)|torch|llama-cpp-python"
    r"|jax-cuda\d+-plugin|jax-cuda\d+-pjrt"
)
_VARIANT = r"(?:-(?:gpu|cpu|cu\d+\w*|cuda\w*|nightly|directml|rocm|contrib|python|headless|mkl)){0,3}"
_DISTRIBUTION = re.compile(
    rf"(?<![\w./@-])(?P<base>{_FAMILY})(?P<variant>{_VARIANT})(?![\w-]|/[\w.]+/)(?P<release>(?:==|\s{{1,40}})v?\d+\.\d)?(?!\.[a-z])",
    re.IGNORECASE,
)
_SAME = {"tf-nightly": "tensorflow", "intel-tensorflow": "tensorflow", "paddle": "paddlepaddle"}
_TOGETHER = re.compile(
    r"\bboth\b|side by side|alongside|\btogether\b|\bon top\b|overw\w+|\bpulled\b|\breplaced\b|lost its files"
    r"|shared? a folder|pip (?:list|freeze|show)|conda list"
    r"|(?:are|were) (?:all |both )?installed|multiple \w{1,30} packages"
    r"|in (?:one|the same|a single) (?:\w+ )?(?:env\w*|venv|requirements|site-packages)|at the same time|also installed"
    r"|\bover (?:my|the|it|paddle\w*|onnx\w*|tensor\w*|cupy\w*|opencv\w*)|\bbrings?\b[^\n]{0,30}\bback\b|\bowns?\b",
    re.IGNORECASE,
)
_AND = re.compile(
    r"\s*(?:(?:and|plus|\+|&|,|over|with|/|alongside)\s|(?:is|was|got) (?:installed|put) (?:over|on))", re.IGNORECASE
)
_NAMED_AS = re.compile(
    r"(?:\b(?:plain|bare|installed|uninstalled|replaced|pulls?|pulled|in|and|plus|pip install|needs|over)|[,(]"
    r"|(?<!error):) $",
    re.IGNORECASE,
)
"""What stands after or before the bare name of a package that is meant as one."""


_SOUGHT = re.compile(r"\b(?:grep|findstr|select-string|rg)\b[^\n]*", re.IGNORECASE)
"""What somebody looked for is not what is there."""


def _both(text: str) -> Iterator[Symptom]:
    """Two packages of one family of which the text says that both are there."""
    if not _TOGETHER.search(text):
        return
    named: dict[str, dict[str, int]] = {}
    for found in _DISTRIBUTION.finditer(_SOUGHT.sub(lambda one: " " * len(one[0]), text)):
        if found["variant"] or found["release"] or "-" in found["base"] or _as_package(text, found):
            name = _PART.sub("", f"{found['base']}{found['variant']}".lower())
            named.setdefault(_family(found["base"].lower()), {}).setdefault(name, found.start())
    for family, names in named.items():
        if len(names) > 1 and any("-" in one for one in names):
            line = text.count("\n", 0, max(names.values())) + 1
            fields = {"family": family, "packages": " ".join(sorted(names))}
            yield Symptom("remark.both", line, text.splitlines()[line - 1][:400], fields=fields)
            return


def _as_package(text: str, found: re.Match[str]) -> bool:
    return bool(_AND.match(text, found.end()) or _NAMED_AS.search(text[max(0, found.start() - 16) : found.start()]))


_PART = re.compile(r"(?<=^jax-cuda\d\d)-(?:plugin|pjrt)$")
"""Parts that belong together: one needs the other."""


def _family(base: str) -> str:
    if base.startswith("jax-cuda"):  # plugin and pjrt belong together; two of one, for two CUDAs, do not
        return f"jax-{base.rpartition('-')[2]}"
    return _SAME.get(base, base)


_ASSIGNED = re.compile(rf"(?<![\w/$]){VARIABLE}\s?=\s?['\"]?(?P<value>[^\s'\";,)]{{2,120}})")
_REFUSES = re.compile(
    r"\w*(?:Error|Exception)\b|invalid|unknown|unrecogni[sz]ed|not (?:a )?valid|could not|\bF \w+/", re.IGNORECASE
)
_FLAG = re.compile(r"--(\w{4,60})")


def _echoed(text: str) -> Iterator[Symptom]:
    """A variable whose value, or a flag in it, is what an error names."""
    lines = text.splitlines()
    for found in _ASSIGNED.finditer(text):
        value = found["value"].rstrip(".:")
        wanted = [f"'{value}'", f'"{value}"', *_FLAG.findall(value)]
        for at, line in enumerate(lines, 1):
            bare = line.replace(found[0], "")
            if _REFUSES.search(bare) and any(one in bare for one in wanted):
                fields = {"variable": found["variable"], "value": value}
                yield Symptom("remark.echoed", at, line[:400], fields=fields)
                return
