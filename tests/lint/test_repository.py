"""What other files of a repository say: a finding that they contradict is none, and without them it is one."""

from __future__ import annotations

import pytest

from gpuwhy.border.listing import Listing
from gpuwhy.lint.naming import named_pythons
from gpuwhy.lint.repository import Repository

from .support import check, found

POETRY = '[tool.poetry]\nname = "a"\n[tool.poetry.dependencies]\npython = ">=3.8,<3.11"\ntorch = "1.13.1"\ntorchvision = "0.14.1"\n'
LOCK = '[[package]]\nname = "numpy"\nversion = "{}"\n\n[[package]]\nname = "torch"\nversion = "1.13.1"\n'
HUB = "diffusers==0.9.0\ntorch==1.12.1\n"
CV2 = "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install torch {}\n"
OVER = "FROM nvcr.io/nvidia/pytorch:24.05-py3\n{}RUN pip install torch==2.3.0\n"
MKL = "channels:\n{}dependencies:\n  - python=3.9\n  - pytorch=1.11.0\n"
PROTOBUF = "channels: [defaults]\ndependencies:\n  - python=3.7\n{}  - pip:\n    - tensorflow==2.1.0\n"


def fires(rule, path, text, beside):
    return any(one[:2] == (rule, path) for one in found(check({path: text}, beside=beside)))


@pytest.mark.parametrize(
    "rule, path, text, beside",
    [
        ("unstated-limit", "a/pyproject.toml", POETRY, {"a/poetry.lock": LOCK.format("1.24.0")}),
        ("unstated-limit", "requirements.txt", HUB, {"README.md": "Use Python 3.7.\n"}),
        ("unstated-limit", "requirements.txt", HUB, {"environment.yml": "name: a\ndependencies:\n- python=3.7\n"}),
        ("local-image", "final/Dockerfile", "FROM shop-base:1\nRUN pip install torch\n", {"ci/buildspec.yml": "REPO: shop-base\n"}),
        ("local-image", "final/Dockerfile", "FROM shop-base:1\nRUN pip install torch\n", {"docker/base/Dockerfile.gpu": "FROM ubuntu\n"}),
        ("no-libgl", "Dockerfile", CV2.format("opencv-python"), {"train.py": "import torch\n"}),
        ("no-libgl", "Dockerfile", CV2.format("albumentations==1.3.1 opencv-python"), {"train.py": "import torch\n"}),
        ("refused-metadata", "requirements/dev.in", "pytorch-lightning==1.6.3\ntorch\n", {"environment.yml": "dependencies:\n- pip=21.1.3\n"}),
        ("refused-metadata", "requirements.txt", "pytorch-lightning==1.6.3\ntorch\n", {".python-version": "3.7\n"}),
        ("python-unnamed", "requirements.txt", "torch==1.9.0\n", {"scripts/../README.rst": "", "install.sh": "conda create -n a python=3.8\n"}),
        ("local-version", "requirements/cpu.txt", "torch==2.3.0+cpu\n", {"docker/Dockerfile.cpu": "ENV UV_INDEX=https://download.pytorch.org/whl/cpu\n"}),
        ("wrong-name", "requirements.txt", "torch\naudit-log==1.0\n", {"README.md": "pip install --index-url https://pypi.shop.example/x -r requirements.txt\n"}),
        ("build-alone", "setup.py", "import torch.utils.cpp_extension\nfrom setuptools import setup\nsetup(name='a')\n",
         {"docker/Dockerfile": "FROM nvcr.io/nvidia/pytorch:20.03-py3\nCOPY . a/\nRUN pip install --no-cache-dir -e a/\n"}),
    ],
)  # fmt: skip
def test_what_another_file_settles_is_not_said(rule, path, text, beside):
    assert fires(rule, path, text, {})
    assert not fires(rule, path, text, beside)


@pytest.mark.parametrize(
    "rule, path, text, beside",
    [
        ("unstated-limit", "a/pyproject.toml", POETRY, {"a/poetry.lock": LOCK.format("2.0.2")}),
        ("unstated-limit", "a/pyproject.toml", POETRY, {"b/poetry.lock": LOCK.format("1.24.0")}),
        ("unstated-limit", "requirements.txt", HUB, {"README.md": "Use Python 3.8 or newer.\n"}),
        ("local-image", "final/Dockerfile", "FROM shop-base:1\nRUN pip install torch\n", {"other/Dockerfile": "FROM shop-base:1\n"}),
        ("no-libgl", "Dockerfile", CV2.format("opencv-python"), {"src/look.py": "import os\nimport cv2\n"}),
        ("refused-metadata", "requirements.txt", "pytorch-lightning==1.6.3\ntorch\n", {"environment.yml": "dependencies:\n- pip=25.0\n"}),
        ("wrong-name", "requirements.txt", "torch\nsklearn\n", {"export.py": "--index-url https://pypi.ngc.nvidia.com\n"}),
    ],
)  # fmt: skip
def test_what_another_file_leaves_open_is_said(rule, path, text, beside):
    assert fires(rule, path, text, beside)


