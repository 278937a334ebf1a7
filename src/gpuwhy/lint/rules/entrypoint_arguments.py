"""A whole command for an image whose own entry point takes options."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Handed, Workload
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("entrypoint-arguments", "error", "a command for an image whose entry point takes it as its options")

_KNOW = source("the images' own ENTRYPOINT", "a server, which gets what stands behind the image as its arguments")
_SERVERS = re.compile(
    r"(^|/)(vllm/vllm-openai|huggingface/text-(generation|embeddings)-inference|ollama/ollama)(:|@|$)"
    r"|(^|/)llama\.cpp:(server|light)"
)
_PROGRAM = re.compile(r"^(/(usr/)?bin/)?(sh|bash|python3?|env|tini|exec|cd|uvicorn|pip)\b(?!\.)", re.IGNORECASE)


def check(scope: Scope) -> Iterator[Mistake]:
    """CMD of a Dockerfile on such an image, without an ENTRYPOINT of its own."""
    stage = scope.environment
    if stage.handed and stage.image and stage.runs:
        yield from _mistake(stage.image.text, stage.handed, "CMD", "write ENTRYPOINT [] before it, or options alone")


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """`command` of a service, `args` of a container, words behind the image of docker run."""
    if work.handed and work.image and not work.built:
        how = {"compose": "write it as entrypoint:", "kubernetes": "write it as command:"}
        fix = how.get(work.kind, "add --entrypoint for the program, and its arguments behind the image")
        yield from _mistake(work.image.text, work.handed, work.name, fix)


def _mistake(image: str, handed: Handed, who: str, fix: str) -> Iterator[Mistake]:
    found = _PROGRAM.match(handed.text)
    if found and _SERVERS.search(image):
        text = f"{who}: {image} starts its server with {found[0]} … as arguments, and that refuses them"
        yield RULE.mistake(handed.place, text, _KNOW, fix)
