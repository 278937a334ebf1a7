"""Images and services: tags that are gone, another CUDA, old keys, no request for a GPU."""

import re
from collections.abc import Iterator

from gpuwhy.choose.demand import Demand
from gpuwhy.facts.version import at_least, major_minor
from gpuwhy.knowledge import image_tags, images
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.check.builds import image_driver
from gpuwhy.lint.mistakes import Edit, Mistake, Place
from gpuwhy.lint.rules import pattern
from gpuwhy.lint.scope import Scope, told
from gpuwhy.lint.sheet import Pin, Word, Workload
from gpuwhy.lint.versions import Release, major

_CURES = pattern("images.cures", re.IGNORECASE)
_OF_OTHERS = pattern("images.of_others")
_OLD_FILE = pattern("images.old_file")
"""The revoked key, and packages that bring it."""


def tag(scope: Scope) -> Iterator[Mistake]:
    """The image that a stage starts from."""
    if scope.environment.image:
        yield from wrong_tag(scope.environment.image)


def wrong_tag(image: Word) -> Iterator[Mistake]:
    """An image tag that does not exist, or stands still."""
    base, place, text = images.read(image.text), image.place, image.text
    found = image_tags.missing(text) if "@" not in text else None
    if base.family == "cuda" and base.untagged and "@" not in text:
        yield told("image-tag.latest", place, images.source("no_latest"), image=text)
    elif found:
        sure = "…" not in found.instead and " " not in found.instead
        instead = f"{text.rpartition(':')[0]}:{found.instead}" if sure else found.instead
        why = found.text if found.stale else f"{found.text}, so the pull fails"
        edit = Edit(text, instead) if sure else None
        values = {"image": text, "instead": instead, "why": why}
        level = "warning" if found.stale else ""
        yield told("image-tag", place, found.source, severity=level, edit=edit, values=values)


def base_image(scope: Scope) -> Iterator[Mistake]:
    """The CUDA image that runs, against every framework that opens the system's CUDA."""
    base, image = scope.base, scope.environment.image
    known = base.family in ("cuda", "ngc") and base.cuda and scope.environment.runs
    for pin in scope.pins if known and image else ():
        if base.family == "ngc" and pin.name != "onnxruntime-gpu":
            continue
        row = needs_system(scope, pin)
        cuda = str(row.cuda) if row and isinstance(row.cuda, str) else ""
        if not row and not scope.has_wheels("nvidia-") and "torch" not in scope.names:
            cuda = _named(pin) if base.family == "cuda" else ""
        unfit = _unfit(scope, cuda, row) if cuda else ""
        if not unfit or not image:
            continue
        if not row:
            fix = f"start from an nvidia/cuda runtime image of CUDA {cuda}"
            source = images.source("tags")
            yield told("base-image", pin, source, fix=fix, what=pin.name, unfit=unfit)
            continue
        cudnn = major(row.cudnn)
        wanted = f"cudnn{'' if cudnn >= 9 else cudnn}-" if cudnn else ""
        fix = f"start from an nvidia/cuda image with CUDA {cuda} whose tag has {wanted}runtime"
        framework = "onnxruntime" if pin.name == "onnxruntime-gpu" else "tensorflow"
        wheels = gpu_requirement(framework, framework, row.version, None) if cudnn >= 8 else ""
        fix += f', or write "{wheels}"' if "[" in wheels else ""
        level = "" if pin.is_pinned or pin.name == "tensorflow-gpu" else "warning"
        place = pin.place if "is built for CUDA" in unfit else image.place
        what, source = f"{pin.name} {row.version}", evidence_of(row, "cuda")
        yield told("base-image", place, source, fix=fix, severity=level, what=what, unfit=unfit)
        return


def needs_system(scope: Scope, pin: Pin) -> Release | None:
    """The release that opens CUDA libraries which nothing in Python brings."""
    if not pin.installed or scope.has_wheels("nvidia-cudnn", "nvidia-cublas"):
        return None
    if pin.name in ("tensorflow", "tensorflow-gpu") and "and-cuda" not in pin.extras:
        return scope.taken(pin)
    if pin.name == "onnxruntime-gpu" and not pin.extras and not scope.environment.other_index:
        return None if {"torch", "pytorch"} & scope.names.keys() else scope.taken(pin)
    return None


def _named(pin: Pin) -> str:
    """The CUDA that a package's name or release says, and that it does not bring."""
    if "ctk" in pin.extras or not pin.installed:
        return ""
    local = {"cuda", "cuda11-local", "cuda12-local", "cuda11-cudnn82", "cuda11-cudnn86"}
    if pin.name == "jax" and local & set(pin.extras):
        return "12" if "cuda12-local" in pin.extras else "11"
    found = re.match(r"(?:cupy-cuda|mxnet-cu|dgl-cu)(1\d|[7-9](?=\d))", pin.name)
    built = re.search(r"\.post(\d\d)\d$", pin.version) if pin.name == "paddlepaddle-gpu" else None
    return found[1] if found else built[1] if built else ""


