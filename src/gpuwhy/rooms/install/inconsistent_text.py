"""install.inconsistent in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.messages import LEFT_ASIDE, NO_IMPORT, UNRESOLVED
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.conditions import all_of, by_package, field, line, no, unix_stack, with_
from gpuwhy.rooms.text.fragments import NOT_OURS, PAIR_COVERS
from gpuwhy.rooms.text.installing import jax_together
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.package_ways import agreeing_releases
from gpuwhy.rooms.text.room import Text

_PAIRED = (
    "torch|pytorch|torchvision|torchaudio|torchtext|torchmetrics|pytorch-lightning|lightning|transformers|tokenizers|diffusers|accelerate|peft|trl|datasets"
    "|huggingface_hub|huggingface-hub|safetensors|tensorflow|keras|tf-keras|tensorflow-probability|tensorflow-addons|tensorflow-text|jax|jaxlib|flax|optax|haiku|dm-haiku|chex|equinox|orbax"
    "|jax-cuda12-plugin|jax-cuda13-plugin|jax-cuda11-plugin|jax-cuda12-pjrt|numpyro|numba|llvmlite|numpy|scipy|cupy|chainer|cudf|cuml|dask|dask-cuda|rmm|pandas|pyarrow|xformers|triton|vllm|deepspeed|apex|flash-attn|bitsandbytes|onnx|onnxruntime|protobuf"
    "|monai|mmcv|mmdet|detectron2|timm|fairseq|auto-gptq|autoawq|optimum|sentence-transformers|openai-whisper|spacy|thinc|mxnet|gluonnlp|paddleocr|ray|xgboost|torch-geometric|torch-scatter|pyg|dgl|gym|stable-baselines3"
)
"""Packages whose releases go with one another's."""

_OF_JAX = ("jax.plugin_abi", "pairs.jaxlib", "pairs.plugin", "pairs.jax_part")


def _made(case: Asked) -> Iterator[Fix]:
    if any(signature in _OF_JAX for signature, _, _ in case.behind):
        yield jax_together(case, "\n".join(line for _, line, _ in case.behind))


_TENSORFLOWS = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tf-nightly", "tf-nightly-gpu")


_LEAST = re.compile(r"(?:required version|minimum version|at least|>=?) ?(\d[\w.]*\w)")


_AT_MOST = r"\d (?:or|and) (?:less|older|lower|earlier|below)\b|\bat most\b|<="


def _newest_taken(one: Symptom) -> Fix:
    """A package that is newer than another takes: its last release that is taken."""
    name, wants = one.get("name"), one.get("wants")
    *whole, last = wants.split(".")
    below = ".".join((*whole, str(int(last) + 1))) if last.isdigit() else wants
    return Fix(f"Install {name} {wants}, the newest that is taken", f'pip install "{name.lower()}<{below}"', safe=True)


def _older(reading: Reading) -> Iterator[Fix]:
    """A package that another calls too old, and the release that it names."""
    for one in reading.all("said.package_older"):
        if one.get("wants") and re.search(_AT_MOST, one.text):
            yield _newest_taken(one)
            continue
        name, least = one.get("name").replace("_", "-"), one.get("wants") or next(iter(_LEAST.findall(one.text)), "")
        text = f"Install {name} {least} or newer, which is asked for" if least else f"Install the newest {name}"
        yield Fix(text, f'pip install --upgrade "{name}{f">={least}" if least else ""}"', safe=True)
    for one in reading.all("said.release_file"):
        wants = one.get("wants")
        text = f"It has no part for PyTorch {wants}: install its newest release, or the PyTorch that it was built for (its release page names the pairs)"
        yield Fix(text, "pip install --upgrade dgl" if "dgl" in one.text else "", safe=True)


