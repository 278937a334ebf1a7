"""action.yml: its scripts run as GitHub would run them, against a stand-in for GitHub's interface."""

import json
import os
import runpy
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / ".github" / "scripts"
MARK = "<!-- gpuwhy-lint -->"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the scripts are bash's")


class GitHub:
    """The part of GitHub's interface that is used: list, make and change comments, page by page."""

    def __init__(self) -> None:
        self.comments = [{"id": n, "body": f"word {n}", "user": {"type": "User"}} for n in range(130)]
        self.refuse = 0
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self, value, code=200) -> None:
                data = json.dumps(value).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self) -> None:
                outer.asked.append("GET")
                page = int(self.path.rpartition("page=")[2])
                self.answer(outer.comments[100 * (page - 1) : 100 * page])

            def do_POST(self) -> None:
                self.change(lambda body: outer.comments.append({"id": 999, "body": body, "user": {"type": "Bot"}}))

            def do_PATCH(self) -> None:
                number = int(self.path.rpartition("/")[2])
                row = next(one for one in outer.comments if one["id"] == number)
                self.change(lambda body: row.update(body=body))

            def change(self, how) -> None:
                outer.asked.append(self.command)
                assert self.headers["Authorization"] == "Bearer t"
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
                if outer.refuse:
                    return self.answer({}, outer.refuse)
                how(body)
                return self.answer({})

            def log_message(self, *_) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def ours(self) -> list[str]:
        return [one["body"] for one in self.comments if one["body"].startswith(MARK)]


@pytest.fixture
def github():
    one = GitHub()
    yield one
    one.server.shutdown()


@pytest.fixture
def comment(github, tmp_path, monkeypatch, capsys):
    """Runs the script in this process; what it printed."""
    script = runpy.run_path(str(SCRIPTS / "comment.py"))
    for name, value in {
        "GITHUB_API_URL": f"http://127.0.0.1:{github.server.server_port}",
        "GITHUB_REPOSITORY": "a/b",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_TOKEN": "t",
        "NO_PROXY": "*",
    }.items():
        monkeypatch.setenv(name, value)

    def go(text: str, found: str = "1", event: dict | None = None) -> str:
        (tmp_path / "r.md").write_text(text)
        (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7}} if event is None else event))
        assert script["main"]([str(tmp_path / "r.md"), found]) == 0
        return capsys.readouterr().out

    return go


def test_one_comment_is_made_then_changed_then_left_alone(github, comment):
    github.comments.append({"id": 500, "body": f"> quoted {MARK}", "user": {"type": "User"}})
    github.comments.append({"id": 501, "body": f"{MARK} not ours", "user": {"type": "User"}})
    assert "nothing found" in comment("clean", "0")
    assert "made" in comment("first")
    assert "changed" in comment("x" * 70_000)
    assert "changed" in comment("clean", "0")
    assert "up to date" in comment("clean", "0")
    assert github.ours()[1:] == [f"{MARK}\nclean"]
    assert github.asked.count("POST") == 1
    github.refuse = 403
    assert "may not comment" in comment("more")
    github.refuse = 500
    assert "took no comment (500)" in comment("more"), "what was found is in the summary: no reason to fail the job"
    assert "no pull request" in comment("x", event={})


@pytest.mark.doors
def test_the_script_lints_and_hands_over_code_summary_and_sarif(tmp_path):
    (tmp_path / "requirements.txt").write_text("torch==2.5.1\ntorchvision==0.19.0\n")
    gpuwhy = tmp_path / "gpuwhy"
    gpuwhy.write_text(f'#!/bin/sh\nexec {sys.executable} -m gpuwhy "$@"\n')
    gpuwhy.chmod(0o755)
    places = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environ = {**os.environ, **places, "RUNNER_TEMP": str(tmp_path), "GPUWHY_COMMAND": str(gpuwhy)}
    done = subprocess.run(
        ["bash", str(SCRIPTS / "lint.sh")], cwd=tmp_path, timeout=120, capture_output=True, text=True,
        env={**environ, "GPUWHY_PATHS": "\nrequirements.txt\n", "GPUWHY_DRIVER": "535"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("::error file=requirements.txt,line=2")
    assert "code=1\n" in (tmp_path / "GITHUB_OUTPUT").read_text()
    assert "pair-mismatch" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert json.loads((tmp_path / "gpuwhy.sarif").read_text())["version"] == "2.1.0"


def test_inputs_reach_scripts_as_variables_only():
    """`${{ }}` in a script's text would let a pull request write shell."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
    used = {word for step in action["runs"]["steps"] for word in json.dumps(step).split() if word.startswith("inputs.")}
    assert {word.split(".")[1].rstrip(",}\"'") for word in used} == set(action["inputs"])
