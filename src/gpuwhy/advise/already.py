"""Already: what a remedy would change and is so, by what was seen of the machine."""

from collections.abc import Mapping, Sequence
from typing import Union

from gpuwhy.advise.remedy import Action, Install, Look, Remove, Restart, Set, Tell, Unset
from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Known
from gpuwhy.facts.facts import Facts

MANAGERS = ("", "pip", "uv")
"""Installers of Python packages; "" is the environment's own."""


def changes(action: Action) -> bool:
    """Whether it changes more than what runs at the moment."""
    return not isinstance(action, (Look, Tell, Restart))


def changes_nothing(do: Sequence[Action], facts: Facts) -> bool:
    """Whether everything that it would change is so already, by what was seen."""
    changing = [one for one in do if changes(one)]
    return bool(changing) and all(_is_so(one, facts) for one in changing)


def _is_so(action: Action, facts: Facts) -> bool:
    if isinstance(action, Install):
        return _is_installed(action, facts)
    if isinstance(action, Remove):
        from packaging.utils import canonicalize_name

        seen = isinstance(facts.environment.packages, Known)
        here = facts.environment.by_name
        gone = all(canonicalize_name(one) not in here for one in action.packages)
        return seen and not action.files and action.manager in MANAGERS and gone
    if isinstance(action, (Set, Unset)):
        return not action.file and _is_set_so(action, facts)
    return False


def _is_installed(action: Install, facts: Facts) -> bool:
    """What an installer would answer with "already satisfied"."""
    if action.manager not in MANAGERS or action.reinstall or action.new_environment:
        return False
    here = facts.environment.by_name
    return all(_is_met(text, here, action.upgrade) for text in action.packages)


def _is_met(text: str, here: Mapping[str, Package], upgrade: bool) -> bool:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name
    from packaging.version import InvalidVersion

    try:
        want = Requirement(text)
        one = here.get(canonicalize_name(want.name))
        if one is None or want.extras or want.url:
            return False
        if upgrade and not any(each.operator == "==" for each in want.specifier):
            return False
        return want.specifier.contains(one.version, prereleases=True)
    except (InvalidRequirement, InvalidVersion):
        return False


def _is_set_so(action: Union[Set, Unset], facts: Facts) -> bool:
    """Whether the variables are as they should be, in the shell that gpuwhy runs in."""
    if not isinstance(facts.variables.variables, Known):
        return False
    now = {one.name: one.value for one in facts.variables.variables.value}
    if isinstance(action, Set):
        return action.kind == "variable" and now.get(action.name) == action.to != ""
    if action.entry:
        return all(action.entry not in now.get(name, "").split(":") for name in action.names)
    return all(name not in now for name in action.names)