def _named(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """One command with both packages of a contradiction; of several TensorFlows in one environment one has to stay."""
    yield from _older(reading)
    said = list(reading.all("pairs.pip"))
    several = {one.get("by"): one.get("by_version") for one in said if one.get("by") in _TENSORFLOWS}
    if len(several) > 1:
        keep = max((one for name, one in several.items() if "nightly" not in name), key=numbers, default="")
        yield Fix(
            f"Remove {', '.join(several)}, which overwrite each other's files, then install one",
            f'pip uninstall -y {" ".join(several)}\npip install "tensorflow{f"=={keep}" if keep else ""}"',
            safe=True,
        )
    for one in said[:1]:
        wants = one.get("wants").strip("()").replace(" ", "")
        asker = f'"{one.get("by")}=={one.get("by_version")}"'
        text = f"Install {one.get('by')} together with the {one.get('name')} that it asks for"
        yield Fix(text, f'pip install {asker} "{one.get("name")}{wants}"', safe=True)


TEXT = Text(
    "install.inconsistent",
    signatures=(
        error("remark.needs",
              rf"\b(?P<by>[a-z][\w.-]{{1,60}}?)(?: v?(?P<by_version>\d[\w.]{{0,20}}))? (?:requires|needs|expects|wants|depends on|has requirement) (?:the )?(?:[\w-]{{1,40}} / )?(?P<name>{NOT_OURS}[a-z][\w-]{{1,60}}?)(?:[ -]version| version)? ?(?P<wants>[<>=!~]=?=? ?v?\d[\w.,<>=!~ *]{{0,40}}?)(?:[;,.()/ ]|$)[^\n]{{0,60}}?(?:\byou(?:'ll)? have|\bfound|\bdetected|\binstalled|\bgot\b|\bbut\b|have \w+ \d)"
              rf"|\b(?P<by5>[a-z][\w-]{{1,60}}?) (?:requires|needs|expects) (?P<name5>{NOT_OURS}[a-z][\w-]{{1,60}}?) ?(?P<wants5>[<>=!~]=?=?v?\d[\w.]{{0,20}})\W{{1,4}}(?:importerror|modulenotfounderror|runtimeerror|packagenotfounderror)"
              rf"|(?P<name3>{NOT_OURS}[a-z][\w-]{{1,60}}) ?(?P<wants3>[<>=!~]=?=?v?\d[\w.]{{0,20}}) is required\b[^\n]{{0,120}}(?:found|installed|you have|got) "
              rf"|\b(?P<by2>[a-z][\w-]{{1,60}}) v?(?P<by_version2>\d[\w.]{{0,20}}) (?:requires|needs|expects|wants) (?P<name2>{NOT_OURS}[a-z][\w-]{{1,60}}?) ?(?P<wants2>[<>=!~]=?=? ?v?\d[\w.,<>=!~*]{{0,40}}|v?\d+\.\d[\w.]{{0,20}})"
              rf"|(?:requires|needs|wants|expects) (?P<name4>{NOT_OURS}[a-z][\w-]{{1,60}}) (?P<wants4>v?\d+\.\d[\w.]{{0,20}})[^\n]{{0,20}}\b(?:i|we|you) have ",
              "requires", "needs", "expects", "wants", "depends on", "has requirement", "is required", covers=PAIR_COVERS),
        error("remark.pair",
              rf"\b(?P<by>{_PAIRED})[ =]{{1,2}}v?(?P<by_version>\d+\.\d[\w.]{{0,20}})(?:,|;)? (?:(?:with|and|on|against|\+|/|beside|but|vs\.?|was installed with|is installed with) )?(?P<name>(?!(?P=by)(?![\w-]))(?:{_PAIRED}))(?: (?:is|was|stayed at|stays at|remained at|at|has))?[ =]{{1,2}}v?(?P<found>\d+\.\d[\w.]{{0,20}})",
              *_PAIRED.split("|")),
        error("pairs.conflict",
              r"\b(?:contextual)?versionconflict\W{1,4}(?P<name>[\w.-]{1,60}) (?P<found>\d[\w.+]{0,30})[^\n]{0,160}requirement\.parse\('(?P<wants>[^'\n]{1,80})'",
              "versionconflict", covers=PAIR_COVERS),
        error("tf.directml", r"tfdml_plugin\.dll not found|platform is already registered with name: \W?DML",
              "tfdml_plugin", "already registered with name", covers=("windows.", "loader.", "title.")),
        error("pairs.jaxlib", r"jaxlib (?:is )?version (?P<installed>\d[\d.]*\d)[^\n]{0,60}(?:requires version|incompatible with jax version) ?[<>=]* ?(?P<wanted>\d[\d.]*\d)",
              "jaxlib is version", "incompatible with jax version", covers=PAIR_COVERS),
        error("pairs.jax_part", r"module '(?P<name>jax_cuda\d+_plugin\.\w+|jaxlib\.\w+|jax\._src\.lib[\w.]*)' has no attribute '(?P<what>\w+)'"
              r"|cannot import name '(?P<what2>\w+)' from '(?P<name2>jaxlib[\w.]*|jax\._src\.lib[\w.]*|jax_cuda\d+_plugin[\w.]*)'",
              "has no attribute '", "cannot import name '", covers=PAIR_COVERS),
        error("pairs.required", r"(?P<name>[\w.-]{1,60})(?P<wants>[<>=!~][\w.,<>=!~*]{0,60}) is required for a normal functioning of this module, but found (?P<found>\S{1,80})",
              "for a normal functioning", covers=PAIR_COVERS),
        error("pairs.pip_missing",
              r"(?P<by>[\w.-]{1,60}) (?P<by_version>\d[\w.+]{0,30}) requires (?P<name>[\w-][\w.-]{0,60}), which is not installed",
              "which is not installed", covers=PAIR_COVERS),
        error("pairs.keras", r"no module named '?keras\.src\.engine|keras cannot be imported\. check that it is installed|__internal__' has no attribute 'register_\w+'"
              r"|installed version of keras is keras 3, but|no module named '?(?:tensorflow\.)?keras\.(?:engine|utils\.generic_utils|layers\.experimental)",
              "keras.src.engine", "keras cannot be imported", "register_load_context", "keras is keras 3",
              "keras.engine", "keras.utils.generic", "keras.layers.exp", covers=PAIR_COVERS),
        error("pairs.scipy", r"module 'scipy[\w.]{0,60}' has no attribute '(?P<what>\w{1,60})'"
              r"|cannot import name '(?P<what2>\w{1,60})' from 'scipy\.", "'scipy", covers=PAIR_COVERS),
        error("pairs.tf_numpy", r"unable to convert function return value to a python type! the signature was", "unable to convert function return", covers=PAIR_COVERS),
        error("pairs.between",
              r"cannot import name '(?P<what>\w{1,80})' from '(?P<name>[\w.]{1,120})' \((?P<path>[^)\n]{0,200}[/\\](?:site"
              r"|dist)-packages[/\\][^)\n]{1,200})\)", "cannot import name '", covers=("python.import_name",
            "python.exception")),
        error("triton.part", r"no module named '?triton\. ?(?P<name>[a-z]\w*)", "named 'triton.", "named triton.", covers=("triton.missing", "python.module")),
    ),
    clues=(
        ("jax.ffi_missing", 3.2, "JAX asks for {name}, which the plugin does not bring: they may be of different releases"),
        ("packages.syntax", 2.2, "a file of the installed package is written for another Python than this one", by_package),
        ("said.release_file", 4.2, "it looks for its part for PyTorch {wants}, which this release of it does not have"),
        ("said.engine_elsewhere", 2.0, "the engine was built elsewhere"),
        ("said.package_older", 4.0, "{name} is of an older release than is asked for", no(line(_AT_MOST))),
        ("said.package_older", 4.0, "{name} is of a newer release than is taken", line(_AT_MOST)),
        ("remark.needs", 4.8, "{by} {by_version} asks for {name}{wants}, and another release of it is installed"),
        ("remark.pair", 4.4, "{by} {by_version} and {name} {found} are releases that do not fit", no(with_("remark.release"))),
        ("pairs.conflict", 5.0, "{wants} is asked for, and {name} {found} is installed"),
        ("tf.directml", 5.4, "DirectML's plug-in and this TensorFlow do not go together"),
        ("packages.no_match", 4.4, "another package demands a release of {package} that the index does not have", all_of(line(r"extra =="), no(line(r"from versions: none")))),
        ("packages.in_part", 3.2, "{by} asks for {part}, which this {name} lacks: they may be of different releases", field("by", ".")),
        ("pairs.cython", 4.2, "two compiled packages are of releases that do not fit: one calls the other by another signature"),
        ("triton.missing", 3.2, "PyTorch for Linux brings a Triton of its own: this one is gone, of another release, or hidden by another", unix_stack),
        ("triton.part", 4.4, "the Triton that is installed lacks a part that this PyTorch wants: they are of different times"),
        ("pairs.jaxlib", 5.4, "jaxlib {installed} is installed, and this jax goes with {wanted}"),
        ("pairs.plugin", 5.4, "jaxlib {wanted} needs {name} of the same version, but {installed} is installed"),
        ("pairs.jax_part", 4.4, "parts of JAX are of different releases"),
        ("pairs.required", 5.2, "{name}{wants} is asked for, and {found} is installed"),
        ("pairs.pip", 3.8, "{by} {by_version} asks for {name}{wants}; {found} is installed"),
        ("pairs.pip_missing", 2.8, "{by} {by_version} asks for {name}, which is not installed"),
        ("pairs.keras", 4.2, "Keras and TensorFlow, or what is built on them, are of releases that do not fit"),
        ("pairs.scipy", 4.0, "SciPy is of another release than the package that uses it expects"),
        ("pairs.tf_numpy", 3.8, "TensorFlow cannot hand its own type to NumPy: it was compiled for another NumPy"),
        ("pairs.between", 4.0, "{name} is of another release than the installed package that asks it for {what}", by_package),
        ("pairs.between", 2.4, "{name} has no {what}: it is of another release than whoever asks expects"),
        ("jax.plugin_abi", 4.4, "the plug-in and jaxlib are of different releases"),
        ("python.protobuf", 4.8, "the installed protobuf version does not work with code that was generated for another protobuf version"),
        ("python.numpy_abi", 4.6, "a module was compiled against NumPy 1 and meets NumPy 2, or the other way round"),
        ("python.numba_numpy", 3.6, "Numba and NumPy are of releases that do not fit"),
        ("python.keras", 2.0, "Keras versions do not fit"),
        ("tf.addons", 2.6, "the add-on and TensorFlow are of releases that do not fit"),
        ("torch.different_cuda", 1.6, "PyTorch and {what} were compiled with different CUDA versions"),
        ("torch.namespace", 1.4, "the operators of {name} were not loaded: it may be of another release"),
    ),
    ladder=agreeing_releases,
    remedies=(
        meant("DirectML's plug-in goes with TensorFlow 2.10 alone, and once: remove every TensorFlow and the plug-in, delete what is left in site-packages\\tensorflow-plugins, then install the pair (Python 3.7 to 3.10)",
              "pip uninstall -y tensorflow tensorflow-cpu tensorflow-intel tensorflow-directml-plugin\npip install tensorflow-cpu==2.10.0 tensorflow-directml-plugin",
              said="tf.directml", safe=True),
        meant(on.in_linux("install a PyTorch and a Triton that belong together: the newest of both"), on.linux("pip install -U torch triton"), said="triton.part", safe=True),
        meant(on.in_windows("install a PyTorch and a Triton that belong together: the newest of both, in that environment"),
              "pip install -U torch triton-windows", said="triton.part", safe=True),
        meant("Install NumPy 1, which the module was compiled against; or a release of the module for NumPy 2",
              'pip install "numpy<2"', said="python.numpy_abi python.numba_numpy", safe=True),
        meant("Install an older protobuf, which the generated code was made for; or a newer release of the package", 'pip install "protobuf<4"', said="python.protobuf", safe=True),
        meant("Keras 2 for a program or package that was written for it", "pip install tf-keras && export TF_USE_LEGACY_KERAS=1", said="pairs.keras python.keras", safe=True),
        meant("Or install a SciPy of the time of the package that uses it", 'pip install "scipy<1.13"', said="pairs.scipy", safe=True),
        meant("Install what the message asks for, in one command with the package that asks, so that pip keeps both", said="pairs.required pairs.pip pairs.pip_missing"),
        meant("Check every contradiction in the environment", "pip check", safe=True, look=True),
        meant("Compare what is installed with gpuwhy check: it also finds what pip check cannot see", "gpuwhy check", safe=True, look=True),
    ),
    admitted_by=(*UNRESOLVED, *NO_IMPORT, *LEFT_ASIDE),
    made=_made,
    named=_named,
)  # fmt: skip
