"""Readers: what each kind of file says, on which line, and what cannot be read."""

from __future__ import annotations

import pytest

from gpuwhy.lint import compose, conda, dockerfile, kubernetes, locks, pyproject, requirements, shell
from gpuwhy.lint.kinds import recognise
from gpuwhy.lint.sheet import backend_of
from gpuwhy.lint.versions import allowed, pythons_in, together, where
from gpuwhy.lint.yamls import BadYamlError, Map, documents
from gpuwhy.model.lint import Place
from tests.lint.support import check


@pytest.mark.parametrize(
    "path, text, kind",
    [
        ("requirements.txt", "", "requirements"),
        ("deps/requirements-dev.in", "", "requirements"),
        ("gpu_requirements.txt", "", "requirements"),
        ("constraints.txt", "", "requirements"),
        ("pyproject.toml", "", "pyproject"),
        ("uv.lock", "", "lock"),
        ("pylock.dev.toml", "", "lock"),
        ("Pipfile.lock", "", "pipfile-lock"),
        ("linux.conda-lock.yml", "", "conda-lock"),
        ("environment.yaml", "", "conda"),
        ("docker/gpu.Dockerfile", "", "dockerfile"),
        ("Dockerfile.cuda", "", "dockerfile"),
        ("Containerfile", "", "dockerfile"),
        ("docker-compose.gpu.yml", "", "compose"),
        (".devcontainer/devcontainer.json", "", "devcontainer"),
        ("job.yaml", "apiVersion: v1\nkind: Pod\n", "kubernetes"),
        ("stack.yml", "services:\n  a:\n    image: x\n", "compose"),
        ("env.yml", "name: x\ndependencies:\n- python\n", "conda"),
        ("deps.txt", "torch==2.5.1\nnumpy\n", "requirements"),
        ("build", "FROM ubuntu\n", "dockerfile"),
        ("notes.txt", "Hello, world.\n", ""),
        ("Dockerfile.dockerignore", "", ""),
        (".github/workflows/ci.yml", "on: push\njobs: {}\n", "workflow"),
    ],
)
def test_kind(path, text, kind):
    assert recognise(path, text) == kind


@pytest.mark.parametrize(
    "text, name, specifier, extras",
    [
        ("Torch", "torch", "", ()),
        ("tensorflow[and-cuda] == 2.18.0", "tensorflow", "==2.18.0", ("and-cuda",)),
        ("tensorflow [and-cuda]>=2.16,<2.20 ; python_version > '3.8'", "tensorflow", ">=2.16,<2.20", ("and-cuda",)),
        ("nvidia_cudnn_cu12 (>=9)", "nvidia-cudnn-cu12", ">=9", ()),
        ("torch==2.3.1+cu121 --hash=sha256:aa --hash=sha256:bb", "torch", "==2.3.1+cu121", ()),
        ("jax[cuda12_local]~=0.4.30", "jax", "~=0.4.30", ("cuda12-local",)),
        ("apex @ git+https://code.example/NVIDIA/apex", "apex", "", ()),
        ("git+https://code.example/NVIDIA/apex.git@v1", "apex", "", ()),
        (
            "https://wheels.example/whl/cu118/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl",
            "torch",
            "==2.1.0+cu118",
            (),
        ),
        (".[dev]", "-", "", ()),
        ("jax --pre", "jax", "", ()),
    ],
)
def test_requirement(text, name, specifier, extras):
    pin = requirements.requirement(text, Place("r", 1))
    assert (pin.name, pin.specifier, pin.extras) == (name, specifier, extras)


@pytest.mark.parametrize(
    "text, line, said",
    [
        ("numpy\ntorch=2.5.1\n", 2, "pip writes =="),
        ("torch 2.5.1\n", 1, "operator"),
        ("numpy\n<<<<<<< HEAD\ntorch\n", 2, "merge conflict"),
        ("--gpu yes\n", 1, "not an option"),
        ("a b c\n", 1, "no requirement"),
        ("torch==\n", 1, "no requirement"),
    ],
)
def test_bad_requirement_lines_are_told_and_the_rest_is_read(text, line, said):
    result = check({"requirements.txt": text + "torch==2.5.2\n"})
    problem = result.problems[0]
    assert problem.place.line == line
    assert said in problem.text
    assert [m.rule for m in result.mistakes] == ["no-such-release"]


def test_includes_in_a_circle_and_missing_ones():
    result = check({"requirements.txt": "-r a.txt\n-r gone.txt\n"}, beside={"a.txt": "-r requirements.txt\n"})
    assert "includes itself" in result.problems[0].text
    assert "gone.txt cannot be read" in result.files[0].notes[0].text


