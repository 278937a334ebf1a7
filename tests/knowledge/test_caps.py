"""The authored tables that plans rest on, held against the harvested rows."""

from gpuwhy.knowledge.platforms import Migration, crossed
from gpuwhy.knowledge.needs import needs, states
from gpuwhy.knowledge.releases import family
from gpuwhy.knowledge.tables import rows
from gpuwhy.knowledge.torch_builds import variants
from gpuwhy.facts.version import at_least, major_minor


def test_every_cap_says_how_it_is_known():
    assert all(row.because and row.source.detail and not at_least(row.since, row.until) for row in needs("cap"))


def test_the_build_on_the_package_index_is_one_of_the_matrix():
    known = family("torch")
    assert known
    rows = [row for row in known.rows if row.platform == "linux-x86_64" and variants(row.version)]
    assert len(rows) > 20
    for row in rows:
        in_matrix = major_minor(str(row.cuda)) in {v.cuda for v in variants(row.version)}
        assert in_matrix or major_minor(row.version) == "1.12", row.version  # 1.12: the index has CUDA 10.2


def test_keras_follows_tensorflow():
    assert states("tensorflow", "2.15.1") == {"keras": ">=2.15.0rc0,<2.16"}
    assert (states("tensorflow", "2.16.1"), states("torch", "2.5.1")) == ({"keras": ">=3"}, {})


def test_migrations_go_up():
    assert [row.border for row in crossed("tensorflow", "1.15", "2.20.0")] == ["2.0", "2.16"]
    assert crossed("tensorflow", "2.20.0", "2.15.1") == ()
    assert all(row.source.where and len(row.text) > 40 for row in rows("migrations.jsonl", Migration))
