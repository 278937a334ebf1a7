"""Wires an answer to the forms that people look at: its JSON values, drawn as a page, a notebook's part or Markdown."""

from __future__ import annotations

from typing import Any

from gpuwhy.model.inspected import Inspected
from gpuwhy.model.proof import Proof
from gpuwhy.model.report import Report


def values_of(answer: object) -> dict[str, Any]:
    """An answer in the plain values of its contract."""
    if isinstance(answer, Report):
        from gpuwhy.render.json import report_dict

        return report_dict(answer)
    if isinstance(answer, Proof):
        from gpuwhy.render.proof import proof_dict

        return proof_dict(answer)
    assert isinstance(answer, Inspected)
    from gpuwhy.render.inspect_json import inspected_dict

    return inspected_dict(answer)


def plain_values(answer: object) -> dict[str, Any]:
    """The same as JSON would hold them: nothing but objects, lists, texts and numbers."""
    import msgspec

    made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(values_of(answer), enc_hook=str))
    return made


def html(answer: object, log: str = "") -> str:
    """One self-contained file."""
    from gpuwhy.page.page import page

    return page(_values(answer), log)


def markdown(answer: object, log: str = "", project: str = "") -> str:
    """What a maintainer wants to see in an issue."""
    from gpuwhy.page.markdown import render

    return render(_values(answer), log, project)


def part(answer: object) -> str:
    """What a notebook shows."""
    from gpuwhy.page.page import part as drawn

    return drawn(_values(answer))


def _values(answer: object) -> dict[str, Any]:
    return answer if isinstance(answer, dict) else plain_values(answer)
