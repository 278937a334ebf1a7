"""Packages or a venv of one stage, copied where another Python is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Environment, Taken
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("stage-python", "error", "packages or a venv of one stage, copied into an image with another Python")

_KNOW = source(
    "Python: site, venv", "packages are looked for under the number of the Python; bin/python of a venv is a link"
)
_NUMBERED = re.compile(r"/python(3\.\d+)(/|$)")
_PACKAGES = re.compile(r"/\.local/?$|/(\.?venv|env|virtualenv)/?$|/install/?$")
_CURED = re.compile(r"\bln -|\bcp |uv (python|sync|venv)|pyenv|conda|venv|update-alternatives|sed -i")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such copy in a stage that runs, where both Pythons are known."""
    stage = scope.environment
    if scope.kind != "dockerfile" or not stage.runs or any(_CURED.search(c.text) for c in stage.commands):
        return
    for taken in stage.taken:
        theirs, ours = _number(taken), stage.pythons[0] if len(stage.pythons) == 1 else ""
        if theirs and ours and theirs != ours:
            text = f"packages of Python {theirs} are copied into a stage that runs Python {ours}: it does not find them"
            yield _mistake(stage, taken, f"{text} ({stage.python_from})")
            return
        if ours and _is_moved(taken, scope):
            text = (
                f"the venv's python is a link to /usr/local/bin, and the Python of image {scope.base.name} is elsewhere"
            )
            yield _mistake(stage, taken, text)
            return


def _mistake(stage: Environment, taken: Taken, text: str) -> Mistake:
    return RULE.mistake(
        Place(stage.path, taken.line), text, _KNOW, "start both stages from images with the same Python"
    )


def _number(taken: Taken) -> str:
    """The Python that the copied packages are for: by the folder where they come to lie, or of their stage."""
    found = next((n for word in reversed(taken.words) if (n := _NUMBERED.search(word))), None)
    if found:
        return found[1]
    own = taken.origin.pythons
    whole = any(_PACKAGES.search(word) for word in taken.words[:-1])
    return own[0] if whole and len(own) == 1 and _fills(taken) else ""


def _fills(taken: Taken) -> bool:
    """Whether the stage installs its packages into what is copied: with --user, --prefix or by a venv."""
    texts = " ; ".join(command.text for command in taken.origin.commands)
    made = taken.words[0].rstrip("/") if taken.words else ""
    return bool(re.search(rf"--user\b|--prefix[= ]{re.escape(made)}|venv {re.escape(made)}", texts))


def _is_moved(taken: Taken, scope: Scope) -> bool:
    """Whether a venv comes from one of Docker's python images into an image of a distribution."""
    image = taken.origin.image
    python = image is not None and re.match(r"(docker\.io/)?(library/)?python:3", image.text)
    is_venv = any(re.search(r"/(\.?venv|env)/?$", word) for word in taken.words[:-1]) and _fills(taken)
    return bool(python) and is_venv and scope.base.family in ("cuda", "distro")
