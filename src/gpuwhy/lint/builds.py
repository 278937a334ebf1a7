"""Builds: `docker run` of an image that the same script or Makefile builds."""

from __future__ import annotations

import re
from itertools import pairwise

from gpuwhy.lint.sheet import Command, Sheet


def join(sheet: Sheet) -> None:
    """Give what runs such an image the Dockerfile that it is built from; of several the one that is for GPUs."""
    built: dict[str, list[str]] = {}
    for command in (one for stage in sheet.environments for one in stage.commands):
        tag, file = _build(command)
        if tag:
            built.setdefault(tag, []).append(file)
    for work in sheet.workloads:
        files = built.pop(_untagged(work.image.text), []) if work.image else []  # said once of an image
        for_gpus = [file for file in files if re.search(r"gpu|cuda", file, re.IGNORECASE)]
        if files:
            work.built, work.image = [*files, *for_gpus][-1], None


def _build(command: Command) -> tuple[str, str]:
    """The tag and the Dockerfile of `docker build`; '' for every other command."""
    words = command.words
    if len(words) < 3 or words[0] not in ("docker", "podman") or "build" not in words[1:3]:
        return "", ""
    told = dict(pairwise(words))
    tag, file = told.get("-t") or told.get("--tag") or "", told.get("-f") or told.get("--file") or ""
    context = words[-1] if not words[-1].startswith("-") and words[-1] not in (tag, file) else "."
    file = file or f"{context}/Dockerfile"
    return ("", "") if not tag or "$" in tag + file else (_untagged(tag), file)


def _untagged(image: str) -> str:
    return image.removesuffix(":latest")
