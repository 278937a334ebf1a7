"""Installing: what beside a requirements file installs it: with which Python, over what."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping

from gpuwhy.lint import joining
from gpuwhy.lint.sheet import Read, Sheet

_FOLDERS = ("", "docker", "dockerfiles", "deploy", "build", ".devcontainer")
_NAMES = (
    "Dockerfile", "Dockerfile.gpu", "Dockerfile-gpu", "Dockerfile.cuda", "Dockerfile_gpu", "gpu.Dockerfile",
    "Dockerfile.train", "Dockerfile.inference", "Dockerfile.dev", "train.dockerfile", "train_model.dockerfile",
    "train_model_gpu.dockerfile", "cog.yaml", "install.sh", "setup.sh",
)  # fmt: skip


def sheets(asked: Mapping[str, Sheet], understand: Callable[[str, str], Sheet], read: Read) -> Iterator[Sheet]:
    """The files that install one of those asked for, joined; none that was asked for itself."""
    wanted = [path for path, sheet in asked.items() if sheet.kind == "requirements"]
    for path in dict.fromkeys(one for file in wanted for one in _beside(file)):
        text = read(path) if path not in asked else None
        if text is None or not any(posixpath.basename(file) in text for file in wanted):
            continue
        made = understand(path, text)
        joining.join(made, read)
        if any(file in environment.through for environment in made.environments for file in wanted):
            yield made


def _beside(path: str) -> Iterator[str]:
    """Where such a file may lie: in the folder of the requirements, or in the one above, by its usual names."""
    folder = posixpath.dirname(path)
    above = [] if folder in ("", ".", "/") else [posixpath.dirname(folder)]
    for root in (folder, *above):
        for below in _FOLDERS:
            for name in _NAMES:
                yield posixpath.normpath(posixpath.join(root, below, name))
