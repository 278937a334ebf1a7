"""`gpuwhy cause ID`: what a cause means, and how to fix it; without an ID, the list."""

import argparse
import re
from collections.abc import Iterator
from typing import Any

from gpuwhy.answer import tree
from gpuwhy.answer.blocks import item, items, table
from gpuwhy.causes.load import catalogue, page
from gpuwhy.cli import HEALTHY, UsageError, output

_SPAN = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)")
_ITEM = re.compile(r"\s*(?:[-*]|(\d+)\.)\s+")


def go(options: argparse.Namespace) -> int:
    """Print the page, or the list of causes."""
    titles = {one.id: one.title for one in catalogue().causes.values()}
    values: dict[str, Any] = {"schema": "gpuwhy.cause/1"}
    blocks: list[tree.Block] = [table(("cause", "what it is"), titles.items())]
    if options.id:
        text = page(options.id) if options.id in titles else None
        if text is None:
            near = [name for name in titles if options.id.split(".")[-1] in name]
            see = ", ".join(near) or "gpuwhy cause"
            raise UsageError(f"there is no cause {options.id!r}; see {see}")
        values |= {"id": options.id, "title": titles[options.id], "page": text}
        blocks = list(_blocks(text))
    else:
        values["causes"] = [{"id": name, "title": title} for name, title in titles.items()]
    output.put(options, tree.Document(tuple(blocks), title=options.id or "causes"), values)
    return HEALTHY


def _blocks(text: str) -> Iterator[tree.Block]:
    """A page of Markdown: headings, paragraphs, lists, code, tables."""
    parts = re.split(r"^```(\w*)\n(.*?)^```$", text, flags=re.S | re.M)
    for at in range(0, len(parts), 3):
        apart = re.sub(r"(?m)^(#.*)$", r"\n\1\n", parts[at])
        for paragraph in filter(None, map(str.strip, re.split(r"\n\s*\n", apart))):
            title, listed = paragraph.lstrip("#"), _ITEM.match(paragraph)
            if title != paragraph:
                yield tree.Heading(_spans(title.strip()), level=len(paragraph) - len(title))
            elif paragraph.startswith("|"):
                lines = (row.strip("|").split("|") for row in paragraph.splitlines())
                head, _, *rows = ([_spans(cell.strip()) for cell in row] for row in lines)
                yield table([str(cell[0]) for cell in head], rows)
            elif listed:
                rest = re.split(r"\n\s*(?:[-*]|\d+\.)\s+", paragraph[listed.end() :])
                shown = (item(_spans(" ".join(one.split()))) for one in rest)
                yield items(shown, bool(listed[1]))
            else:
                yield tree.Paragraph(_spans(" ".join(paragraph.split())))
        if at + 2 < len(parts):
            shell = parts[at + 1] == "sh"
            yield tree.Command(parts[at + 2].rstrip("\n"), "sh" if shell else "text")


def _spans(text: str) -> tree.Line:
    """Words, code, links."""
    out: list[tree.Span] = []
    at = 0
    for found in _SPAN.finditer(text):
        code, strong, shown, to = found.groups()
        own = tree.Code(code) if code else strong or tree.Link(shown, to)
        out += [text[at : found.start()], own]
        at = found.end()
    return tuple(one for one in (*out, text[at:]) if one)
