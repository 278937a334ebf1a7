"""Hindered: a folder is named where it should be, and what names it does not reach the loader.

Either /etc/ld.so.conf names it and ldconfig was not run since, or the ENV of an image names it and what starts the
image's program (its entrypoint, its command) takes it out of LD_LIBRARY_PATH again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Evidence, Fix, saw
from gpuwhy.model.fact import Source, value_or
from gpuwhy.model.facts import MissingLibrary, Started
from gpuwhy.rooms.shared.commands import word

SEARCHED = "LD_LIBRARY_PATH"


def taken(case: Case) -> Started | None:
    """The statement by which the start of the image takes folders out of LD_LIBRARY_PATH."""
    found = [one for one in value_or(case.facts.environment.started, ()) if one.name == SEARCHED]
    return next((one for one in reversed(found) if _lost(one)), None)


def _lost(one: Started) -> set[str]:
    before, after = ({part.rstrip("/") for part in text.split(":") if part} for text in (one.before, one.after))
    return before - after


def is_taken(case: Case, path: str) -> bool:
    """Whether a library lies in a folder that the start of the image takes out of the search."""
    one = taken(case)
    return one is not None and path.rpartition("/")[0] in _lost(one)


def told_in_vain(case: Case, unlisted: str, copies: Sequence[str]) -> bool:
    """Whether something names the folder of a library, and the loader does not get to hear of it."""
    return bool(unlisted) or any(is_taken(case, path) for path in copies)


def taken_part(case: Case, missing: MissingLibrary) -> str:
    """The copy of a library that a tree misses in such a folder; "" where there is none."""
    copies = (path for copy in value_or(case.facts.libraries.copies, ()) if not copy.fault for path in copy.paths)
    return next((path for path in copies if path.endswith(f"/{missing.name}") and is_taken(case, path)), "")


def place(one: Started) -> str:
    """Line 3 of /entrypoint.sh."""
    return f"line {one.line} of {one.script}" if one.script else "the command that the image starts"


def saw_statement(one: Started) -> Evidence:
    """The statement, and where it stands."""
    source = Source("file", one.script, f"line {one.line}") if one.script else Source("file", "image config", "Cmd")
    return saw(f"{one.words} (before it: {one.before})", source)


def kept(one: Started) -> Fix:
    """The statement that keeps what the image sets; where nothing is set, none at all."""
    better = _better(one)
    if not one.script:
        what = f"write {better} for it" if better else "leave it out"
        return Fix(f"In the image's ENTRYPOINT or CMD, which has `{one.words}`: {what}", safe=True)
    if better:
        text = f"Keep the folders that the image sets, in {place(one)}"
        line = f"RUN sed -i '{one.line}s|{_pattern(one.words)}|{better}|' {word(one.script)}"
        return Fix(f"{text}: {better}", on.dockerfile(line), safe=True)
    text = f"Take `{one.words}` out of {place(one)}"
    line = f"RUN sed -i '{one.line}s|{_pattern(one.words)}|:|' {word(one.script)}"
    return Fix(text, on.dockerfile(line), safe=True)


def _better(one: Started) -> str:
    """The same assignment with what was there behind it; "" for an unset."""
    if one.words.startswith("unset"):
        return ""
    name, _, value = one.words.partition("=")
    bare = value.strip("\"'")
    return f"{name}={bare}${{{SEARCHED}:+:${SEARCHED}}}" if bare else f"{name}=${SEARCHED}"


def _pattern(words: str) -> str:
    return re.sub(r"([\\.*\[\]^$|&])", r"\\\1", words)
