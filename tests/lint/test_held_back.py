"""What is not said where something else settles it, and is said without that: a place, a Python, an image, a command."""

from __future__ import annotations

import pytest

from gpuwhy.cli.lint import _worth_opening
from gpuwhy.lint import kinds

from .support import check, found

UPLOAD = "on: push\njobs:\n  a:\n    runs-on: ubuntu-22.04\n    steps:\n    - uses: actions/upload-artifact@v2\n    - run: pip install torch\n"
SETUP = "jobs:\n  a:\n    steps:\n    - uses: actions/setup-python@v2\n      with:\n        python-version: 3.9\n    - run: pip install -r {}\n"
ORT = "nvidia-cublas-cu12==12.4.5.8\nonnxruntime==1.19.2\n"
JAX = "name: a\nchannels: [conda-forge]\ndependencies:\n  - python=3.10\n  - cudatoolkit=11.6\n  - pip:\n    - jax==0.4.20\n"
TINY = "torch==2.5.1\ngit+https://github.com/NVlabs/tiny-cuda-nn@2ec562e#subdirectory=bindings/torch\n"
CONDA = "conda create -n a python={}\npip install --global-option=--cpp_ext ./apex torch\n"
EXTRA = "name: a\ndependencies:\n  - python={}\n  - pip:\n    - jax[cuda12_pip]\n"
CUDNN = "FROM nvidia/cuda:12.8.0-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install {} tensorflow\n"
LATER = (
    "FROM nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\n"
    "RUN pip install accelerate\nRUN pip install {}\nCMD python3 a.py\n"
)
H5PY = "FROM {}\nRUN pip install keras==2.3.1 h5py\n"
TOOLKIT = "#!/bin/bash\nconda env create -f env.yml\nconda install pytorch torchvision -c pytorch\n"
COMPOSE = "services:\n  a:\n    image: tensorflow/tensorflow:2.15.0-gpu\n    environment:\n    - {}=local:redis:6379\n"
CHANNEL = "conda install -y pytorch torchvision {} -c pytorch\npython train.py --gpus 1\n"
FEED = "FROM nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip install --index-url {} onnxruntime-gpu==1.20.1\n"
JAXLIB = '[tool.poetry.dependencies]\npython = "~3.10"\njaxlib = "0.3.24+cuda11.cudnn82"\n'
NPP = "FROM nvidia/cuda:11.8.0-base-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip {}\nRUN pip install torch\n"
CPU = "FROM python:3.11\nRUN pip install {} --index-url https://download.pytorch.org/whl/cpu\nRUN pip install {}\n"
OLD_JINJA = "dependencies:\n- python=3.9\n- pip:\n  - torch==2.0.0\n  - jinja2==2.11.3\n  - markupsafe=={}\n"
COG = 'build:\n  gpu: {}\n  python_version: "3.10"\n  python_packages:\n  - torch==2.1.0+cu121\n'
OWN_WHEEL = "FROM python:3.9\nRUN pip install tensorflow-cpu==2.6.2\nRUN pip install {}\n"
IN_CLONE = "FROM ubuntu:18.04\nRUN apt-get update && apt-get install -y git python3-pip\nRUN git clone https://github.com/pytorch/pytorch\nWORKDIR {}\nRUN pip3 install -r requirements.txt\n"
PATHED = '[tool.poetry.dependencies]\npython = ">=3.9,<3.11"\nown = {path = "../"}\ntorch = "1.13.1"\nscipy = "*"\n'
GCC = "FROM nvidia/cuda:11.8.0-{}-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN apt-get install {}\nRUN pip install torch\n"
BUILT = "services:\n  train:\n    image: train\n    build:\n      context: .\n"
ABOVE = "FROM python:3.10\nCOPY {}/environment.yml /root/\nCOPY other/requirements.txt /root/\nRUN pip install torch\n"
COPIED = "FROM python:3.10\nCOPY setup.sh /tmp/\nRUN pip install torch\n"
BARE = "FROM nvidia/cuda:12.1.0-base-ubuntu22.04\nRUN apt-get update && apt-get install -y tshark{}\nRUN pip install torch\n"
LISTED = "FROM {}\nRUN pip install torch sklearn\n"
MADE = "#!/bin/bash\nconda create -n a python=3.10 -y\nconda install pytorch=2.4.1 torchvision pytorch-cuda=11.8 -c pytorch -c nvidia\npip install {}\n"
OLD_APT = "#!/bin/bash\n# {}\nsudo apt-get install -y python-numpy\npip install torch\n"
ASKED = "botocore=={}\ns3transfer==0.4.2\ntensorflow-io==0.20.0\ntensorflow-text==2.5.0\n"
JAX11 = "FROM {}\nRUN pip install 'jax[cuda11_pip]'\n"
CI = "language: python\nmatrix:\n  include:\n  - name: a\n    {}: 3.6\n"
ARMS = "uv venv --python 3.9\nuv pip install torch==2.5.1 torchvision==0.20.1\nif [ -f a ]; then\n  uv pip install {} opencv-python==4.8.1.78\nfi\n"


