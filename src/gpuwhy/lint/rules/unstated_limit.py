"""A NumPy, protobuf or other neighbour newer than a release can use, which it does not forbid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuwhy.knowledge import asked, caps
from gpuwhy.knowledge import limits as known_limits
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.lint import ending, local_projects, pythons, solving
from gpuwhy.lint.rules import torch_replaced
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, PYTHONS, allowed, allows, parsed, together
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Edit, Mistake, Rule
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, numbers

RULE = Rule("unstated-limit", "error", "a neighbour newer than a release can use, which it does not forbid")

_NEWER = {"numpy": ("2.0.2", "2.2.6", "2.3.5"), "protobuf": ("4.25.8", "5.29.5", "6.33.0")}
_OLDER = {"numpy": ("1.16.6", "1.19.5", "1.21.6", "1.24.4", "1.26.4"), "protobuf": ("3.8.0", "3.19.6", "3.20.3")}
_NEEDS = {"numpy": (3, 9), "protobuf": (3, 7), "h5py": (3, 6)}
_TENSORFLOW = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu")
_WRITTEN_ALONE = "h5py<3"  # it comes with TensorFlow too, and matters to who loads weights
_EXPORTED = 60  # packages: an environment that somebody exported whole


class Need(NamedTuple):
    """What the release of a pin needs of a neighbour."""

    pin: Pin
    version: str
    name: str
    limit: str  # <2
    because: str
    source: Source
    pythons: tuple[str, ...]

    @property
    def title(self) -> str:
        """The package that needs it, with its release where that is known."""
        return f"{self.pin.name} {self.version}".strip()

    @property
    def requirement(self) -> str:
        """As it is written."""
        return self.name + self.limit


def check(scope: Scope) -> Iterator[Mistake]:
    """A neighbour that is written without the limit; one that comes by itself and is not written at all."""
    if scope.environment.forked or scope.environment.locked:
        return
    told: set[str] = set()
    for need in sorted(_needs(scope), key=lambda one: family(one.pin.name) is None):
        if not _can_meet(scope, need) or _is_settled(scope, need):
            continue
        others = [p for p in scope.environment.pins if p.name == need.name and together(need.pin, p)]
        if others:
            yield from _written(scope, need, others)
        elif need.requirement not in (*told, _WRITTEN_ALONE) and _comes(scope, need):
            told.add(need.requirement)
            text = f"{need.title} needs {need.requirement}, and nothing here says so: {need.because}"
            yield RULE.mistake(
                need.pin.place, text, need.source, f'add "{need.requirement}"', "warning", _added(scope, need)
            )
    yield from _at_the_end(scope, told)


def _is_settled(scope: Scope, need: Need) -> bool:
    """Whether something else decides: what is installed later, a lock; or it is no matter of GPUs."""
    if local_projects.limits(scope.environment, scope.kind, need.name, scope.read):
        return True
    return _replaced_later(scope, need) or _is_beside_the_point(scope, need) or _is_locked(scope, need.name, need.limit)


def _at_the_end(scope: Scope, told: set[str]) -> Iterator[Mistake]:
    """What one command, or the image, brings and a later one breaks by a newer neighbour."""
    found = [] if _is_open_ended(scope) else ending.ends(scope)
    for name, put in found[-1].packages.items() if found else ():
        if not scope.environment.pythons and not all(_has_wheel(name, put.version, end.python) for end in found):
            continue
        for cap in filter(_is_told_at_the_end, _known(name, put.version)):
            other, _, limit = cap.requirement.partition("<")
            past = next(ending.everywhere(found, other, f"<{limit}"), None)
            if past is None or past.pin is None or past.pin is put.pin or cap.requirement in told:
                continue
            if put.pin is None and past.pin.name != other and _is_of_image(scope, name, put.version, other):
                continue
            told.add(cap.requirement)
            text = f"{_arrival(other, past.version, past.pin)}; {name} {put.version} {_origin(put.pin)}"
            text += f" needs {cap.requirement}: {cap.because}"
            yield RULE.mistake(past.pin.place, text, cap.source, f'add "{cap.requirement}"', "warning")


def _is_told_at_the_end(cap: caps.CapRow | known_limits.Limit) -> bool:
    return cap.requirement != _WRITTEN_ALONE


def _arrival(other: str, version: str, pin: Pin) -> str:
    return f"{other} {version} comes" if pin.name == other else f"{pin.name} brings {other} {version}"


def _origin(pin: Pin | None) -> str:
    return f"(line {pin.place.line})" if pin else "of the image"


def _is_of_image(scope: Scope, name: str, version: str, other: str) -> bool:
    """Whether an image that holds a package holds what that asks for too, in a release that nobody here knows."""
    return other not in ending.of_image(scope) and other in (asked.asks(name, version) or (other,))


def _is_locked(scope: Scope, name: str, limit: str) -> bool:
    """Whether a lock beside the file, or what was compiled from it, holds the neighbour within the limit."""
    held = scope.repository.locked(name)
    return bool(held) and all(allows(limit, version) for version in held)


def _is_open_ended(scope: Scope) -> bool:
    return scope.project_unread or _is_intermediate(scope)


def _is_intermediate(scope: Scope) -> bool:
    """Whether an image is made to be built upon, or starts from one of which nobody here knows what it holds."""
    if scope.over_unknown:
        return True
    if scope.kind != "dockerfile":
        return False
    unknown = scope.environment.image is None or scope.environment.image.text.startswith("$")
    return unknown or not scope.environment.runs or scope.repository.is_built_upon


def _has_wheel(name: str, version: str, python: str) -> bool:
    return any(has_python(row, python) for row in allowed(name, f"=={version}"))


def _known(name: str, version: str) -> list[caps.CapRow | known_limits.Limit]:
    rows = [cap for cap in caps.caps(_framework(name), version) if _is_limit(cap)]
    return [*known_limits.limits(name, version), *rows]


def _is_beside_the_point(scope: Scope, need: Need) -> bool:
    """Whether the package is no matter of GPUs here: a page of gradio's for something else."""
    if _OTHERS.fullmatch(need.pin.name) is None or scope.gpu_meant:
        return False
    return not any(map(_MODELS.fullmatch, scope.names))


