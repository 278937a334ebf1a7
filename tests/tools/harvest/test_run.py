"""The whole run against a small index: rows, the same bytes again, only new files read, nothing lost."""

import json
import sys

import pytest

pytest.importorskip("urllib3")
pytest.importorskip("isal")
pytest.importorskip("capstone")
pytest.importorskip("numpy")
pytest.importorskip("packaging")

from tools.harvest import __main__ as program

from .serving import serving, wheel_bytes


@pytest.fixture
def server():
    with serving() as one:
        yield one


def publish(server, **wheels: str) -> None:
    """Put wheels of torch on the index: release → its CUDA."""
    rows = []
    for release, cuda in wheels.items():
        version = release.removeprefix("v").replace("_", ".")
        name = f"torch-{version}-cp310-cp310-win_amd64.whl"
        server.files[f"files/{name}"] = wheel_bytes({
            "torch/version.py": f"cuda = {cuda!r}\n", "torch.dist-info/METADATA": "Name: torch\n"})  # fmt: skip
        digest = f"{abs(hash(version)):064x}"[:64]
        rows.append(f'<a href="/files/{name}#sha256={digest}" data-upload-time="2024-01-0{len(rows) + 1}T">x</a>')
    server.files["simple/torch/"] = ("Links for torch" + "".join(rows)).encode()


@pytest.fixture
def harvest(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PIP_INDEX_URL", server.address + "simple")

    def run(state: str = "state") -> tuple[int, bytes, list[str]]:
        server.asked.clear()
        argv = ["harvest", "torch", "--state", str(tmp_path / state), "--data", str(tmp_path / "data")]
        monkeypatch.setattr(sys, "argv", argv)
        code = program.main()
        read = sorted({asked.split()[0] for asked in server.asked if ".whl" in asked})
        return code, (tmp_path / "data" / "torch.jsonl").read_bytes(), read

    return run


def rows_of(data: bytes) -> list[dict]:
    return [json.loads(line) for line in data.splitlines()[1:]]


def test_rows_and_the_same_bytes_again(server, harvest, tmp_path):
    publish(server, v2_0_0="11.7", v2_1_0=None)
    code, first, read = harvest()
    assert code == 0
    assert len(read) == 2
    assert [(r["version"], r["platform"], r["cuda"]) for r in rows_of(first)] == [
        ("2.0.0", "windows-x86_64", "11.7"), ("2.1.0", "windows-x86_64", None)]  # fmt: skip
    assert harvest()[1:] == (first, []), "nothing is read twice"
    assert harvest("another state")[1:] == (first, []), "the published rows are a state too"
    assert json.loads((tmp_path / "data" / "index.json").read_text()) == {"torch": "torch"}


def test_a_new_release_is_read_and_a_vanished_one_kept(server, harvest):
    publish(server, v2_0_0="11.7")
    harvest()
    publish(server, v2_1_0="12.1")
    code, data, read = harvest()
    assert (code, read) == (0, ["/files/torch-2.1.0-cp310-cp310-win_amd64.whl"])
    assert [(r["version"], r.get("gone", False)) for r in rows_of(data)] == [("2.0.0", True), ("2.1.0", False)]


def test_a_broken_wheel_is_reported_and_read_next_time(server, harvest, capsys):
    publish(server, v2_0_0="11.7", v2_1_0="12.1")
    good = server.files["files/torch-2.1.0-cp310-cp310-win_amd64.whl"]
    server.files["files/torch-2.1.0-cp310-cp310-win_amd64.whl"] = b"<html>" * 100
    code, data, _ = harvest()
    assert code == 1
    assert [r["version"] for r in rows_of(data)] == ["2.0.0"]
    assert "not read: torch-2.1.0-cp310-cp310-win_amd64.whl: BrokenWheel" in capsys.readouterr().err
    server.files["files/torch-2.1.0-cp310-cp310-win_amd64.whl"] = good
    assert [r["version"] for r in rows_of(harvest()[1])] == ["2.0.0", "2.1.0"]


def test_an_interrupted_journal_is_taken_up(server, harvest, tmp_path):
    publish(server, v2_0_0="11.7", v2_1_0="12.1")
    data = harvest()[1]
    journal = tmp_path / "state" / "readings.jsonl"
    lines = journal.read_text().splitlines()
    journal.write_text(lines[0] + "\n" + lines[1][:40])
    (tmp_path / "data" / "torch.jsonl").unlink()
    _, again, read = harvest()
    assert again == data
    assert len(read) == 1


def test_a_release_without_wheels_is_a_row_of_its_own(server, harvest):
    publish(server, v2_0_0="11.7")
    page = server.files["simple/torch/"]
    server.files["simple/torch/"] = page + b'<a href="/files/torch-9.0.tar.gz#sha256=%s">x</a>' % (b"ab" * 32)
    assert [(r["version"], r["platform"]) for r in rows_of(harvest()[1])][-1] == ("9.0", "source")
