"""A package that is compiled while it is installed and needs torch for that, before torch is there."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from gpuwhy.knowledge.source_builds import KNOW, NEED_TORCH, OPERATORS, REPOSITORIES, WITHOUT
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command, Pin, holds_only
from gpuwhy.lint.versions import allows, together
from gpuwhy.model.lint import Mistake, Place, Rule, Severity
from gpuwhy.model.version import at_least, numbers

RULE = Rule("torch-at-build", "error", "a package that needs torch while it is built, before torch is there")
_KINDS = ("requirements", "dockerfile", "script", "cog", "conda", "workflow", "modal", "skypilot", "pyproject")
_TOLD = re.compile(r"no[-_]build[-_]isolation|extra-build-dependencies|match-runtime")
_BESIDE = ("README.md", "readme.md", "README.rst", "INSTALL.md", "install.sh", "setup.sh", "Makefile", "Dockerfile")


def check(scope: Scope) -> Iterator[Mistake]:
    """Such a package in one step with torch, or built apart from an installed torch."""
    if scope.kind not in _KINDS or scope.base.framework == "torch" or _is_chosen(scope) or _settled_elsewhere(scope):
        return
    yield from _without_operators(scope)
    for pin in filter(_is_compiled, scope.pins):
        torch = next((p for p in scope.pins if p.name in ("torch", "pytorch") and together(p, pin)), None)
        why = _why(scope, pin, torch) if torch and torch.origin == "pip" else _apart(scope, pin)
        if why and not _told(scope):
            text = f"{pin.name} has no wheel, and its setup.py imports torch: {why}"
            severity: Severity | None = "warning" if scope.kind in ("requirements", "pyproject") else None
            yield RULE.mistake(pin.place, text, KNOW, _fix(pin), severity)


def _is_chosen(scope: Scope) -> bool:
    """Whether it is an extra of a project, which who asks for it may do with torch in place, or a lock."""
    return scope.kind == "pyproject" and bool(scope.environment.part or scope.environment.locked)


def _without_operators(scope: Scope) -> Iterator[Mistake]:
    """OpenMMLab's mmcv in one step with torch: it is built before, without its operators."""
    for pin in scope.pins:
        named = pin.installed and pin.name in OPERATORS and bool(pin.version) and not _has_wheels(pin)
        if not named or not allows(OPERATORS[pin.name], pin.version) or _told(scope) or _is_told_of_mim(scope):
            continue
        torch = next((p for p in scope.pins if p.name == "torch" and together(p, pin) and p.step == pin.step), None)
        if torch:
            text = (
                f"{pin.name} {pin.version} has no wheel here and is built before the torch of line {torch.place.line}"
            )
            fix = (
                f"install torch first, then mim install {pin.name}=={pin.version}, or with -f download.openmmlab.com/…"
            )
            yield RULE.mistake(
                pin.place, f"{text} is there: without its operators (mmcv._ext)", WITHOUT, fix, "warning"
            )
            return


def _is_told_of_mim(scope: Scope) -> bool:
    folder = posixpath.dirname(scope.environment.path)
    paths = (posixpath.join(f, name) for f in {folder, posixpath.dirname(folder)} for name in _BESIDE)
    return any(re.search(r"mim install|openmmlab\.com/mmcv", scope.read(path) or "") for path in paths)


def _apart(scope: Scope, pin: Pin) -> str:
    """A build that sees no torch, wherever torch comes from: by a pip that isolates every build."""
    if _has_no_torch(scope):
        return "nothing here installs torch"
    if scope.kind == "conda":
        return "pip builds it apart from conda's torch, and sees none" if _is_of_today(scope) else ""
    commands = scope.environment.commands
    command = commands[pin.step - 1] if 0 < pin.step <= len(commands) else None
    told = command is None or "--no-build-isolation" in command.words
    return (
        "" if told or not _has_new_pip(scope, pin) else "a build of its own sees no torch without --no-build-isolation"
    )


def _is_of_today(scope: Scope) -> bool:
    """Whether an environment of conda's holds torch and gets the newest pip: neither pip nor an old Python is named."""
    pip, torch = scope.names.get("pip"), scope.names.get("pytorch")
    old = any(numbers(python)[:2] < (3, 10) for python in scope.environment.pythons)
    pinned = pip is not None and bool(pip.specifier)
    return torch is not None and torch.origin == "conda" and bool(scope.environment.pythons) and not old and not pinned