_OTHERS = re.compile(
    r"gradio|opencv-\S+|scikit-(image|learn)|pandas|pyarrow|faiss-cpu|pycocotools|shapely|pywavelets|numexpr|matplotlib|imgaug|h5py|scipy|statsmodels|seaborn|flask"
    r"|wandb|tensorboardx|gensim|librosa|spacy|streamlit|mlflow|onnx|bokeh|albumentations|catboost"
)
_MODELS = re.compile(
    r"torch\S*|tensorflow\S*|jax|flax|(tf-)?keras\S*|(pytorch-)?lightning|transformers|sentence-transformers|diffusers"
    r"|accelerate|peft|timm|onnxruntime-gpu|vllm|ultralytics|open-clip-torch|mmcv\S*|mmdet|fairseq|monai|kornia|deepspeed"
    r"|openai-whisper|whisperx"
)


def _replaced_later(scope: Scope, need: Need) -> bool:
    """Whether the project that is installed afterwards wants another release, and gets it."""
    if need.pin.name == "torch" and need.pin.version and need.pin.step and any(torch_replaced.check(scope)):
        return True
    later = [pin for pin in scope.project if pin.name == need.pin.name and pin.step > need.pin.step]
    return bool(need.version) and any(not allows(pin.specifier, need.version) for pin in later)


def _added(scope: Scope, need: Need) -> Edit | None:
    """In a requirements file the limit is a line of its own."""
    if (
        scope.kind != "requirements"
        or need.pin.place.path != scope.environment.path
        or not need.pin.version
        or need.pin.marker
    ):
        return None
    written = f"{need.pin.name}{need.pin.specifier}"
    return Edit(written, f"{written}\n{need.requirement}")


def _needs(scope: Scope) -> Iterator[Need]:
    for pin in scope.pins:
        if pin.origin == "conda":
            yield from _of_conda(pin)
        elif not pin.reference or pin.version:
            yield from _of_pip(scope, pin)


def _of_pip(scope: Scope, pin: Pin) -> Iterator[Need]:
    row = scope.taken(pin) or _named(pin)
    version = row.version if row else pin.version
    pythons = tuple(p for p in PYTHONS if has_python(row, p)) if row and row.platform == LINUX else ()
    pythons = (f"3.{pin.tag[3:]}",) if re.fullmatch(r"cp3\d+", pin.tag) else pythons
    known = _known(pin.name, version) if row or not family(pin.name) else [*known_limits.limits(pin.name, version)]
    for cap in filter(_of_every_order(pin), known):
        name, _, limit = cap.requirement.partition("<")
        yield Need(pin, version, name, f"<{limit}", cap.because, cap.source, pythons)


def _of_every_order(pin: Pin) -> Callable[[caps.CapRow | known_limits.Limit], bool]:
    """Of a range, what its newest release needs too: which one is taken hangs on whom an installer asks first."""
    newest = allowed(pin.name, pin.specifier) if pin.specifier and not pin.version else ()
    always = {cap.requirement for cap in _known(pin.name, newest[-1].version)} if newest else set()
    return lambda cap: not newest or cap.requirement in always


def _is_limit(cap: caps.CapRow) -> bool:
    """Whether a row limits what an installer brings; setuptools is there before, and stays as it is."""
    return "<" in cap.requirement and not cap.requirement.startswith("setuptools")


