"""The recipes say what pyproject.toml says; GitHub's and conda's schemas accept what is written for them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gpuwhy._version import __version__
from tools.release.bom import components, needed

ROOT = Path(__file__).parents[3]
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"


def test_conda_needs_what_pip_needs_in_this_version():
    recipe = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == __version__
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("dependencies = [")[2].partition("\n]")[0]
    wanted = set(re.findall(r'^  "([\w-]+>=[\d.]+)', project, re.MULTILINE))
    assert {one.replace(" ", "") for one in recipe["requirements"]["run"][1:]} == wanted
    assert {one.split(">=")[0] for one in wanted} == {*needed()[1:], "tomli"}


def test_a_bill_names_all_that_is_needed():
    bill = {"bomFormat": "CycloneDX", "components": [{"name": "nvidia_ml.py", "version": "1"}]}
    assert components(bill) == {"nvidia-ml-py": "1"}


def test_no_workflow_writes_a_pull_requests_words_into_a_script():
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\$\{\{[^}]*github\.(event|head_ref)", text), file.name
        for job in yaml.safe_load(text)["jobs"].values():
            assert "timeout-minutes" in job, file.name


@pytest.mark.doors
def test_schemas_accept_workflows_action_and_recipe():
    pytest.importorskip("check_jsonschema")
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    workflows = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    subprocess.run([*check, "vendor.github-workflows", *workflows], check=True, timeout=120)
    subprocess.run([*check, "vendor.github-actions", str(ROOT / "action.yml")], check=True, timeout=120)
    rattler = pytest.importorskip("rattler_build")
    assert rattler.Stage0Recipe.from_file(RECIPE).render(rattler.VariantConfig())


def test_the_verbose_version_says_how_old_the_knowledge_is():
    done = subprocess.run(
        [sys.executable, "-m", "gpuwhy", "--version", "-v"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith(f"gpuwhy {__version__}\n")
    assert re.search(
        r"knowledge +[\d,]+ rows of \d+ projects, from files published up to 20\d\d-\d\d-\d\d\n", done.stdout
    )
    assert "gpuwhy.report/1" in done.stdout
