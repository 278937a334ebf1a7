"""Stage the repository's pages for the generator: every page once, links set right; a link to nowhere is an error.

What lies in docs/ keeps its place. The changelog and the like come from where they live; a file of
the repository that a page links to and that is no page goes along as it is.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import gpuwhy
from gpuwhy.causes.load import catalogue

ROOT = Path(__file__).resolve().parents[2]
PROJECT = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "README.md": "project/readme.md",
    "fuzz/README.md": "project/fuzz.md",
}
"""Pages outside docs/, and their places in the site."""
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CAUSE = re.compile(r"(?<![\[`\w/])`([a-z]+\.[a-z0-9_]+)`(?!\])")
GONE = "files"
"""Where files go that are no pages."""


class DeadLinkError(Exception):
    """Links that lead nowhere; the text names them."""


class Site(NamedTuple):
    """The pages by their places in the site, and the files that they link to."""

    pages: dict[str, str]
    files: dict[str, Path]


def places() -> dict[str, str]:
    """Every page of the repository and its place in the site."""
    docs = {f"docs/{path.relative_to(ROOT / 'docs').as_posix()}": path for path in (ROOT / "docs").rglob("*.md")}
    out = {name: name.removeprefix("docs/") for name in sorted(docs)}
    return out | PROJECT


def staged() -> Site:
    """Every page with its links set right; raises DeadLinkError."""
    known, pages, files = places(), {}, {}
    dead: list[str] = []
    for source, place in known.items():
        links = _Links(source, place, known, files, dead)
        text = (ROOT / source).read_text(encoding="utf-8")
        text = _with_causes(text, place) if place.startswith("causes/") else text
        pages[place] = _outside_code(text, lambda piece, links=links: _LINK.sub(links.one, piece))
    if dead:
        raise DeadLinkError("links to nowhere:\n" + "\n".join(dead))
    return Site(pages | _made(), files)


class _Links(NamedTuple):
    """The links of one page: where it comes from and goes to, what there is, and what leads nowhere."""

    source: str
    place: str
    known: dict[str, str]
    files: dict[str, Path]
    dead: list[str]

    def one(self, found: re.Match[str]) -> str:
        """A link as the site has it."""
        link, hash_, anchor = found[2].partition("#")
        if not link or link.startswith(("http:", "https:", "mailto:")):
            return found[0]
        target = _target(self.source, link, self.known, self.files)
        if not target:
            self.dead.append(f"{self.source}: {link}")
            return found[0]
        return f"{found[1]}{posixpath.relpath(target, posixpath.dirname(self.place) or '.')}{hash_}{anchor}{found[3]}"


def _target(source: str, link: str, known: dict[str, str], files: dict[str, Path]) -> str:
    """The place in the site that a link means; "" for nowhere."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if path in known:
        return known[path]
    if path.startswith("docs/causes/") or not (ROOT / path).is_file():
        return ""
    place = path.removeprefix("docs/") if path.startswith("docs/") else f"{GONE}/{path}"
    files[place] = ROOT / path
    return place


def _outside_code(text: str, change: object) -> str:
    """A text with what stands outside fenced blocks changed."""
    assert callable(change)
    out, done = [], 0
    for fence in _FENCE.finditer(text):
        out += [change(text[done : fence.start()]), fence[0]]
        done = fence.end()
    return "".join([*out, change(text[done:])])


def _with_causes(text: str, place: str) -> str:
    """The ids of other causes as links to their pages."""
    ids = set(catalogue().causes) - {Path(place).stem}

    def one(found: re.Match[str]) -> str:
        return f"[`{found[1]}`]({found[1]}.md)" if found[1] in ids else found[0]

    return _outside_code(text, lambda piece: _CAUSE.sub(one, piece))


def _made() -> dict[str, str]:
    """Pages that no file has: the reference of the Python API."""
    public = sorted(set(gpuwhy.__all__) - {"__version__", "guard"}, key=lambda name: (name[0].isupper(), name))
    names = "\n".join(f"::: gpuwhy.{name}\n" for name in public)
    api = "# Python API\n\nFrom the docstrings; [how to use it](python.md) is told elsewhere.\n\n"
    return {"api.md": f"{api}{names}\n::: gpuwhy.guard\n"}


def nav(site: Site) -> list[object]:
    """The table of contents: every page, once."""
    rest = set(site.pages)

    def take(*names: str) -> list[str]:
        rest.difference_update(names)
        return list(names)

    def under(folder: str) -> list[str]:
        return take(
            *sorted((p for p in rest if p.startswith(f"{folder}/")), key=lambda p: (not p.endswith("README.md"), p))
        )

    start = take("index.md", "tutorial.md")
    parts: list[object] = [
        {"Start": start},
        {"Commands": under("commands")},
        {"Causes": under("causes")},
        {"Lint rules": take("lint.md")},
        {"Python": take("python.md", "api.md")},
        {"In depth": []},
        {"Project": [*take("stability.md", "architecture.md"), *under("project")]},
    ]
    parts[-2] = {"In depth": sorted(rest)}
    return parts


def write(folder: Path) -> Site:
    """Put it all into a folder, with its style."""
    site = staged()
    shutil.rmtree(folder, ignore_errors=True)
    for place, text in site.pages.items():
        _put(folder / place, text.encode())
    for place, path in site.files.items():
        _put(folder / place, path.read_bytes())
    _put(folder / "assets" / "site.css", (ROOT / "docs" / "site" / "site.css").read_bytes())
    return site


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def orphans(site: Site) -> Iterator[str]:
    """Pages that no table of contents names."""
    named = json.dumps(nav(site))
    yield from (place for place in site.pages if json.dumps(place) not in named)