def _named(pin: Pin) -> Release | None:
    """The release of a wheel that is named by its file."""
    found = allowed(pin.name, f"=={pin.version.partition('+')[0]}") if pin.reference and pin.version else ()
    return found[-1] if found else None


def _of_conda(pin: Pin) -> Iterator[Need]:
    found = re.fullmatch(r"={1,2}([\d.]+?)(\.\*)?", pin.specifier)
    version = found[1] if found else ""
    for more in known_limits.limits(f"conda:{pin.name}", version) if version else ():
        name, _, limit = more.requirement.partition("<")
        yield Need(pin, version, name, f"<{limit}", more.because, more.source, ())


def _framework(name: str) -> str:
    return {"tensorflow-gpu": "tensorflow", "tensorflow-cpu": "tensorflow"}.get(name, name)


def _can_meet(scope: Scope, need: Need) -> bool:
    """Whether some Python has both the release and a neighbour past the limit; none of these takes Python 2."""
    if pythons.is_second(scope.environment):
        return False
    floor = _NEEDS.get(need.name) if need.requirement != "numpy<1.24" else (3, 8)
    known = scope.environment.pythons or scope.hinted or need.pythons or solving.of_frameworks(scope)
    both = [p for p in known if not need.pythons or p in need.pythons]
    return floor is None or not known or any(numbers(p)[:2] >= floor for p in both)


def _written(scope: Scope, need: Need, others: list[Pin]) -> Iterator[Mistake]:
    """The neighbour as the file has it: forced past the limit, or free to go there."""
    if any(_is_within(pin, need) for pin in others) or _held(scope, need):
        return
    other = next((pin for pin in others if not pin.limits), None)
    if other is None or other.origin != need.pin.origin or _is_kept(scope, other, need):
        return
    asked = f"{need.name}{other.specifier}" if other.specifier else f"{need.name} without a limit"
    if _forces(other, need):
        text = f"{need.title} needs {need.requirement}; {asked} is asked for: {need.because}"
        yield RULE.mistake(other.place, text, need.source, f'write "{need.requirement}"', "error")
        return
    text = f"{need.title} needs {need.requirement}; {asked} lets newer ones in: {need.because}"
    both = _joined(other, need)
    in_shell = other.step and not other.place.path.endswith((".txt", ".in"))
    written = f'"{both}"' if in_shell else both  # a shell would read the <
    edit = None if other.version else Edit(f"{other.name}{other.specifier}", written)
    fix = f'write "{need.requirement if other.version else both}"'
    yield RULE.mistake(other.place, text, need.source, fix, "warning", edit)


def _is_kept(scope: Scope, other: Pin, need: Need) -> bool:
    """Whether a neighbour may be there already, and stays because its pin lets it."""
    there = _is_intermediate(scope) or f"python3-{other.name}" in scope.environment.apt or _is_of_base(scope, other)
    judged_there = scope.kind == "requirements" and scope.environment.in_image  # with what the image holds
    return other.reference or ((there or judged_there) and not _forces(other, need))


def _is_of_base(scope: Scope, other: Pin) -> bool:
    """Whether the image of a framework may hold the neighbour, in the release of its time."""
    old = scope.base.family == "tensorflow" and not at_least(scope.base.version or "3", "2.5")
    return old and other.name == "h5py" and not any("-U" in c.words for c in scope.environment.commands)


def _joined(other: Pin, need: Need) -> str:
    return f"{other.name}{other.specifier}{',' if other.specifier else ''}{need.limit}"


def _is_within(pin: Pin, need: Need) -> bool:
    """Whether the newest that a pin allows keeps to the limit."""
    if pin.version:
        return parsed(pin.version) is None or allows(need.limit, pin.version)
    tries = (*_OLDER.get(need.name, ()), *_NEWER.get(need.name, ())) or (f"{need.limit.lstrip('<')}.99", "9999")
    return not any(allows(pin.specifier, version) for version in tries if not allows(need.limit, version))


def _forces(pin: Pin, need: Need) -> bool:
    """Whether a pin allows nothing within the limit."""
    if pin.version:
        return True
    tries = _OLDER.get(need.name, ())
    return bool(tries) and not any(allows(f"{pin.specifier},{need.limit}".strip(","), version) for version in tries)


def _tensorflow_says(scope: Scope, need: Need) -> bool:
    """TensorFlow beside an old TensorBoard has the same need, or forbids the newer protobuf itself."""
    return need.pin.name == "tensorboard" and any(name in scope.names for name in _TENSORFLOW)