@pytest.mark.parametrize(
    "rule, path, before, after",
    [
        ("image-overridden", "Dockerfile", OVER.format(""), OVER.format("# Replace the image's torch: vLLM's wheels want this one\n")),
        ("unstated-limit", "environment.yml", MKL.format("- pytorch\n- conda-forge\n- defaults\n"), MKL.format("- pytorch\n- defaults\n- conda-forge\n")),
        ("unstated-limit", "environment.yml", PROTOBUF.format(""), PROTOBUF.format("  - tensorboardx=1.8\n")),
        ("python-unnamed", "requirements.txt", "tensorflow==2.0.0\n", "tensorflow==2.0.0-alpha0\n"),
        ("python-unnamed", "requirements.txt", "tensorflow-gpu==2.11.0\n", "tensorflow-gpu>=2.11\n"),
        ("apt-gone", "Dockerfile", "FROM python:3.11-slim\nRUN apt-get update && apt-get install -y libgl1-mesa-glx\n",
         "FROM gcr.io/google-appengine/python\nRUN apt-get update && apt-get install -y libgl1-mesa-glx\n"),
        ("local-image", "Dockerfile", "FROM shop-base:1\nRUN pip install torch\n", "FROM ubuntu-based-image\nRUN pip install torch\n"),
        ("old-pip-option", "install.sh", "pip install --global-option=--cuda_ext torch\n", ""),
    ],
)  # fmt: skip
def test_what_the_file_itself_settles_is_not_said(rule, path, before, after):
    assert fires(rule, path, before, {})
    assert not fires(rule, path if after else f"colab/{path}", after or before, {})


def test_a_wheel_that_is_named_tells_the_python():
    wheel = "https://download.pytorch.org/whl/cu80/torch-0.3.1-cp35-cp35m-linux_x86_64.whl"
    found = check({"install.sh": f"pip install {wheel}\npip install torchvision\n"}).mistakes
    (said,) = (mistake.text for mistake in found if mistake.rule == "torch-replaced")
    assert "takes 0.6.1, which brings torch==1.5.1" in said  # the last ones for Python 3.5


@pytest.mark.parametrize(
    "name, text, pythons",
    [
        ("readme.md", "Use Python 3.7", ("3.7",)),
        ("environment.yml", "- python=3.7.4=h1\n", ("3.7",)),
        ("pyproject.toml", 'requires-python = ">=3.8,<3.11"\n', ("3.8", "3.9", "3.10")),
        ("dockerfile", "FROM python:3.9-slim\nRUN pip install -r r.txt\n", ("3.9",)),
        ("dockerfile", "FROM python:3.9-slim\n", ()),
        (".travis.yml", 'python:\n  - "3.6"\n', ("3.6",)),
        ("main.py", "# Python 3.7\n", ()),
    ],
)
def test_pythons_that_files_name(name, text, pythons):
    assert named_pythons(name, text, "r.txt") == pythons


@pytest.mark.parametrize("text", ["numpy==1.24.1\n", 'name = "numpy"\nversion = "1.24.1"\n', '"numpy": {\n"version": "==1.24.1"}',
                                  "- name: numpy\n  version: 1.24.1\n", "linux-64/numpy-1.24.1-py37_0.conda", "- numpy=1.24.1=py\n"])  # fmt: skip
def test_locks_of_every_kind(text):
    assert Repository("r.txt", ["environment.lock"], lambda _: text).locked("numpy") == ("1.24.1",)


def test_a_repository_is_what_lies_below_its_git_folder(tmp_path, monkeypatch):
    for name in (".git/config.txt", "README.md", "a/b/requirements.txt", "venv/x.py", "a/photo.png"):
        (tmp_path / "r" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "r" / name).write_text("")
    monkeypatch.chdir(tmp_path / "r" / "a")
    assert set(Listing(["b/requirements.txt"])("b/requirements.txt")) == {"../README.md", "b/requirements.txt"}


