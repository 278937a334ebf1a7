"""Messages by the syntax tree: every way of raising, with holes where something is filled in."""

from __future__ import annotations

import pytest

from gpuwhy.knowledge.shingles import HOLE
from tools.atlas.message import lines
from tools.atlas.python_source import messages

CASES = [
    ("raise ValueError('a plain text')", "a plain text", "ValueError"),
    ("raise pkg.OddError(f'found {x!r} and {y:>3} here')", f"found {HOLE} and {HOLE} here", "OddError"),
    ("raise ValueError('got %s of %d, %5.1f%% done' % t)", f"got {HOLE} of {HOLE}, {HOLE}% done", "ValueError"),
    ("raise ValueError('got {} of {name}'.format(1, name=2))", f"got {HOLE} of {HOLE}", "ValueError"),
    ("raise ValueError('one ' 'two ' + three + ' four')", f"one two {HOLE} four", "ValueError"),
    ("msg = f'bad {x} here'\nraise TypeError(msg)", f"bad {HOLE} here", "TypeError"),
    ("msg = 'first text of it'\nmsg = 'second text of it'\nraise TypeError(msg)", "second text of it", "TypeError"),
    ("import warnings\nwarnings.warn('this is odd', FutureWarning)", "this is odd", "FutureWarning"),
    ("warnings.warn('this is odd')", "this is odd", "UserWarning"),
    ("log.error('could not read %s', path)", f"could not read {HOLE}", "ERROR"),
    ("self.logger.warning('slow: %d', n)", f"slow: {HOLE}", "WARNING"),
    ("assert x, f'want {x} of them'", f"want {HOLE} of them", "AssertionError"),
    ("torch._check(x > 0, lambda: f'x must be {x} or more')", f"x must be {HOLE} or more", "RuntimeError"),
    ("future.set_exception(IOError('the pipe is gone'))", "the pipe is gone", "IOError"),
    ("raise ValueError(textwrap.dedent('''a text of\n  two lines'''))", "a text of\n  two lines", "ValueError"),
    ("class Full(Exception):\n def __str__(self): return f'no room for {self.n}'", f"no room for {HOLE}", "Full"),
    ("class Full(Error):\n def __init__(self, n): super().__init__(f'no {n} for it')", f"no {HOLE} for it", "Full"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "text", "kind"), CASES)
def test_a_message_is_found(source: str, text: str, kind: str) -> None:
    assert [(m.text, m.kind) for m in messages(source.encode(), "m.py")] == [(text, kind)]


def test_a_function_has_its_full_name_and_sees_names_outside() -> None:
    source = b"TEXT = 'a text outside'\nclass A:\n  def f(self):\n    def g(): raise KeyError(TEXT)\n"
    assert [(m.text, m.function, m.line) for m in messages(source, "m.py")] == [("a text outside", "A.f.g", 4)]


@pytest.mark.parametrize(
    "source", [b"raise (", b"raise X(" + b"-" * 100_000 + b"1)", b"\0raise", b"\xff\xferaise error"]
)
def test_what_is_no_python_has_no_messages(source: bytes) -> None:
    assert messages(source, "m.py") == []


def test_a_name_that_refers_to_itself_ends() -> None:
    assert messages(b"a = a + 'x of it'\nraise E(a)", "m.py") is not None


def test_lines_that_say_too_little_are_left_out() -> None:
    assert lines(f"{HOLE} two\nthree words here\n{HOLE}") == ["three words here"]
