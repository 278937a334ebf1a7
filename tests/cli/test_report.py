"""`gpuwhy report`: pages and issue templates from recordings and saved answers of both versions."""

import gzip
import json
from pathlib import Path

import pytest

from tests import started
from tests.doors.inputs import _merged

VERSION_0 = Path(__file__).parents[1] / "answer" / "version_0"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording of version 0."""
    file = tmp_path / "host.json.gz"
    file.write_bytes(gzip.compress(_merged("h200-visible-7", "")))
    return file


def test_a_page_is_written_beside_a_recording_and_never_over_a_file(recording: Path) -> None:
    assert started.gpuwhy(["report", str(recording)]).returncode == 0
    page = recording.with_name("host.html").read_text()
    assert "CUDA_VISIBLE_DEVICES" in page
    assert started.gpuwhy(["report", str(recording)]).returncode == 2


def test_an_issue_has_the_fields_of_the_projects_template(recording: Path) -> None:
    text = started.gpuwhy(["report", str(recording), "--for", "tensorflow"]).stdout
    titles = [line[5:] for line in text.splitlines() if line.startswith("#### ")]
    assert titles[0] == "TensorFlow version"
    assert "GPU model and memory\n\nNVIDIA H200" in text
    assert "nvidia-cublas==" in text
    assert "#### Custom code\n\n(please fill in)" in text
    pytorch = started.gpuwhy(["report", str(recording), "--for", "PyTorch"]).stdout
    assert pytorch.startswith("#### 🐛 Describe the bug")
    assert "| ✓ | PyTorch | 2.11.0" in pytorch


@pytest.mark.parametrize(
    "text, said",
    [
        ("plain text", "is no JSON of gpuwhy"),
        ("{}", "a file without a schema"),
        ('{"schema": "gpuwhy.report/1"}', "not a report"),
        ('{"schema": "gpuwhy.record/1", "gpuwhy": "0", "options": 7, "answers": {}}', "recording"),
    ],
)
def test_what_is_no_answer_is_one_clear_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.json").write_text(text)
    done = started.gpuwhy(["report", str(tmp_path / "x.json")])
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_report_of_version_0_that_a_node_holds_is_drawn(tmp_path: Path) -> None:
    report = json.loads((VERSION_0 / "check-broken.json").read_text())
    node = {"schema": "gpuwhy.node/1", "node": "n1", "report": report}
    (tmp_path / "n.json").write_text(json.dumps(node))
    done = started.gpuwhy(["report", str(tmp_path / "n.json"), "--markdown"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("### ")
