"""A key of cog.yaml that Cog refuses."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.yamls import BadYamlError, Map, documents
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("cog-key", "error", "a key of cog.yaml that Cog refuses")

_KNOW = source("replicate/cog, pkg/config/data/config_schema_v1.0.json", '"additionalProperties": false')
_OF_BUILD = (
    "gpu", "cuda", "cudnn", "python_version", "python_packages", "python_requirements", "system_packages",
    "pre_install",
)  # fmt: skip
"""Keys that stand below build, and nowhere else."""
_OTHERS = (
    "dockerfile", "docker", "image", "base_image", "predict", "train", "cuda_version", "cudnn_version", "gpus",
    "python", "packages", "pip_packages", "requirements", "apt", "apt_packages", "env", "commands", "post_install",
)  # fmt: skip
"""Keys that people write below build, and that no release of Cog had there."""


def check(scope: Scope) -> Iterator[Mistake]:
    """Each key that is no key of Cog's where it stands."""
    top = _top(scope) if scope.kind == "cog" else Map()
    build = top.map("build")
    for key in _OTHERS:
        if key in build:
            text = f"build.{key} is no key of cog.yaml: Cog refuses the file"
            fix = f"leave it out; below build stand {', '.join(_OF_BUILD)}, environment and run"
            yield RULE.mistake(Place(scope.environment.path, build.line_of(key)), text, _KNOW, fix)
    for key in _OF_BUILD:
        if key in top:
            text = f"{key} stands beside build, not below it: Cog refuses the file"
            yield RULE.mistake(
                Place(scope.environment.path, top.line_of(key)), text, _KNOW, f"indent {key} below build"
            )


def _top(scope: Scope) -> Map:
    try:
        found = documents(scope.read(scope.environment.path) or "")
    except BadYamlError:
        return Map()
    top = found[0] if found else None
    return top if isinstance(top, Map) else Map()
