"""Values: what one reader does with the text of a variable that it does not take as meant."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Literal, NamedTuple

import msgspec

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import load

Kind = Literal["off", "rejected", "ignored"]
TRUTHS = ("y", "yes", "t", "true", "on", "1", "n", "no", "f", "false", "off", "0")
_WHOLE = re.compile(r"\s*[+-]?\d+(_\d+)*\s*")
_REAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


class Wrong(NamedTuple):
    """What is wrong with a value."""

    kind: Kind
    text: str  # a sentence without its subject, which is the reader: "takes …", "stops at …"
    allowed: tuple[str, ...] = ()
    instead: str = ""


class Rule(msgspec.Struct, frozen=True):
    """settings.jsonl: how one framework reads some variables, or all of one type."""

    names: tuple[str, ...]
    judge: str
    source: str
    framework: str = ""  # "" = NVIDIA's own libraries, whatever is installed
    type: str = ""  # of what its source reads, where no name is given
    title: str = ""  # the subject of the sentence, where it is not the framework
    values: tuple[str, ...] = ()
    fold: bool = False  # in any case
    empty: bool = False  # set to nothing is as good as not set
    kind: Kind = "rejected"
    least: float | None = None
    most: float | None = None
    pattern: str = ""
    parts: str = ""  # what stands between parts that are judged one by one
    says: str = ""
    instead: tuple[str, str] = ("", "")  # an expression, and what it should have been
    since: str = ""  # older releases were not asked
    family: str = ""  # whose flags XLA's are

    def wrong(
        self, value: str, text: str = "", allowed: tuple[str, ...] = (), instead: str = ""
    ) -> Wrong:
        """A value that is not taken."""
        return Wrong(self.kind, f"{refuses(self.kind, value)}{text}", allowed, instead)


Judge = Callable[[Rule, str, str], "Wrong | None"]
"""From a rule, a value and the reader's release ("" where none is known)."""


def refuses(kind: Kind, value: str) -> str:
    """Stops at 'x', or does not take it."""
    return f"{'does not take' if kind == 'ignored' else 'stops at'} {shown(value)}"


def shown(value: str) -> str:
    """A value in quotes, cut where it is long."""
    return repr(value if len(value) <= 60 else value[:57] + "…")


def one_of(rule: Rule, value: str, release: str) -> Wrong | None:
    """One of some words."""
    folded = {one.lower(): one for one in rule.values}
    if (rule.empty and not value) or value in rule.values:
        return None
    if rule.fold and value.lower() in folded:
        return None
    return rule.wrong(value, "", rule.values, folded.get(value.strip().lower(), ""))


def truth(rule: Rule, value: str, release: str) -> Wrong | None:
    """A yes or no, in any case."""
    words = rule.values or TRUTHS
    if value.lower() in words or (rule.empty and not value):
        return None
    return rule.wrong(value, "", words)


def whole(rule: Rule, value: str, release: str) -> Wrong | None:
    """A whole number, perhaps with a smallest one."""
    if rule.empty and not value:
        return None
    if not _WHOLE.fullmatch(value):
        return rule.wrong(value, ": it wants a whole number")
    if rule.least is not None and int(value) < rule.least:
        return rule.wrong(value, f": it wants {rule.least:g} or more")
    return None


def real(rule: Rule, value: str, release: str) -> Wrong | None:
    """A number within limits."""
    if rule.empty and not value:
        return None
    if not _REAL.fullmatch(value):
        percent = _PERCENT.fullmatch(value)
        hint = f"{float(percent[1]) / 100:g}" if percent else ""
        return rule.wrong(value, ": it wants a number", (), hint)
    if rule.least is None or rule.most is None or rule.least <= float(value) <= rule.most:
        return None
    return rule.wrong(value, f": it wants a number from {rule.least:g} to {rule.most:g}")


def off(rule: Rule, value: str, release: str) -> Wrong | None:
    """Values that keep a framework from the GPU."""
    return Wrong("off", rule.says) if value.strip().lower() in rule.values else None


def pattern(rule: Rule, value: str, release: str) -> Wrong | None:
    """An expression that the value, or each part of it, matches."""
    if (rule.empty and not value) or (rule.since and not at_least(release, rule.since)):
        return None
    parts = value.split(rule.parts) if rule.parts else [value]
    bad = next((one for one in parts if not re.fullmatch(rule.pattern, one)), None)
    if bad is None:
        return None
    meant = re.sub(rf"\A{rule.instead[0]}\Z", rule.instead[1], bad) if rule.instead[0] else ""
    fits = meant != bad and re.fullmatch(rule.pattern, meant)
    return rule.wrong(bad, rule.says, rule.values, meant if fits else "")


def memory(rule: Rule, value: str, release: str) -> Wrong | None:
    """CuPy's limit: bytes, or a percentage."""
    if re.fullmatch(r"\s*\d+\s*", value) or not value:
        return None
    part = _PERCENT.fullmatch(value)
    if part and float(part[1]) <= 100:
        return None
    sized = re.fullmatch(r"\s*(\d+)\s*([KMGT])i?B?\s*", value, re.IGNORECASE)
    count = int(sized[1]) * 1024 ** ("KMGT".index(sized[2].upper()) + 1) if sized else ""
    return rule.wrong(
        value, ": it wants bytes, or a percentage of the GPU's memory", (), str(count)
    )


# ---------------------------------------------------------------- PYTORCH_CUDA_ALLOC_CONF

