"""apt in an image from before NVIDIA changed the key of its packages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule("old-apt-key", "error", "apt-get update in an image that trusts NVIDIA's key of before April 2022")

_KNOW = source("NVIDIA/cuda-repo-management issue 1, tensorflow/tensorflow issue 56085", "NO_PUBKEY A4B469963BF863CC")
_CURES = re.compile(
    r"3bf863cc|cuda-keyring|apt-key|sources\.list|allow-unauthenticated|AllowInsecure|trusted=yes", re.I
)
_AMAZON = re.compile(
    r"/(pytorch|tensorflow|mxnet)-(training|inference):.*-gpu-.*-cu(9\d|10\d|110|111)-ubuntu(16|18)\.04"
)


_OTHERS = re.compile(
    r"nvidia/cudagl:(8|9|10|11)\.\d.*ubuntu|[^/]+/[\w-]+:[\w.]+-cuda(9|10|11)\.[0-3](\.\d)?-ubuntu(16|18|20)\.04"
)
"""Images of others that start from NVIDIA's of that time: anibali/pytorch:1.8.1-cuda11.1-ubuntu20.04."""


def check(scope: Scope) -> Iterator[Mistake]:
    """The first apt-get update that nothing before it cures, or a command that fetches the revoked key itself."""
    yield from _fetched(scope)
    if not _is_old(scope):
        return
    for command in scope.environment.commands:
        if _CURES.search(command.text):
            return
        if re.match(r"apt(-get)?( -\S+)* update", command.text):
            image = scope.base.name
            text = f"apt-get update fails in {image}: it trusts NVIDIA's key of before 27 April 2022, which is revoked"
            lists = " ".join(f"/etc/apt/sources.list.d/{name}.list" for name in ("cuda", "nvidia-ml"))
            fix = f"before it RUN rm -f {lists}, or start from a newer image"
            yield RULE.mistake(Place(scope.environment.path, command.lines[0]), text, _KNOW, fix)
            return


def _fetched(scope: Scope) -> Iterator[Mistake]:
    """The key that signed the CUDA repositories before, and no word of the new one."""
    commands = scope.environment.commands
    if any(re.search(r"3bf863cc|cuda-keyring", command.text, re.I) for command in commands):
        return
    yield from _packed(scope)
    told: set[tuple[tuple[int, int], ...]] = set()
    for command in commands:
        if re.search(r"compute/cuda/repos/\S+/7fa2af80\.pub", command.text) and command.arms not in told:
            told.add(command.arms)  # once in each branch
            at = next(n for n, word in enumerate(command.words) if "7fa2af80" in word)
            text = "7fa2af80 no longer signs NVIDIA's CUDA repositories (since 27 April 2022): apt-get update fails"
            fix = "install cuda-keyring of the same repository, or fetch 3bf863cc.pub"
            yield RULE.mistake(Place(scope.environment.path, command.lines[at]), text, _KNOW, fix)


def _packed(scope: Scope) -> Iterator[Mistake]:
    """A package that sets the repository up, with the key of that time in it."""
    for command in scope.environment.commands:
        at = next((n for n, word in enumerate(command.words) if _PACKAGE.search(word)), -1)
        if at >= 0 and command.words[0] in ("wget", "curl", "dpkg", "apt", "apt-get", "aria2c"):
            text = (
                f"{command.words[at].rsplit('/', 1)[-1]} brings the key of before 27 April 2022: apt-get update fails"
            )
            fix = "install cuda-keyring of the same repository instead"
            yield RULE.mistake(Place(scope.environment.path, command.lines[at]), text, _KNOW, fix)
            return


_PACKAGE = re.compile(r"cuda-repo-(?:ubuntu|debian)\d+_\d[\w.-]*\.deb|nvidia-machine-learning-repo-\w+_[\w.-]+\.deb")


def _is_old(scope: Scope) -> bool:
    """Images that were built before the change and never again; nvidia/cuda's own were built anew.

    PyTorch's images to run on start from plain Ubuntu; apt of 16.04, which those to build on had at first, only warns.
    """
    base = scope.base
    tag = base.name.rpartition(":")[2]
    if base.family == "tensorflow":
        frozen = "py3" in tag and not base.version
        return bool(base.gpu) and (frozen or (bool(base.version) and not at_least(base.version, "2.9")))
    if base.family == "pytorch" and base.version:
        return base.variant == "devel" and at_least(base.version, "1.2") and not at_least(base.version, "1.12")
    if base.family == "cuda" and not base.name.startswith(("nvidia/cuda:", "docker.io/nvidia/cuda:", "nvcr.io")):
        return "ubuntu" in tag and not at_least(base.cuda, "11.3")  # copies of what NVIDIA has removed
    image = scope.environment.image.text if scope.environment.image else ""
    return bool(_AMAZON.search(image) or _OTHERS.search(image))
