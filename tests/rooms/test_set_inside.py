"""A variable of a program in a container is set, or taken out, where that container is started."""

from __future__ import annotations

import pytest

from gpuwhy.logs import read_text
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import asked
from gpuwhy.rooms.text.choose import remedies
from gpuwhy.rooms.text.rooms import rooms
from gpuwhy.rooms.text.set_inside import launched_by, set_inside

END = "RuntimeError: CUDA error: out of memory\n"
COMPOSE = (
    "worker  | Loading\nworker  | RuntimeError: CUDA error: out of memory\nworker  | done\nworker exited with code 1\n"
)
POD = "$ kubectl logs -n ml infer-7d9f-abcde\nRuntimeError: CUDA error: out of memory\n"
RUN = "$ docker run --rm --gpus all -e A_B=1 -v /d:/d lab/jax:0.4 python x.py\n" + END
INSIDE = "$ docker run -it lab/jax:0.4 bash\nroot@0d2d3c1a22f9:/w# python x.py\n" + END
SHELL = "$ python x.py\n" + END


@pytest.mark.parametrize(
    ("text", "launcher"),
    [(COMPOSE, "compose"), (POD, "kubernetes"), (RUN, "docker"), (INSIDE, ""), (SHELL, "")],
)
def test_who_starts_it(text: str, launcher: str) -> None:
    assert launched_by(asked((), read_text(text))) == launcher


def test_how_compose_says_that_a_service_ended() -> None:
    assert launched_by(asked((), read_text(f"Loading\n{END}worker exited with code 1\n"))) == "compose"
    assert launched_by(asked((), read_text(f"Loading\n{END}process exited with code 1\n"))) == ""


@pytest.mark.parametrize(
    ("text", "given", "gone"),
    [
        (COMPOSE, 'environment: {A_B: "/x"}', 'environment: {A_B: ""}'),
        (POD, 'env: [{name: A_B, value: "/x"}]', 'env: [{name: A_B, value: ""}]'),
        (RUN, "docker run --rm --gpus all -v /d:/d -e A_B=/x lab", "docker run --rm --gpus all -v /d:/d -e A_B= lab"),
    ],
)  # fmt: skip
def test_in_its_words(text: str, given: str, gone: str) -> None:
    case = asked((), read_text(text))
    for command in ("export A_B=/x", "export A_B=/x:$A_B", "export A_B=/x${A_B:+:$A_B}"):
        assert set_inside(Fix("Set it", command), case).command.startswith(given)
    taken = set_inside(Fix("Unset it in this shell", "unset A_B"), case)
    assert taken.command.startswith(gone)
    assert "this shell" not in taken.text
    mixed = set_inside(Fix("Do it", "pip install x\nexport A_B=$(python x)"), case)
    assert "NAME=VALUE" in mixed.text or "environment:" in mixed.text or "env:" in mixed.text


def test_in_a_build_it_is_a_line_of_the_dockerfile() -> None:
    text = '#14 ERROR: process "/bin/sh -c pip install x" did not complete successfully: exit code: 1\n'
    case = asked((), read_text(text))
    assert launched_by(case) == "build"
    made = set_inside(Fix("Set it", "export A_B=1 PATH=/x/bin:$PATH"), case)
    assert made.command == "ENV A_B=1\nENV PATH=/x/bin:$PATH"
    assert "Dockerfile" in made.text


@pytest.mark.parametrize("text", [INSIDE, SHELL])
def test_a_shell_stays_one(text: str) -> None:
    fix = Fix("Set it", "export A_B=/x")
    assert set_inside(fix, asked((), read_text(text))) == fix


@pytest.mark.parametrize("cause", sorted(rooms()))
@pytest.mark.parametrize("text", [COMPOSE, POD])
def test_no_cause_sets_a_variable_in_a_shell_there(cause: str, text: str) -> None:
    for fix in remedies(cause, (), read_text(text)):
        lines = fix.command.splitlines()
        only = (
            len(lines) == 1 and lines[0].startswith(("export ", "unset ")) and not {"$(", "&&"} & set(lines[0].split())
        )
        assert not only or "$(" in lines[0], fix