def test_a_project_without_its_history_begins_at_its_licence(tmp_path, monkeypatch):
    for name in ("LICENSE", "environment.yml", "docker/README.md", "docker/Dockerfile"):
        (tmp_path / "r" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "r" / name).write_text("")
    monkeypatch.chdir(tmp_path)
    assert "r/environment.yml" in Listing(["r/docker/Dockerfile"])("r/docker/Dockerfile")


def test_an_index_that_another_file_names_for_another_release_is_none_for_this_one():
    files = {"requirements-gpu.txt": "torch==2.2.0+cu118\n"}
    told = "pip install torch{} --index-url https://download.pytorch.org/whl/cu118\npip install -r {}\n"
    for version, name, said in (
        ("", "requirements.txt", True),
        ("==2.2.0", "requirements.txt", False),
        ("", "requirements-gpu.txt", False),
    ):
        result = check(files, beside={"scripts/gpu.sh": told.format(version, name)})
        assert ("local-version" in [one.rule for one in result.mistakes]) is said, (version, name)


_OLD = "torch==1.9.0\nmatplotlib==3.2.2\nnumpy>=1.14\n"
_IN_IMAGE = (
    "FROM pytorch/pytorch:1.9.0-cuda11.1-cudnn8-runtime\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\n"
)


def test_a_script_without_a_python_does_not_outvote_the_image_that_installs_the_same_file():
    script = "pip3 install -r requirements.txt\n"
    alone = check({"requirements.txt": _OLD, "install.sh": script})
    whole = check({"requirements.txt": _OLD, "install.sh": script, "Dockerfile": _IN_IMAGE})
    assert "unstated-limit" in [one.rule for one in alone.mistakes]
    assert "unstated-limit" not in [one.rule for one in whole.mistakes]


def test_a_script_that_an_image_runs_is_judged_in_that_image():
    script = "sudo apt-get update\nsudo apt install python-numpy\n"
    image = "FROM nvidia/cuda:11.4.3-devel-ubuntu18.04\nCOPY more.sh /tmp/more.sh\nRUN /tmp/more.sh\n"
    assert "apt-gone" in [one.rule for one in check({"more.sh": script}).mistakes]
    assert "apt-gone" not in [one.rule for one in check({"more.sh": script, "Dockerfile": image}).mistakes]


def test_a_file_that_goes_over_an_unknown_image_is_not_judged_as_if_nothing_were_there():
    files = {"requirements.txt": "torch==1.9.1+cu111\nmmcv-full==1.6.0\n"}
    image = {
        "Dockerfile": "FROM somebody/mmlibs:1\nCOPY requirements.txt /r.txt\nRUN pip install -r requirements.txt\n"
    }
    assert [one.rule for one in check(files).mistakes if one.rule in ("local-version", "torch-at-build")]
    assert not [
        one.rule for one in check({**files, **image}).mistakes if one.rule in ("local-version", "torch-at-build")
    ]


def test_a_variable_that_a_branch_sets_is_not_known_behind_it():
    chosen = "if nvidia-smi; then\n  V=2.3.1+cu121\nelse\n  V=2.3.1+cpu\nfi\npip install torch==$V\n"
    assert "local-version" in [one.rule for one in check({"a.sh": "V=2.3.1+cpu\npip install torch==$V\n"}).mistakes]
    assert "local-version" not in [one.rule for one in check({"a.sh": chosen}).mistakes]


def test_a_machine_of_tests_does_not_outvote_the_file_alone():
    job = "jobs:\n  t:\n    runs-on: ubuntu-24.04\n    steps:\n    - run: pip install -r requirements.txt\n"
    files = {"requirements.txt": "torch==1.10.2\n", ".github/workflows/app.yml": job}
    assert ("old-gpus", "requirements.txt", 1) in found(check(files))


COPYING = "FROM python:3.12\nCOPY reqs/gpu.txt /tmp/\nRUN pip install torch==2.9.1\n"


@pytest.mark.parametrize(
    "beside, lines",
    [
        ({"README.md": "how to train\n"}, [2]),
        ({}, []),  # some files alone: nobody knows what else is there
        ({"README.md": "", "docker/reqs/gpu.txt": "torch\n"}, []),  # a build that starts in another folder
        ({"README.md": "", ".gitignore": "reqs/\n"}, []),
        ({"README.md": "run pip freeze > reqs/gpu.txt first\n"}, []),
        ({"README.md": "", ".gitmodules": '[submodule "reqs"]\n  path = reqs\n'}, []),
    ],
)
def test_a_file_that_the_repository_does_not_have_cannot_be_copied(beside, lines):
    found = check({"Dockerfile": COPYING}, beside=beside)
    assert [m.place.line for m in found.mistakes if m.rule == "copy-missing"] == lines


