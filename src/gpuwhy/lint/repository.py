"""What the other files of a repository say of one: its Python, its indexes.

Whatever is found here only holds findings back.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from gpuwhy.knowledge import images
from gpuwhy.lint.rules import pattern
from gpuwhy.lint.sheet import Read, holds_only
from gpuwhy.lint.versions import PYTHONS, allows

Listed = Callable[[str], Sequence[str]]
"""The paths of the repository that a path belongs to."""

_ADDRESS = pattern("repository.address", re.IGNORECASE)
TORCH_INDEX = re.compile(r"download\.pytorch\.org/whl|torch-backend")
_SPEAKS = pattern("repository.speaks", re.IGNORECASE)
"""Pages, scripts, lists and Dockerfiles."""
_DOCKERFILE = re.compile(r"dockerfile[^/]*$|(^|/)containerfile$", re.IGNORECASE)
_BOUND = pattern("repository.bound", re.MULTILINE)
_NAMED = pattern("repository.named", re.IGNORECASE)
_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)?(\S+)", re.MULTILINE | re.IGNORECASE)
_MANY, _LONG = 400, 60_000


@dataclass
class Repository:
    """The files around one file."""

    path: str
    paths: Sequence[str]
    read: Read

    @cached_property
    def _above(self) -> list[str]:
        """The folders that a file is in."""
        found = [posixpath.dirname(self.path)]
        while found[-1] not in ("", "/", "."):
            found.append(posixpath.dirname(found[-1]))
        return found

    @cached_property
    def _paths(self) -> list[str]:
        """The other files, the nearest first."""
        return sorted(self.paths, key=lambda one: (not self._is_near(one), one.count("/")))

    def _is_near(self, path: str) -> bool:
        """Whether a file is in the folder of this one, or above it."""
        return posixpath.dirname(path) in self._above

    def _texts(self, paths: Iterable[str]) -> Iterator[str]:
        """The texts of other files, the nearest first."""
        for path in list(paths)[:_MANY]:
            text = self.read(path) if path != self.path else None
            if text:
                yield text[:_LONG]

    @cached_property
    def pythons(self) -> tuple[str, ...]:
        """The Pythons that other files name for this one; () where none does."""
        found: list[str] = []
        older: set[str] = set()
        wanted = posixpath.basename(self.path)
        for path in self._paths:
            name = posixpath.basename(path).lower()
            near = self._is_near(path) or _DOCKERFILE.search(name)
            named = _pythons(name, next(self._texts([path]), ""), wanted) if near else ()
            if PYTHONS[-1] not in named:
                found += named
            else:  # ">=3.10" names none, and rules older ones out
                older |= set(PYTHONS).difference(named)
        return tuple(one for one in dict.fromkeys(found) if one not in older)

    @cached_property
    def other_index(self) -> bool:
        """Whether some file names an index of which nobody here knows what it holds."""
        return any(map(_names_other_index, self._texts(filter(_SPEAKS.search, self._paths))))

    def says(self, words: re.Pattern[str]) -> bool:
        """Whether a page, a script or a Dockerfile near the file says something."""
        near = (path for path in filter(_SPEAKS.search, self._paths) if self._is_near(path))
        return any(words.search(text) for text in self._texts(near))


@lru_cache(maxsize=8192)
def _names_other_index(text: str) -> bool:
    found = _ADDRESS.findall(text) if "://" in text else ()
    return any(not holds_only(url) for url in found)


@lru_cache(maxsize=8192)
def _pythons(name: str, text: str, wanted: str) -> tuple[str, ...]:
    """The Pythons that a file of that name leaves for the file that is wanted."""
    if "dockerfile" in name:
        bases = map(images.read, _FROM.findall(text) if wanted in text else ())
        return tuple(base.python or base.distro_python for base in bases if base.gpu or base.python)
    if name in (".python-version", "runtime.txt", ".tool-versions"):
        exact = re.findall(r"^\s*(?:python[- ])?(\d\.\d+)(?:\.\d+)?\s*$", text, re.M)
        return tuple(exact[:3])
    if name in ("pyproject.toml", "setup.py", "setup.cfg", "pipfile", "cog.yaml"):
        found = _BOUND.search(text)
        bound = found[1].strip(" ,").replace(" ", "") if found else ""
        bound = re.sub(r"\^(\d)\.(\d+)[\d.]*", r">=\1.\2", bound)
        bound = re.sub(r"^~?(\d\.\d+)[\d.]*$", r"==\1.*", bound)
        return tuple(one for one in PYTHONS if bound and allows(bound, f"{one}.9"))
    if re.fullmatch(r"(readme|install)\S*|\S+\.sh|\S*(environment|conda|env)\S*\.ya?ml", name):
        spoken = _NAMED.findall(text)
        return () if any(more for _, more in spoken) else tuple(one for one, _ in spoken)
    return ()
