"""Refusals: what a framework says by its parts, and what only looks like it."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.symptoms.reader import read_text

FRAME = '  File "/v/lib/python3.11/site-packages/{owner}/ops.py", line 9, in op\n    return call(x)\n'


def traced(said: str, owner: str = "torch") -> str:
    return f"Traceback (most recent call last):\n{FRAME.format(owner=owner)}{said}\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (traced("ValueError: the mask must be 2-D, got 3-D"), "program.shape"),
        (traced("TypeError: lerp needs weights of dtype float32, found int64", "jax"), "program.shape"),
        ('RuntimeError: "roll_cuda" not implemented for \'Byte\'', "program.shape"),
        (traced("RuntimeError: the sampler has already been closed", "cupy"), "program.order"),
        (traced("RuntimeError: the pool cannot be trimmed when capturing", "cupy"), "program.order"),
        (traced("BufferError: Can't export tensors with the conjugate bit set"), "program.shape"),
        (traced("CheckpointError: Recomputed values for the following tensors have different metadata than during the forward pass."), "program.shape"),
        ("terminate called after throwing an instance of 'c10::Error'\n  what():  Storage size calculation overflowed with sizes=[6] and strides=[-1]\n", "program.shape"),
        (
            "tensorflow.python.framework.errors_impl.FailedPreconditionError: Table not initialized. [Op:LookupTableFind]",
            "program.order",
        ),
        ("RuntimeError: Invalid value 'often' for TORCH_NCCL_DUMP_LEVEL", "env.setting"),
        ("[E:onnxruntime:, x.cc:5] Non-zero status code: Mul node: axis == 1 was false. Attempting to broadcast 3 by 5", "program.shape"),
    ],
)  # fmt: skip
def test_a_framework_refuses(text, cause):
    assert explain_text(text).causes[0].id == cause


@pytest.mark.parametrize(
    "text",
    [
        traced("ValueError: columns must have the same length, got 3 and 4", "pandas"),
        'Traceback (most recent call last):\n  File "a.py", line 2, in <module>\n    raise ValueError("shape must be (3,)")\nValueError: shape must be (3,)\n',
        "RuntimeError: Event loop is closed",
        traced("TypeError: Shapes must be 1D sequences of concrete values of integer type, got (JitTracer(int32[]),).", "jax"),
    ],
)  # fmt: skip
def test_what_is_no_refusal(text):
    assert not read_text(text).has("refused.")
