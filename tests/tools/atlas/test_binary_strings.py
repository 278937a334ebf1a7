"""Messages of a library: sentences and not code, with the source file that the same instructions name."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from tools.atlas.binary_strings import messages, plain, sentence
from tools.atlas.message import Message
from tools.atlas.worth import worth

SOURCE = """
#include <stdio.h>
void fail(const char* text, const char* file);
void first_place(int n) { if (n > 3) fail("the number must not exceed %d here", "lib/first_file.cc"); }
void second_place(int n) { if (n < 0) fail("a negative number cannot be used", "lib/second_file.cc"); }
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_a_string_has_the_file_and_function_that_refer_to_it(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    done = subprocess.run(
        ["gcc", "-O2", "-shared", "-fPIC", "-o", "a.so", "a.c"], cwd=tmp_path, timeout=60, check=False
    )
    if done.returncode or b"x86-64" not in subprocess.run(["gcc", "-dumpmachine"], capture_output=True).stdout.replace(
        b"_", b"-"
    ):
        pytest.skip("no compiler for x86-64")
    found = {m.text: (m.module, m.function) for m in messages((tmp_path / "a.so").read_bytes(), "a.so")}
    assert found["a negative number cannot be used"] == ("lib/second_file.cc", "second_place")
    assert found["the number must not exceed \0 here"] == ("lib/first_file.cc", "first_place")


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 100, b"MZ" + b"\0" * 400])
def test_what_is_no_library_has_no_messages(data: bytes) -> None:
    assert messages(data, "a.so") == []


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("Could not open the device for writing", True),
        ("expected exactly %d arguments but got %d", True),
        ("add(Tensor input, Tensor other, *, Scalar alpha=1)", False),
        ("_ZN3c104cuda3getEv", False),
        ("std::vector<int> of nothing", False),
        ("if (x) { return y; }", False),
        ("%s: %d", False),
    ],
)
def test_sentences(text: str, is_one: bool) -> None:
    assert sentence(text) is is_one


@pytest.mark.parametrize(
    ("symbol", "name"), [("_ZN3c104cuda12device_countEv", "cuda::device_count"), ("main", "main"), ("_ZN3fooE", "foo")]
)
def test_a_symbol_in_plain_words(symbol: str, name: str) -> None:
    assert plain(symbol) == name


def test_of_a_library_with_a_compiler_only_what_concerns_the_stack_is_kept() -> None:
    inner, outer = "operand must be an integer type", "driver cannot be loaded from this folder"
    assert not worth("triton", Message(inner, "libtriton.so", "", ""))
    assert worth("triton", Message(outer, "libtriton.so", "", ""))
    assert worth("torch", Message(inner, "libtorch.so", "", ""))
    assert worth("triton", Message(inner, "triton/a.py", "f", "ValueError"))
