"""`gpuwhy cause ID`: what a cause means, and how to fix it; without an ID, the list."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

from gpuwhy.answer.blocks import item, items, table
from gpuwhy.answer.tree import (
    Block,
    Code,
    Command,
    Document,
    Heading,
    Line,
    Link,
    Paragraph,
    Span,
    Strong,
)
from gpuwhy.cli import HEALTHY, UsageError, forms, output

SCHEMA = "gpuwhy.cause/1"
_SPAN = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+(.*)")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("cause", help="what a cause means, and how to fix it")
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="for example cudnn.missing")
    parser.add_argument("--json", action="store_true", help="as JSON (gpuwhy.cause/1)")
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Print the page, or the list of causes."""
    forms.ready(options)
    from gpuwhy.causes.load import catalogue, page

    titles = {one.id: one.title for one in catalogue().causes.values()}
    if not options.id:
        values: dict[str, Any] = {
            "causes": [{"id": name, "title": title} for name, title in titles.items()]
        }
        blocks: tuple[Block, ...] = (table(("cause", "what it is"), titles.items()),)
    else:
        text = page(options.id)
        if text is None or options.id not in titles:
            raise _unknown(options.id, list(titles))
        values = {"id": options.id, "title": titles[options.id], "page": text}
        blocks = tuple(blocks_of(text))
    output.put(
        options, Document(blocks, title=options.id or "causes"), {"schema": SCHEMA, **values}
    )
    return HEALTHY


def _unknown(asked: str, known: list[str]) -> UsageError:
    near = ", ".join(name for name in known if asked.split(".")[-1] in name) or "gpuwhy cause"
    return UsageError(f"there is no cause {asked!r}; see {near}")


def blocks_of(text: str) -> Iterator[Block]:
    """A page of Markdown: headings, paragraphs, lists, code, tables."""
    parts = re.split(r"^```(\w*)\n(.*?)^```$", text, flags=re.S | re.M)
    for at in range(0, len(parts), 3):
        for paragraph in re.split(r"\n\s*\n", parts[at].strip("\n")):
            yield from _block(paragraph.strip("\n"))
        if at + 2 < len(parts):
            yield Command(parts[at + 2].rstrip("\n"), "sh" if parts[at + 1] == "sh" else "text")


def _block(text: str) -> Iterator[Block]:
    lines = text.splitlines()
    if not lines:
        return
    if lines[0].startswith("#"):
        level = len(lines[0]) - len(lines[0].lstrip("#"))
        yield Heading(spans(lines[0].lstrip("# ")), level=level)
        yield from _block("\n".join(lines[1:]))
    elif lines[0].startswith("|"):
        rows = [[spans(cell.strip()) for cell in row.strip("|").split("|")] for row in lines]
        head = [cell.strip() for cell in lines[0].strip("|").split("|")]
        yield table(head, rows[2:])
    elif _ITEM.match(lines[0]):
        yield items((item(spans(one)) for one in _items(lines)), lines[0].lstrip()[0].isdigit())
    else:
        yield Paragraph(spans(" ".join(line.strip() for line in lines)))


def _items(lines: list[str]) -> list[str]:
    """The items of a list, each with the lines that continue it."""
    out: list[str] = []
    for line in lines:
        found = _ITEM.match(line)
        if found:
            out.append(found[1])
        else:
            out[-1] += " " + line.strip()
    return out


def spans(text: str) -> Line:
    """Words, code, what is strong, links."""
    out: list[Span] = []
    at = 0
    for found in _SPAN.finditer(text):
        out += [text[at : found.start()]] if found.start() > at else []
        code, strong, shown, to = found.groups()
        own = Code(code) if code else Strong(strong) if strong else Link(shown, to)
        out.append(own)
        at = found.end()
    return (*out, *([text[at:]] if text[at:] else []))
