"""Puts gpuwhy's findings under a pull request, once: a comment of ours that is there already is changed, not repeated.

    python comment.py REPORT.md FOUND

REPORT.md is the text; FOUND is 0 where nothing was found: then an old comment is brought up to date and no new one is
made. Needs GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_EVENT_PATH and GITHUB_TOKEN, as GitHub Actions sets them. A token
that may not write (a fork's), or a GitHub that does not answer, is no failure: the findings are in the log and the
job's summary.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from typing import Any

MARK = "<!-- gpuwhy-lint -->"
LONGEST = 65_000
"""GitHub takes 65,536 characters."""
PAGES = 50
MOST = 64 << 20
"""Bytes of an answer that are read."""


def main(argv: list[str]) -> int:
    """Write, change, or leave it."""
    with open(argv[0], encoding="utf-8") as file:
        text = file.read()
    number = pull_request(os.environ["GITHUB_EVENT_PATH"])
    if number is None:
        print("no pull request: nothing to comment on")
        return 0
    try:
        print(comment(number, body(text), found=argv[1] != "0"))
    except urllib.error.HTTPError as error:
        why = "the token may not comment here" if error.code in (401, 403, 404) else "GitHub took no comment"
        print(f"::notice title=gpuwhy::{why} ({error.code}); see the summary of the job")
    except (OSError, ValueError):  # no connection, or an answer that is no JSON
        print("::notice title=gpuwhy::GitHub could not be asked; see the summary of the job")
    return 0


def pull_request(path: str) -> int | None:
    """The number of the pull request that the event is about."""
    with open(path, encoding="utf-8") as file:
        event = json.load(file)
    number = (event.get("pull_request") or {}).get("number")
    return int(number) if number is not None else None


def body(text: str) -> str:
    """The comment, with our mark, short enough."""
    cut = text if len(text) <= LONGEST else text[:LONGEST] + "\n\n… (shortened: see the summary of the job)"
    return f"{MARK}\n{cut}"


def comment(number: int, text: str, found: bool) -> str:
    """Bring our comment up to date, or make one; what was done."""
    here = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    ours = own_comment(f"{here}/{number}/comments")
    if ours is not None and ours["body"] == text:
        return "the comment is up to date"
    if ours is not None:
        ask("PATCH", f"{here}/comments/{ours['id']}", {"body": text})
        return "changed the comment"
    if not found:
        return "nothing found, and no comment to change"
    ask("POST", f"{here}/{number}/comments", {"body": text})
    return "made a comment"


def own_comment(path: str) -> dict[str, Any] | None:
    """The comment that carries our mark; people may quote it, so it must begin with it."""
    for page in range(1, PAGES + 1):
        rows = ask("GET", f"{path}?per_page=100&page={page}")
        for row in rows:
            if str(row.get("body") or "").startswith(MARK) and (row.get("user") or {}).get("type") == "Bot":
                return dict(row)
        if len(rows) < 100:
            return None
    return None


def ask(method: str, path: str, value: Any = None) -> Any:
    """One request to GitHub."""
    request = urllib.request.Request(
        os.environ["GITHUB_API_URL"] + path,
        data=None if value is None else json.dumps(value).encode(),
        method=method,
        headers={
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
            "User-Agent": "gpuwhy",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read(MOST) or b"null")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