def _unfit(scope: Scope, cuda: str, row: Release | None) -> str:
    """Why the image's CUDA or cuDNN is not the one that is wanted; "" where it is."""
    base, apt = scope.base, scope.environment.apt
    by_apt = any(images.from_apt("library", one) for one in apt)
    if by_apt or scope.by_conda("cudatoolkit", "cudnn"):
        return ""
    same = major(base.cuda) == major(cuda)
    if row and not at_least(cuda, "11"):
        same = major_minor(base.cuda) == major_minor(cuda)  # no minor release stands for another
    if not same:
        return f"is built for CUDA {cuda}; image {base.name} holds CUDA {base.cuda}"
    if base.variant == "base":
        return f"opens cuBLAS and others of CUDA {cuda}; image {base.name} holds libcudart alone"
    if not row or not isinstance(row.cudnn, str) or _has_cudnn(scope, row):
        return ""
    if base.cudnn == "none":
        return f"opens cuDNN {major(row.cudnn)}; image {base.name} holds none"
    if base.cudnn and base.cudnn != str(major(row.cudnn)):
        return f"is built for cuDNN {row.cudnn}; image {base.name} holds cuDNN {base.cudnn}"
    return ""


def _has_cudnn(scope: Scope, row: Release) -> bool:
    """Whether apt brings cuDNN, or another framework does, where TensorFlow looks since 2.15."""
    if any(images.from_apt("cudnn", one) for one in scope.environment.apt):
        return True
    jax, torch = scope.by_pip("jax"), scope.by_pip("torch")
    brought = torch is not None and torch.variant != "cpu"
    brought = brought or any(one.startswith("cuda1") for one in (jax.extras if jax else ()))
    return brought and row.name.startswith("tensorflow") and at_least(row.version, "2.15")


def old_key(scope: Scope) -> Iterator[Mistake]:
    """apt-get update with NVIDIA's key of before April 2022; that key, fetched again."""
    commands, path = scope.environment.commands, scope.environment.path
    cured = any(re.search(r"3bf863cc|cuda-keyring", one.text, re.IGNORECASE) for one in commands)
    for command in commands if not cured else ():
        words = zip(command.words, command.lines, strict=True)
        found = next(
            ((_OLD_FILE.search(word), n) for word, n in words if _OLD_FILE.search(word)), None
        )
        if found and found[0] and command.words[0] != "rm":
            file = found[0][0].rsplit("/", 1)[-1]
            yield told("old-apt-key.file", Place(path, found[1]), file=file)
    for command in commands if _is_old(scope) else ():
        if _CURES.search(command.text):
            return
        if re.match(r"apt(-get)?( -\S+)* update", command.text):
            yield told("old-apt-key", scope.at(command.line), image=scope.base.name)
            return


def _is_old(scope: Scope) -> bool:
    """Images that were built before the change and never again."""
    base, image = scope.base, scope.environment.image
    tagged = base.name.rpartition(":")[2]
    if base.family == "tensorflow":
        old = bool(base.version) and not at_least(base.version, "2.9")
        return bool(base.gpu) and (old or ("py3" in tagged and not base.version))
    if base.family == "pytorch" and base.version:
        old = at_least(base.version, "1.2") and not at_least(base.version, "1.12")
        return base.variant == "devel" and old
    own = ("nvidia/cuda:", "docker.io/nvidia/cuda:", "nvcr.io")
    if base.family == "cuda" and not base.name.startswith(own):
        return "ubuntu" in tagged and not at_least(base.cuda, "11.3")  # copies of what is gone
    return bool(image and _OF_OTHERS.search(image.text))


_OTHER = pattern("requests.other")
_IDLE = pattern("requests.idle")
_BY_VARIABLE = "and gets one only where Docker's default runtime is nvidia"
_HIDDEN = ("", "-1", "none", "void", "NoDevFiles")


def service(work: Workload, target: Demand | None) -> Iterator[Mistake]:
    """Everything about one service of a compose file."""
    if work.image:
        yield from wrong_tag(work.image)
        yield from image_driver(target, work.image) if target else ()
    devices = work.variables.get("CUDA_VISIBLE_DEVICES")
    idle = bool(devices and devices.text in _HIDDEN) or _IDLE.search(work.command)
    values = [*work.arguments.values(), *(one.text for one in work.variables.values())]
    whole = " ".join((work.name, *work.origin, *values)).lower()
    says_cpu = re.search(r"(^|[^a-z])cpu([^a-z]|$)", whole)
    visible = work.variables.get("NVIDIA_VISIBLE_DEVICES")
    hides = bool(visible and visible.text in _HIDDEN)
    if work.request or work.partial or work.exempt or idle or says_cpu or hides:
        return
    base = images.read(work.image.text) if work.image else images.Base("")
    built = images.read(work.built_on) if work.built_on else base
    words = f"{work.name} {' '.join(work.origin)}".lower()
    named = re.search(r"(^|[^a-z])(gpu|cuda)([^a-z]|$)", words) and not _OTHER.search(words)
    place, level, why = work.place, "warning", ""
    if work.image and base.gpu:
        asks = _BY_VARIABLE if visible else "and asks for none"
        why = f"runs {work.image.text}, an image for GPUs, {asks}"
        place, level = work.image.place, "warning" if visible else ""
    elif built.gpu and not work.image:
        why = f"is built on {work.built_on}, an image for GPUs, and asks for none"
    elif named and not visible and base.gpu is None:
        why = "is for a GPU, by its name, its image's or its Dockerfile's, and asks for none"
    if why:
        source = images.source("request")
        yield told("no-gpu-request", place, source, severity=level, name=work.name, why=why)
