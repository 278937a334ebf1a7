"""Views: one file is judged alone, through a script and through a Dockerfile; who knows less does not outvote others.

A view is informed where its Python or its image is known. What only a view says that knows neither, of a file that an
informed one looked at as well and found right, is not said.
"""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake

_OF_A_SYSTEM = frozenset(["apt-gone", "apt-python", "base-image", "externally-managed", "old-get-pip", "old-pip"])
"""Rules that speak of what an image brings."""
_OF_PACKAGES = frozenset(
    [
        "borrowed-cuda", "build-alone", "image-outrun", "index-outrun", "local-version", "no-solution", "old-gpus",
        "pair-mismatch", "python-no-wheel", "refused-metadata", "torch-at-build", "torch-replaced", "unstated-limit",
    ]
)  # fmt: skip
"""Rules that speak of what is installed on a Python or in an image."""


class View(NamedTuple):
    """One environment: the files that it was made of, whether its image or its Python is known, what is wrong in it."""

    covers: frozenset[str]
    image: bool
    python: bool
    mistakes: tuple[Mistake, ...]

    def only_of(self, paths: Container[str]) -> View:
        """With the mistakes of some files alone."""
        return self._replace(mistakes=tuple(one for one in self.mistakes if one.place.path in paths))

    def is_informed(self, rule: str) -> bool:
        """Whether it knows what a rule speaks of."""
        return self.image or (self.python and rule in _OF_PACKAGES) or rule not in (_OF_PACKAGES | _OF_A_SYSTEM)


def seen(scope: Scope, mistakes: Sequence[Mistake]) -> View:
    """An environment that was judged."""
    stage = scope.environment
    covers = frozenset([stage.path, *stage.through])
    own = scope.kind not in ("workflow", "gitlab")  # machines of tests, which are nobody's way to install
    beside = scope.hinted and "dockerfile" not in posixpath.basename(scope.repository.naming).lower()  # it has a view
    python = own and bool(stage.pythons or beside)
    return View(covers, own and stage.image is not None, python, tuple(mistakes))


def agreed(views: Sequence[View]) -> Iterator[Mistake]:
    """The mistakes of all views, without those that a better informed one did not find."""
    for view in sorted(views, key=lambda one: (not one.image, not one.python)):  # of two texts, that of who knows more
        for mistake in view.mistakes:
            if view.is_informed(mistake.rule) or not _is_denied(mistake, views):
                yield mistake


def _is_denied(mistake: Mistake, views: Sequence[View]) -> bool:
    looked = [view for view in views if mistake.place.path in view.covers and view.is_informed(mistake.rule)]
    found = ((other.rule, other.place) for view in looked for other in view.mistakes)
    return bool(looked) and (mistake.rule, mistake.place) not in found
