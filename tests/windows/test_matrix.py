"""The table in docs/windows.md is what the published wheels say; `python -m tests.windows.test_matrix` prints it."""

from __future__ import annotations

import re
from pathlib import Path

from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.releases import family
from gpuwhy.knowledge.windows import INSTALLERS, installer, pythons_of, tensorflow_for
from gpuwhy.model.release import Release
from gpuwhy.model.version import major_minor, numbers

PAGE = Path(__file__).parents[2] / "docs" / "windows.md"
ORDER = ("cudart", "cublas64", "cublasLt", "cufft", "curand", "cusolver", "cusparse", "cudnn")


def releases() -> dict[str, list[Release]]:
    """The GPU builds of TensorFlow 2 for Windows, by minor release."""
    found: dict[str, list[Release]] = {}
    for row in family("tensorflow-gpu").rows:
        if row.platform == "windows-x86_64" and re.fullmatch(r"2\.\d+\.\d+", row.version) and isinstance(row.cuda, str):
            found.setdefault(major_minor(row.version), []).append(row)
    return dict(sorted(found.items(), key=lambda pair: numbers(pair[0])))


def table() -> list[str]:
    """One line per minor release, by its last patch; all patches must agree."""
    lines = ["| TensorFlow | Python | CUDA | cuDNN | driver | opens |", "| --- | --- | --- | --- | --- | --- |"]
    for minor, rows in releases().items():
        last = max(rows, key=lambda row: numbers(row.version))
        assert {(row.cuda, row.cudnn, row.opens) for row in rows} == {(last.cuda, last.cudnn, last.opens)}
        names = sorted(last.opens, key=lambda n: next(i for i, start in enumerate(ORDER) if n.startswith(start)))
        opens = " ".join(f"`{name.removesuffix('.dll')}`" for name in names)
        pythons = f"{last.pythons[0]} to {last.pythons[-1]}"
        oldest = floor(last.cuda, "windows").driver
        lines.append(f"| {minor} | {pythons} | {last.cuda} | {last.cudnn} | {oldest} | {opens} |")
    return lines


def test_the_table_is_that_of_the_rows():
    assert "\n".join(table()) in PAGE.read_text(), f"docs/windows.md should have:\n{chr(10).join(table())}"


def test_every_build_has_its_installer():
    for rows in releases().values():
        row = installer(rows[0].cuda)
        assert row is not None
        assert numbers(row.cudnn)[:2] >= numbers(rows[0].cudnn)[:2]
        assert row.cudnn.split(".")[0] == rows[0].cudnn.split(".")[0]
        assert row.archive in PAGE.read_text()
        assert row.toolkit in PAGE.read_text()


def test_installers_are_named_after_their_cuda():
    for row in INSTALLERS:
        assert row.toolkit.startswith(f"cuda_{row.cuda}.")
        assert f"cudnn-{row.cuda}-" in row.archive or f"_cuda{row.cuda.split('.')[0]}-archive" in row.archive
        assert f"-v{row.cudnn}." in row.archive or f"-{row.cudnn}." in row.archive


def test_the_newest_release_for_a_machine():
    assert tensorflow_for("3.8.10").version == "2.10.1"
    assert tensorflow_for("3.7.9", speaks="10.2").version == "2.3.4"
    assert tensorflow_for("3.8.10", speaks="10.0") is None
    assert tensorflow_for("3.11.4") is None
    assert pythons_of("tensorflow-gpu", "2.3.4") == ("3.6", "3.7", "3.8")
    assert pythons_of("tensorflow-gpu", "0.0") == ()


if __name__ == "__main__":
    print("\n".join(table()))
