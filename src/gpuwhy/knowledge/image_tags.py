"""Image tags that cannot be pulled: removed by their makers, or never published."""

import re

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import releases
from gpuwhy.knowledge.tables import load

_PYTORCH = re.compile(r"(?P<version>(?P<minor>\d+\.\d+)(\.\d+)?)-cuda(\d+(?:\.\d+)?)-cudnn(\d+)")


class Tag(msgspec.Struct, frozen=True):
    """Why a tag does not exist, what to write instead, and how that is known."""

    text: str
    instead: str
    source: Source
    stale: bool = False  # it can be pulled, and stands still


class Wrong(msgspec.Struct, frozen=True):
    """Tags that no image has, by their form; the expressions' groups fill both texts."""

    image: str
    tag: str
    text: str
    instead: str
    source: str
    stale: bool = False


class Table(msgspec.Struct, frozen=True):
    """image_tags.json."""

    gone: tuple[tuple[str, str, Source], ...]  # of nvidia/cuda: versions, what is left
    wrong: tuple[Wrong, ...]
    newest_patch: dict[str, int]
    ubuntus: dict[str, tuple[str, ...]]  # CUDA releases with cuDNN: the Ubuntus of those
    without_cudnn: dict[str, str]
    torch: dict[str, tuple[str, ...]]  # PyTorch's release: the CUDA releases of its images
    sources: dict[str, Source]


def missing(text: str) -> Tag | None:
    """Why an image cannot be pulled by its tag; None where nothing is known against it."""
    path, _, tag = text.partition("@")[0].partition(":")
    image = path.removeprefix("docker.io/")
    if "$" in text or "{" in text:
        return None
    if image in ("nvidia/cuda", "nvcr.io/nvidia/cuda"):
        return _cuda(tag)
    table = load("image_tags.json", Table)
    for row in table.wrong:
        if (named := re.fullmatch(row.image, image)) and (found := re.match(row.tag, tag)):
            fill = {"image": image} | named.groupdict() | found.groupdict("")
            said = row.text.format(**fill), row.instead.format(**fill)
            return Tag(*said, table.sources[row.source], row.stale)
    if image == "pytorch/pytorch":
        return _pytorch(tag)
    return _tensorflow(tag) if image == "tensorflow/tensorflow" else None


def _cuda(tag: str) -> Tag | None:
    found = re.match(r"(\d+(?:\.\d+)*)(?:-(cudnn\d*))?", tag)
    if not found:
        return None
    version, cudnn, table = found[1], found[2] or "", load("image_tags.json", Table)
    for pattern, left, source in table.gone:
        if re.fullmatch(pattern, version):
            text = f"nvidia/cuda has removed its tags of CUDA {version}"
            return Tag(text, _written(tag, version, left), source)
    parts = numbers(version)
    minor = ".".join(str(n) for n in parts[:2])
    newest = table.newest_patch.get(minor)
    if newest is not None and (len(parts) == 2 or parts[2:] > (newest,)):
        last = f"{minor}.{newest}"
        text = f"nvidia/cuda names its tags of CUDA {minor} with three numbers"
        if len(parts) > 2:
            text = f"CUDA {version} does not exist: {last} is the last {minor}"
        return Tag(text, _written(tag, version, last), table.sources["releases"])
    ubuntu, listed = re.search(r"ubuntu(\d\d\.\d\d)", tag), table.ubuntus.get(version)
    if ubuntu and listed and ubuntu[1] not in listed:
        text = f"nvidia/cuda has CUDA {version} for Ubuntu {' and '.join(listed)} alone"
        return Tag(text, tag.replace(ubuntu[1], listed[-1]), table.sources["hub"])
    if cudnn and version in table.without_cudnn:
        left = table.without_cudnn[version]
        text = f"nvidia/cuda has no images of CUDA {version} with cuDNN"
        return Tag(text, _written(tag, version, left), table.sources["hub"])
    written = "cudnn9" if parts[:2] == (12, 3) else "cudnn" if parts >= (12, 4) else "cudnn8"
    if cudnn in ("cudnn", "cudnn8") and cudnn != written:
        text = f"nvidia/cuda writes {written} in its tags of CUDA {version}"
        return Tag(text, tag.replace(cudnn, written), table.sources["cudnn"])
    return None


def _written(tag: str, version: str, left: str) -> str:
    """The same tag for another release, where that one has its parts."""
    if left >= "12.3":
        tag = re.sub(r"-cudnn8?(?=-)", "-cudnn9" if left == "12.3.2" else "-cudnn", tag)
    same = version[:2] == left[:2] and "." in version
    return left + tag[len(version) :] if same else left + "-…"


def _pytorch(tag: str) -> Tag | None:
    table, found = load("image_tags.json", Table), _PYTORCH.match(tag)
    built = table.torch.get(found["minor"]) if found else None
    if not found or not built:
        return None
    minor, cuda, cudnn = found["minor"], found[4], found[5]
    older = (one for one in built if numbers(one) <= numbers(cuda))
    near = max(older, key=numbers, default=built[0])
    old = numbers(minor) < (1, 7) or near == "10.2"
    wanted = "9" if numbers(minor) >= (2, 4) else "7" if old else "8"
    if cuda in built and cudnn == wanted:
        return None
    text = f"pytorch/pytorch has PyTorch {minor} for CUDA {cuda} with cuDNN {wanted}"
    if cuda not in built:
        text = f"pytorch/pytorch has PyTorch {minor} for CUDA {' and '.join(built)} alone"
    instead = f"{found['version']}-cuda{near}-cudnn{wanted}{tag[found.end() :]}"
    return Tag(text, instead, table.sources["torch"])


def _tensorflow(tag: str) -> Tag | None:
    found, known = re.match(r"(\d+\.\d+\.\d+)(?![\w.])", tag), releases.family("tensorflow")
    if not found or not known:
        return None
    version, every = found[1], {row.version for row in known.rows}
    stable = sorted((v for v in every if re.fullmatch(r"[2-9]\.\d+\.\d+", v)), key=numbers)
    newer = [one for one in stable if numbers(one) > numbers(version)]
    if version in stable or not newer or numbers(stable[0]) >= numbers(version):
        return None
    source = load("image_tags.json", Table).sources["tensorflow"]
    return Tag(f"there is no TensorFlow {version}", newer[0] + tag[len(version) :], source)
