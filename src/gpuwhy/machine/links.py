"""Follows the links of a file system that is not this machine's: nothing leads out of its root."""

from __future__ import annotations

import errno
from collections.abc import Callable

MAX_LINKS, MAX_PARTS = 40, 4096


def parts(path: str) -> list[str]:
    """The names of a path; `..` stays."""
    return [part for part in path.split("/") if part not in ("", ".")]


def resolved(
    path: str,
    target: Callable[[str], str | None],
    enter: Callable[[str], object] = lambda _: None,
    *,
    last: bool = True,
    top: int = 0,
) -> str:
    """An absolute path after every link (`last` False: all but the last); what is missing stays.

    `target` says where a link at a path points, None where there is none; `enter` raises OSError
    for what has no way up; `..` stops below the first `top` names.
    """
    done: list[str] = []
    left = parts(path)[::-1]
    links = steps = 0
    while left:
        part = left.pop()
        steps += 1
        if part == "..":
            enter("/" + "/".join(done))
            del done[max(top, len(done) - 1) :]
            continue
        there = target("/" + "/".join([*done, part])) if left or last else None
        if there is None:
            done.append(part)
            continue
        links += 1
        if links > MAX_LINKS or steps > MAX_PARTS:
            raise OSError(errno.ELOOP, "too many levels of symbolic links", path)
        if there.startswith("/"):
            done = []
        left += parts(there)[::-1]
    return "/" + "/".join(done)
