"""The logs that a launcher writes for each rank."""

from __future__ import annotations

from gpuwhy.run.ranks import log_folder, rank_logs, summary


def test_a_ranks_own_log_is_found(tmp_path):
    for rank, text in ((0, "fine"), (1, "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)")):
        folder = tmp_path / "none_x" / "attempt_0" / str(rank)
        folder.mkdir(parents=True)
        (folder / "stderr.log").write_text(text)
    text = (
        "Root Cause (first observed failure):\n[0]:\n  time      : x\n  host      : y\n"
        "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 7)\n  error_file: <N/A>\n"
    )
    for argv in (["torchrun", "--log-dir", str(tmp_path), "t.py"], ["torchrun", f"--log_dir={tmp_path}", "t.py"]):
        assert log_folder(argv) == str(tmp_path)
    assert summary(text).local == "1"
    assert "mat1 and mat2" in rank_logs(str(tmp_path), "1")[0]
    assert log_folder(["torchrun", "t.py"]) == ""
    assert rank_logs(str(tmp_path / "nowhere"), "1") == ()
