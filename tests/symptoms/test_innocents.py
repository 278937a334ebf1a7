"""Harmless notes of real frameworks and endings of real programs that are no matter of the GPU, composed at random.

lab/innocents.py composes thousands of them; this is a seeded sample of kept outputs.
"""

from __future__ import annotations

import random
from pathlib import Path

from lab.innocents import accused, composed, rows

HERE = Path(__file__).parent / "innocent"
SAMPLE = 60


def test_nobody_is_accused_of_what_only_preceded_the_end():
    texts = composed(rows(HERE / "notes.jsonl"), rows(HERE / "endings.jsonl"), random.Random(3), SAMPLE)
    assert [(one.name, found) for one in texts if (found := accused(one))] == []


def test_a_real_failure_after_the_same_notes_is_named():
    notes = rows(HERE / "notes.jsonl")
    ending = {
        "name": "oom",
        "log": "Traceback (most recent call last):\n"
        '  File "train.py", line 3, in <module>\n    x = torch.empty(1 << 40, device="cuda")\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4096.00 GiB. "
        "GPU 0 has a total capacity of 79.15 GiB of which 78.64 GiB is free.\n",
    }
    named = [accused(one) for one in composed(notes, [ending], random.Random(3), 12)]
    assert [one[0] for one in named if one] == ["memory.oom"] * 12
