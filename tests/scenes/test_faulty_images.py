"""Images with a known fault: `check --root` after `docker build` names it and ends with 1, as lint does before it."""

import pytest

from tests.scenes.stage import judged as answer_of
from gpuwhy.look.assumed import AssumedMachine
from tests.machine.images import oci, saved
from tests.look.world import World

from .faulty_images import ENV, FAULTY, FOUND, Faulty, good, made, with_compat
from .test_images import packed


def judged(image, elsewhere=None):
    return answer_of(image, on=elsewhere)


@pytest.mark.parametrize("one", FAULTY, ids=lambda one: one.name)
@pytest.mark.parametrize("form", [saved, oci], ids=["docker-save", "oci"])
def test_the_fault_is_named_and_the_exit_code_says_so(one: Faulty, form, tmp_path):
    if form is oci and one.name not in ("stubs-first", "musl"):
        pytest.skip("two are enough to see that the form of the archive plays no part")
    world = made(one, tmp_path / "root")
    report = judged(form(tmp_path / "i", packed(world.root), env=one.env))
    first = report.causes[0]
    assert (first.id, report.exit_code) == (one.cause, 1), report.headline
    assert one.word in " ".join(f.text for f in first.because)
    assert first.fixes
    assert report.status in ("broken", "degraded")


def test_a_good_image_stays_good(tmp_path):
    world = World(tmp_path / "root")
    good(world)
    report = judged(saved(tmp_path / "i", packed(world.root), env=[*ENV, FOUND, "NVIDIA_VISIBLE_DEVICES=all"]))
    assert ([c.id for c in report.causes], report.exit_code) == ([], 0)
    assert report.headline.startswith("Nothing wrong with TensorFlow 2.3.4 as far as files tell")


@pytest.mark.parametrize(("driver", "gpu", "cause"), [
    ("410.48", "Tesla V100", ""), ("535.104.05", "Tesla V100", "driver.compat_misuse"),
    ("410.48", "GeForce RTX 2080", "driver.compat_misuse"),
])  # fmt: skip
def test_compat_on_the_machine_that_was_told(tmp_path, driver, gpu, cause):
    world = World(tmp_path / "root")
    with_compat(world)
    env = [*ENV, f"LD_LIBRARY_PATH=/usr/local/cuda-10.1/compat:{FOUND.partition('=')[2]}"]
    report = judged(saved(tmp_path / "i", packed(world.root), env=env), AssumedMachine(((gpu, "7.0"),), driver))
    assert (cause in {c.id for c in report.causes}) == bool(cause), report.headline
    assert cause or report.exit_code == 0, report.headline
