"""Commands for fixes: the target's own Python, its own installer, and words that a shell takes literally."""

from __future__ import annotations

import re
import shlex

from gpuwhy.model.fact import Known
from gpuwhy.model.facts import Facts

_PLAIN = re.compile(r"[\w.+\-\[\],=<>!~]+")


def word(path: str) -> str:
    """A path as one shell word; a leading ~ stays open for the shell to expand."""
    if path.startswith("~/"):
        return "~/" + shlex.quote(path[2:]) if len(path) > 2 else "~/"
    return shlex.quote(path)


def requirement(text: str) -> str:
    """A pip requirement as one shell word, in double quotes, which Windows' shells take too."""
    return f'"{text}"' if _PLAIN.fullmatch(text) else shlex.quote(text)


def install(facts: Facts, *wanted: str, because_of: str = "", again: bool = False) -> str:
    """Install into the target; `again` rewrites the files of just these packages even if they seem to be there."""
    words = " ".join(requirement(one) for one in wanted)
    if _with_uv(facts, because_of):
        flags = " --reinstall --no-deps --no-cache" if again else ""
        return f"uv pip install --python {_python(facts)}{flags} {words}"
    flags = " --force-reinstall --no-deps --no-cache-dir" if again else ""
    return f"{_python(facts)} -m pip install{flags} {words}"


def uninstall(facts: Facts, *names: str) -> str:
    """Remove distributions from the target."""
    listed = " ".join(shlex.quote(name) for name in names)
    if _with_uv(facts, names[0]):
        return f"uv pip uninstall --python {_python(facts)} {listed}"
    return f"{_python(facts)} -m pip uninstall -y {listed}"


def _python(facts: Facts) -> str:
    interpreter = facts.target.interpreter
    return word(interpreter.value.path) if isinstance(interpreter, Known) else "python"


def _with_uv(facts: Facts, distribution: str) -> bool:
    """An environment that uv made often has no pip; who installed the package can install it again."""
    installed = facts.target.distributions
    if not isinstance(installed, Known):
        return False
    by = [d.installer.value for d in installed.value if d.name == distribution and isinstance(d.installer, Known)]
    return by[:1] == ["uv"]
