"""An image tag that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import containers, image_tags
from gpuwhy.lint.scope import Scope, base_of
from gpuwhy.lint.sheet import Image, Workload
from gpuwhy.model.lint import Edit, Mistake, Rule, Severity
from gpuwhy.model.plan import Machine

RULE = Rule("image-tag", "error", "an image tag that does not exist")


def check(scope: Scope) -> Iterator[Mistake]:
    """The image that a stage starts from."""
    image = scope.environment.image
    if image:
        yield from _wrong(image, scope.base)


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """The image that is started."""
    if work.image and "@" not in work.image.text:
        yield from _wrong(work.image, base_of(work))


def _wrong(image: Image, base: containers.Base) -> Iterator[Mistake]:
    if base.family == "cuda" and base.untagged:
        text = f"image {image.text}: nvidia/cuda has no tag latest, so the pull fails"
        fix = "name a version, such as nvidia/cuda:12.6.3-base-ubuntu24.04"
        yield RULE.mistake(image.place, text, containers.NO_LATEST, fix)
        return
    found = image_tags.missing(image.text)
    if found:
        ends = "" if found.stale else ", so the pull fails"
        severity: Severity | None = "warning" if found.stale else None
        path = image.text.rpartition(":")[0]
        sure = "…" not in found.instead and " " not in found.instead
        edit = Edit(image.text, f"{path}:{found.instead}") if sure else None
        text, fix = (
            f"image {image.text}: {found.text}{ends}",
            f"write {path}:{found.instead}" if sure else f"write {found.instead}",
        )
        yield RULE.mistake(image.place, text, found.source, fix, severity, edit)
