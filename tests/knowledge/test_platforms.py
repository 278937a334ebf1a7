"""Where no CUDA build exists; and that the usual platform is never among them."""

import pytest

from gpuwhy.knowledge.platforms import Dropped, dropped
from gpuwhy.knowledge.releases import family
from gpuwhy.knowledge.tables import rows

DROPPED = rows("platforms.jsonl", Dropped)


def test_rows_have_a_source_and_a_way_out_and_the_usual_machine_is_served():
    assert all(row.source.kind == "know" and row.instead and row.system for row in DROPPED)
    assert all(dropped(row.framework, "99.0", "linux", "x86_64", "glibc 2.39") is None for row in DROPPED)


PUBLISHED = {
    "tensorflow": ("tensorflow", "tensorflow-gpu"),
    "torch": ("torch",),
    "jax": ("jax-cuda12-plugin", "jax-cuda13-plugin"),
    "onnxruntime": ("onnxruntime-gpu",),
}


@pytest.mark.parametrize("framework", PUBLISHED)
def test_no_published_wheel_contradicts_a_row(framework):
    """A release with a CUDA build for a platform is not among those that are said to have none."""
    rows = [row for name in PUBLISHED[framework] if (known := family(name)) for row in known.rows]
    wrong = []
    for row in rows:
        system, _, machine = row.platform.replace("macos", "darwin").partition("-")
        if isinstance(row.cuda, str) and row.cuda and machine and dropped(framework, row.version, system, machine, ""):
            wrong.append((row.name, row.version, row.platform))
    assert wrong == []
    assert len(rows) > 20
