"""Which releases go together on a machine: candidates with a verdict each, the newest that fits."""

from gpuwhy.choose.choice import Bound, Change, Choice, Needed, Passed, Pick, Verdict
from gpuwhy.choose.chooser import choose
from gpuwhy.choose.demand import Card, Demand, Wanted

__all__ = [
    "Bound",
    "Card",
    "Change",
    "Choice",
    "Demand",
    "Needed",
    "Passed",
    "Pick",
    "Verdict",
    "Wanted",
    "choose",
]
