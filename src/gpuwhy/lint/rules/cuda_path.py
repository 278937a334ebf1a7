"""A variable that leads to the folder of another CUDA than the image has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule, Severity
from gpuwhy.model.version import major_minor

RULE = Rule("cuda-path", "error", "a variable leads to the folder of a CUDA that the image does not have")

_HOMES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR", "CUDACXX", "CUDA_DIR", "CUDA_BIN_PATH")
_LISTS = ("LD_LIBRARY_PATH", "PATH", "LIBRARY_PATH", "CPATH")
_FOLDER = re.compile(r"/usr/local/cuda-(\d+\.\d+)")


def check(scope: Scope) -> Iterator[Mistake]:
    """/usr/local/cuda-11.7 in an image of CUDA 12.1, where nothing installs the other."""
    base, stage = scope.base, scope.environment
    yield from _no_folder(scope)
    if base.family not in ("cuda", "pytorch") or not base.cuda or "." not in base.cuda:
        return
    for name in (*_HOMES, *_LISTS):
        variable = stage.variables.get(name)
        for named in _FOLDER.findall(variable.value) if variable else ():
            if variable and named != major_minor(base.cuda) and not _is_made(scope, named):
                text = f"{name} leads to /usr/local/cuda-{named}; image {base.name} holds CUDA {base.cuda}"
                severity: Severity | None = "warning" if name in _LISTS else None
                yield RULE.mistake(variable.place, text, containers.TAGS, "write /usr/local/cuda", severity)
                return


def _no_folder(scope: Scope) -> Iterator[Mistake]:
    """/usr/local/cuda/lib, which no CUDA for Linux has; and /usr/local/cuda in PyTorch's runtime images."""
    base, variable = scope.base, scope.environment.variables.get("LD_LIBRARY_PATH")
    folders = re.findall(r"/usr/local/cuda[^:]*", variable.value) if variable else []
    if not variable or not folders:
        return
    bare = next((one for one in folders if re.fullmatch(r"/usr/local/cuda(-[\d.]+)?/lib/?", one)), "")
    whole = re.search(r"/lib64|targets", " ".join(folders))
    if bare and not whole and base.family in ("cuda", "distro"):
        text = f"LD_LIBRARY_PATH leads to {bare}, which CUDA for Linux does not have: its libraries are in lib64"
        yield RULE.mistake(variable.place, text, containers.TAGS, "write /usr/local/cuda/lib64", "warning")
    elif base.family == "pytorch" and base.variant == "runtime" and not scope.environment.apt:
        text = f"LD_LIBRARY_PATH leads to /usr/local/cuda; image {base.name} has none: CUDA is in PyTorch's own folder"
        yield RULE.mistake(variable.place, text, containers.TAGS, "leave it out, or take the devel image", "warning")


def _is_made(scope: Scope, named: str) -> bool:
    """Whether a command may bring that folder: an installation, a link, an archive."""
    written = re.compile(rf"cuda[-_a-z]*{named.replace('.', '[-._]')}|cuda_{named}|\.run\b|cuda-toolkit|conda")
    stage = scope.environment
    return stage.copies or any(written.search(c.text) for c in stage.commands) or any(map(written.search, stage.apt))
