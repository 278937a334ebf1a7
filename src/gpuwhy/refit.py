"""What would have fitted: the log of a program that ran out of GPU memory, where it names its model and its sizes."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gpuwhy.fit.answer import Fit, FitError
from gpuwhy.fit.ask import fit
from gpuwhy.fit.config import Config
from gpuwhy.fit.dtypes import shown
from gpuwhy.fit.model import Unreadable
from gpuwhy.fit.read import of_config
from gpuwhy.fit.source import as_object
from gpuwhy.model.cause import Fix
from gpuwhy.model.report import Report

CAUSES = ("memory.oom", "memory.fragmentation")
_PATH = re.compile(
    r"""(?:model_name_or_path|from_pretrained\(|--?model(?:[-_]path)?|loading (?:weights|checkpoint|configuration)"""
    r"""[\w ]*?(?: from)?)["'=:,\s(]+([~/.][^\s"',)]{1,300})""",
    re.IGNORECASE,
)
_CONFIG = re.compile(r"model config \w+ (\{.*?\n\})", re.IGNORECASE | re.DOTALL)
_BATCH = re.compile(
    r"(?:per_device_train_|per_device_|train_|micro_|per_gpu_)?batch[-_ ]?size(?:_per_gpu)?[\"'=:\s]{1,4}(\d{1,6})",
    re.I,
)
_TOKENS = re.compile(
    r"(?:max_seq(?:_?len(?:gth)?)?|seq(?:uence)?[-_ ]?len(?:gth)?|block_size|max_model_len|model_max_length)"
    r"[\"'=:\s]{1,4}(\d{1,7})",
    re.I,
)
_TRAINS = re.compile(r"loss\.backward|per_device_train|training_step|trainer\.train|optimizer\.step|backward\(", re.I)
_LORA = re.compile(r"\blora_(?:r|alpha|rank)\b|LoraConfig|get_peft_model|trainable params: .*trainable%: 0", re.I)
_CAPACITY = re.compile(r"total capacity (?:of )?([\d.]+ ?[GM]iB)", re.I)
_AMP = re.compile(r"\b(?:bf16|fp16)[\"']?[=:]\s*true|autocast|mixed_precision", re.I)


def advised(report: Report, text: str) -> Report:
    """The report with the numbers of the model that its text names, and the changes that would have fitted."""
    if not report.causes or report.causes[0].id not in CAUSES:
        return report
    found = predicted(text)
    if found is None:
        return report
    first = report.causes[0]
    fixes = (*(_fix(found, change) for change in found.changes[:2]), *first.fixes)
    return msgspec.structs.replace(report, causes=(msgspec.structs.replace(first, fixes=fixes), *report.causes[1:]))


def _fix(found: Fit, change: Any) -> Fix:
    needs = f"by the model's own sizes this takes about {shown(found.bytes)} of {shown(found.room)}"
    text = f"{change.text}: {needs}, with this change {shown(change.bytes)}; it costs {change.cost}"
    return Fix(text, check="gpuwhy fit MODEL, with the options that you use", role="remedy")


def predicted(text: str) -> Fit | None:
    """What the account says of the use that the text tells; None where it names no model that can be read here."""
    capacity = _CAPACITY.search(text)
    if capacity is None:
        return None
    use = {"batch": _last(_BATCH, text) or 1, "tokens": _last(_TOKENS, text) or 0}
    train = "lora" if _LORA.search(text) else "full" if _TRAINS.search(text) else ""
    if train == "full" and _AMP.search(text):
        use["amp"] = True
    for asked in _asked(text):
        try:
            found = asked(train=train, gpu_memory=capacity[1], **use)
        except (FitError, Unreadable, OSError):
            continue
        return found if found.status in ("does_not_fit", "only_just") and found.changes else None
    return None


def _asked(text: str) -> list[Any]:
    """Ways to the model: a configuration that the log prints, else a path that it names."""
    out: list[Any] = []
    for found in _CONFIG.findall(text)[-1:]:
        out.append(lambda text=found, **use: fit(of_config(Config(as_object(text.encode(), "it")), "log"), **use))
    for path in list(dict.fromkeys(_PATH.findall(text)))[-4:]:
        out.append(lambda path=path, **use: fit(path, **use))
    return out


def _last(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.findall(text)
    return int(found[-1]) if found else 0
