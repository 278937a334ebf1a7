"""The pages of the causes: Markdown files beside this package (docs/causes shows the same ones)."""

from __future__ import annotations

from importlib import resources

SECTIONS = ("What you see", "Why it happens", "How gpuwhy tells", "Fix", "When it is something else", "Sources")


def page(cause_id: str) -> str | None:
    """The page of a cause as Markdown; None when there is no such cause."""
    if not cause_id.replace(".", "").replace("_", "").isalnum():
        return None
    layer, _, name = cause_id.partition(".")
    file = resources.files("gpuwhy.rooms") / layer / f"{name}.md"
    return file.read_text(encoding="utf-8") if file.is_file() else None