_BRACKETS = re.compile(r"\[[^\]]*\]")
_BACKENDS = ("native", "cudaMallocAsync")
_MEANT = {"true": "True", "1": "True", "yes": "True", "false": "False", "0": "False", "no": "False"}


class Option(msgspec.Struct, frozen=True):
    """allocator.json: keys of libc10 in torch 2.15.0, and roundup_bypass_threshold_mb of 1.12."""

    since: str = ""
    truth: bool = False
    least: int | None = None  # a whole number from here on


def allocator(rule: Rule, value: str, release: str) -> Wrong | None:
    """PyTorch's allocator options: key:value pairs with commas between them."""
    for part in filter(None, (p.strip() for p in _BRACKETS.sub("[]", value).split(","))):
        wrong = _option(part, release)
        if wrong is not None:
            whole = value.replace(part, wrong.instead) if wrong.instead else ""
            return wrong._replace(instead=whole)
    return None


def _option(part: str, release: str) -> Wrong | None:
    options = load("allocator.json", dict[str, Option])
    name, colon, chosen = (p.strip() for p in part.partition(":"))
    if not colon:
        fixed = part.replace("=", ":") if "=" in part else ""
        return Wrong(
            "rejected", f"stops at {shown(part)}: options are written key:value", (), fixed
        )
    if name not in options:
        near = get_close_matches(name, options, 1, 0.8)
        text = f"stops at {shown(name)}, which is no option of its allocator"
        return Wrong("rejected", text, tuple(options), f"{near[0]}:{chosen}" if near else "")
    since = options[name].since
    if since and release and not at_least(release, since):
        return Wrong("rejected", f"stops at {shown(name)}, an option that came with {since}")
    return _option_value(name, options[name], chosen)


def _option_value(name: str, option: Option, chosen: str) -> Wrong | None:
    if option.truth and chosen not in ("True", "False"):
        meant = _MEANT.get(chosen.lower(), "")
        text = f"stops at {shown(chosen)} for {name}"
        return Wrong("rejected", text, ("True", "False"), f"{name}:{meant}" if meant else "")
    if name == "backend" and chosen not in _BACKENDS:
        return Wrong("rejected", f"stops at the backend {shown(chosen)}", _BACKENDS)
    digits, least = chosen.isdigit(), option.least
    part = _REAL.fullmatch(chosen) is not None and 0 < float(chosen) < 1
    if name == "garbage_collection_threshold" and not part:
        wanted = "a number between 0 and 1"
    elif least is not None and not (digits and int(chosen) >= least):
        wanted = f"a whole number from {least} on"
    elif name == "roundup_power2_divisions" and digits and int(chosen) & (int(chosen) - 1):
        wanted = "a power of 2"
    else:
        return None
    return Wrong("rejected", f"stops at {shown(chosen)} for {name}: it wants {wanted}")


# ---------------------------------------------------------------- TORCH_CUDA_ARCH_LIST

_ARCH = re.compile(r"\d{1,2}\.\d[af]?(\+PTX)?")
_SM = re.compile(r"(?:sm_?|compute_?)?(\d{1,2})(\d)([af]?)", re.IGNORECASE)


def arch_list(rule: Rule, value: str, release: str) -> Wrong | None:
    """Architectures for extensions: 8.0, 9.0a+PTX or a family's name."""
    parts = re.split(r"[ ;]", value) if value.strip() not in ("", "native") else []
    bad = next((p for p in parts if p and not _ARCH.fullmatch(p) and p not in rule.values), None)
    if bad is None:
        return None
    meant, allowed = _arch_meant(bad, rule), ("8.0", "8.6+PTX", "9.0a", *rule.values[-8:-2])
    instead = value.replace(bad, meant) if meant else ""
    return rule.wrong(bad, " when it builds an extension", allowed, instead)


def _arch_meant(part: str, rule: Rule) -> str:
    if "," in part:
        return part.replace(",", ";")
    if found := _SM.fullmatch(part):
        return f"{found[1]}.{found[2]}{found[3]}"
    if part.lower().endswith("+ptx"):
        return part[:-4] + "+PTX"
    return next(iter(get_close_matches(part, rule.values, 1, 0.75)), "")


# ---------------------------------------------------------------- JAX_PLATFORMS


def platforms(rule: Rule, value: str, release: str) -> Wrong | None:
    """The platforms that JAX may use, the first of them by default; nothing means all."""
    parts = value.split(",") if value else ["cuda"]
    unknown = (part for part in parts if part not in rule.values)
    bad = next((part for part in unknown if not re.fullmatch(rule.pattern, part)), None)
    if bad is not None:
        text = f"knows no platform {shown(bad)} unless a plug-in package brings it"
        word = bad.strip().lower()
        near = {"nvidia": "cuda"}.get(word, word.rstrip("0123456789:"))
        fixed = ",".join(near if part == bad else part for part in parts if part != "")
        meant = fixed if near in rule.values or not word else ""
        return Wrong("rejected", text, rule.values, meant)
    if not {"cuda", "gpu"} & set(parts):
        return Wrong("off", f"uses {' and '.join(parts)} only, and not the GPU", (), "cuda,cpu")
    return None


def platform_name(rule: Rule, value: str, release: str) -> Wrong | None:
    """JAX's older way to choose one platform, in any case."""
    written = value.strip().lower()
    if written in ("", "cuda", "gpu"):
        return None
    if written in rule.values:
        return Wrong("off", f"uses {written} by default, and not the GPU", (), "gpu")
    return rule.wrong(value, ": no such platform", rule.values)
