"""NVIDIA_REQUIRE_*: words are alternatives, commas join; what is not seen leaves it open."""

import pytest

from gpuwhy.knowledge.images import consumer, met

REAL = (
    "cuda>=12.4 brand=tesla,driver>=470,driver<471 brand=unknown,driver>=470,driver<471 "
    "brand=nvidia,driver>=535,driver<536"
)


@pytest.mark.parametrize(
    "driver, cuda, outcome",
    [
        ("550.54.15", "12.4", True),
        ("580.159.04", "13.0", True),
        ("535.261.03", "12.2", None),  # allowed for one brand, and the brand is not seen
        ("470.256.02", "11.4", None),
        ("525.147.05", "12.0", False),
        ("471.11", "11.4", False),
    ],
)
def test_a_real_image_of_cuda_12_4(driver, cuda, outcome):
    assert met(REAL, {"driver": driver, "cuda": cuda}) is outcome


@pytest.mark.parametrize(
    "names, outcome",
    [
        (["NVIDIA GeForce RTX 3060"], False),
        (["GeForce GTX 1080 Ti", "NVIDIA GeForce RTX 3060"], False),
        (["NVIDIA A100-SXM4-80GB"], None),
        (["NVIDIA GeForce RTX 3060", "NVIDIA A100-SXM4-80GB"], None),
        ([], None),
    ],
)
def test_a_geforce_is_of_no_brand_of_data_centers(names, outcome):
    host = {"driver": "535.261.03", "cuda": "12.2", "card": consumer(names)}
    assert met(REAL, host) is outcome
    assert met(f"{REAL} brand=geforce,driver>=535,driver<536", host) is None


@pytest.mark.parametrize(
    "expression, outcome",
    [
        ("", True),
        ("cuda>=9.0", True),
        ("cuda >= 9.0", True),
        ("cuda>=12.2", False),
        ("cuda=12.1", True),
        ("cuda!=12.1", False),
        ("cuda>12.1", False),
        ("cuda<=12.1 nonsense", True),
        ("driver>=530.30.02,cuda<13", True),
        ("driver>=530.30.03,cuda<13", False),
        ("arch>=5.0", None),
        ("nonsense", None),
        ("cuda>=twelve", None),
    ],
)
def test_operators(expression, outcome):
    assert met(expression, {"driver": "530.30.02", "cuda": "12.1"}) is outcome
