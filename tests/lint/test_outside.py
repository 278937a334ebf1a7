"""What other files, other channels and other installers say: a finding that they contradict is none."""

from __future__ import annotations

import pytest

from gpuwhy.lint import outside
from gpuwhy.lint.taking import Network

from .support import check, found

MINICONDA = (
    "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n"
    "RUN wget -q https://repo.anaconda.com/miniconda/Miniconda3-latest-Linux-x86_64.sh"
    " && bash Miniconda3-latest-Linux-x86_64.sh -b -p /opt/conda\n"
)
BASE = "ARG BASE=nvidia/cuda:11.4.1-devel-ubuntu20.04\nFROM ${BASE}\nRUN wget -q https://example.org/a && pip install torch\n"
CHANNELS = "channels:\n{}dependencies:\n  - python=3.11\n  - pytorch=2.1.0\n  - numpy=1.25\n"


def named(rule, name, text, beside=None):
    """How often one rule fires on a file."""
    return sum(one == rule for one, _, _ in found(check({name: text}, beside=beside or {})))


@pytest.mark.parametrize(
    "text, names",
    [
        ("services:\n  a:\n    build:\n      args:\n        BASE: x\n        OTHER: y\n    image: z\n", {"BASE", "OTHER"}),
        ("services:\n  a:\n    build:\n      args:\n      - BASE=x\n    image: z\n", {"BASE"}),
        ("      - uses: docker/build-push-action@v6\n        with:\n          build-args: |\n            BASE=${{ a }}\n", {"BASE"}),
        ("docker build --build-arg BASE=x --build-arg=B2=y .\n", {"BASE", "B2"}),
        ("services:\n  a:\n    image: z\n    environment:\n      BASE: x\n", set()),
    ],
)  # fmt: skip
def test_arguments_of_builds_are_found_where_builds_are_told(text, names):
    assert outside.arguments([text]) == names


def test_an_image_that_another_file_chooses_is_not_judged_by_its_default():
    alone = {rule for rule, _, _ in found(check({"d/Dockerfile": BASE}))}
    chosen = "docker build -f d/Dockerfile --build-arg BASE=ours:latest .\n"
    together = found(check({"d/Dockerfile": BASE, "build.sh": chosen}))
    assert {"image-tag", "no-program"} <= alone
    assert not {"image-tag", "no-program"} & {rule for rule, path, _ in together if path == "d/Dockerfile"}


def test_a_file_that_a_dockerfile_installs_needs_no_python_of_its_own():
    pins = "onnxruntime==1.16.3\ntorch==1.11.0\nnumpy<2\n"
    image = "FROM ours:latest\nCOPY voice/reqs /reqs\nWORKDIR /reqs\nRUN pip install -r voice.txt\n"
    unnamed = ("python-unnamed", "voice/reqs/voice.txt")
    assert unnamed in [row[:2] for row in found(check({"voice/reqs/voice.txt": pins}))]
    both = check({"voice/reqs/voice.txt": pins, "docker/a/b/Dockerfile.voice": image})
    assert unnamed not in [row[:2] for row in found(both)]


@pytest.mark.parametrize(
    "rule, name, text, times",
    [
        ("conda-terms", "Dockerfile", MINICONDA + "RUN /opt/fsl/bin/conda install -y deprecation pytorch\n", 0),
        ("conda-terms", "Dockerfile", MINICONDA + "RUN /opt/conda/bin/conda install -y deprecation pytorch\n", 1),
        ("old-gpus", "cog.yaml", 'build:\n  gpu: true\n  python_version: "3.10"\n  python_packages:\n    - "torch==1.12.1"\n', 0),
        ("old-gpus", "requirements.txt", "torch==1.12.1\n", 1),
        ("python-unnamed", ".cog/tmp/build1/requirements.txt", "torch==1.12.1\n", 0),
        ("no-such-release", "requirements.txt", "tensorflow-gpu==2.13.0\ntensorflow==2.13.0\n", 1),
        ("same-files", "requirements.txt", "tensorflow-gpu==2.13.0\ntensorflow==2.13.0\n", 0),
        ("same-files", "requirements.txt", "tensorflow-gpu==2.10.0\ntensorflow==2.10.0\n", 1),
        ("unstated-limit", "environment.yml", CHANNELS.format("  - pytorch\n  - conda-forge\n"), 1),
        ("unstated-limit", "environment.yml", CHANNELS.format("  - defaults\n  - pytorch\n  - conda-forge\n"), 0),
        ("index-ended", "environment.yml", "channels: [pytorch, nvidia]\ndependencies:\n  - pytorch=2.6\n  - pytorch-cuda=12.4\n", 1),
        ("index-ended", "environment.yml", "channels: [conda-forge, pytorch]\ndependencies:\n  - pytorch=2.6\n  - pytorch-cuda=12.4\n", 0),
        ("wrong-name", "environment.yml", "dependencies:\n  - torch-scatter=2.1.2\n", 1),
        ("wrong-name", "environment.yml", "dependencies:\n  - torch-scatter=2.1.2=pyhd8ed1ab_0\n", 0),
        ("pair-mismatch", "environment.yml", "dependencies:\n  - keras=2.1.5\n  - tensorflow\n", 0),
        ("pair-mismatch", "requirements.txt", "keras==2.1.5\ntensorflow\n", 1),
        ("lost-argument", "Dockerfile", 'ARG B=x\nFROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN echo "$B"\n', 0),
        ("lost-argument", "Dockerfile", 'ARG B=x\nFROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN echo "$B" > /etc/b\n', 1),
        ("image-outrun", "Dockerfile.cpu", "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip && pip3 install torch\n", 0),
        ("image-outrun", "Dockerfile.gpu", "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip && pip3 install torch\n", 1),
        ("cpu-wheel", "Dockerfile", "FROM python:3.10\nENV NVIDIA_VISIBLE_DEVICES=all\nRUN pip install onnxruntime==1.19.2 cuda-python\n", 0),
        ("unstated-limit", "environment.yml", "channels: [defaults]\ndependencies:\n  - python=3.7\n  - pip:\n    - tensorflow==2.5.*\n", 0),
    ],
)  # fmt: skip
def test_each_with_and_without_what_contradicts_it(rule, name, text, times):
    assert named(rule, name, text) == times