def fires(rule, files, beside=None):
    return any(one[0] == rule for one in found(check(files, beside=beside)))


@pytest.mark.parametrize(
    "rule, said, unsaid",
    [
        ("no-answer", {"Dockerfile": GCC.format("runtime", "cmake")}, {"Dockerfile": GCC.format("devel", "gcc")}),
        ("no-gpu-request", {"compose.yml": BUILT, "Dockerfile": BARE.format("")}, {"docker/build_all.yml": BUILT, "docker/Dockerfile": BARE.format("")}),
        ("pair-mismatch", {"Dockerfile": CPU.format("torch", "torchvision")}, {"Dockerfile": CPU.format("torch torchvision", "torchvision")}),
        ("unstated-limit", {"environment.yml": OLD_JINJA.format("2.1.1")}, {"environment.yml": OLD_JINJA.format("2.0.1")}),
        ("cuda-for-cpu", {"cog.yaml": COG.format("false")}, {"cog.yaml": COG.format("true")}),
        ("unstated-limit", {"Dockerfile": OWN_WHEEL.format("wheel")}, {"Dockerfile": OWN_WHEEL.format("flwr-1.4.0-py3-none-any.whl")}),
        ("python-no-wheel", {"Dockerfile": IN_CLONE.format("app"), "requirements.txt": "torch==2.0.1\n"}, {"Dockerfile": IN_CLONE.format("pytorch"), "requirements.txt": "torch==2.0.1\n"}),
        ("no-such-release", {"Dockerfile": FEED.format("https://pypi.tuna.tsinghua.edu.cn/simple")},
         {"Dockerfile": FEED.format("https://aiinfra.pkgs.visualstudio.com/PublicPackages/_packaging/onnxruntime-cuda-11/pypi/simple/")}),
        ("local-version", {"pyproject.toml": JAXLIB}, {"pyproject.toml": f'{JAXLIB}[[tool.poetry.source]]\nname = "jax"\nurl = "https://storage.googleapis.com/jax-releases/jax_cuda_releases.html"\n'}),
        ("apt-gone", {"Dockerfile": NPP.format("libnqp-11-8")}, {"Dockerfile": NPP.format("libnpp-11-8")}),
        ("wrong-variable", {"a.yml": COMPOSE.format("TF_CPP_MIN_LOG_LEVE")}, {"a.yml": COMPOSE.format("REDIS_HOSTS")}),
        ("no-program", {"Dockerfile": BARE.format("")}, {"Dockerfile": BARE.format(" python3-pip")}),
        ("wrong-name", {"Dockerfile": LISTED.format("python:3.8")}, {"Dockerfile": LISTED.format("python:3.6")}),
        ("wrong-name", {"requirements.txt": "pytorch\n"}, {"conda_requirements.txt": "pytorch\n"}),
        ("same-files", {"a.sh": MADE.format("torch==2.1.0")}, {"a.sh": MADE.format("'torch>=2.0.0'")}),
        ("same-files", {"a.sh": MADE.format("-U 'torch>=2.0.0'")}, {"a.sh": MADE.format("torch")}),
        ("conda-pip-mix", {"a.sh": MADE.format("torch==2.1.0")}, {"a.sh": MADE.format("'torch>=2.0.0'")}),
        ("apt-gone", {"a.sh": OLD_APT.format("for a server")}, {"a.sh": OLD_APT.format("for Raspbian")}),
        ("no-such-extra", {"Dockerfile": JAX11.format("python:3.10")}, {"Dockerfile": JAX11.format("python:3.8")}),
        ("cpu-wheel", {"gpu.sh": CHANNEL.format("")}, {"gpu.sh": CHANNEL.format("cuda90")}),
        ("old-pip-option", {"a.sh": CONDA.format("3.10")}, {"a.sh": CONDA.format("3.6.9")}),
        ("no-such-extra", {"environment.yml": EXTRA.format("3.10")}, {"environment.yml": EXTRA.format("3.9")}),
        ("base-image", {"Dockerfile": CUDNN.format("")}, {"Dockerfile": CUDNN.format("'jax[cuda12]'")}),
        ("image-outrun", {"Dockerfile": LATER.format("tqdm")}, {"Dockerfile": LATER.format("'sglang[all]==0.4.8'")}),
        ("unstated-limit", {"Dockerfile": H5PY.format("python:3.7")}, {"Dockerfile": H5PY.format("tensorflow/tensorflow:1.15.4-gpu-py3")}),
        ("unstated-limit", {"a.sh": ARMS.format("")}, {"a.sh": ARMS.format("scipy==1.10.1")}),
        ("old-gpus", {"environment.yml": "dependencies:\n- pip:\n  - torch==1.10.0\n"}, {"environment.yml": "dependencies:\n- cpuonly\n- pip:\n  - torch==1.10.0\n"}),
    ],
)  # fmt: skip
def test_the_file_itself_settles_it(rule, said, unsaid):
    assert fires(rule, said)
    assert not fires(rule, unsaid)


