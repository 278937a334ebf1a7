"""A service in a container: its commands go in by exec, what it lacks goes into its image, its engine starts it."""

from __future__ import annotations

import pytest

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.shell.boxed import Box, box_of, in_box
from gpuwhy.shell.gate import at
from gpuwhy.shell.place import Place, place_of
from gpuwhy.shell.render import rendered
from gpuwhy.symptoms.reader import read_text

AGAIN = "the same words as before; in compose: under environment"
COMPOSE = "ollama  | a: x\nollama  | b: CUDA error 2: out of memory\nollama  | c: stopped\n"


@pytest.mark.parametrize(
    "text, box",
    [
        (COMPOSE, Box("ollama")),
        (COMPOSE.replace("ollama ", "llm-1 "), Box("llm", compose=True)),
        ("$ podman logs open-webui | tail\nmsg", Box("open-webui", "podman")),
        ("$ docker exec -it srv nvidia-smi", Box("srv")),
        ("$ docker run -d --gpus=all --name oll ollama/ollama", Box("oll")),
        ("$ docker logs webui\n$ journalctl -u ollama", None),
        ("name | value\nother | 2\nthird | 3\n", None),
    ],
)
def test_box(text, box):
    assert box_of(text) == box


@pytest.mark.parametrize(
    "box, command, said",
    [
        (Box("o"), "ollama run MODEL", "docker exec -it o ollama run MODEL"),
        (Box("o", compose=True), "ls && ollama ps", "ls && docker compose exec o ollama ps"),
        (Box("w", "podman"), "x && sudo systemctl restart ollama && journalctl -u ollama", "x && podman restart w"),
        (Box("o"), "export OLLAMA_A=1", f"docker run -e OLLAMA_A=1 …    # {AGAIN}"),
        (Box("o"), "pip install ollama", "pip install ollama"),
        (None, "ollama run MODEL", "ollama run MODEL"),
    ],
)  # fmt: skip
def test_into_the_box(box, command, said):
    assert in_box(command, box) == said


def test_the_names_that_compose_writes_before_lines_tell_the_container():
    place = place_of(None, read_text(COMPOSE * 4))
    assert (place.system, place.container, place.box) == ("linux", True, Box("ollama"))


def test_what_a_container_lacks_goes_into_its_image():
    fix = Fix("Install a C compiler", on.linux("sudo apt install gcc"), root=True)
    said = at(fix, place_of(None, read_text("/sgl-workspace/x.py\nRuntimeError: Failed to find C compiler.")))
    assert said is not None
    assert (said.command, "RUN" in said.text) == ("apt-get update && apt-get install -y gcc", True)


@pytest.mark.parametrize(
    "system, command, said",
    [
        ("windows", "CUDA_VISIBLE_DEVICES= python x.py", 'set "CUDA_VISIBLE_DEVICES=-1" && python x.py'),
        ("windows", "export CUDA_VISIBLE_DEVICES=", 'set "CUDA_VISIBLE_DEVICES=-1"'),
        ("windows", "kill 12", "taskkill /F /PID 12"),
        ("linux", 'pip install ""', None),
        ("linux", "pip install --upgrade torch ''", None),
        ("linux", 'pip install "x>1"', 'pip install "x>1"'),
        ("linux", on.driver("sudo ubuntu-drivers install"), "sudo ubuntu-drivers install"),
    ],
)
def test_words_that_do_what_they_say(system, command, said):
    assert rendered(command, Place(system, prompt="cmd" if system == "windows" else "")) == said


@pytest.mark.parametrize("system, word", [("windows", "(taskkill /F /PID PID)"), ("linux", "(kill PID)")])
def test_a_process_is_ended_in_the_words_of_the_system(system, word):
    said = at(Fix("End it (kill PID)", "nvidia-smi"), Place(system))
    assert said is not None
    assert word in said.text