def _has_no_torch(scope: Scope) -> bool:
    """Whether a Dockerfile's stage starts without torch, and nothing that it runs may bring it."""
    stage = scope.environment
    plain = scope.kind == "dockerfile" and scope.base.family in ("cuda", "python", "distro") and not stage.copies
    bare = not stage.includes and not stage.conda_files and not stage.carried and not stage.includes_unknown
    known = bare and all(pin.reference or pin.name in _NO_BRINGERS for pin in scope.pins)
    others = any(re.search(r"torch|conda|poetry|uv |install (-e )?\.|\.sh\b|setup\.py", c.text) for c in stage.commands)
    return plain and known and not others


_NO_BRINGERS = frozenset(
    {"pip", "setuptools", "wheel", "numpy", "ninja", "cython", "packaging", "opencv-python", "tqdm"}
)


def _has_new_pip(scope: Scope, pin: Pin) -> bool:
    """Whether pip is today's (25.3 and newer isolate every build): brought by conda, or upgraded before."""
    texts = [command.text for command in scope.environment.commands[: pin.step - 1]]
    old = any(numbers(python)[:2] < (3, 9) for python in scope.environment.pythons)
    return not old and any(_NEW_PIP.search(text) for text in texts)


_NEW_PIP = re.compile(
    r"(conda|mamba) create\b(?!.*python=3\.[678]\b)|pip[\d.]* install .*(-U|--upgrade)\b.*\bpip\b(?!=)"
)


def _settled_elsewhere(scope: Scope) -> bool:
    """Whether a lock or several branches decide what is installed, or an image that may have torch already."""
    return scope.environment.locked or scope.environment.forked or scope.over_unknown


def _is_compiled(pin: Pin) -> bool:
    """Whether a package is compiled where it is installed, and needs torch for that."""
    named = pin.name in NEED_TORCH if not pin.reference else pin.name in REPOSITORIES and not pin.version
    return pin.origin == "pip" and not pin.optional and named and not _has_wheels(pin) and not pin.local


def _has_wheels(pin: Pin) -> bool:
    """Whether a page of files is named that may have it built."""
    return any(index.role == "links" or not holds_only(index.url) for index in pin.indexes)


def _why(scope: Scope, pin: Pin, torch: Pin) -> str:
    if pin.step == torch.step:
        return f"it is built before the torch of line {torch.place.line} is installed"
    if torch.step > pin.step:
        return f"torch comes only on line {torch.place.line}"
    command = scope.environment.commands[pin.step - 1] if 0 < pin.step <= len(scope.environment.commands) else None
    isolated = command is not None and "--no-build-isolation" not in command.words and _is_isolating(scope, command)
    return "a build of its own sees no torch without --no-build-isolation" if isolated else ""


def _is_isolating(scope: Scope, command: Command) -> bool:
    """uv always; pip for these packages where Python brings no setuptools, since 3.12."""
    uv = command.words[:1] == ("uv",)
    pythons = scope.environment.pythons
    at = scope.environment.commands.index(command) + 1
    return (
        uv
        or _has_new_pip(scope, Pin("", Place("", 0), step=at))
        or (bool(pythons) and all(at_least(python, "3.12") for python in pythons))
    )


def _told(scope: Scope) -> bool:
    """Whether this file or one beside it tells the way that works."""
    if "PIP_NO_BUILD_ISOLATION" in scope.environment.variables:
        return True
    if scope.kind == "requirements" and scope.repository.says(_TOLD):
        return True
    folder = posixpath.dirname(scope.environment.path)
    above = posixpath.dirname(folder)
    paths = [scope.environment.path, *(posixpath.join(f, name) for f in {folder, above} for name in _BESIDE)]
    return any(_TOLD.search(scope.read(path) or "") for path in paths if scope.kind != "dockerfile" or path == paths[0])


def _fix(pin: Pin) -> str:
    if pin.name.startswith("torch-"):
        return f"add -f https://data.pyg.org/whl/torch-VERSION+cuXXX.html, where {pin.name} has wheels for each torch"
    return f"install torch first, then: pip install {pin.name}{pin.specifier} --no-build-isolation"
