"""Fetches public threads: the text of the first post, its code where it has any."""

from __future__ import annotations

import html
import json
import re
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

GITHUB = re.compile(r"https://github\.com/([^/]+/[^/]+)/(?:issues|discussions|pull)/(\d+)")
_FENCED = re.compile(r"^(```+|~~~+)[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)
_PRE = re.compile(r"<pre\b[^>]*>(.*?)</pre>", re.IGNORECASE | re.DOTALL)
MOST, PAUSE, LIMIT = 4 << 20, 1.0, 30


def fetch(labels: Iterable[Mapping[str, str]], folder: Path) -> None:
    """Write ID.txt for every thread that can be had; what is there stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for row in labels:
        path = folder / f"{row['id']}.txt"
        if path.exists():
            continue
        try:
            path.write_text(text_of(row["source"]), encoding="utf-8")
        except (URLError, OSError, ValueError) as error:
            print(f"{row['id']}: {row['source']}: {error}", file=sys.stderr)
        time.sleep(PAUSE)


def text_of(address: str) -> str:
    """What the first post of a thread shows as output."""
    if found := GITHUB.match(address):
        post = json.loads(_get(f"https://api.github.com/repos/{found[1]}/issues/{found[2]}"))
        return shown(str(post.get("body") or ""))
    return shown(_get(address))


def shown(post: str) -> str:
    """The code blocks of a post, or all of it."""
    blocks = [block for _, block in _FENCED.findall(post)]
    blocks += [html.unescape(re.sub(r"<[^>]+>", "", block)) for block in _PRE.findall(post)]
    return "\n".join(blocks) or post


def _get(address: str) -> str:
    asked = Request(address, headers={"User-Agent": "gpuwhy-bench"})
    with urlopen(asked, timeout=LIMIT) as answer:
        return str(answer.read(MOST).decode("utf-8", "replace"))
