"""What the other files of a repository say of one: its Python, its locks, its indexes.

Whatever is found here only holds findings back.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from gpuwhy.knowledge import images
from gpuwhy.lint.rules import pattern
from gpuwhy.lint.sheet import Read, holds_only
from gpuwhy.lint.versions import PYTHONS, allows

Listed = Callable[[str], Sequence[str]]
"""The paths of the repository that a path belongs to."""

_LOCK = pattern("repository.lock", re.IGNORECASE)
_PINNED = (
    r"(?<![\w.-]){}(?!\w)(?:[ \t]*==?[ \t]*(\d[\w.!+]*)|\"\nversion = \"([^\"]+)\""
    r"|\": \{{[^{{}}]{{0,6000}}\"version\": \"==([^\"]+)\"|\n[ \t]*version: [\"']?([\w.!+]+))"
)
"""A release in a lock of pip's, uv's and Poetry's, Pipenv's, conda's."""
_ADDRESS = pattern("repository.address", re.IGNORECASE)
TORCH_INDEX = re.compile(r"download\.pytorch\.org/whl|torch-backend")
_SPEAKS = re.compile(
    r"\.(sh|md|rst|txt|toml|ya?ml|conf|cfg|bat)$|makefile[^/]*$|dockerfile[^/]*$|containerfile$",
    re.IGNORECASE,
)
_DOCKERFILE = re.compile(r"dockerfile[^/]*$|(^|/)containerfile$", re.IGNORECASE)
_BOUND = pattern("repository.bound", re.MULTILINE)
_NAMED = pattern("repository.named", re.IGNORECASE)
_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)?(\S+)", re.MULTILINE | re.IGNORECASE)
_MANY, _LONG, _OF_LOCKS = 400, 60_000, 4_000_000


class Repository:
    """The files around one file."""

    def __init__(self, path: str, paths: Sequence[str], read: Read) -> None:
        self.path = path
        self._paths = paths
        self._read = read

    @cached_property
    def _above(self) -> tuple[str, ...]:
        """The file's folder and those above it."""
        out = [posixpath.dirname(self.path)]
        while out[-1] not in ("", "/", "."):
            out.append(posixpath.dirname(out[-1]))
        return tuple(out)

    def _is_near(self, path: str) -> bool:
        return posixpath.dirname(path) in self._above

    def _texts(self, paths: list[str], long: int = _LONG) -> Iterator[str]:
        """The texts of other files."""
        for path in paths[:_MANY]:
            text = self._read(path) if path != self.path else None
            if text:
                yield text[:long]

    @cached_property
    def _speaking(self) -> list[str]:
        """Pages, scripts, lists and Dockerfiles, the nearest first."""
        found = [path for path in self._paths if _SPEAKS.search(path)]
        return sorted(found, key=lambda path: (not self._is_near(path), path.count("/")))

    @cached_property
    def pythons(self) -> tuple[str, ...]:
        """The Pythons that other files name for this one; () where none does."""
        found: list[str] = []
        name = posixpath.basename(self.path)
        near = [path for path in self._paths if self._is_near(path) or _DOCKERFILE.search(path)]
        for path in sorted(near, key=lambda path: (not self._is_near(path), path.count("/"))):
            text = next(self._texts([path]), "")
            named = _pythons(posixpath.basename(path).lower(), text, name) if text else []
            if named and PYTHONS[-1] not in named:  # ">=3.8" keeps nobody from the newest
                found += named
        return tuple(dict.fromkeys(found))

    def locked(self, name: str) -> tuple[str, ...]:
        """The releases of a package that locks beside this file hold."""
        written = re.escape(name).replace("\\-", "[-_.]")
        pinned = re.compile(_PINNED.format(written), re.IGNORECASE)
        locks = [path for path in self._paths if self._is_lock(path)]
        texts = self._texts(locks, _OF_LOCKS)
        return tuple(next(filter(None, one)) for text in texts for one in pinned.findall(text))

    def _is_lock(self, path: str) -> bool:
        folder, name = posixpath.split(path)
        near = folder in self._above or posixpath.dirname(folder) in self._above[:1]
        compiled = self.path.endswith((".in", "pyproject.toml")) and name.endswith(".txt")
        return near and (bool(_LOCK.fullmatch(name)) or compiled)

    @cached_property
    def other_index(self) -> bool:
        """Whether some file names an index of which nobody here knows what it holds."""
        texts = self._texts(self._speaking)
        return any(not holds_only(url) for text in texts for url in _ADDRESS.findall(text))

    def tells_torch_index(self, word: str) -> bool:
        """Whether a file installs from PyTorch's index, and names a word."""
        texts = self._texts(self._speaking)
        return any(word in text and TORCH_INDEX.search(text) for text in texts)

    def says(self, words: re.Pattern[str]) -> bool:
        """Whether a page, a script or a Dockerfile near the file says something."""
        near = [path for path in self._speaking if self._is_near(path)]
        return any(words.search(text) for text in self._texts(near))


def _pythons(name: str, text: str, wanted: str) -> list[str]:
    """The Pythons that a file of that name leaves for the file that is wanted."""
    if "dockerfile" in name:
        bases = (images.read(image) for image in _FROM.findall(text)) if wanted in text else ()
        return [base.python or base.distro_python for base in bases if base.gpu or base.python]
    if name in (".python-version", "runtime.txt", ".tool-versions"):
        return re.findall(r"^\s*(?:python[- ])?(\d\.\d+)(?:\.\d+)?\s*$", text, re.M)[:3]
    if name in ("pyproject.toml", "setup.py", "setup.cfg", "pipfile", "cog.yaml"):
        found = _BOUND.search(text)
        bound = found[1].strip(" ,").replace(" ", "") if found else ""
        bound = re.sub(r"\^(\d)\.(\d+)[\d.]*", r">=\1.\2", bound)
        bound = re.sub(r"^~?(\d\.\d+)[\d.]*$", r"==\1.*", bound)
        return [one for one in PYTHONS if bound and allows(bound, f"{one}.9")]
    if re.fullmatch(r"(readme|install)\S*|\S+\.sh|\S*(environment|conda|env)\S*\.ya?ml", name):
        spoken = _NAMED.findall(text)
        return [one for one, more in spoken if not more] if not any(m for _, m in spoken) else []
    return []
