"""What an image's start sets: the program's variables are those after it."""

from __future__ import annotations

import pytest

from gpuwhy.host.starting import started_with

SCRIPT = """#!/bin/bash
export LD_LIBRARY_PATH="/x${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if [ -n "$CPU" ]; then
  export CUDA_VISIBLE_DEVICES=-1
fi
unset PYTHONPATH
exec "$@"
"""
BEFORE = {"LD_LIBRARY_PATH": "/a", "PYTHONPATH": "/p"}


@pytest.mark.parametrize(
    ("words", "after"),
    [
        (["python", "x.py"], BEFORE),
        (["/bin/sh", "-c", "LD_LIBRARY_PATH=/app exec python x.py"], {**BEFORE, "LD_LIBRARY_PATH": "/app"}),
        (["env", "CUDA_VISIBLE_DEVICES=0", "python"], {**BEFORE, "CUDA_VISIBLE_DEVICES": "0"}),
        (["/start.sh", "python"], {"LD_LIBRARY_PATH": "/x:/a"}),
        (["bash", "-c", "A=1 B=2 python"], BEFORE),
        (["sh", "-c", "LD_LIBRARY_PATH=$(find /) python"], BEFORE),
        (["sh", "-c", '[ -n "$CPU" ] && export CUDA_VISIBLE_DEVICES=-1; exec python'], BEFORE),
        (["sh", "-c", "cd /x && export CUDA_VISIBLE_DEVICES=1 && python"], {**BEFORE, "CUDA_VISIBLE_DEVICES": "1"}),
        (
            ["sh", "-c", "test -d /x && A=1 && unset PYTHONPATH; LD_LIBRARY_PATH=/y python"],
            {**BEFORE, "LD_LIBRARY_PATH": "/y"},
        ),
        ([], BEFORE),
    ],
)
def test_variables_after_the_start(words, after):
    assert started_with(words, BEFORE, lambda path: SCRIPT if path == "/start.sh" else "") == after