@pytest.mark.parametrize(
    "rule, files, open_, settled",
    [
        ("python-unnamed", {"requirements-ci.txt": "torch==2.0.1\n"}, {".github/workflows/ci.yml": SETUP.format("other.txt")},
         {".github/workflows/ci.yml": SETUP.format("requirements-ci.txt")}),
        ("python-unnamed", {"ci/a.sh": "pip install tensorflow==1.14\n"}, {".travis.yml": CI.format("name")},
         {".travis.yml": CI.format("python")}),
        ("unstated-limit", {"a/pyproject.toml": PATHED}, {"pyproject.toml": '[tool.poetry.dependencies]\nrequests = "^2"\n'},
         {"pyproject.toml": '[tool.poetry.dependencies]\nnumpy = "^1.21.0"\n'}),
        ("local-version", {"requirements-jax.txt": "jaxlib==0.1.57+cuda110\n"}, {"README.md": "pip install -r requirements-jax.txt\n"},
         {"README.md": "pip install -r requirements-jax.txt -f https://storage.googleapis.com/jax-releases/jax_releases.html\n"}),
        ("wrong-name", {"Pipfile": "[packages]\nsklearn = \"*\"\ntorch = \"*\"\n"}, {"Pipfile.lock": "{}"},
         {"Pipfile.lock": '{"default": {\n"sklearn": {\n"hashes": ["sha256:e2"],\n"index": "pypi",\n"version": "==0.0"\n}}}\n'}),
        ("copy-missing", {"docker/Dockerfile": ABOVE.format("a")}, {"a/environment.yml": "", "README.md": "", "b.py": "import torch\n"},
         {"environment.yml": "", "README.md": "", "b.py": "import torch\n"}),
        ("copy-missing", {"docker/Dockerfile": COPIED}, {".gitignore": "docker/other.sh\n", "README.md": "", "a.py": "import torch\n"},
         {".gitignore": "docker/setup.sh\n", "README.md": "", "a.py": "import torch\n"}),
        ("cpu-wheel", {"requirements.txt": ORT}, {"a.py": "import onnxruntime as ort\n"}, {"a.py": "import torch\n"}),
        ("no-cuda-extra", {"environment.yml": JAX}, {"a.py": "from jax import numpy\n"}, {"a.py": "import torch\n"}),
        ("torch-at-build", {"requirements.txt": TINY}, {"make_env.sh": "uv pip install -r requirements.txt\n"},
         {"make_env.sh": "uv pip install torch\nuv pip install --no-build-isolation -r requirements.txt\n"}),
        ("cpu-wheel", {"run.sh": TOOLKIT}, {"env.yml": "dependencies:\n- python=3.9\n"}, {"env.yml": "dependencies:\n- python=3.6\n"}),
    ],
)  # fmt: skip
def test_another_file_settles_it(rule, files, open_, settled):
    assert fires(rule, files, open_)
    assert not fires(rule, files, settled)


