"""Singularity and Apptainer definitions: read as the Dockerfile that they are like, line for line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.lint import dockerfile
from gpuwhy.lint.sheet import Sheet

_END = "END_OF_SECTION"
_SECTION = re.compile(r"%(\w+)")


def read(path: str, text: str) -> Sheet:
    """A definition file: its base image, its %post, %environment and %files."""
    return dockerfile.read(path, "\n".join(_lines(text)))


def _lines(text: str) -> Iterator[str]:
    """Each line as a Dockerfile has it, at its own number."""
    section = ""
    for line in text.split("\n"):
        found = _SECTION.match(line.strip())
        if found:
            yield _border(section, found[1])
            section = found[1]
        else:
            yield _line(section, line)
    if section == "post":
        yield _END


def _border(before: str, after: str) -> str:
    """The line of a section's name: it ends a %post, or begins one."""
    if before == "post":
        return _END
    return f"RUN <<{_END}" if after == "post" else "#"


def _line(section: str, line: str) -> str:
    image = re.match(r"\s*from:\s*(\S+)", line, re.IGNORECASE) if not section else None
    if image:
        return f"FROM {image[1]}"
    if section == "post":
        return line
    variable = re.match(r"\s*export\s+(\w+=.*)", line) if section == "environment" else None
    copied = re.match(r"\s*(\S+)\s+(\S+)\s*$", line) if section == "files" else None
    return f"ENV {variable[1]}" if variable else f"COPY {copied[1]} {copied[2]}" if copied else "#"
