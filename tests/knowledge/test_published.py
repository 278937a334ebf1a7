"""Names and releases of the package index."""

import pytest

from gpuwhy.knowledge.published import is_missing, meant


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("tensorfow", "tensorflow"),
        ("tesnorflow", "tensorflow"),
        ("transformerss", "transformers"),
        ("onnx-runtime-gpu", "onnxruntime-gpu"),
        ("tensorflow", ""),
        ("my-own-package", ""),
    ],
)
def test_slips_of_names(name: str, right: str) -> None:
    assert meant(name) == right


def test_a_release_between_the_published_ones_is_missing() -> None:
    assert is_missing("tensorflow", "2.9.9")
    assert not is_missing("tensorflow", "2.9.1")
    assert not is_missing("tensorflow", "99.0")
    assert not is_missing("of-nobody", "1.0")
    assert not is_missing("tensorflow", "no version")