def test_a_twin_for_the_gpu_leaves_this_one_to_the_rest():
    assert named("old-gpus", "reqs/torch.txt", "torch==1.12.1\n", {"reqs/torch-gpu.txt": "torch==2.5.1\n"}) == 0


def test_what_is_asked_last_is_held_back_by_the_newest_of_the_others():
    network = Network({"tensorflow": "==2.5.*"}, "3.7")
    assert network.taken()["protobuf"].startswith("4.")
    assert network.taken(late="protobuf")["protobuf"].startswith("3.")


def test_a_file_above_is_found_from_an_absolute_path_too():
    files = {"/a/b/docker/Dockerfile": "FROM python:3.13\nCOPY reqs.txt .\nRUN pip install -r reqs.txt\n"}
    result = check(files, beside={"/a/b/reqs.txt": "numpy\ntorch==2.3.1\n"})
    assert found(result) == [("python-no-wheel", "/a/b/reqs.txt", 2)]


@pytest.mark.parametrize(
    "commands, times",
    [
        (("torch==2.0.0 torchvision==0.15.1", "torch==2.0.1 torchvision==0.15.2"), 0),
        (("torch==2.0.0 torchvision==0.15.2",), 1),
        (("numpy==1.24.3", "tensorflow==2.12.0"), 0),
        (("tensorflow==2.12.0", "numpy==1.24.3"), 1),
        (("tensorflow==2.12.0 numpy==1.24.3",), 1),
    ],
)
def test_what_a_later_command_puts_right_is_no_mismatch(commands, times):
    lines = "".join(f"RUN pip install {one}\n" for one in commands)
    assert named("pair-mismatch", "Dockerfile", "FROM python:3.10\n" + lines) == times


@pytest.mark.parametrize("release, times", [("0.9.2", 1), ("0.10.1.1", 1), ("0.11.0", 1), ("0.11.2", 0)])
def test_a_wheel_for_every_python_from_one_on_is_limited_too(release, times):
    assert named("unstated-limit", "requirements.txt", f"vllm=={release}\n") == times


@pytest.mark.parametrize(
    "name, text",
    [
        ("environment-gpu.yml", "dependencies:\n  - python=2.7\n"),
        ("README.md", "Tested with Python 2.7.\n"),
        ("cog.yaml", 'build:\n  python_version: "3.8"\n'),
        (".travis.yml", 'python:\n  - "3.6"\n'),
    ],
)
def test_a_python_that_a_file_of_the_project_names_counts(name, text):
    pins = "tensorflow-gpu==1.12.0\n"
    assert named("python-unnamed", "requirements.txt", pins) == 1
    assert named("python-unnamed", "requirements.txt", pins, {name: text}) == 0


@pytest.mark.parametrize(
    "workflow, times",
    [
        ("        with:\n          build-contexts: |\n            shop-base=docker-image://ghcr.io/shop/base\n", 0),
        ("        run: docker pull ghcr.io/shop/shop-base:v1\n", 0),
        ("        run: docker pull ghcr.io/shop/other-shop-base2:v1\n", 1),
    ],
)
def test_an_image_that_a_workflow_names_is_made_somewhere(workflow, times):
    steps = "jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: docker/build-push-action@v6\n"
    files = {"d/Dockerfile": "FROM shop-base\nRUN pip install torch\n", ".github/workflows/a.yml": steps + workflow}
    assert [rule for rule, _, _ in found(check(files))].count("local-image") == times
