"""An exception that ended a program is never a tick, and what its own code asked for is its own."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text

PACKAGES, USERS = "/opt/venv/lib/python3.12/site-packages", "/home/u/a.py"


def traceback(*stack: tuple[str, str], last: str) -> str:
    frames = "".join(f'  File "{file}", line {n}, in f\n    {code}\n' for n, (file, code) in enumerate(stack, 1))
    return f"epoch 0 1.5\nTraceback (most recent call last):\n{frames}{last}\n"


def test_an_end_without_a_word_is_unknown_and_told():
    stack = ((USERS, "go(x)"), (f"{PACKAGES}/jax/experimental/sparse/bcoo.py", "assert n_dense >= 0"))
    report = explain_text(traceback(*stack, last="AssertionError"))
    assert report.status == "unknown"
    assert report.headline.startswith("The program ended with AssertionError, raised at bcoo.py:2")
    assert explain_text(traceback(*stack, last="AssertionError") + "epoch 1 1.2\n" * 9).status == "healthy"


def test_a_module_that_python_froze_does_not_hang():
    report = explain_text(traceback(("<frozen runpy>", "x"), (USERS, "go(x)"), last="AssertionError"))
    assert [cause.id for cause in report.causes] == ["other.not_gpu"]


GONE = "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/tmpq02n9rb7/last.pt'"
PIPE = "BrokenPipeError: [Errno 32] Broken pipe"


@pytest.mark.parametrize(
    "stack, last, cause",
    [
        (((USERS, "torch.load(w)"), (f"{PACKAGES}/torch/serialization.py", "open(name)")), GONE, "other.not_gpu"),
        (((USERS, "step(x)"), (f"{PACKAGES}/triton/runtime/cache.py", "open(name)")), GONE, "env.limit"),
        (((USERS, "load(sources=s)"), (f"{PACKAGES}/torch/utils/cpp_extension.py", "open(n)")), GONE, "env.limit"),
        (((USERS, "os.write(w, b'gpu metrics')"),), PIPE, "other.not_gpu"),
        (((USERS, "dist.barrier()"), (f"{PACKAGES}/torch/distributed/x.py", "get(k)")), PIPE, "distributed.peer"),
    ],
)  # fmt: skip
def test_what_the_program_itself_asked_for_is_its_own(stack, last, cause):
    assert explain_text(traceback(*stack, last=last)).causes[0].id == cause
