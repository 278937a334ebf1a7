"""A runner or an action of GitHub's that is gone, or a Python that it cannot set up."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule(
    "ended-runner", "error", "a runner or an action of GitHub's that is gone, or a Python that it cannot set up"
)

_IMAGES = source("actions/runner-images, announcements", "20.04 left on 15 April 2025, Windows 2019 on 30 June 2025")
_PYTHONS = source("actions/python-versions, versions-manifest.json", "the Pythons that were built for each runner")
_GONE = {
    "ubuntu-16.04": "2021", "ubuntu-18.04": "April 2023", "ubuntu-20.04": "April 2025", "windows-2016": "2022",
    "windows-2019": "June 2025", "macos-10.15": "2022", "macos-11": "June 2024", "macos-12": "December 2024",
}  # fmt: skip
_OLDEST = {"ubuntu-latest": "3.8", "ubuntu-24.04": "3.8", "ubuntu-22.04": "3.7"}
"""The oldest Python that setup-python has for a runner."""


def check(scope: Scope) -> Iterator[Mistake]:
    """A job that speaks of the GPU stack, by its runner and the Python that it sets up."""
    stage = scope.environment
    if scope.for_gpus:
        yield from _actions(scope)
    if stage.runner is None or not scope.for_gpus:
        return
    name = stage.runner.value
    if name in _GONE:
        text = f"{name}: GitHub took that runner away in {_GONE[name]}, and the job waits for it until it is cancelled"
        yield RULE.mistake(stage.runner.place, text, _IMAGES, f"write {name.split('-', maxsplit=1)[0]}-latest")
        return
    oldest = _OLDEST.get(name, "")
    old = [python for python in stage.pythons if oldest and not at_least(python, oldest)]
    if old and stage.python_line:
        text = f"setup-python has no Python {old[0]} for {name} ({oldest} is its oldest): the step fails"
        fix = f"take Python {oldest} or newer, or a container with {old[0]}"
        yield RULE.mistake(Place(stage.path, stage.python_line), text, _PYTHONS, fix)


_SWITCHED_OFF = source(
    "GitHub changelog, 16 April 2024 and 5 December 2024",
    "artifact actions v1 to v3 fail since 30 January 2025, actions/cache v1 and v2 since 1 March 2025",
)
_OFF = (
    (re.compile(r"actions/(upload|download)-artifact"), re.compile(r"v[123](\.|$)"), "v4"),
    (re.compile(r"actions/cache(/\w+)?"), re.compile(r"v[12](\.|$)|v3\.[0-3]\.|v4\.[01]\."), "v4"),
)


def _actions(scope: Scope) -> Iterator[Mistake]:
    """Releases of GitHub's own actions that fail as soon as a job takes them; each action once."""
    told: set[str] = set()
    for used in scope.environment.actions:
        newest = next((new for name, off, new in _OFF if name.fullmatch(used.name) and off.match(used.value)), "")
        if newest and used.name not in told:
            told.add(used.name)
            text = f"{used.name}@{used.value}: GitHub switched that release off, and the job fails at once"
            yield RULE.mistake(used.place, text, _SWITCHED_OFF, f"write {used.name}@{newest}")