def test_git_is_needed_by_what_a_file_of_requirements_names():
    files = {"Dockerfile": "FROM python:3.11-slim\nCOPY r.txt .\nRUN pip install -r r.txt\n"}
    named = {"r.txt": "torch==2.6.0\nclip @ git+https://x.example/clip\n"}
    assert [(m.rule, m.place.line) for m in check(files, beside=named).mistakes] == [("no-program", 3)]
    other = {"r.txt": "torch==2.6.0\n# git+https://x.example/clip\n"}
    assert check(files, beside=other).mistakes == ()


def test_whisper_needs_ffmpeg_where_a_program_imports_it():
    files = {"Dockerfile": "FROM python:3.11-slim\nRUN pip install torch==2.6.0 openai-whisper\n"}
    assert [m.rule for m in check(files, beside={"a.py": "import whisper\n"}).mistakes] == ["no-program"]
    assert check(files, beside={"a.py": "import torch\n"}).mistakes == ()


def test_what_an_image_beside_installs_is_built_with_the_tools_of_that_image():
    files = {"docker/requirements.txt": "torch==1.8.1\ngym==0.21.0\n"}
    image = "FROM pytorch/pytorch:1.8.1-cuda10.2-cudnn7-runtime\nADD requirements.txt /tmp/\nRUN pip install -r /tmp/requirements.txt\n"
    assert "unbuildable" in [m.rule for m in check(files).mistakes]
    assert "unbuildable" not in [m.rule for m in check(files, beside={"docker/Dockerfile": image}).mistakes]


LEFT_OPEN = "torch==2.9.1\nlangchain\n"
CHAINS = "from langchain.chains import RetrievalQA\n"


@pytest.mark.parametrize(
    "path, text, beside",
    [
        ("requirements.txt", LEFT_OPEN, {"app/answer.py": CHAINS}),
        ("requirements.txt", LEFT_OPEN, {"app/answer.py": "import os\nfrom langchain import (\n    chains,\n    hub,\n)\n"}),
        ("requirements.txt", LEFT_OPEN, {"app/answer.py": "import os, langchain.chains.summarize as s\n"}),
        ("docker/requirements.txt", LEFT_OPEN, {"app/answer.py": CHAINS}),
        ("requirements.txt", "torch\nscikit-learn\n", {"train.py": "from sklearn.externals import joblib\n"}),
    ],
)  # fmt: skip
def test_a_module_that_the_newest_release_lost_is_told(path, text, beside):
    assert fires("module-gone", path, text, beside)


@pytest.mark.parametrize(
    "text, beside",
    [
        ("torch==2.9.1\nlangchain<1\n", {"app/answer.py": CHAINS}),
        (LEFT_OPEN, {"app/answer.py": "import langchain\n"}),
        (LEFT_OPEN, {"app/answer.py": f"try:\n    {CHAINS}except ImportError:\n    pass\n"}),
        (LEFT_OPEN, {"tests/test_answer.py": CHAINS}),
        (LEFT_OPEN, {"app/answer.py": CHAINS, "langchain/chains.py": "RetrievalQA = 1\n"}),
        (LEFT_OPEN, {"app/answer.py": CHAINS, "uv.lock": '[[package]]\nname = "langchain"\nversion = "0.3.27"\n'}),
        ("torch==1.8.1\nlangchain\n", {"app/answer.py": CHAINS, ".python-version": "3.8\n"}),
    ],
)  # fmt: skip
def test_a_module_that_may_be_there_is_not_told(text, beside):
    assert not fires("module-gone", "requirements.txt", text, beside)


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import tensorflow as tf\nx = tf.placeholder(tf.float32)\n", True),
        ("from tensorflow.contrib import slim\n", True),
        ("import tensorflow.compat.v1 as tf\nx = tf.placeholder(tf.float32)\n", False),
        ("import tensorflow as tf\nmodel = tf.keras.Sequential()\n", False),
    ],
)
def test_programs_for_tensorflow_1_beside_an_open_tensorflow(program, told):
    assert fires("tf1-open", "requirements.txt", "tensorflow\n", {"train.py": program}) is told
