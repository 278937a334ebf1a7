"""tools/learn.py finds what speaks for a cause, and counts texts that are nearly the same once."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("numpy")
from gpuwhy.reason.words import ZERO, likened, opened, shut

from . import tool

learn = tool("learn")
DRIVER = ["modprobe cannot find the kernel module", "no kernel module was built, modprobe fails", "kernel module gone"]
MEMORY = ["allocate memory for this batch", "batch too large for memory", "memory to allocate, a smaller batch"]


def rows() -> list[dict[str, str]]:
    return [{"log": t, "cause": "driver.missing"} for t in DRIVER] + [{"log": t, "cause": "memory.oom"} for t in MEMORY]


def test_texts_of_a_cause_are_like_it_and_the_file_keeps_that():
    found = opened(shut(learn.learn(rows())))
    assert likened(found, "the kernel has no such module")[0].cause == "driver.missing"
    assert likened(found, "no memory for a batch of eight")[0].cause == "memory.oom"
    assert all(one.count(ZERO) > len(one) * 0.9 for one in found.columns)


def test_near_duplicates_count_once():
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    again = [{"log": text, "cause": "a"}, {"log": text + " 15", "cause": "a"}, {"log": "other", "cause": "b"}]
    kept, groups = learn.grouped(again)
    assert [r["log"] for r in kept] == [text, "other"]
    assert len(set(groups)) == 2


def test_folders_and_files_are_read_with_the_tests_own_texts(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(rows()[0]) + "\n", encoding="utf-8")
    found = [r["cause"] for r in learn.read([tmp_path, tmp_path / "a.jsonl"])]
    assert found[:2] == ["driver.missing", "driver.missing"]
    assert {"driver.stub", "healthy"} <= set(found)
