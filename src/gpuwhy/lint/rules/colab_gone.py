"""What Colab no longer has."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("colab-gone", "error", "what Colab no longer has")

_MAGIC = source("Google Colab, TensorFlow versions", "TensorFlow 1 left in August 2022, the magic goes to 2.x alone")


def check(scope: Scope) -> Iterator[Mistake]:
    """%tensorflow_version 1.x in a notebook."""
    for command in scope.environment.commands if scope.kind == "notebook" else ():
        if command.words[:1] == ("tensorflow_version",) and command.words[1:2] and command.words[1].startswith("1"):
            text = "%tensorflow_version 1.x: Colab has no TensorFlow 1 since August 2022, and the line fails"
            fix = "port the notebook to TensorFlow 2 (tf.compat.v1), or run it elsewhere with Python 3.7"
            yield RULE.mistake(Place(scope.environment.path, command.lines[0]), text, _MAGIC, fix)
            return
