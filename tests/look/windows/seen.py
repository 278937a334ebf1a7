"""A disk as the looks see it, with variables that are given."""

from typing import Any

from gpuwhy.facts.fact import Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.look.look import Options, look
from gpuwhy.machine.recording import RecordingMachine
from tests.windows.trees import Disk

SUBJECTS = ("system", "environment", "frameworks", "installs", "variables")


def facts_of(disk: Disk, python: str = "", **environ: str) -> Facts:
    """What is seen of it; a look that fails fails the test."""
    facts = look(RecordingMachine(disk.machine(**environ)), Options(python=python), SUBJECTS)
    for subject in SUBJECTS:
        record: Any = getattr(facts, subject)
        for name in record.__struct_fields__:
            fact = getattr(record, name)
            assert not (isinstance(fact, Unknown) and "gpuwhy failed" in fact.reason), fact.reason
    return facts
