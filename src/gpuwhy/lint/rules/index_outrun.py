"""An extra index of PyTorch that ended, beside a default index that goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuwhy.knowledge import indexes
from gpuwhy.knowledge.guests import guests
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Index, Pin, holds_only
from gpuwhy.lint.versions import allows
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, major_minor, numbers

RULE = Rule("index-outrun", "error", "an extra index that ended: pip takes the newer release of the default one")


def check(scope: Scope) -> Iterator[Mistake]:
    """torch without a limit, and an index beside the default one whose last torch is older than what pip takes."""
    if scope.base.framework != "torch":
        for pin in scope.pins:
            if pin.name == "torch" and pin.by_name:
                yield from (_pinned if is_pinned(pin) else _beside)(scope, pin)
    yield from _brought(scope)


def _beside(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    extra = _extra(pin.indexes)
    if len(extra) == 1 and _is_second(pin):
        yield from _outrun(scope, pin, extra[0])


def _pinned(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """A pinned torch that is younger than the only index beside the default one: the default one's build comes."""
    named = {index.backend for index in _extra(pin.indexes)}
    row = scope.taken(pin) if pin.version and not pin.local and len(named) == 1 else None
    last = indexes.ends(*named) if row else ""
    if row and last and not at_least(last, major_minor(row.version)) and _is_second(pin):
        text = f"{''.join(named)} ended with torch {last} and has no {pin.version}: the default index's comes"
        fix = f"take the index that has it (gpuwhy plan torch=={pin.version}), or torch=={last}.*"
        yield RULE.mistake(pin.place, f"{text}, {_cuda(row)}", indexes.ENDED, fix, "warning")


def _is_second(pin: Pin) -> bool:
    """Whether no other index takes the default one's place."""
    return not any(index.role == "only" for index in pin.indexes)


def _extra(indexes: Iterable[Index]) -> list[Index]:
    """PyTorch's own indexes that are asked beside the default one."""
    return [one for one in indexes if one.role in ("extra", "links") and holds_only(one.url) == "torch"]


def _brought(scope: Scope) -> Iterator[Mistake]:
    """torch that no line names: a package asks for it, and any release will do."""
    if any(pin.name in ("torch", "pytorch") for pin in scope.environment.pins) or scope.base.framework == "torch":
        return
    extra = _extra(_indexes(scope))
    if len(extra) != 1 or any(pin.limits for pin in scope.pins):
        return
    for pin in scope.pins:
        if pin.origin == "pip" and _asks_freely(pin):
            torch = Pin("torch", pin.place)
            for mistake in _outrun(scope, torch, extra[0], f"torch, which {pin.name} asks for,"):
                yield mistake
                return


def _indexes(scope: Scope) -> list[Index]:
    return list(dict.fromkeys(index for pin in scope.environment.pins for index in pin.indexes))


def _asks_freely(pin: Pin) -> bool:
    """Whether a package demands torch, and its newest release sets no upper limit."""
    found = guests(pin.name)
    asked = (found[-1].asks or {}).get("torch") if found and not is_pinned(pin) else None
    return asked is not None and not any(sign in asked for sign in ("<", "==", "~="))


def _outrun(scope: Scope, pin: Pin, index: Index, who: str = "torch without a version") -> Iterator[Mistake]:
    last, row = indexes.ends(index.backend), scope.taken(pin)
    if not last or row is None or at_least(last, major_minor(row.version)) or _satisfied(scope, last):
        return
    text = (
        f"{who} takes {row.version} of the default index, {_cuda(row)}; "
        f"{index.backend} ended with {last} and is not used"
    )
    wanted = f"=={last}.*" if len(numbers(last)) == 2 else f"=={last}"
    fix = f"write --index-url {index.url} for PyTorch alone, or torch{wanted}"
    yield RULE.mistake(pin.place, text, indexes.ENDED, fix)


def _cuda(row: Release) -> str:
    return f"which is for CUDA {row.cuda}" if isinstance(row.cuda, str) else "another build"


def _satisfied(scope: Scope, last: str) -> bool:
    """Whether another line of the same environment holds torch back."""
    if any(pin.name == "torch" for pin in scope.project):
        return True
    others = [p for p in scope.environment.pins if p.name == "torch" and is_pinned(p)]
    return any(allows(p.specifier.split("+")[0], f"{last}.1") or p.version for p in others)