def test_a_workflow_in_a_copy_of_another_project_is_never_started():
    own = {".github/workflows/a.yml": UPLOAD, "README.md": ""}
    copied = {"third_party/x/.github/workflows/a.yml": UPLOAD, "README.md": ""}
    absolute = {"/tmp/x/.github/workflows/a.yml": UPLOAD, "/tmp/x/README.md": ""}
    assert fires("ended-runner", own)
    assert fires("ended-runner", absolute)
    result = check(copied)
    assert not result.mistakes
    assert any("is not checked" in note.text for file in result.files for note in file.notes)


def test_packages_that_conda_put_there_stay_when_pip_follows():
    text = "#!/bin/bash\nconda env create -f environment.yml\n"
    made = "dependencies:\n- python=3.9\n{}- pip:\n  - imageio==2.31.5\n  - matplotlib==3.5.3\n  - torch==2.0.1\n"
    free, held = ({"environment.yml": made.format(one)} for one in ("", "- numpy=1.23.5\n"))
    assert fires("unstated-limit", {"install.sh": text}, free)
    assert not fires("unstated-limit", {"install.sh": text}, held)


def test_texts_name_what_fits():
    old = check({"requirements.txt": "# Python 3.10\ntorch==2.1.0\ntransformers\n"})
    assert any('"transformers<5.0"' in one.fix for one in old.mistakes)
    key = check({"Dockerfile": "FROM tensorflow/tensorflow:2.3.0-gpu\nRUN apt-get update\n"})
    assert key.mistakes
    assert all("{" not in one.fix for one in key.mistakes)
    tag = check({"Dockerfile": "FROM tensorflow/tensorflow:latest-gpu-py3-jupyter\nRUN pip install keras\n"})
    assert any("2.1.0" in one.fix for one in tag.mistakes)
    ended = check({"requirements.txt": "torch==1.4.0\nnumpy==1.21.6\n"})
    assert any("(numpy has none for 3.12 either)" in one.text for one in ended.mistakes)


def test_pythons_are_named_in_their_order():
    beside = {"README.md": "Python 3.9 is used.\n", "environment.yml": "dependencies:\n- python=3.8\n"}
    texts = [one.text for one in check({"requirements.txt": "torch==2.6.0\nnumpy==2.3.0\n"}, beside=beside).mistakes]
    assert not any("3.9 to 3.8" in one for one in texts)
    assert any("3.8 to 3.9" in one for one in texts)


def test_a_build_of_pyg_is_on_its_own_page():
    text = "dependencies:\n- python=3.10\n- pip:\n{}  - torch==2.4.0+cu124\n  - torch-scatter==2.1.2+pt24cu124\n"
    beside = {"README.md": "pip install torch --index-url https://download.pytorch.org/whl/cu124\n"}
    result = check({"environment.yml": text.format("")}, beside=beside)
    assert [one[0] for one in found(result)] == ["local-version", "local-version"]
    assert "torch-2.4.0+cu124.html" in result.mistakes[1].fix
    told = "  - --extra-index-url https://download.pytorch.org/whl/cu124\n  - -f https://data.pyg.org/whl/torch-2.4.0+cu124.html\n"
    assert not found(check({"environment.yml": text.format(told)}, beside=beside))