@pytest.mark.parametrize(
    "url, backend",
    [
        ("https://w.example/whl/cu121", "cu121"),
        ("https://w.example/whl/cpu/", "cpu"),
        ("https://w.example/whl/nightly/cu128", "cu128"),
        ("https://w.example/whl/rocm6.1", "rocm6.1"),
        ("https://w.example/whl/cu111/torch_stable.html", "cu111"),
        ("https://w.example/simple", ""),
    ],
)
def test_backend_of_an_index(url, backend):
    assert backend_of(url) == backend


@pytest.mark.parametrize(
    "text, expected",
    [
        ("^2.1", ">=2.1,<3"),
        ("^0.4.3", ">=0.4.3,<0.5"),
        ("~2.3", ">=2.3,<2.4"),
        ("~2.3.1", ">=2.3.1,<2.4"),
        ("2.5.1", "==2.5.1"),
        ("2.5.*", "==2.5.*"),
        ("> 2, < 3", ">2,<3"),
        (">=2 <3", ">=2,<3"),
        ("*", ""),
        ("^2 || ^3", ""),
        ("newest", None),
    ],
)
def test_poetry_specifiers(text, expected):
    assert pyproject.poetry_specifier(text) == expected


def test_pyproject_lines_extras_and_sources():
    text = """[project]
requires-python = ">=3.10,<3.13"
dependencies = ["numpy"]
[project.optional-dependencies]
gpu = [
  "torch==2.6.0",
]
[tool.uv.sources]
torch = { index = "cpu" }
[[tool.uv.index]]
name = "cpu"
url = "https://w.example/whl/cpu"
"""
    sheet = pyproject.read("pyproject.toml", text)
    base, gpu = sheet.environments
    assert [p.name for p in base.pins] == ["numpy"]
    torch = gpu.pins[1]
    assert (torch.name, torch.place.line, torch.backend) == ("torch", 6, "cpu")
    assert base.pythons == ("3.10", "3.11", "3.12")


def test_unparsable_toml_and_json_tell_the_line():
    assert pyproject.read("p", "[project]\nname = \n").problems[0].place.line == 2
    assert locks.read_pipfile("p", '{\n "default": {,}\n}').problems[0].place.line == 2
    assert locks.read("uv.lock", '[[package]]\nname = "a"\n<<<<<<< x\n').problems[0].place.line == 3
    assert locks.read("uv.lock", '[[package]]\nname = "a"\n!!\n').problems[0].place.line == 3
    assert "no [[package]]" in locks.read("uv.lock", "hello = 1\n").problems[0].text


def test_lock_lines_markers_and_groups():
    text = (
        'version = 1\nrequires-python = ">=3.11"\n\n[[package]]\nname = "torch"\nversion = "2.5.1+cpu"\n'
        'source = { registry = "https://w.example/whl/cpu" }\nresolution-markers = [\n  "sys_platform == \'linux\'",\n]\n'
    )
    environment = locks.read("uv.lock", text).environments[0]
    pin = environment.pins[0]
    assert (pin.place.line, pin.variant, pin.backend, pin.marker) == (5, "cpu", "cpu", "(sys_platform == 'linux')")
    assert environment.pythons[0] == "3.11"


@pytest.mark.parametrize(
    "spec, name, specifier, build",
    [
        ("pytorch::pytorch=2.3.1", "pytorch", "==2.3.1.*", ""),
        ("pytorch=1.12.1=py3.9_cuda11.3_cudnn8.3.2_0", "pytorch", "==1.12.1", "py3.9_cuda11.3_cudnn8.3.2_0"),
        ("numpy>=1.2,<2", "numpy", ">=1.2,<2", ""),
        ("numpy 1.2.*", "numpy", "==1.2.*", ""),
        ("cudatoolkit==11.3.1", "cudatoolkit", "==11.3.1", ""),
        ("pytorch[version='>=2.0',build='*cuda*']", "pytorch", ">=2.0", "*cuda*"),
        ("pip", "pip", "", ""),
    ],
)
def test_match_spec(spec, name, specifier, build):
    pin = conda.match_spec(spec, Place("e", 1))
    assert pin is not None
    assert (pin.name, pin.specifier, pin.build) == (name, specifier, build)


def test_conda_environment_with_pip_and_python():
    sheet = conda.read("environment.yml", "dependencies:\n  - python=3.10\n  - pip:\n    - torch==2.5.1\n")
    environment = sheet.environments[0]
    assert environment.pythons == ("3.10",)
    assert [(p.name, p.origin, p.place.line) for p in environment.pins] == [("torch", "pip", 4)]


