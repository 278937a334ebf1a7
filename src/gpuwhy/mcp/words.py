"""The text beside an answer: the same values in few lines, answer first, then why, then what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gpuwhy.model.report import certainty

Value = dict[str, Any]


def words(value: Value) -> list[str]:
    """The lines for an answer of any contract."""
    draw = DRAWN.get(str(value.get("schema", "")), _other)
    return [line for line in draw(value) if line.strip()]


def _report(value: Value) -> Iterator[str]:
    yield f"{value['status']}: {value['headline']}"
    if value.get("as_if"):
        yield f"(judged as on {value['as_if']})"
    if value.get("guide"):
        yield from _guide(value["guide"], {one["id"]: one for one in value["causes"]})
        return
    causes = value["causes"]
    for number, cause in enumerate(causes[:3]):
        yield from _cause(cause, evidence=2 if number == 0 else 0, fixes=3 if number == 0 else 1)
    if causes[3:]:
        yield "also possible: " + ", ".join(f"{c['id']} ({c['confidence']:g})" for c in causes[3:8])
    yield from _question(value.get("question"))
    for one in value.get("noticed", [])[:3]:
        yield f"noticed, not linked to the failure: {one['text']}"
    if not causes:
        yield from (f"undecided: {one['id']}: {one['missing']}" for one in value["undetermined"][:3])
    yield from _layers(value["layers"])
    yield from (f"could not see: {text}" for text in value["unseen"][:3])


def _guide(guide: Value, causes: dict[str, Value]) -> Iterator[str]:
    """Plain words answered as a question."""
    yield f"seen here: {guide['here']}" if guide["here"] else ""
    yield guide["note"]
    for way in guide["ways"]:
        cause = causes[way["id"]]
        lead, how = ("", "seen on this machine:") if way["seen"] else ("perhaps ", "it is this if")
        yield f"{lead}{way['id']}: {cause['title']}; {how} {way['tell']}"
        yield f"    {way['command']}"
        for fix in cause["fixes"][:1]:
            yield f"  then: {fix['text']}"
            yield from (f"    {line}" for line in fix["command"].splitlines())
    yield from (f"next: {step['command']}: {step['gives']}" for step in guide["next"])


def _cause(cause: Value, evidence: int, fixes: int) -> Iterator[str]:
    about = f" · {cause['subject']}" if cause["subject"] else ""
    yield f"cause {cause['id']} · {certainty(cause['confidence'])} ({cause['confidence']:g}){about}: {cause['title']}"
    for because in cause["because"][:2]:
        yield f"  because {because['text']}"
        seen = [(kind, one) for kind in ("saw", "told", "know") for one in because.get(kind, [])]
        yield from (f"    {kind} {one['text']} [{one['source']}]" for kind, one in seen[:evidence])
    for fix in cause["fixes"][:fixes]:
        yield from _fix(fix)
    checks = dict.fromkeys(fix["check"] for fix in cause["fixes"][:fixes])
    yield from (f"  then check: {text}" for text in checks if text)


def _fix(fix: Value) -> Iterator[str]:
    needs = [word for word in ("root", "reboot") if fix[word]] + ["changes the system"] * (not fix["safe"])
    yield f"  fix: {fix['text']}" + (f" ({', '.join(needs)})" if needs else "")
    yield from (f"    {line}" for line in fix["command"].splitlines())


def _question(asked: Value | None) -> Iterator[str]:
    if asked:
        yield f"the test that decides ({asked['id']}): {asked['text']}"
        yield from (f"    {line}" for line in asked["command"].splitlines())
        yield "  answers: " + ", ".join(f"{asked['id']}={name} → {cause}" for name, cause in asked["answers"].items())


def _layers(layers: list[Value]) -> Iterator[str]:
    for row in layers:
        yield f"{row['name']}: {row['text']} [{row['mark']}]" + (f" {row['note']}" if row["note"] else "")


def _plan(value: Value) -> Iterator[str]:
    proposal, conflict = value.get("proposal"), value.get("conflict")
    if proposal:
        yield from _proposal(proposal)
        return
    conflict = conflict or {"text": "", "lines": []}
    yield f"conflict: {conflict['text']}"
    yield from (f"  {line['kind']}: {line['text']}" for line in conflict["lines"][:8])
    if conflict.get("nearest"):
        yield f"the nearest that works gives up {conflict.get('gives_up') or 'the least'}:"
        yield from _proposal(conflict["nearest"])


def _proposal(plan: Value) -> Iterator[str]:
    choices = plan["choices"] or plan.get("libraries", [])
    named = ", ".join(map(_choice, choices[:12]))
    yield f"{'may work' if plan.get('unsure') else 'works'}: {named} on Python {plan['python']}"
    for way in plan["ways"]:
        if way["kind"] in ("pip", "uv") and way.get("text"):
            yield f"{way['kind']}:"
            yield from (f"  {line}" for line in way["text"].splitlines()[:12])
    yield from (f"needs {part['name']} {part['version']}: {part['why']}" for part in plan.get("system", []))
    yield from (f"environment: {text}" for text in plan.get("environment", [])[:4])
    yield from (f"{line['kind']}: {line['text']}" for line in plan.get("lines", [])[:8])
    yield from (f"note: {text}" for text in plan.get("notes", [])[:4])


def _choice(one: Value) -> str:
    return str(one["requirement"]) + (f" (CUDA {one['cuda']})" if one["cuda"] else "")


def _releases(value: Value) -> Iterator[str]:
    rows = value["releases"]
    several = len({row["name"] for row in rows}) > 1
    what = f"the newest release of each of {len(rows)} projects" if several else f"{len(rows)} rows, newest first"
    yield f"{what}: version · platform · CUDA · cuDNN · Pythons · GPU code"
    for row in rows if several else reversed(rows):
        yield _release(row)
        if len(rows) <= 3:
            yield from (f"  requires {name}{spec}" for name, spec in list(row["requires"].items())[:20])


def _release(row: Value) -> str:
    cuda = row["cuda"] or "no CUDA" if "cuda" in row else "CUDA not known"
    code = " ".join((row["sass"] or []) + (row["ptx"] or []))
    parts = (row["platform"], cuda, row["cudnn"] or "–", " ".join(row["pythons"]), code)
    return f"{row['name']} {row['version']} · " + " · ".join(parts)


def _code(value: Value) -> Iterator[str]:
    for match in value["matches"][:8]:
        numbers = ", ".join(f"{n['code']}" + (f" ({n['where']})" if n["where"] else "") for n in match["numbers"])
        yield f"{match['title']}: {' = '.join(match['names']) or numbers}: {match['meaning']}"
        yield f"  numbers: {numbers}" if match["names"] else ""
        yield f"  causes, commonest first: {', '.join(match['causes'])}" if match["causes"] else ""


def _lint(value: Value) -> Iterator[str]:
    counts = value["counts"]
    yield f"{value['status']}: {counts['error']} errors, {counts['warning']} warnings in {len(value['files'])} files"
    found = [(file["path"], one) for file in value["files"] for one in file["mistakes"]]
    for path, one in sorted(found, key=lambda pair: pair[1]["severity"] != "error"):
        yield f"{path}:{one['line']}: {one['severity']} {one['rule']}: {one['text']}"
        yield f"  fix: {one['fix']}" if one["fix"] else ""
    for file in value["files"]:
        yield from (f"{file['path']}: not read: {one['text']}" for one in file["problems"])


def _inspect(value: Value) -> Iterator[str]:
    unmet = [*value["unmet"], *value["unmet_versions"]]
    yield f"{'not sound' if value['missing'] or unmet else 'sound'}: {value['path']} ({value['kind']})"
    for one in value["missing"][:10]:
        yield f"missing: {one['name']}, needed by {one['needed_by']}"
        yield from (f"  searched {place['where']} ({place['why']})" for place in one["searched"][:4])
    yield from (f"unmet: {one}" for one in unmet[:6])
    gpu = value["gpu"]
    if gpu["sass"] or gpu["ptx"]:
        yield f"GPU code: {' '.join(gpu['sass'])} {' '.join(gpu['ptx'])}"
    yield f"needed: {', '.join(value['needed'][:40])}"
    yield from _loaded(value)
    yield from (f"note: {text}" for text in value["notes"][:6])


def _loaded(value: Value) -> Iterator[str]:
    for one in value.get("frameworks", []):
        yield f"{one['title']} {one['version']}: {len(one['libraries'])} libraries, {len(one['missing'])} missing"
        yield from (f"  missing: {lost['name']}" for lost in one["missing"][:6])
    cuda = [one for one in value["libraries"] if one["version"]]
    yield from (f"loads {one['name']} {one['version']} from {one['path']} ({one['via']})" for one in cuda[:20])


def _fit(value: Value) -> Iterator[str]:
    yield f"{value['status']}: {value['headline']}"
    for share in value["shares"][:2]:
        yield f"GPU {share['gpu']} ({share['card']['name']}): {_gib(share['bytes'])} of {_gib(share['card']['room'])}"
        for part in share["parts"]:
            bounds = f"{_gib(part['least'])} to {_gib(part['most'])}"
            yield f"  {part['name']}: {_gib(part['bytes'])} ({bounds}), {part['how']}: {part['text']}"
    for change in value["changes"][:5]:
        options = f" ({change['options']})" if change.get("options") else ""
        yield f"would fit with: {change.get('text', '')}{options}"
    yield from (f"not known: {text}" for text in value["unknown"][:4])
    yield from (f"assumed: {text}" for text in value["notes"][:4])


def _gib(count: float) -> str:
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"


def _cause_page(value: Value) -> Iterator[str]:
    if "causes" in value:
        yield from (f"{one['id']}: {one['title']}" for one in value["causes"])
        return
    yield from value["page"].splitlines()


def _proof(value: Value) -> Iterator[str]:
    yield f"{value['status']} after {value['runs']} runs"
    change = value.get("change") or {}
    yield f"the smallest change that makes it run: {change['text']}" if change.get("text") else ""
    for cause in value["causes"][:3]:
        yield from _cause(cause, evidence=2, fixes=3)
    for one in value["experiments"][:12]:
        tried = one["change"]["text"] if isinstance(one["change"], dict) else one["change"]
        yield f"  {one['outcome']} ({one['n']}×): {tried}"


def _other(value: Value) -> Iterator[str]:
    """A contract without words of its own: its plain fields."""
    for name, one in value.items():
        if isinstance(one, (str, int, float)) and name not in ("schema", "gpuwhy"):
            yield f"{name}: {one}"


DRAWN: dict[str, Callable[[Value], Iterator[str]]] = {
    "gpuwhy.report/1": _report,
    "gpuwhy.plan/1": _plan,
    "gpuwhy.releases/1": _releases,
    "gpuwhy.code/1": _code,
    "gpuwhy.lint/1": _lint,
    "gpuwhy.inspect/1": _inspect,
    "gpuwhy.cause/1": _cause_page,
    "gpuwhy.fit/1": _fit,
    "gpuwhy.proof/1": _proof,
}
