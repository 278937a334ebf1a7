"""The authored tables that plans rest on, held against the harvested rows."""

import pytest

from gpuwhy.knowledge.flaws import flaw, flawed_on, flaws
from gpuwhy.knowledge.platforms import Migration, crossed
from gpuwhy.knowledge.needs import caps, needs, states
from gpuwhy.knowledge.releases import family
from gpuwhy.knowledge.tables import rows
from gpuwhy.knowledge.toolkits import parts, table, tensorflow_image
from gpuwhy.knowledge.torch_builds import variants
from gpuwhy.facts.version import at_least, major_minor


@pytest.mark.parametrize(
    "framework, version, wanted",
    [
        ("tensorflow", "1.15.5", ["protobuf<3.21"]),
        ("tensorflow", "2.5.3", ["protobuf<3.21"]),
        ("tensorflow", "2.6.5", []),
        ("tensorflow", "2.7.0", ["numpy<2"]),
        ("tensorflow", "2.12.0", []),
        ("torch", "2.2.2", ["numpy<2"]),
        ("torch", "2.3.0", []),
    ],
)
def test_caps_begin_and_end(framework, version, wanted):
    assert [row.requirement for row in caps(framework, version)] == wanted


def test_every_cap_says_how_it_is_known():
    assert all(row.because and row.source.detail and not at_least(row.since, row.until) for row in needs("cap"))


def test_keras_follows_tensorflow():
    assert states("tensorflow", "2.15.1") == {"keras": ">=2.15.0rc0,<2.16"}
    assert states("tensorflow", "2.16.1") == {"keras": ">=3"}
    assert states("torch", "2.5.1") == {}


def test_flaws_are_of_releases_that_exist():
    for one in flaws():
        known = family(one.package)
        assert known
        assert one.version in {row.version for row in known.rows}
    assert flaw("tensorflow", "2.21.0")
    assert flaw("tensorflow", "2.20.0") is None
    assert flawed_on("tensorflow", "2.14.1") == {"3.11"}


def test_the_build_on_the_package_index_is_one_of_the_matrix():
    known = family("torch")
    assert known
    rows = [row for row in known.rows if row.platform == "linux-x86_64" and variants(row.version)]
    assert len(rows) > 20
    for row in rows:
        in_matrix = major_minor(str(row.cuda)) in {v.cuda for v in variants(row.version)}
        assert in_matrix or major_minor(row.version) == "1.12", row.version  # 1.12: the index has CUDA 10.2


def test_a_variant_has_the_code_that_was_read_of_its_sibling():
    """torch 2.14 on the index is the CUDA 13.0 build; the matrix and the binary agree."""
    known = family("torch")
    assert known
    row = next(r for r in known.rows if (r.version, r.platform) == ("2.14.0", "linux-x86_64"))
    assert {v.cuda: v.code for v in variants("2.14.0")}["13.0"] == row.sass
    assert [v.backend for v in variants("2.14.0")] == ["cu132", "cu130", "cu126"]
    assert variants("0.1") == ()


def test_system_parts():
    found = parts("11.2", "8.1.0")
    assert found
    assert found.cuda == "11.2"
    later = parts("11.4", "8")
    assert later
    assert later.cuda == "11.6", "a later CUDA of the same major runs it"
    assert parts("9.0", "7.0.5") is None
    assert all(row.apt or row.image for row in table().parts)


def test_images():
    assert tensorflow_image("1.15.5") == "tensorflow/tensorflow:1.15.5-gpu-py3"
    assert tensorflow_image("2.10.1") == "tensorflow/tensorflow:2.10.1-gpu"
    assert tensorflow_image("2.20.0") == ""


def test_migrations_go_up():
    assert [row.border for row in crossed("tensorflow", "1.15", "2.20.0")] == ["2.0", "2.16"]
    assert crossed("tensorflow", "2.20.0", "2.15.1") == ()
    assert all(row.source.where and len(row.text) > 40 for row in rows("migrations.jsonl", Migration))