def _comes(scope: Scope, need: Need) -> bool:
    """Whether the neighbour is installed without being named, and nothing that is pinned may hold it back."""
    if need.name == "mkl":
        return _mkl_comes(scope, need)
    if not is_pinned(need.pin) or scope.beside(need.name) or _may_be_there(scope, need):
        return False
    if need.name == "numpy":
        return _numpy_comes(scope, need)
    if need.name == "protobuf":
        by_conda = any(pin.origin == "conda" and _BRINGS_PROTOBUF.match(pin.name) for pin in scope.pins)
        unread = by_conda or solving.unread(scope, known_limits.CAPS_PROTOBUF)
        return not unread and _is_passed(scope, need) and not _tensorflow_says(scope, need)
    if need.name in ("torchvision", "pillow") and not list(solving.taken(scope, need.name, _pythons(scope, need))):
        return True  # sources, whose demands nobody here has read
    return _is_of_pip(scope, need) and _is_passed(scope, need)


_BRINGS_PROTOBUF = re.compile(
    r"(lib)?protobuf|tensor(board|flow)|onnx|caffe|grpc|google|opencv|mlflow|ray|wandb|streamlit|pytorch-lightning|paddle"
    r"|apache-beam|pyspark|arrow|mxnet"
)
"""conda's packages that bring its own protobuf, which then stays."""


def _is_of_pip(scope: Scope, need: Need) -> bool:
    """Whether pip alone decides a neighbour, beside conda's packages too: none of them is of its kin."""
    kin = any(pin.origin == "conda" and _OF_HUB.fullmatch(pin.name) for pin in scope.environment.pins)
    return solving.by_pip_alone(scope) or (need.name == "huggingface-hub" and not kin)


_OF_HUB = re.compile(
    r"huggingface[-_]\w+|transformers|diffusers|datasets|tokenizers|accelerate|gradio|timm|peft|evaluate"
)


def _mkl_comes(scope: Scope, need: Need) -> bool:
    """PyTorch's own channel leaves MKL open, conda-forge has the newer one; an exported environment names it."""
    channels, commands = scope.environment.channels, scope.environment.commands
    own = bool(re.match(r"py3\.\d+_(cuda|cpu)", need.pin.build))
    first = next((c for c in channels if c in ("pytorch", "conda-forge", *_WITH_OWN_MKL)), "")
    of_forge = any(re.search(r"mini(forge|mamba)|mambaforge", c.text, re.I) for c in commands)
    forge = next((c for c in channels if c in ("conda-forge", *_WITH_OWN_MKL)), "") == "conda-forge" or of_forge
    of_pytorch = own or need.pin.channel == "pytorch" or (not need.pin.build and first == "pytorch")
    return bool(need.version) and of_pytorch and forge and len(scope.pins) < _EXPORTED


_WITH_OWN_MKL = ("defaults", "anaconda", "main", "pkgs/main")
"""Channels that have a PyTorch of their own, which limits MKL."""


def _may_be_there(scope: Scope, need: Need) -> bool:
    """Whether something else may bring the neighbour, or limit it: a project, a notebook's machine, the image."""
    return (
        scope.project_limits(need.name, *_NEWER.get(need.name, ()))
        or scope.project_unread
        or _is_intermediate(scope)
        or scope.kind == "notebook"  # its machine has a NumPy already
        or bool(_FOR_A_MACHINE.search(scope.environment.path.rsplit("/", 1)[-1].lower()))
        or (scope.kind in ("dockerfile", "modal") and not scope.environment.pythons and not need.pin.tag)
        or scope.environment.includes_unknown
        or scope.environment.in_image  # judged there, with what else is installed
        or scope.base.family in ("ngc", "pytorch", "tensorflow", "aws", "framework")
    )


_FOR_A_MACHINE = re.compile(r"(^|[^a-z])(ngc|nvcr|colab|kaggle|sagemaker|databricks|jetson|l4t|jetpack)([^a-z]|$)")
"""Files for a machine that has a NumPy already, by their names."""


def _numpy_comes(scope: Scope, need: Need) -> bool:
    if not solving.by_pip_alone(scope) or solving.unread(scope, known_limits.CAPS_NUMPY):
        return False
    return _is_passed(scope, need)


def _is_passed(scope: Scope, need: Need) -> bool:
    """Whether any installer takes a neighbour past the limit on some Python that has the release."""
    found = solving.taken(scope, need.name, _pythons(scope, need), late=True, arms=need.pin.arms)
    return any(not allows(need.limit, version) for version in found)


def _held(scope: Scope, need: Need) -> bool:
    """Whether the other packages keep the neighbour within the limit on every Python."""
    found = list(solving.taken(scope, need.name, _pythons(scope, need), late=True, arms=need.pin.arms))
    return bool(found) and all(allows(need.limit, version) for version in found)


def _pythons(scope: Scope, need: Need) -> list[str]:
    return [p for p in solving.pythons(scope) if not need.pythons or p in need.pythons]
