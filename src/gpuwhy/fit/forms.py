"""A tensor's name without the numbers of its layer and its expert: what many layers have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DIGITS = re.compile(r"\.[0-9]+(?![^.\n])")


def forms_of(names: Sequence[str]) -> list[str]:
    """The form of each name, all at once."""
    forms = _DIGITS.sub(".#", "\n".join(names)).split("\n")
    return forms if len(forms) == len(names) else [_DIGITS.sub(".#", name) for name in names]
