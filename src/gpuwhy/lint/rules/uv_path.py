"""uv looked for where its installer no longer puts it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("uv-path", "error", "uv looked for where its installer no longer puts it")

_KNOW = source(
    "uv 0.5.0 release notes (November 2024)", "the installer puts uv into ~/.local/bin, not into ~/.cargo/bin"
)
_FETCHED = re.compile(r"astral\.sh/uv/install\.(sh|ps1)")
_OLD = re.compile(r"^(?!\s*#).*\.cargo/(bin|env)", re.MULTILINE)
_NEW = re.compile(
    r"\.local/bin|XDG_BIN_HOME|UV_INSTALL_DIR|CARGO_HOME|rustup|sh\.rustup\.rs|cargo install|\.local/share"
)


def check(scope: Scope) -> Iterator[Mistake]:
    """The newest installer, and a PATH that leads to ~/.cargo/bin alone."""
    if scope.kind not in ("dockerfile", "script", "workflow", "makefile", "gitlab"):
        return
    text = scope.read(scope.environment.path) or ""
    old = _OLD.search(text)
    if not old or not _FETCHED.search(text) or _NEW.search(text) or not re.search(r"^(?!\s*#).*\buv\b", text, re.M):
        return
    line = text.count("\n", 0, old.end()) + 1
    said = "uv's installer puts it into ~/.local/bin since 0.5.0; ~/.cargo/bin does not hold it, so uv is not found"
    yield RULE.mistake(Place(scope.environment.path, line), said, _KNOW, "write ~/.local/bin")