def test_a_machine_that_has_packages_of_its_own_is_not_judged_by_the_newest():
    cell = '{{"cells": [{{"cell_type": "code", "source": ["{}!pip install torch==2.1.0\\n", "!pip install sentence-transformers\\n"]}}], "nbformat": 4, "metadata": {{}}}}'
    assert fires("pair-mismatch", {"a.ipynb": cell.format("")})
    assert not fires("pair-mismatch", {"a.ipynb": cell.format("# DATABRICKS_RUNTIME_VERSION\\n")})


NAMED = "# Python 3.10\nxformers==0.0.23.post1\n{}\ntriton==2.3.1\n"
BORROWED = "FROM {}\nRUN pip install torch onnxruntime-gpu==1.18.0\nCMD python3 a.py\n"


@pytest.mark.parametrize(
    "rule, files, open_, settled",
    [
        ("python-no-wheel", {"requirements.txt": "torch\nnumpy==2.3.0\n"}, {"docs/install.md": "conda create python=3.8; pip install -r requirements.txt\n"},
         {"modules/part/README.md": "conda create python=3.8; pip install -r requirements.txt\n"}),
        ("python-unnamed", {"requirements.dev.txt": "torch==2.1.1\n"}, {"docs/story.md": "We met Python 3.10 once.\n"},
         {"docs/dependencies.md": "Install Python 3.10 first.\n"}),
    ],
)  # fmt: skip
def test_pages_of_the_project_name_its_python_and_those_of_its_parts_do_not(rule, files, open_, settled):
    assert fires(rule, files, open_)
    assert not fires(rule, files, settled)


def test_a_torch_named_by_its_address_is_no_other_release():
    address = "torch @ https://mirror.example/cu121/torch-2.3.1%2Bcu121-cp310-cp310-linux_x86_64.whl"
    assert fires("no-solution", {"requirements.txt": NAMED.format("tqdm")})
    assert not fires("no-solution", {"requirements.txt": NAMED.format(address)})


def test_an_image_of_somebody_may_hold_a_torch_that_stays():
    assert fires("borrowed-cuda", {"Dockerfile": BORROWED.format("python:3.12")})
    assert not fires("borrowed-cuda", {"Dockerfile": BORROWED.format("somebody/torchserve:0.12.0-gpu")})


def test_an_index_is_named_that_there_is():
    text = "FROM nvidia/cuda:11.4.3-devel-ubuntu20.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip3 install torch==2.2.0\nCMD a\n"
    assert any("cu118" in one.fix for one in check({"Dockerfile": text}).mistakes if one.rule == "image-outrun")


def test_an_index_that_never_was_is_empty_alone_and_left_out_beside_another():
    text = "pip install torch {} https://download.pytorch.org/whl/cu122\n"
    alone, beside = (check({"a.sh": text.format(one)}).mistakes[0].text for one in ("--index-url", "--extra-index-url"))
    assert "nothing can be installed" in alone
    assert "the default index decides" in beside


def test_what_a_run_wrote_down_is_not_looked_for(tmp_path):
    for folder in ("wandb/run-20251206_190917-8tg2ee22/files", "src"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "requirements.txt").write_text("torch\n")
    assert [*_worth_opening(str(tmp_path), lambda _: None)] == [str(tmp_path / "src" / "requirements.txt")]


def test_a_package_that_goes_on_under_another_name():
    mistakes = check({"requirements.txt": "torch\nfaiss==1.7.3\n"}).mistakes
    assert any("faiss-cpu" in one.fix for one in mistakes if one.rule == "no-such-release")


def test_a_release_that_was_not_harvested_is_compared_by_its_number():
    held, unmet = ({"requirements.txt": ASKED.format(one)} for one in ("1.20.112", "1.10.84"))
    asked = [m.text for m in check(held).mistakes if "s3transfer" in m.text]
    assert asked == []
    assert any("s3transfer 0.4.2 asks for botocore" in m.text for m in check(unmet).mistakes)


