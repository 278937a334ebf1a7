"""XLA_FLAGS and TF_XLA_FLAGS as XLA reads them: a file's name, or words that start with two dashes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.readings import Flag, Table, every_flag, flags
from gpuwhy.knowledge.values import Judge, Wrong, shown

STRICT = {"jaxlib": "0.4.30", "tensorflow": "2.21", "tf_xla": "2.21"}
"""The first releases seen to end at a wrong value; jaxlib 0.4.26 and TensorFlow 2.15 write a line and go on."""
_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
_NUMBER = {"int32": r"[+-]?\d+", "int64": r"[+-]?\d+", "uint64": r"\d+"}
_REAL = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"


def judge_of(family: str) -> Judge:
    """The judge of XLA_FLAGS for jaxlib or tensorflow."""

    def judge(value: str, release: str) -> Wrong | None:
        text = value.strip()
        if not text:
            return None
        if not text.startswith("-"):
            meant = f"--{text}" if text.split("=")[0] in every_flag() else ""
            return Wrong(
                "rejected",
                f"takes {shown(text)} for the name of a file of flags: a flag starts with --",
                (),
                meant,
            )
        table = flags(family, release)
        for word in _words(text):
            wrong = _wrong(word, table, family, release)
            if wrong is not None:
                return (
                    wrong._replace(instead=text.replace(word, wrong.instead))
                    if wrong.instead
                    else wrong
                )
        return None

    return judge


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        yield re.sub(r"[\"']", "", word)


def _wrong(word: str, table: Table, family: str, release: str) -> Wrong | None:
    if not word.startswith("--"):
        meant = f"-{word}" if word.startswith("-") else f"--{word}"
        known = meant[2:].split("=")[0] in every_flag()
        return (
            Wrong(
                "rejected",
                f"stops at {shown(word)}: a flag starts with --",
                (),
                meant if known else "",
            )
            if known
            else None
        )
    name, equals, chosen = word[2:].partition("=")
    flag = table.before.get(name) or table.after.get(name)
    if flag is None:
        return _unknown(name, f"{equals}{chosen}", table)
    if not equals:
        return (
            None
            if flag.type == "bool"
            else Wrong(
                "rejected",
                f"stops at --{name} without a value",
                (flag.type,),
                f"--{name}={flag.default}",
            )
        )
    return _value(flag, chosen, family, release)


def _unknown(name: str, rest: str, table: Table) -> Wrong | None:
    """A flag that neither neighbour of the release has; before the oldest one that was read, only what is misspelt, and
    after the newest, what is misspelt or gone."""
    names = every_flag()
    near = next(iter(get_close_matches(name, {**table.before, **table.after}, 1, 0.9)), "")
    if not table.release and (name in names or not near):
        return None
    if table.after or name in names or near:
        gone = ": other releases have it" if name in names else ""
        return Wrong(
            "rejected",
            f"ends the program at --{name}, a flag that it does not know{gone}",
            (),
            f"--{near}{rest}" if near else "",
        )
    return None


def _value(flag: Flag, chosen: str, family: str, release: str) -> Wrong | None:
    if flag.type == "bool":
        good = chosen.lower() in ("true", "false", "1", "0")
        allowed: tuple[str, ...] = ("true", "false")
    elif flag.type in _NUMBER or flag.type in ("float", "double"):
        good = bool(re.fullmatch(_NUMBER.get(flag.type, _REAL), chosen.strip()))
        allowed = ("a whole number" if flag.type in _NUMBER else "a number",)
    else:
        return None
    if good:
        return None
    strict = not release or at_least(release, STRICT[family])
    text = f"{'stops at' if strict else 'does not take'} {shown(chosen)} for --{flag.name}"
    return Wrong(
        "rejected" if strict else "ignored", text, allowed, f"--{flag.name}={flag.default}"
    )
