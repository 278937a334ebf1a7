"""Version 0's reports and proofs for the new writers: as values, a document, notes, an Answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuwhy.model.proof import Proof
from gpuwhy.model.report import NOT_IMPORTED, NOT_IMPORTED_YET, Report

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer
    from gpuwhy.answer.ci import Note
    from gpuwhy.answer.tree import Document


def values_of(answer: object) -> dict[str, Any]:
    """An answer in the plain values of its contract."""
    if isinstance(answer, Report):
        from gpuwhy.render.json import report_dict

        return report_dict(answer)
    assert isinstance(answer, Proof)
    from gpuwhy.render.proof import proof_dict

    return proof_dict(answer)


def plain_values(answer: object) -> dict[str, Any]:
    """The same as JSON would hold them: nothing but objects, lists, texts and numbers."""
    import msgspec

    made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(values_of(answer), enc_hook=str))
    return made


def document(answer: object) -> Document:
    """Any of them as a document; one that has none of its own by its values."""
    from gpuwhy.answer import blocks, contract, saved

    values = answer if isinstance(answer, dict) else plain_values(answer)
    if values["schema"] == "gpuwhy.report/1":
        return blocks.document(contract.read(contract.as_json(values)), 1)
    return saved.document(values)


def notes(proof: dict[str, Any]) -> list[Note]:
    """A proof as build servers read it."""
    from gpuwhy.answer.ci import Note

    fails = proof["status"] != "not_failing"
    change = f"the smallest change that makes it run: {(proof.get('change') or {}).get('text', '')}"
    lines = [change] if proof.get("change") else []
    causes = proof["causes"] or [
        {"id": "program.unknown", "title": proof["headline"], "because": []}
    ]
    return [
        Note("", 0, one["id"], "\n".join((one["title"], *lines, *(r["text"] for r in one["because"]))),
             "error" if fails else "passed")
        for one in causes
    ]  # fmt: skip


def part(answer: object) -> str:
    """What a notebook shows."""
    from gpuwhy.answer import html

    return html.fragment(document(answer))


def answer_of(report: Report, command: str, about: str = "") -> Answer:
    """A report of version 0 as the Answer that the new writers read; goes with `model.report`."""
    import time

    import msgspec

    from gpuwhy.answer.answer import Answer

    values = plain_values(report)
    named = any(one.found and not one.with_gpu for one in report.causes)
    verdict = "found" if named else "healthy" if _fine(report) else "undecided"
    windows = report.facts.get("surroundings", {}).get("system", {}).get("value") == "windows"
    for cause in values["causes"]:
        for fix in cause["fixes"]:
            fix["language"] = "bat" if windows else "sh"
    tries = {
        NOT_IMPORTED: {"text": "importing the packages", "command": "gpuwhy check --import"},
        NOT_IMPORTED_YET: {"text": "importing the packages: what was found has to be fixed first"},
    }
    untried = tries.get(report.not_tried)
    return msgspec.convert(
        {
            **values,
            "verdict": verdict,
            "command": command,
            "about": about,
            "made_on": time.strftime("%Y-%m-%d"),
            "not_tried": [untried] if untried else [],
        },
        Answer,
    )


def _fine(report: Report) -> bool:
    """Whether nothing speaks against this machine, and enough of it was seen."""
    around, target = report.facts.get("surroundings", {}), report.facts.get("target", {})
    files_alone = around.get("offline", {}).get("state") == "known"
    seen = files_alone and bool(target.get("frameworks", {}).get("value"))
    return not report.causes and (
        report.status == "healthy" or (report.status == "unknown" and seen)
    )


def exit_code(report: Report) -> int:
    """The exit code of a report of version 0."""
    return answer_of(report, "check").exit_code
