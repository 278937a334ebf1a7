"""torch from PyTorch's own index, asked for after another command has installed a torch that satisfies it."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command, Pin, holds_only
from gpuwhy.lint.versions import allows, together
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("index-late", "error", "PyTorch's index in a later command, when a torch is already there")

_KNOW = source("pip install, reference", "what is installed and satisfies the requirement is kept, whatever its index")
_KINDS = ("dockerfile", "script", "cog")
_AGAIN = ("-U", "--upgrade", "--force-reinstall", "-I", "--ignore-installed", "--reinstall", "--target", "-t")


def check(scope: Scope) -> Iterator[Mistake]:
    """torch by one command, and by a later one again, with an index and without a release."""
    if scope.kind not in _KINDS or scope.environment.forked or scope.base.framework == "torch":
        return
    for pin in scope.pins:
        first = _first(scope, pin) if _asks_an_index(pin) and not _again(scope, pin) else None
        if first:
            where = f"line {first.place.line} of {first.place.path.rsplit('/', 1)[-1]}"
            text = f"torch is there already ({where}), so nothing is taken from {pin.indexes[-1].url}"
            fix = "install torch from that index first, or give its release and --force-reinstall"
            yield RULE.mistake(pin.place, text, _KNOW, fix)
            return


def _asks_an_index(pin: Pin) -> bool:
    """Whether a pin of torch names PyTorch's index and leaves the release open."""
    own = any(holds_only(index.url) == "torch" for index in pin.indexes)
    return pin.name == "torch" and own and not pin.version and not pin.reference and pin.step > 0


def _first(scope: Scope, pin: Pin) -> Pin | None:
    """A torch from the default index that an earlier command installs and that satisfies this one."""
    earlier = [p for p in (*scope.pins, *scope.project) if p.name == "torch" and 0 < p.step < pin.step]
    plain = [p for p in earlier if p.origin == "pip" and not p.limits and together(p, pin)]
    for one in plain:
        row = scope.taken(one)
        version = one.version.partition("+")[0] or (row.version if row else "")
        fits = allows(pin.specifier, version) if version else one.reference and not pin.specifier
        if fits and one.backend != pin.backend:
            return one
    return None


def _again(scope: Scope, pin: Pin) -> bool:
    """Whether the command replaces what is there, or one before it removes that."""
    commands = scope.environment.commands[: pin.step]
    if len(commands) < pin.step or any(word in _AGAIN for word in commands[-1].words):
        return True
    return any(_removes(command) for command in commands)


def _removes(command: Command) -> bool:
    return "uninstall" in command.words and any(word.startswith("torch") for word in command.words)
