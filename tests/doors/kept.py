"""What is kept of a call's answer: exit code, contracts, texts without what differs by chance."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

LINES, LETTERS = 200, 20_000
MOMENTS = ("took", "time", "seconds")


def document(code: int, texts: dict[str, str], live: bool) -> str:
    """The answer as it is kept; of a live one the structure alone, unless it is a refusal."""
    parts = [f"exit {code}"]
    for name, text in texts.items():
        if text:
            shown = structure(text) if live and code != 2 else readable(name, text)
            parts += [f"--- {name}", *filter(None, [head(text)]), cut(steady(shown))]
    return "\n".join(parts).rstrip("\n") + "\n"


def parsed(text: str) -> list[Any]:
    """The JSON values of a text: one, or one a line; none where it is not JSON."""
    for part in ([text], text.splitlines()):
        try:
            values = [json.loads(one) for one in part]
        except ValueError:
            continue
        return [one for one in values if isinstance(one, (dict, list))]
    return []


def head(text: str) -> str:
    """The contract of a JSON text in a line: its schema and its keys; "" of other texts."""
    one = next(iter(parsed(text)), None)
    many = isinstance(one, list)
    one = one[0] if many and one else one
    if not isinstance(one, dict):
        return ""
    one = one.get("structuredContent", one)
    keys = " ".join(sorted(one.keys() - {"more"}))  # `more` is what mcp adds to an answer it cut
    schema = one.get("schema") or one.get("$schema") or "-"
    return f"json{' list' * many}: {schema}: {keys}".rstrip()


def heads(text: str) -> dict[str, str]:
    """The contracts in a kept document, by the name of the text that keeps to it."""
    return {a[4:]: b for a, b in pairwise(text.splitlines()) if a[:4] == "--- " and b[:4] == "json"}


def readable(name: str, text: str) -> str:
    """JSON with a value a line, pages as their text, all else as it is."""
    if name.endswith(".html"):
        text = re.sub(r"(?s)<(style|script)\b.*?</\1>|<[^>]+>", "\n", text)
        return "\n".join(line.strip() for line in text.splitlines() if line.strip())
    values = parsed(text)
    indent = 1 if len(values) == 1 else None
    rows = (json.dumps(short(one), indent=indent, ensure_ascii=False) for one in values)
    return "\n".join(rows) or text


def short(value: Any) -> Any:
    """The same value: `facts` by shape, lists and texts by their beginning, no moments."""
    if isinstance(value, dict):
        made = {
            name: shape(one, 2) if name == "facts" else short(one) for name, one in value.items()
        }
        return {name: "…" if name in MOMENTS else one for name, one in made.items()}
    if isinstance(value, list):
        return [short(one) for one in value[:5]] + [f"… {len(value) - 5} more"] * (len(value) > 5)
    return value[:400] + "…" if isinstance(value, str) and len(value) > 400 else value


def _short_field(name: str, value: Any) -> Any:
    if name in MOMENTS:
        return "…"
    return shape(value, 2) if name == "facts" else short(value)


def shape(value: Any, depth: int) -> Any:
    """Names and types, so many levels deep."""
    if isinstance(value, dict):
        if not depth or len(value) > 40:  # the questions of a recording are names of one machine
            return "{…}"
        return {name: shape(one, depth - 1) for name, one in value.items()}
    if isinstance(value, list) and value and depth:
        return [shape(value[0], depth - 1)]
    return type(value).__name__


def structure(text: str) -> str:
    """Of JSON the shape; of a text the first two words of each line that begins something."""
    values = parsed(text)
    if values:
        return json.dumps(shape(values[0], 3), indent=1, ensure_ascii=False)
    lines = (line for line in text.splitlines() if re.match(r" {0,2}\S", line))
    return "\n".join(dict.fromkeys(" ".join(line.split()[:2]) for line in lines))


def steady(text: str) -> str:
    """Without gpuwhy's version, moments, and the hint that its tables are half a year old."""
    text = re.sub(r'( time="|_seconds )\d[\d.]*', r"\1…", text)
    text = re.sub(r"\([\d,]+ bytes\)", "(… bytes)", text)
    text = re.sub(r"\bnode-[0-9a-f]{12}\b", "node-…", text)  # the alias of this machine
    text = re.sub(r"(gpuwhy[\"']?[ :=/,v-]*[\"']?)\d+\.\d+\.\d+[^\s\"',;]*", r"\1{version}", text)
    return re.sub(r"(?m)^gpuwhy: what it knows of releases ends on .*\n?", "", text)


def cut(text: str) -> str:
    """At most 200 lines and 20 kB, saying what was cut."""
    lines = text[:LETTERS].splitlines()[:LINES]
    left = len(text.splitlines()) - len(lines)
    return "\n".join(lines) + f"\n… {left} more lines were not kept" * (left > 0)
