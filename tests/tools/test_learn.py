"""tools/learn.py finds the words of a cause, once per text, and none that this repository does not use."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("numpy")
from . import tool

learn = tool("learn")
DRIVER = ["modprobe cannot find the kernel module", "no kernel module was built, modprobe fails", "kernel module gone"]
MEMORY = ["allocate memory for this batch", "batch too large for memory", "memory to allocate, a smaller batch"]


def rows() -> list[dict[str, str]]:
    return [{"log": f"zorkmid {t}", "cause": "driver.missing"} for t in DRIVER] + [
        {"log": f"zorkmid {t}", "cause": "memory.oom"} for t in MEMORY
    ]


def test_words_of_each_cause_and_no_strange_name():
    found = learn.learn(rows(), list(range(6)), learn.own_words())
    assert list(found["driver.missing"]["words"])[:2] == ["kernel", "module"]
    assert list(found["memory.oom"]["words"])[:2] == ["batch", "memory"]
    assert all("zorkmid" not in one["words"] for one in found.values())


def test_a_word_of_one_group_is_no_evidence():
    assert learn.learn(rows(), [0, 0, 0, 1, 1, 1], learn.own_words())["driver.missing"]["words"] == {}


def test_near_duplicates_count_once():
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    again = [{"log": text, "cause": "a"}, {"log": text + " 15", "cause": "a"}, {"log": "other", "cause": "b"}]
    kept, groups = learn.grouped(again)
    assert [r["log"] for r in kept] == [text, "other"]
    assert len(set(groups)) == 2


def test_folders_and_files_are_read_with_the_successful_runs(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(rows()[0]) + "\n", encoding="utf-8")
    found = learn.read([tmp_path, tmp_path / "a.jsonl"])
    assert [r["cause"] for r in found[:3]] == ["driver.missing", "driver.missing", "healthy"]
