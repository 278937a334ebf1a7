"""An image tag that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import Scope, base_of
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("image-tag", "error", "an image tag that does not exist")


def check(scope: Scope) -> Iterator[Mistake]:
    """nvidia/cuda without a tag."""
    image = scope.environment.image
    if image and scope.base.family == "cuda" and scope.base.untagged:
        text = f"image {image.text}: nvidia/cuda has no tag latest, so the pull fails"
        yield RULE.mistake(
            image.place,
            text,
            containers.NO_LATEST,
            "name a version, such as nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04",
        )


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """nvidia/cuda without a tag."""
    base = base_of(work)
    if work.image and base.untagged and "@" not in work.image.text:
        text = f"image {work.image.text}: nvidia/cuda has no tag latest, so the pull fails"
        yield RULE.mistake(
            work.image.place,
            text,
            containers.NO_LATEST,
            "name a version, such as nvidia/cuda:12.6.3-base-ubuntu24.04",
        )