def test_dockerfile_arguments_continuations_heredocs_and_stages():
    text = r"""# escape=\
ARG V=12.4.1
FROM --platform=linux/amd64 nvidia/cuda:${V}-base-ubuntu22.04 AS one
ARG TORCH=2.5.1
RUN apt-get update && \
    # a comment in between

    apt-get install -y python3 && \
    pip3 install "torch==${TORCH}" \
        numpy
RUN <<EOF
pip install flax \
   optax
EOF
from one
env A=b C="d e"
"""
    sheet = dockerfile.read("Dockerfile", text)
    assert sheet.problems == []
    one, two = sheet.environments
    assert one.image is not None
    assert one.image.text == "nvidia/cuda:12.4.1-base-ubuntu22.04"
    assert [(p.name, p.specifier, p.place.line) for p in one.pins] == [
        ("torch", "==2.5.1", 9),
        ("numpy", "", 10),
        ("flax", "", 12),
        ("optax", "", 13),
    ]
    assert two.image == one.image
    assert {n: v.value for n, v in two.variables.items()} == {"A": "b", "C": "d e"}
    assert two.pythons == ("3.10",)


@pytest.mark.parametrize(
    "text, line, said",
    [
        ("FORM ubuntu\n", 1, "'FORM' is no instruction"),
        ("RUN ls\nFROM x\n", 1, "RUN comes before FROM"),
        ("# nothing\n", 1, "no FROM"),
        ("FROM x\nRUN <<EOF\nls\n", 2, "has no end"),
        ("FROM\n", 1, "names no image"),
    ],
)
def test_unparsable_dockerfiles_tell_the_line(text, line, said):
    problem = dockerfile.read("Dockerfile", text).problems[0]
    assert problem.place.line == line
    assert said in problem.text


def test_shell_words_assignments_and_joins():
    first, second = shell.commands("A=1 sudo pip install 'x y' \\z && B=\"${C:-d}\" ls $C", 5, {"C": "c"})
    assert first.words == ("pip", "install", "x y", "z")
    assert first.assigned == (("A", "1"),)
    assert first.then == "&&"
    assert second.assigned == (("B", "c"),)
    assert second.words == ("ls", "c")


def test_yaml_lines_anchors_and_merges():
    top = documents("a: &x {k: 1}\nb:\n  <<: *x\n  j: 2\n")[0]
    assert isinstance(top, Map)
    assert top.map("b") == {"j": "2", "k": "1"}
    assert top.line_of("b") == 2


@pytest.mark.parametrize("text, line", [("a: [1\n", 2), ("a: *nobody\n", 1), ("a:\n\t- b\n", 2), ("a: b: c\n", 1)])
def test_unparsable_yaml_tells_the_line(text, line):
    with pytest.raises(BadYamlError) as told:
        documents(text)
    assert told.value.line == line


def test_compose_environment_forms_and_requests():
    text = (
        "services:\n  a:\n    image: ${I:-nvidia/cuda:12.4.1-base-ubuntu22.04}\n    runtime: nvidia\n"
        "    environment:\n      - A=b\n      - C\n  b:\n    build: {context: ./x}\n    environment: {D: e}\n    ipc: host\n"
    )
    a, b = compose.read("compose.yml", text).workloads
    assert a.image is not None
    assert a.image.text.startswith("nvidia/cuda")
    assert a.request == Place("compose.yml", 4)
    assert {n: v.value for n, v in a.variables.items()} == {"A": "b"}
    assert (b.built, b.shared_memory, b.partial) == ("./x/Dockerfile", True, False)


def test_kubernetes_finds_containers_of_every_kind():
    cron = (
        "apiVersion: batch/v1\nkind: CronJob\nspec:\n  jobTemplate:\n    spec:\n      template:\n        spec:\n"
        "          initContainers: [{name: i, image: i}]\n          containers: [{name: c, image: x}]\n"
        "---\napiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  spec:\n    containers: [{name: d, image: y}]\n"
    )
    assert [w.name for w in kubernetes.read("k.yaml", cron).workloads] == ["c", "d"]


def test_markers_and_specifiers():
    linux, windows = where("sys_platform == 'linux'"), where("os_name == 'nt'")
    assert linux
    assert windows
    assert not linux & windows
    assert where("what is this") == where("")
    one, other = (
        requirements.requirement(t, Place("r", 1)) for t in ("a; python_version<'3.9'", "b; python_version>'3.9'")
    )
    assert not together(one, other)
    assert [r.version for r in allowed("torch", "==2.5.*")] == ["2.5.0", "2.5.1"]
    assert pythons_in(">=3.9,<3.11") == ("3.9", "3.10")
