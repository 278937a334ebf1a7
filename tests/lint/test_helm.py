"""Charts: templates with the defaults of values.yaml, and builds that compose and devcontainer files name."""

from __future__ import annotations

import pytest

from gpuwhy.lint.edits import corrected
from tests.lint.support import check, found

CHART = {"c/Chart.yaml": "apiVersion: v2\nname: c\nappVersion: 12.1-devel-ubuntu22.04\n"}
POD = """apiVersion: v1
kind: Pod
metadata:
  labels:
    {{- include "c.labels" . | nindent 4 }}
spec:
  containers:
  - name: {{ .Chart.Name }}
    image: "{{ .Values.image.name }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
    {{- with .Values.resources }}
    resources:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- if eq .Values.mode "all" }}
    env:
    - {name: NVIDIA_VISIBLE_DEVICES, value: {{ .Values.mode | quote }}}
    {{- else }}
    env: []
    {{- end }}
"""


def rendered(values: str, template: str = POD):
    return check({"c/templates/pod.yaml": template}, beside={**CHART, "c/values.yaml": values})


def test_defaults_fill_a_template_and_lines_are_those_of_the_template():
    result = rendered("image: {name: nvidia/cuda, tag: ''}\nmode: all\nresources:\n  limits: {cpu: 1}\n")
    assert {("image-tag", "c/templates/pod.yaml", 9), ("visible-devices", "c/templates/pod.yaml", 16)} <= set(
        found(result)
    )


def test_what_values_may_add_is_not_missed():
    result = rendered("image: {name: vllm/vllm-openai, tag: v0.6.3}\nmode: none\nresources: {}\n")
    assert found(result) == []


def test_what_is_not_understood_is_not_judged():
    odd = POD.replace('"{{ .Values.image.name }}', '"{{ (lookup "v1" "Pod").x }}')
    assert found(rendered("mode: none\n", odd)) == []
    assert found(rendered("mode: none\n", "{{ if }}{{ else }}{{ end }}{{" + POD)) == []


def test_a_template_without_its_chart_is_named():
    result = check({"pod.yaml": POD})
    assert [note.text.split(",")[0] for file in result.files for note in file.notes] == ["a template"]


DOCKERFILE = "ARG CUDA=12.4.1\nFROM nvidia/cuda:${CUDA}-base-ubuntu22.04 AS one\nFROM one AS two\n"


def test_compose_follows_the_dockerfile_that_it_builds():
    compose = "services:\n  s:\n    gpus: all\n    build:\n      context: d\n      args: {CUDA: '9.0'}\n"
    result = check({"compose.yaml": compose}, beside={"d/Dockerfile": DOCKERFILE})
    assert found(result) == [("image-tag", "d/Dockerfile", 2)]


def test_a_development_container_follows_its_dockerfile():
    text = '{"build": {"dockerfile": "../Dockerfile"}, "runArgs": ["--gpus=all"]}'
    dockerfile = "FROM python:3.12\nRUN pip install torch --index-url https://download.pytorch.org/whl/cpu\n"
    result = check({".devcontainer/devcontainer.json": text}, beside={"Dockerfile": dockerfile})
    assert found(result) == [("cpu-wheel", "Dockerfile", 2)]


def test_a_service_that_names_its_gpus_by_a_variable_alone():
    compose = "services:\n  s:\n    build: .\n    environment: [NVIDIA_VISIBLE_DEVICES=all]\n"
    dockerfile = "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n"
    assert found(check({"compose.yaml": compose}, beside={"Dockerfile": dockerfile})) == [
        ("no-gpu-request", "compose.yaml", 4)
    ]


@pytest.mark.parametrize(
    "before, after",
    [
        ("pip install numpy torch==2.1.2", 'pip install "numpy<2" torch==2.1.2'),
        ('pip install "numpy" torch==2.1.2', 'pip install "numpy<2" torch==2.1.2'),
    ],
)
def test_a_limit_in_a_command_is_no_redirection(before, after):
    script = f"FROM python:3.10\nRUN {before}\n"
    mistakes = check({"Dockerfile": script}).mistakes
    assert corrected(script, mistakes) == (f"FROM python:3.10\nRUN {after}\n", 1)
