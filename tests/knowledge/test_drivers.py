"""Driver floors and the CUDA of drivers: invariants over all rows, and values that people know by heart."""

import pytest

from gpuwhy.knowledge.drivers import cuda_of_driver, floor, runs, table
from gpuwhy.facts.version import numbers


def test_rows_are_versions_newest_first():
    order = [(numbers(row.cuda), row.update) for row in table().toolkits]
    assert order == sorted(set(order), reverse=True)
    drivers = [numbers(row.linux) for row in table().toolkits]
    assert drivers == sorted(drivers, reverse=True)
    assert all(len(driver) >= 2 for driver in drivers)
    assert all(len(numbers(row.windows)) == 2 for row in table().toolkits if row.windows)


def test_every_toolkit_runs_on_its_own_driver():
    for row in table().toolkits:
        found = floor(f"{row.cuda}.{row.update}")
        assert found
        assert found.native == row.linux
        assert numbers(found.driver) <= numbers(row.linux)
        assert found.source.kind == "know"
        assert found.source.where
        spoken = cuda_of_driver(row.linux)
        assert spoken
        assert numbers(spoken) >= numbers(row.cuda)


def test_branches_without_a_toolkit_stay_in_order():
    packaged = {numbers(row.linux)[0]: row.cuda for row in table().toolkits}
    assert not set(table().branches) & set(packaged)
    assert all(cuda_of_driver(linux) == f"{major}.0" for major, (linux, _) in table().families.items())
    merged = sorted((packaged | table().branches).items())
    assert [numbers(cuda) for _, cuda in merged] == sorted(numbers(cuda) for _, cuda in merged)


@pytest.mark.parametrize(
    "cuda, driver",
    [
        ("13.0", "580.65.06"),
        ("13.2", "580.65.06"),
        ("13.4", "580.65.06"),
        ("12.4", "525.60.13"),
        ("12.0", "525.60.13"),
        ("12.7", "525.60.13"),
        ("11.8", "450.80.02"),
        ("11.0", "450.51.05"),  # its own driver is older than the family's floor
        ("10.1", "418.39"),
        ("10", "410.48"),
        ("9.0.176", "384.81"),
    ],
)
def test_floor(cuda, driver):
    found = floor(cuda)
    assert found
    assert found.driver == driver


def test_floor_on_windows_and_beyond_the_table():
    on_windows = floor("12.4", "windows")
    assert (on_windows.driver, on_windows.native) == ("527.41", "551.61")
    assert floor("13.0", "windows") is None
    assert [floor(cuda) for cuda in ("14.0", "4.2", "", "unknown")] == [None] * 4


@pytest.mark.parametrize(
    "driver, cuda",
    [
        ("550.54.15", "12.4"), ("580.159.04", "13.0"), ("470.256.02", "11.4"), ("535.261.03", "12.2"),
        ("565.57.01", "12.7"), ("418.87", "10.1"), ("435.21", "10.1"), ("390.157", "9.1"), ("551.78", "12.4"),
        ("340.108", None), ("999.1", None), ("", None), ("rubbish", None),
    ],
)  # fmt: skip
def test_cuda_of_driver(driver, cuda):
    assert cuda_of_driver(driver) == cuda


@pytest.mark.parametrize(
    "driver_cuda, cuda, answer",
    [
        ("12.0", "12.9", True), ("12.9", "13.0", False), ("13.0", "12.9", True), ("11.4", "11.8", True),
        ("10.0", "10.1", False), ("10.1", "10.1", True), ("10.2", "10.1.243", True), ("9.2", "10.0", False),
        ("11.0", "10.2", True),
    ],
)  # fmt: skip
def test_runs(driver_cuda, cuda, answer):
    assert runs(driver_cuda, cuda) is answer
