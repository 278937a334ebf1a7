"""GitHub's schemas accept the workflows and the action; what a build says of itself."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gpuwhy._version import __version__

ROOT = Path(__file__).parents[3]


def test_no_workflow_writes_a_pull_requests_words_into_a_script():
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\$\{\{[^}]*github\.(event|head_ref)", text), file.name
        for job in yaml.safe_load(text)["jobs"].values():
            assert "timeout-minutes" in job, file.name


@pytest.mark.doors
def test_schemas_accept_workflows_and_the_action():
    pytest.importorskip("check_jsonschema")
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    workflows = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    subprocess.run([*check, "vendor.github-workflows", *workflows], check=True, timeout=120)
    subprocess.run([*check, "vendor.github-actions", str(ROOT / "action.yml")], check=True, timeout=120)


def test_the_verbose_version_says_how_old_the_knowledge_is():
    done = subprocess.run(
        [sys.executable, "-m", "gpuwhy", "--version", "-v"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith(f"gpuwhy {__version__}\n")
    assert re.search(r"knowledge +\d+ projects, files up to 20\d\d-\d\d-\d\d\n", done.stdout)
