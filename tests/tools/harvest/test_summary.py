"""The summary of a harvest: what is new, and what a reviewer should look at."""

import json
from pathlib import Path

from tools.harvest.summary import rows_of, summary

FILE = {"name": "torch", "version": "2.0", "platform": "linux-x86_64", "file": "a.whl", "sha256": "1"}
OLD = {**FILE, "uploaded": "2026-01-01", "pythons": ["3.8", "3.9"], "cuda": "12.1", "cudnn": "9.1",
       "sass": ["sm_70", "sm_80"], "opens": []}  # fmt: skip
NEW = {**OLD, "version": "2.1", "file": "b.whl", "uploaded": "2026-02-01", "cuda": "99.9", "sass": ["sm_80", "sm_90"],
       "pythons": ["3.9", "3.10"]}  # fmt: skip


def put(folder: Path, *rows: dict) -> Path:
    folder.mkdir(exist_ok=True)
    lines = [{"schema": "gpuwhy.knowledge.releases/1", "family": "torch"}, *rows]
    (folder / "torch.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    return folder


def told(tmp_path: Path, before: list[dict], after: list[dict], log: str = "") -> str:
    return summary(rows_of(put(tmp_path / "a", *before)), rows_of(put(tmp_path / "b", *after)), log)


def test_a_new_release_with_what_moved(tmp_path):
    arm = {**NEW, "platform": "linux-aarch64"}
    text = told(tmp_path, [OLD], [OLD, NEW, arm])
    assert text.startswith("# Knowledge up to 2026-02-01: 1 new releases of 1 projects\n")
    assert "| torch 2.1 | linux-aarch64, linux-x86_64 | 99.9 | 9.1 | sm_80 sm_90 | 3.9 3.10 |" in text
    assert "- torch 2.1: GPU code came sm_90, went sm_70 (linux-x86_64)" in text
    assert "- torch 2.1: Pythons came 3.10, went 3.8 (linux-x86_64)" in text
    assert "CUDA 99.9 appears for the first time" in text
    assert "**no driver is written down for it**" in text


def test_what_must_not_change_and_what_is_gone_is_told_first(tmp_path):
    other = {**OLD, "version": "1.9", "file": "c.whl"}
    unread = {k: v for k, v in NEW.items() if k != "cudnn"}
    changed = {**OLD, "cuda": "12.4", "pythons": ["3.8", "3.9", "3.10"], "yanked": True}
    text = told(tmp_path, [other, OLD], [changed, unread], "not read: x.whl: refused\n")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert lines[0].startswith("- **torch**: `cuda` was 12.1 and is 12.4 in 2.0 (linux-x86_64): the file is the same")
    assert lines[1] == "- **torch 1.9 (linux-x86_64)** is gone from the data"
    assert "- torch 2.0 (linux-x86_64) is withdrawn (yanked)" in lines
    assert "- torch 2.1: nobody could read cudnn (linux-x86_64)" in lines
    assert lines[-1] == "- not read: x.whl: refused"
    assert "`pythons`" not in text
