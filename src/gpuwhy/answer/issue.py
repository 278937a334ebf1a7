"""An Answer in the fields of a project's issue template: what its maintainers ask for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from gpuwhy.answer.answer import Answer
from gpuwhy.answer.blocks import fold, item, items, pair, pairs, table
from gpuwhy.answer.text import listed
from gpuwhy.answer.tree import Block, Code, Command, Document, Heading, Paragraph, Quote, Soft

FILL_IN = "(please fill in)"
_DEFAULT = (
    ("What happened", "summary"),
    ("How to reproduce", ""),
    ("Environment", "environment"),
    ("Log", "log"),
)
TEMPLATES: dict[str, tuple[tuple[str, str], ...]] = {
    "PyTorch": (("🐛 Describe the bug", "summary log"), ("Versions", "environment packages")),
    "TensorFlow": (
        ("TensorFlow version", "version"),
        ("Custom code", ""),
        ("OS platform and distribution", "os"),
        ("Python version", "Python"),
        ("CUDA/cuDNN version", "CUDA cuDNN loads"),
        ("GPU model and memory", "GPU"),
        ("Current behavior?", "summary"),
        ("Standalone code to reproduce the issue", ""),
        ("Relevant log output", "log"),
        ("Installed packages", "packages"),
    ),
    "JAX": (
        ("Description", "summary log"),
        ("System info (python version, jaxlib version, accelerator, etc.)", "environment packages"),
    ),
    "ONNX Runtime": (
        ("Describe the issue", "summary log"),
        ("To reproduce", ""),
        ("Platform", "os"),
        ("ONNX Runtime Version or Commit ID", "version"),
        ("Execution Provider Library Version", "CUDA cuDNN"),
        ("Environment", "environment packages"),
    ),
    "CuPy": (
        ("Description", "summary"),
        ("To Reproduce", ""),
        ("Installation", "packages"),
        ("Environment", "environment"),
        ("Additional Information", "log"),
    ),
    "vLLM": (
        ("Your current environment", "environment packages"),
        ("🐛 Describe the bug", "summary log"),
    ),
}
"""Framework → the fields of its template, in order, and what fills each; "" is the reporter's."""
PROJECTS = {
    "pytorch": "PyTorch",
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "keras": "TensorFlow",
    "jax": "JAX",
    "flax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "cupy": "CuPy",
    "numba": "Numba",
    "triton": "Triton",
    "rapids": "cuDF",
    "vllm": "vLLM",
    "xgboost": "XGBoost",
    "paddle": "PaddlePaddle",
    "mxnet": "MXNet",
}
"""The names of projects, and the framework of each as layers name it."""
_STACK = re.compile(
    r"nvidia|cuda|cudnn|torch|triton|tensorflow|keras|jax|flax|onnx|cupy|numba|numpy|xla|nccl|vllm"
    r"|flash|xformers|apex|bitsandbytes|transformers|accelerate|deepspeed|lightning|rapids|cudf"
    r"|protobuf|xgboost|paddle",
    re.IGNORECASE,
)
_MOST_PACKAGES, _MOST_LINES = 60, 40


def issue(answer: Answer, framework: str) -> Document:
    """The template of a framework's project, filled."""
    blocks: list[Block] = []
    for title, sources in TEMPLATES.get(framework, _DEFAULT):
        body = [block for one in sources.split() for block in _filled(one, answer, framework)]
        blocks += [Heading((title,), level=2), *(body or [Paragraph((FILL_IN,))])]
    made = f"gpuwhy {answer.gpuwhy}"
    blocks.append(
        Paragraph((Soft(f"Made by {made}; user names, host names and secrets are left out."),))
    )
    return Document(tuple(blocks), title=answer.headline, about=answer.about)


def _filled(source: str, answer: Answer, framework: str) -> Iterator[Block]:
    makers: dict[str, Callable[[Answer], Iterator[Block]]] = {
        "summary": _summary,
        "environment": lambda one: _environment(one, framework),
        "log": _log,
        "packages": _packages,
        "os": _system,
        "loads": lambda one: _loads(one, framework),
    }
    if source in makers:
        yield from makers[source](answer)
        return
    layer = framework if source == "version" else source
    found = [one for one in answer.layers if re.fullmatch(rf"{re.escape(layer)}( \d+)?", one.name)]
    if found:
        alone = source in ("version", "Python", "GPU")
        rows = [one.text if alone else f"{one.name}: {one.text}" for one in found]
        yield items(map(item, rows)) if len(rows) > 1 else Paragraph((rows[0],))


