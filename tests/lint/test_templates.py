"""Templates of Jinja and SageMaker's files; what files of a project say of each other."""

from __future__ import annotations

import pytest

from tests.lint.support import check, found

IMAGE = "123.dkr.ecr.us-east-1.amazonaws.com/pytorch-inference:2.0.0-cpu-py310-ubuntu20.04-sagemaker"


@pytest.mark.parametrize(
    "path, text, expected",
    [
        ("Dockerfile.j2", '{% set cuda = "12.4.1" %}\nFROM nvidia/cuda:{{ cuda }}-cudnn8-base\n', [("image-tag", 2)]),
        ("requirements.txt.j2", "torch=={{ v | default('2.5.1') }}\ntorchvision==0.19.0\n", [("pair-mismatch", 2)]),
        ("requirements.txt.j2", "{# a\nb #}\ntensorflow-gpu\n", [("tombstone", 3)]),
        ("requirements.txt.j2", "torch=={{ v }}\ntorchvision==0.19.0\n", []),
        ("requirements.in.jinja", "{% if a %}\ntorch==2.5.1\n{% else %}\ntorchvision==0.19.0\n{% endif %}\n", []),
        (
            "Dockerfile.tmpl",
            '{{ if eq .A "x" }}\nFROM nvidia/cuda:latest\n{{ else }}\nFROM a\n{{ end }}\n',
            [("image-tag", 2)],
        ),
        ("install.sh.j2", 'pip install {{ a | default("tensorflow-gpu") }}\n', [("tombstone", 1)]),
        ("compose.yml.j2", "services:\n  a:\n    image: {{ x }}\n{% if g %}\n    gpus: all\n{% endif %}\n", []),
    ],
)
def test_a_template_is_read_as_what_it_may_become(path, text, expected):
    result = check({path: text})
    assert result.problems == ()
    assert [(m.rule, m.place.line) for m in result.mistakes] == expected


def test_ansible_keeps_defaults_beside_its_templates():
    template = {"roles/a/templates/compose.yml.j2": "services:\n  a:\n    image: {{ image }}\n    gpus: all\n"}
    defaults = {"roles/a/defaults/main.yml": "image: tensorflow/tensorflow:2.15.0\n"}
    assert found(check(template, beside=defaults)) == [("cpu-image", "roles/a/templates/compose.yml.j2", 3)]


def test_sagemaker_names_an_image_and_a_folder():
    text = (
        "import sagemaker\nfrom sagemaker.pytorch import PyTorch\n"
        f'IMAGE = "{IMAGE}"\n'
        'a = sagemaker.model.Model(image_uri=IMAGE, instance_type="ml.g5.xlarge")\n'
        'b = PyTorch(source_dir="src", framework_version="2.0.0", py_version="py310", instance_type="ml.p3.2xlarge")\n'
    )
    result = check({"train.py": text}, beside={"src/requirements.txt": "torch==2.5.1\n"})
    assert found(result) == [("cpu-image", "train.py", 4), ("image-overridden", "src/requirements.txt", 1)]


def test_a_project_that_is_installed_later_replaces_torch():
    text = "FROM python:3.11\nRUN pip install torch==2.2.2 torchvision==0.17.2\nRUN pip install -e .[dev]\n"
    project = '[project]\nname = "a"\ndependencies = ["torch>=2.5.0"]\n'
    assert found(check({"d/Dockerfile": text}, beside={"pyproject.toml": project})) == [
        ("torch-replaced", "d/Dockerfile", 3)
    ]


def test_files_that_commands_name_are_found():
    script = "DIR=$(cd $(dirname $0) && pwd)\npip install -r $DIR/deps/gpu.txt\n"
    assert found(check({"install.sh": script}, beside={"deps/gpu.txt": "tensorflow-gpu\n"})) == [
        ("tombstone", "deps/gpu.txt", 1)
    ]
    image = (
        "FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\nCOPY env.yml /tmp/\nRUN conda env create -f /tmp/env.yml\n"
    )
    conda = "dependencies:\n- python=3.8\n- pip:\n  - tensorflow==2.4.4\n  - protobuf<3.21\n"
    assert ("base-image", "env.yml", 4) in found(check({"Dockerfile": image}, beside={"env.yml": conda}))
    added = "FROM python:3.9\nADD requirements.txt /tmp/r.txt\nRUN pip install numpy torch==1.13.1 && pip install -r /tmp/r.txt\n"
    assert found(check({"Dockerfile": added}, beside={"requirements.txt": "numpy==1.24.2\n"})) == []
