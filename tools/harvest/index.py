"""Index: the files of a project, from pip's configured package index, as HTML or JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin

from tools.harvest.web import Web, WebError

_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"


class IndexFile(NamedTuple):
    """One published file."""

    name: str
    url: str
    sha256: str
    uploaded: str  # 2022-11-16T10:11:12.000000Z, "" where the index does not tell
    yanked: bool
    python: str = ""  # what the release demands of Python: >=3.9


def address() -> str:
    """The index: $PIP_INDEX_URL, pip's configuration, or the default of the pypi-simple library."""
    said = os.environ.get("PIP_INDEX_URL") or _pip_says()
    if not said:
        from pypi_simple import PYPI_SIMPLE_ENDPOINT

        said = PYPI_SIMPLE_ENDPOINT
    return said.rstrip("/") + "/"


def _pip_says() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def files(web: Web, index: str, project: str) -> list[IndexFile] | None:
    """The wheels and source archives of a project, oldest name first; None where there is no such project."""
    got = web.page(urljoin(index, project + "/"), _ACCEPT)
    if got is None:
        return None
    kind, body = got
    text = body.decode("utf-8", "replace")
    found = _from_json(text) if "json" in kind else _from_html(text, urljoin(index, project + "/"))
    if not found and "<a " not in text and "json" not in kind and "Links for" not in text:
        raise WebError("the project page is not one")
    return sorted(f for f in found if f.name.endswith((".whl", ".tar.gz", ".zip")) and f.sha256)


def _from_json(text: str) -> list[IndexFile]:
    try:
        rows = json.loads(text)["files"]
        return [
            IndexFile(
                row["filename"],
                row["url"],
                row.get("hashes", {}).get("sha256", ""),
                row.get("upload-time") or "",
                bool(row.get("yanked")),
                row.get("requires-python") or "",
            )
            for row in rows
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise WebError(f"the project page makes no sense: {error!r}") from error


class _Links(HTMLParser):
    """Every anchor of a PEP 503 page with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: list[dict[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.anchors.append({name: value or "" for name, value in attrs})


def _from_html(text: str, base: str) -> list[IndexFile]:
    links = _Links()
    links.feed(text)
    out = []
    for one in links.anchors:
        url, fragment = urldefrag(urljoin(base, one.get("href", "")))
        digest = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
        name = url.rpartition("/")[2].replace("%2B", "+")
        python = one.get("data-requires-python", "")
        out.append(IndexFile(name, url, digest, one.get("data-upload-time", ""), "data-yanked" in one, python))
    return out