def _summary(answer: Answer) -> Iterator[Block]:
    yield Paragraph((answer.headline,))
    ended = answer.ending
    if ended and ended.type:
        yield pairs(pair("ended with", (Code(f"{ended.type}: {ended.message}"),)))
    for cause in answer.causes[:2]:
        reasons = [
            (one.text, Soft(f" [{proof.source}]"))
            for one in cause.because[:3]
            for proof in (*one.saw, *one.told, *one.know)[:1]
        ]
        done = cause.fixes[0] if cause.fixes else None
        yield pairs(
            pair("cause", (Code(cause.id), f": {cause.title}")),
            pair("because", *reasons),
            pair("suggested", done.text, Command(done.command) if done.command else "")
            if done
            else None,
        )
    others = tuple(one.id for one in answer.causes[2:6])
    if others:
        yield pairs(pair("or", (Code(listed(others, 4)),)))


def _environment(answer: Answer, framework: str) -> Iterator[Block]:
    """The stack, the framework that the issue is about first."""
    layers = sorted(answer.layers, key=lambda one: one.name != framework)
    rows = [(one.name, one.text) for one in layers]
    rows += [("system", text) for text in (_system_text(answer),) if text]
    if rows:
        yield table(("", ""), rows, [one.mark for one in layers] + [""] * (len(rows) - len(layers)))
    yield from _loads(answer, framework)


def _loads(answer: Answer, framework: str) -> Iterator[Block]:
    """The files that the loader picks for the framework, and what it does not find."""
    rows = (*_rows(answer, "frameworks", "installed"), *_rows(answer, "target", "frameworks"))
    names = [one.get("name") for one in rows if one.get("title") == framework]
    lines = []
    for tree in _rows(answer, "loads", "trees"):
        if tree.get("framework") in names:
            missing, found = _dicts(tree.get("missing")), _dicts(tree.get("libraries"))
            lines += [f"{one.get('name')} is missing" for one in missing]
            lines += [f"{one.get('name')} => {one.get('path')}" for one in found]
    if lines:
        yield from fold("What the loader picks", Command("\n".join(lines[:_MOST_LINES]), "text"))


def _rows(answer: Answer, subject: str, name: str) -> list[dict[str, Any]]:
    """The records of a fact that is a list."""
    return _dicts(_value(answer, subject, name))


def _dicts(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, whatever a file has there."""
    rows = value if isinstance(value, (list, tuple)) else ()
    return [one for one in rows if isinstance(one, dict)]


def _system(answer: Answer) -> Iterator[Block]:
    text = _system_text(answer)
    if text:
        yield Paragraph((text,))


def _system_text(answer: Answer) -> str:
    names = ("distro", "distribution", "kernel", "machine", "libc", "container")
    found = (
        _value(answer, subject, name) for name in names for subject in ("system", "surroundings")
    )
    return " · ".join(filter(None, map(_short, found)))


def _short(value: Any) -> str:
    """A fact in a few words; of a record the title, or its texts."""
    if isinstance(value, dict):
        texts = [one for one in value.values() if isinstance(one, str) and one]
        return str(value.get("title") or " ".join(texts[:2]))
    return str(value) if isinstance(value, (str, int, float)) else ""


def _value(answer: Answer, subject: str, name: str) -> Any:
    """What is known of a fact, in this version's facts or in those of version 0."""
    fields = answer.facts.get(subject)
    fact = fields.get(name) if isinstance(fields, dict) else None
    return fact.get("value") if isinstance(fact, dict) else None


def _packages(answer: Answer) -> Iterator[Block]:
    """The packages of the GPU stack, as `pip freeze` would list them."""
    rows = _rows(answer, "environment", "packages") or _rows(answer, "target", "distributions")
    lines = sorted(
        {
            f"{one.get('name')}=={one.get('version')}"
            for one in rows
            if _STACK.search(str(one.get("name")))
        }
    )
    if lines:
        yield from fold("Packages", Command("\n".join(lines[:_MOST_PACKAGES]), "text"))


def _log(answer: Answer) -> Iterator[Block]:
    """The messages that were recognised, with the one that decides."""
    lines = {one.line: one.text for one in answer.symptoms if one.role != "context"}
    hit = answer.causes[0].because[0].line if answer.causes and answer.causes[0].because else 0
    if lines:
        shown = sorted(lines.items())[:_MOST_LINES]
        yield from fold("What the program printed", Quote(tuple(shown), hit))
