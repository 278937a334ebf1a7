"""Conditions on memory: what a message says was asked for, free and held."""

from __future__ import annotations

from gpuwhy.model.symptom import Reading, Symptom


def _figures(s: Symptom) -> dict[str, float]:
    f = {name: s.size(name) for name in ("wanted", "total", "free", "allocated", "reserved", "unused", "allowed")}
    if f["reserved"] < 0 <= min(f["allocated"], f["unused"]):  # in a container the own process goes by a foreign pid
        f["reserved"] = f["allocated"] + f["unused"]
    return f


def has_figures(s: Symptom, r: Reading) -> bool:
    """The message gives total, free and own memory."""
    f = _figures(s)
    return f["total"] > 0 and f["free"] >= 0 and max(f["reserved"], f["allocated"]) >= 0


def others_hold(s: Symptom, r: Reading) -> bool:
    """What is neither free nor held by this process is a large part of the card."""
    f = _figures(s)
    own = max(f["reserved"], f["allocated"], 0)
    held = f["total"] - max(f["free"], 0) - own
    return has_figures(s, r) and f["free"] < f["wanted"] * 1.5 and held > 0.35 * f["total"] and held > own * 0.6


def splintered(s: Symptom, r: Reading) -> bool:
    """This process holds reserved memory that it does not use, and more of it than was asked for."""
    f = _figures(s)
    if capped(s, r):
        return f["unused"] > 0 and 0 <= f["allocated"] + f["wanted"] <= f["allowed"]
    if f["unused"] < 0 and 0 <= f["allocated"] < 0.1 * f["reserved"]:  # none of its pool's: another framework's
        return False
    unused = f["unused"] if f["unused"] >= 0 else f["reserved"] - f["allocated"]
    known = f["unused"] >= 0 or f["allocated"] >= 0
    return has_figures(s, r) and known and f["reserved"] > 0 and unused > max(1.2 * f["wanted"], 0.06 * f["total"])


def free_but_refused(s: Symptom, r: Reading) -> bool:
    """More is free than was asked for."""
    f = _figures(s)
    return has_figures(s, r) and f["free"] > 1.5 * f["wanted"] and not capped(s, r)


def own_little(s: Symptom, r: Reading) -> bool:
    """This process itself holds next to nothing."""
    f = _figures(s)
    return has_figures(s, r) and max(f["reserved"], f["allocated"]) < 0.1 * f["total"]


def held_beside(s: Symptom, r: Reading) -> bool:
    """This process holds most of the card, and hardly anything of it through PyTorch: another framework grabbed it."""
    f = _figures(s)
    return has_figures(s, r) and f["reserved"] > 0.4 * f["total"] and 0 <= f["allocated"] < 0.1 * f["reserved"]


def own_full(s: Symptom, r: Reading) -> bool:
    """This process itself fills the card, or asks for more than the card has."""
    f = _figures(s)
    own = max(f["reserved"], f["allocated"])
    return has_figures(s, r) and (
        own > 0.6 * f["total"] or f["wanted"] > f["total"] or own + f["wanted"] > 0.9 * f["total"]
    )


def capped(s: Symptom, r: Reading) -> bool:
    """The program set a limit of its own on the memory that it may use: the rest of the card is no matter."""
    return s.size("allowed") > 0
