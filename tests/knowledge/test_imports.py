"""The table of imports is in order, and what was seen to fail is covered by a limit that plan prints."""

from packaging.version import Version

from gpuwhy.knowledge.needs import caps, split
from gpuwhy.knowledge.tables import rows
from gpuwhy.knowledge.tried import Tried


def test_every_case_is_there_once_and_in_order():
    keys = [(row.framework, Version(row.version), row.side) for row in rows("imports.jsonl", Tried)]
    assert keys == sorted(set(keys))
    assert all(row.error for row in rows("imports.jsonl", Tried) if row.outcome != "imports")


def test_what_fails_today_and_has_a_cure_is_capped():
    """Every release that fails with what an installer takes, and works with a limit, has one."""
    lost = []
    for row in rows("imports.jsonl", Tried):
        if row.side == "newest" and row.cure and "<" in row.cure:
            limits = {split(cap.requirement)[0] for cap in caps(row.framework, row.version)}
            lost += [f"{row.framework} {row.version}: {one}" for one in row.cure.split() if split(one)[0] not in limits]
    assert lost == []
