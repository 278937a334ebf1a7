"""XLA_FLAGS and TF_XLA_FLAGS as XLA reads them: a file's name, or words that start with --."""

import re
from difflib import get_close_matches

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.readings import Flag, Flags, every_flag, flags
from gpuwhy.knowledge.values import Kind, Rule, Wrong, shown

STRICT = {"jaxlib": "0.4.30", "tensorflow": "2.21", "tf_xla": "2.21"}
"""The first releases seen to end at a wrong value; jaxlib 0.4.26 and TensorFlow 2.15 go on."""
_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
_NUMBER = {"int32": r"[+-]?\d+", "int64": r"[+-]?\d+", "uint64": r"\d+"}
_REAL = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"


def judge(rule: Rule, value: str, release: str) -> Wrong | None:
    """The flags of one release, word by word."""
    text = value.strip()
    if text and not text.startswith("-"):
        meant = f"--{text}" if text.split("=")[0] in every_flag() else ""
        said = f"takes {shown(text)} for the name of a file of flags: a flag starts with --"
        return Wrong("rejected", said, (), meant)
    table = flags(rule.family, release)
    for word in _WORD.findall(text):
        bare = re.sub(r"[\"']", "", word)
        wrong = _wrong(bare, table, rule.family, release)
        if wrong is not None:
            instead = text.replace(bare, wrong.instead) if wrong.instead else ""
            return wrong._replace(instead=instead)
    return None


def _wrong(word: str, table: Flags, family: str, release: str) -> Wrong | None:
    if not word.startswith("--"):
        meant = f"-{word}" if word.startswith("-") else f"--{word}"
        known = meant[2:].split("=")[0] in every_flag()
        said = f"stops at {shown(word)}: a flag starts with --"
        return Wrong("rejected", said, (), meant) if known else None
    name, equals, chosen = word[2:].partition("=")
    flag = table.before.get(name) or table.after.get(name)
    if flag is None:
        return _unknown(name, f"{equals}{chosen}", table)
    if equals:
        return _value(flag, chosen, family, release)
    usual = f"--{name}={flag.default}"
    said = f"stops at --{name} without a value"
    return None if flag.type == "bool" else Wrong("rejected", said, (flag.type,), usual)


def _unknown(name: str, rest: str, table: Flags) -> Wrong | None:
    """A flag that neither neighbour of the release has.

    Before the oldest release that was read only what is misspelt is told, and after the newest what
    is misspelt or gone.
    """
    elsewhere = name in every_flag()
    near = next(iter(get_close_matches(name, {**table.before, **table.after}, 1, 0.9)), "")
    if not table.release and (elsewhere or not near):
        return None
    if not (table.after or elsewhere or near):
        return None
    gone = ": other releases have it" if elsewhere else ""
    said = f"ends the program at --{name}, a flag that it does not know{gone}"
    return Wrong("rejected", said, (), f"--{near}{rest}" if near else "")


def _value(flag: Flag, chosen: str, family: str, release: str) -> Wrong | None:
    allowed: tuple[str, ...] = ("true", "false")
    if flag.type == "bool":
        good = chosen.lower() in ("true", "false", "1", "0")
    elif flag.type in _NUMBER or flag.type in ("float", "double"):
        good = bool(re.fullmatch(_NUMBER.get(flag.type, _REAL), chosen.strip()))
        allowed = ("a whole number" if flag.type in _NUMBER else "a number",)
    else:
        return None
    if good:
        return None
    strict = not release or at_least(release, STRICT[family])
    kind: Kind = "rejected" if strict else "ignored"
    said = f"{'stops at' if strict else 'does not take'} {shown(chosen)} for --{flag.name}"
    return Wrong(kind, said, allowed, f"--{flag.name}={flag.default}")
