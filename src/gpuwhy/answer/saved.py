"""A saved answer of any other contract as a document: its sentence, and its values as lines.

The report of check, explain and run has a document of its own (blocks); a plan, a proof, a lint, a
fit or a comparison that was kept as JSON is shown so, whichever version wrote it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gpuwhy.answer.tree import Command, Document, Fold, Heading, Mark

CONTRACTS = tuple(
    f"gpuwhy.{one}/1"
    for one in ("plan", "inspect", "lint", "fleet", "proof", "fit", "ranks", "fix")
)
"""Those that are drawn so."""
_MARKS: dict[str, Mark] = {
    **dict.fromkeys(("healthy", "proven", "not_failing", "fits", "ok", "fixed"), "ok"),
    **dict.fromkeys(("broken", "does_not_fit", "failed", "error"), "bad"),
    **dict.fromkeys(("degraded", "flaky", "warning"), "warn"),
    **dict.fromkeys(("open", "unknown", "undecided"), "unknown"),
}
_HIDDEN = ("schema", "gpuwhy", "headline", "took")
_MOST, _DEEPEST = 2000, 20
"""Lines that are shown, and the indent of the deepest."""


def document(values: Mapping[str, Any], name: str = "") -> Document:
    """The answer with everything that it says."""
    kind = str(values["schema"]).removeprefix("gpuwhy.").partition("/")[0]
    conflict = values.get("conflict")
    said = (values.get("headline"), conflict.get("text") if isinstance(conflict, dict) else "")
    texts = (one for one in (*said, values.get("path")) if isinstance(one, str) and one)
    title = next(texts, f"{kind} {name}".strip())
    status = str(values.get("status") or values.get("verdict") or "")
    failed = conflict or values.get("missing")
    shown = {key: one for key, one in values.items() if key not in _HIDDEN}
    lines = list(_lines(shown))[:_MOST]
    body = (Fold("What it holds", (Command("\n".join(lines), "text"),), open=True),)
    return Document(
        (Heading((title,), "bad" if failed else _MARKS.get(status, "")), *(body if lines else ())),
        title=title,
        made_by=f"gpuwhy {kind} {values.get('gpuwhy') or ''}".strip(),
        about=name,
    )


def _lines(value: Any, lead: str = "") -> Iterator[str]:
    """Every value that says something, under its name; the rows of a list behind a dash."""
    rows = value.items() if isinstance(value, dict) else (("-", one) for one in value)
    for name, one in rows:
        if one in ("", None, [], {}):
            continue
        label = lead + ("-" if name == "-" else f"{name.replace('_', ' ')}:")
        if isinstance(one, (dict, list)) and len(lead) < _DEEPEST:
            inner = list(_lines(one, f"{lead}  "))
            if name == "-" and inner:
                label += inner.pop(0)[len(lead) + 1 :]
            yield from (label, *inner)
        else:
            yield from f"{label} {one}".split("\n")
