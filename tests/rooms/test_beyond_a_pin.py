"""A release that another does not allow by a mere statement: told as long as no import shows that it works."""

from __future__ import annotations

import pytest

from gpuwhy.model.facts import Contradiction
from gpuwhy.rooms.install.inconsistent import beyond_a_pin, only_said


@pytest.mark.parametrize(
    ("name", "wants", "there", "harmless"),
    [
        ("sympy", "==1.13.1", "1.14.0", True),
        ("fsspec", "<2025.4,>=2023.1", "2025.9.0", True),
        ("wrapt", "<1.15,>=1.11.0", "1.17.2", True),
        ("protobuf", "<5,>=3.20.3", "5.29.1", False),  # another major
        ("gast", "!=0.5.0,!=0.5.1,>=0.2.1", "0.5.1", False),  # this very one is excluded
        ("typing-extensions", ">=4.10.0", "4.5.0", False),  # older
        ("flatbuffers", "==24.3.25", "2.0", False),
        ("ml-dtypes", "<0.5.0,>=0.3.1", "0.5.1", False),  # before 1.0 the second number counts
        ("triton", "==3.2.0", "3.3.0", False),  # of the GPU stack
        ("torch", "==2.6.0", "2.6.1", False),
    ],
)
def test_which_pins_an_import_that_works_outweighs(name: str, wants: str, there: str, harmless: bool) -> None:
    assert beyond_a_pin(Contradiction("torch", "2.6.0", name, wants, there, "stated", "/METADATA")) is harmless


@pytest.mark.parametrize(
    ("name", "there", "how", "effect", "said"),
    [
        ("coloredlogs", "", "stated", "", True),
        ("protobuf", "4.25.8", "stated", "", True),
        ("numpy", "2.2.6", "stated", "", True),
        ("protobuf", "4.25.8", "generated", "so its import fails", False),
        ("protobuf", "4.25.8", "stated", "so its import fails", False),
        ("torch", "2.13.0", "stated", "", False),
        ("triton", "3.1.0", "stated", "", False),
        ("jaxlib", "0.4.30", "same release", "", False),
    ],
)
def test_a_statement_of_metadata_alone_is_a_note_where_all_goes_well(
    name: str, there: str, how: str, effect: str, said: bool
) -> None:
    one = Contradiction("onnx", "1.12.0", name, "<=3.20.1", there, how, "/METADATA", effect)  # type: ignore[arg-type]
    assert only_said(one) is said
