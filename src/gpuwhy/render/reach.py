"""What `fleet probe` found: this node's way to the rendezvous, and the node or pair that stalls a collective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuwhy.render.terminal import Paper, put

_STAGES = {
    "resolve": "the name is not found",
    "connect": "no connection",
    "answer": "connected, but no answer",
    "large": "only small packets pass",
    "listen": "cannot listen",
    "start": "the probe did not run",
}


def render(told: dict[str, Any], paper: Paper) -> str:
    """One node's side."""
    ok = bool(told.get("ok"))
    if told.get("role") == "listen" and ok:
        return put([paper.tint("1;32", _listened(told))], paper)
    lines = [paper.tint("1;32" if ok else "1;31", line) for line in paper.wrap(_answered(told, ok), "", "  ")]
    if told.get("address"):
        lines.append(f"  way    from {told['address']} over {told.get('interface') or '?'}")
    for name, one in (told.get("steered") or {}).items():
        lines += paper.wrap(_steered(name, one), "  ", "         ")
    return put(lines, paper)


def _listened(told: dict[str, Any]) -> str:
    came = told.get("came") or []
    who = f": {', '.join(sorted(set(map(str, came)))[:12])}" if came else ""
    return f"✓ listened on {told.get('to', '?')}; {len(came)} came{who}"


def _answered(told: dict[str, Any], ok: bool) -> str:
    where = told.get("to", "?")
    if ok:
        return f"✓ {where} answers, in {told.get('ms', '?')} ms, over {told.get('interface') or 'an interface'}"
    return f"✗ {where}: {_STAGES.get(str(told.get('stage')), 'no')}: {told.get('text', '')}"


def _steered(name: str, one: dict[str, Any]) -> str:
    left = ", ".join(one.get("leaves") or ()) or "no interface at all"
    bad = not one.get("leaves") or one.get("fits") is False
    note = "; the way to the rendezvous is not over it → can be distributed.nccl" if bad else ""
    return f"{name}={one.get('value')} leaves {left}{note}"


def probe_dict(
    found: Sequence[Any],
    slow: Sequence[Any],
    tries: Sequence[Any],
    nodes: int,
    command: str,
    silent: Sequence[str] = (),
) -> dict[str, Any]:
    """The search in plain values (`gpuwhy.probe/1`)."""
    return {
        "schema": "gpuwhy.probe/1",
        "nodes": nodes,
        "command": command,
        "culprits": [{"nodes": list(one.nodes), "outcome": one.outcome, "text": one.text} for one in found],
        "slow": [{"nodes": list(one.nodes), "bandwidth": one.bandwidth} for one in slow],
        "silent": list(silent),
        "tries": [
            {"nodes": len(one.nodes), "outcome": one.outcome, "seconds": one.seconds, "bandwidth": one.bandwidth}
            for one in tries
        ],
    }


def render_probe(value: dict[str, Any], paper: Paper) -> str:
    """The search for a person."""
    lines = []
    for one in value["culprits"]:
        lines += [paper.tint("1;31", line) for line in paper.wrap(_culprit(one), "✗ ", "  ")]
    for one in value["slow"]:
        lines += paper.wrap(f"{', '.join(one['nodes'])}: {one['bandwidth']:g} GB/s, far below the median", "! ", "  ")
    for name in value["silent"]:
        lines += paper.wrap(f"{name} could not be asked", "? ", "  ")
    if not lines:
        many = "1 node works" if value["nodes"] == 1 else f"{value['nodes']} nodes work together"
        lines.append(paper.tint("1;32", f"✓ {many}"))
    rates = [one["bandwidth"] for one in value["tries"] if one["bandwidth"]]
    if rates:
        lines += paper.wrap(f"bandwidth {min(rates):g} to {max(rates):g} GB/s", "  ", "  ")
    seconds = sum(one["seconds"] for one in value["tries"])
    lines += paper.wrap(f"{len(value['tries'])} tries, {seconds:.0f} s: {value['command']}", "  ", "  ")
    return put(lines, paper)


def _culprit(one: dict[str, Any]) -> str:
    names = one["nodes"]
    what = f"{names[0]} {one['outcome']}" if len(names) == 1 else f"{' and '.join(names)} work, but not together"
    return f"{what}: {one['text']}" if one["text"] else what


def render_reached(value: dict[str, Any], paper: Paper) -> str:
    """All nodes' ways to the rendezvous, those that fail first."""
    total = len(value["reached"]) + len(value["failed"])
    where, failed = value["to"], value["failed"]
    listened = [one for one in value["listened"] if one["ok"]]
    if not listened:
        head = f"✗ nobody listened on {where}: no rank 0 among the answers, or it could not"
    elif failed:
        head = f"✗ {len(failed):,} of {total:,} nodes cannot reach {where}"
    else:
        head = f"✓ {total:,} node{'s' * (total != 1)} reach {where}"
    lines = [paper.tint("1;31" if head.startswith("✗") else "1;32", line) for line in paper.wrap(head, "", "  ")]
    for one in value["listened"]:
        if not one["ok"]:
            lines += paper.wrap(f"{one['node']}: {one['text']}", "  ", "    ")
    for one in failed[:50]:
        lines += paper.wrap(f"{one['node']}: {_STAGES.get(one['stage'], 'no')}: {one['text']}", "  ", "    ")
    for one in value["steered"][:50]:
        left = ", ".join(one["leaves"]) or "no interface at all"
        lines += paper.wrap(
            f"{one['node']}: {one['variable']}={one['value']} leaves {left} → can be distributed.nccl", "  ", "    "
        )
    return put(lines, paper)
