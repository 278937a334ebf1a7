"""A marker with a keyword that does not exist."""

import pytest


@pytest.mark.gpu(memory="8GB")
def test_marked():
    pass