def test_an_empty_dockerfile_that_a_folder_holds_is_left_out():
    assert not kinds.speaks_of_packages("dockerfile", "\n")
    assert kinds.speaks_of_packages("dockerfile", "RUN a\n")


def test_an_extra_that_is_not_there_opens_no_library_of_the_system():
    text = "FROM nvidia/cuda:11.8.0-devel-ubuntu20.04\nRUN apt-get update && apt-get install -y python3-pip\nRUN pip install 'jax[{}]'\n"
    assert fires("base-image", {"Dockerfile": text.format("cuda11_local")})
    gone = {"Dockerfile": text.format("cuda11_cudnn82")}
    assert fires("no-such-extra", gone)
    assert not fires("base-image", gone)


def test_what_comes_last_overwrites_what_was_there():
    text = "#!/bin/bash\nconda create -n a python=3.10 -y\n{}\n"
    pip, conda = "pip install torch==2.1.0", "conda install -y pytorch=2.4.1 -c pytorch -c nvidia"
    late = {"a.sh": text.format(f"{pip}\n{conda}")}
    assert "conda's pytorch overwrites pip's torch (line 3)" in next(m.text for m in check(late).mistakes)
    early = [m.text for m in check({"a.sh": text.format(f"{conda}\n{pip}")}).mistakes]
    assert any("pip's torch overwrites conda's pytorch (line 3)" in said for said in early)


def test_apt_of_an_image_is_not_told_in_the_environment_that_is_made_there():
    image = "FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y wget libgone-zz\nRUN mamba env update -f environment.yml\n"
    made = "dependencies:\n- python=3.10\n- pytorch\n"
    assert {(m.rule, m.place.path) for m in check({"Dockerfile": image, "environment.yml": made}).mistakes} >= {
        ("apt-gone", "Dockerfile")
    }
    assert not any(
        m.rule == "apt-gone" and m.place.path == "environment.yml"
        for m in check({"Dockerfile": image, "environment.yml": made}).mistakes
    )


def test_fixes_name_what_there_is():
    frozen = [
        m.fix
        for m in check({"requirements.txt": "pkg-resources==0.0.0\ntorch==2.1.0\n"}).mistakes
        if m.rule == "wrong-name"
    ]
    assert frozen
    assert not any(fix.startswith("take that") for fix in frozen)
    old = {"requirements.txt": "tensorflow==2.8.0\nscipy==1.4.1\n"}
    assert any("Python 3.8 is needed" in m.fix for m in check(old).mistakes if m.rule == "python-unnamed")


def test_a_release_that_is_gone_has_no_code_to_speak_of():
    assert not fires("old-gpus", {"requirements-gpu.txt": "tensorflow-gpu==2.3.0rc0\n"})
    assert fires("old-gpus", {"requirements-gpu.txt": "tensorflow-gpu==2.3.0\n"})


def test_what_a_job_of_sagemaker_installs_over_its_image():
    job = 'from sagemaker.pytorch import PyTorch\nimport sagemaker\nPyTorch(entry_point="t.py", source_dir="src", framework_version="2.0.1", py_version="py310", instance_type="ml.g5.xlarge")\n'
    wanted = ("torch-replaced", {"run_sagemaker.py": job})
    assert fires(*wanted, {"src/requirements.txt": "torchvision==0.19.0\n"})
    assert not fires(*wanted, {"src/requirements.txt": "torchvision==0.15.2\n"})


@pytest.mark.parametrize(
    "python, comes", [("3.8", "2.4.1, the last for this Python, is what comes"), ("3.11", "2.5.1: that is what comes")]
)
def test_an_index_that_ended_gives_what_the_python_takes(python, comes):
    text = f"FROM python:{python}\nRUN pip install torch --index-url https://download.pytorch.org/whl/cu121\n"
    assert any(comes in m.text for m in check({"Dockerfile": text}).mistakes if m.rule == "index-ended")
