"""Each reader on one file of its kind: packages, Pythons, images, lines."""

import pytest

from gpuwhy.lint import kinds
from gpuwhy.lint.read import compose, conda, dockerfile, pyproject, requirements, shell
from gpuwhy.lint.sheet import Sheet


def pins(sheet: Sheet, at: int = 0) -> list[tuple[str, str, int]]:
    return [(p.name, p.specifier, p.place.line) for p in sheet.environments[at].pins]


@pytest.mark.parametrize(
    "path, text, kind",
    [
        ("a/requirements-dev.txt", "", "requirements"),
        ("requirements/base.in", "", "requirements"),
        ("gpu.Dockerfile", "", "dockerfile"),
        ("Containerfile", "", "dockerfile"),
        ("environment.gpu.yml", "", "conda"),
        ("docker-compose.override.yml", "", "compose"),
        ("stack.yaml", "services:\n  a:\n    image: x\n", "compose"),
        ("packages.txt", "torch==2.1\nnumpy\n", "requirements"),
        ("image", "# a\nARG V\nFROM x\n", "dockerfile"),
        ("README.md", "torch==2.1\n", ""),
        ("setup.py", "x", ""),
        ("update-dockerfile-graph.sh", "", "script"),
        ("docs/dockerfile-stages.png", "", ""),
        (".github/workflows/dockerfile.yml", "on: push\n", ""),
        ("Dockerfile.ubuntu22.04", "", "dockerfile"),
    ],
)
def test_kinds(path, text, kind):
    assert kinds.recognise(path, text) == kind


def test_requirements():
    text = (
        "--extra-index-url https://download.pytorch.org/whl/cu121\n"
        "torch==2.1.0 \\\n  --hash=sha256:1\n"
        "Flash_Attn[a] >= 2 ; python_version < '3.11'  # b\n"
        "detectron2 @ git+https://a.example/x/detectron2.git\n"
        "https://a.example/apex-0.1+cu12-cp310-cp310-linux_x86_64.whl\n"
    )
    found = requirements.read("requirements.txt", text)
    assert found.problems == []
    assert pins(found) == [
        ("torch", "==2.1.0", 2),
        ("flash-attn", ">=2", 4),
        ("detectron2", "", 5),
        ("apex", "==0.1+cu12", 6),
    ]
    torch, flash, head, wheel = found.environments[0].pins
    assert (torch.variant, head.tag, wheel.tag) == ("cu121", "HEAD", "cp310")
    assert (flash.extras, flash.marker) == (("a",), 'python_version < "3.11"')


def test_a_dockerfile():
    text = (
        "ARG CUDA=12.4.1\nFROM nvidia/cuda:${CUDA}-devel-ubuntu22.04 AS base\n"
        "ENV A=1 B=2\nRUN apt-get update && apt-get install -y libcudnn8=8.9 python3-pip\n"
        "RUN <<EOF\npip install torch==2.1.0\nEOF\n"
        "FROM base\nRUN if [ $A ]; then pip install jax; else pip install 'jaxlib<1'; fi\n"
        "COPY --from=base /usr/local/lib/python3.10/site-packages /x\n"
    )
    found = dockerfile.read("Dockerfile", text)
    base, last = found.environments
    assert base.image is not None
    assert base.image.text == "nvidia/cuda:12.4.1-devel-ubuntu22.04"
    assert base.apt == {"libcudnn8": 4, "python3-pip": 4}
    assert [(p.name, p.place.line) for p in last.pins] == [("torch", 6)]
    assert last.includes_unknown  # what the branches install
    assert (base.pythons, last.runs) == (("3.10",), True)


def test_shell_words():
    found = shell.commands("A=1 sudo pip -q install \"torch>=2\" $B && x 'y z'", 3, {"B": "a b"})
    assert [one.words for one in found] == [("pip", "install", "-q", "torch>=2", "a", "b"), ("x", "y z")]
    assert (found[0].assigned, found[0].lines[0]) == ((("A", "1"),), 3)


def test_conda():
    text = (
        "channels: [pytorch, nvidia]\ndependencies:\n- python=3.10\n"
        "- pytorch::pytorch=2.1=py3.10_cuda\n"
        "- cudatoolkit >=11,<12\n- pip:\n  - torchvision==0.16.0\n"
    )
    found = conda.read("environment.yml", text)
    assert pins(found) == [
        ("pytorch", "==2.1", 4),
        ("cudatoolkit", ">=11,<12", 5),
        ("torchvision", "==0.16.0", 7),
    ]
    stage = found.environments[0]
    assert (stage.pythons, stage.channels) == (("3.10",), ["pytorch", "nvidia"])
    assert (stage.pins[0].channel, stage.pins[0].build) == ("pytorch", "py3.10_cuda")


def test_compose():
    text = (
        "services:\n  a:\n    image: x:1\n    environment: {B: 1}\n    deploy:\n      resources:\n"
        "        reservations:\n          devices:\n"
        "          - {driver: nvidia, capabilities: [gpu]}\n"
        "  b: {build: ./b, gpus: all}\n  c: {image: y, runtime: nvidia}\n"
        "  d: {extends: {service: a}}\n"
    )
    a, b, c, d = compose.read("compose.yaml", text).workloads
    assert a.request is not None
    assert (a.request.line, a.variables["B"].text) == (9, "1")
    assert (b.built, bool(c.request), d.partial) == ("./b/Dockerfile", True, True)
    assert b.request is not None


def test_pyproject():
    text = (
        '[project]\nrequires-python = ">=3.10,<3.12"\ndependencies = ["torch>=2"]\n'
        '[project.optional-dependencies]\ngpu = ["jax[cuda12]"]\n'
        '[dependency-groups]\ndev = [{include-group = "t"}]\nt = ["pytest"]\n'
        '[tool.poetry.dependencies]\ntensorflow = "^2.15"\n'
        '[tool.uv.sources]\ntorch = {index = "p"}\n'
        '[[tool.uv.index]]\nname = "p"\nurl = "https://download.pytorch.org/whl/cu126"\n'
    )
    found = pyproject.read("pyproject.toml", text)
    assert pins(found) == [("torch", ">=2", 3)]
    assert found.environments[0].pins[0].backend == "cu126"
    assert found.environments[0].pythons == ("3.10", "3.11")
    assert [one.part for one in found.environments] == ["", "gpu", "dev", "t"]
    assert [("Poetry" in one.text, one.place.line) for one in found.notes] == [(True, 9)]
