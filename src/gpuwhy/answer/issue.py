"""An Answer in the fields of a project's issue template: what its maintainers ask for."""

import re
from collections.abc import Iterator
from pkgutil import get_data
from typing import Any

import msgspec

from gpuwhy.answer.answer import Answer
from gpuwhy.answer.blocks import fold, item, items, pair, pairs, printed, table
from gpuwhy.answer.tree import Block, Code, Command, Document, Heading, Paragraph, Soft

FILL_IN = "(please fill in)"
_DATA = msgspec.toml.decode(get_data("gpuwhy.answer", "issue.toml") or b"")
PROJECTS: dict[str, str] = _DATA["projects"]
TEMPLATES: dict[str, list[tuple[str, str]]] = _DATA["templates"]
_STACK = re.compile(_DATA["stack"], re.IGNORECASE)
_MOST = 60
"""Lines of a list."""


def issue(answer: Answer, framework: str) -> Document:
    """The template of a framework's project, filled."""
    blocks: list[Block] = []
    for title, sources in TEMPLATES.get(framework, TEMPLATES["default"]):
        body = [block for one in sources.split() for block in _filled(one, answer, framework)]
        blocks += [Heading((title,), level=2), *(body or [Paragraph((FILL_IN,))])]
    made = f"Made by gpuwhy {answer.gpuwhy}; user names, host names and secrets are left out."
    blocks.append(Paragraph((Soft(made),)))
    return Document(tuple(blocks), title=answer.headline, about=answer.about)


def _filled(source: str, answer: Answer, framework: str) -> Iterator[Block]:
    """What fills one field: a part of the report, or the rows of a layer."""
    if source == "summary":
        yield from _summary(answer)
    elif source == "environment":
        layers = sorted(answer.layers, key=lambda one: one.name != framework)
        cells = [(one.name, one.text, one.mark) for one in layers]
        cells += [("system", one, "none") for one in _system(answer)]
        if cells:
            yield table(("", ""), [cell[:2] for cell in cells], [cell[2] for cell in cells])
    elif source == "packages":  # as `pip freeze` would list them
        packages = _value(answer, "environment", "packages")
        rows = packages if isinstance(packages, (list, tuple)) else ()
        named = {str(one.get("name")): one.get("version") for one in rows if isinstance(one, dict)}
        lines = sorted(f"{name}=={named[name]}" for name in named if _STACK.search(name))
        if lines:
            yield from fold("Packages", Command("\n".join(lines[:_MOST]), "text"))
    elif source == "log":
        yield from printed(answer, _MOST)
    elif source == "os":
        yield from (Paragraph((text,)) for text in _system(answer))
    else:
        name = re.escape(framework if source == "version" else source)
        found = [one for one in answer.layers if re.fullmatch(rf"{name}( \d+)?", one.name)]
        named_by_title = source in ("version", "Python", "GPU")
        texts = [one.text if named_by_title else f"{one.name}: {one.text}" for one in found]
        if texts:
            yield items(map(item, texts)) if len(texts) > 1 else Paragraph((texts[0],))


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
        typed = Command(done.command) if done and done.command else ""
        yield pairs(
            pair("cause", (Code(cause.id), f": {cause.title}")),
            pair("because", *reasons),
            pair("suggested", done.text, typed) if done else None,
        )


def _system(answer: Answer) -> list[str]:
    """The system in a few words; of a record its title, or its texts."""
    words = []
    for name in ("distro", "kernel", "machine", "libc", "container"):
        value = _value(answer, "system", name)
        if isinstance(value, dict):
            texts = [one for one in value.values() if isinstance(one, str) and one]
            value = value.get("title") or " ".join(texts[:2])
        if isinstance(value, (str, int, float)) and value:
            words.append(str(value))
    return [" · ".join(words)] if words else []


def _value(answer: Answer, subject: str, name: str) -> Any:
    """What is known of a fact."""
    fields = answer.facts.get(subject)
    fact = fields.get(name) if isinstance(fields, dict) else None
    return fact.get("value") if isinstance(fact, dict) else None
