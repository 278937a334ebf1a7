"""Remedies made of the numbers and names that a text shows."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text, read_text
from gpuwhy.rooms.text.asked import Asked, asked
from gpuwhy.rooms.text.counted import (
    all_given,
    free_card,
    held_by_name,
    job_memory,
    launched,
    lies_on_windows,
    newer_kit_first,
)

TABLE = """$ nvidia-smi
|===============================+======================+======================|
|   0  Tesla K40m          On   | 0000:04:00.0     Off |                    0 |
| N/A   35C    P0    63W / 235W |   8074MiB / 11439MiB |      0%   E. Process |
|   1  Tesla K40m          On   | 0000:82:00.0     Off |                    0 |
| N/A   27C    P8    20W / 235W |      0MiB / 11439MiB |      0%   E. Process |
RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable
"""


def case(text: str) -> Asked:
    return asked((), read_text(text))


def test_a_free_card_of_the_table() -> None:
    assert [fix.command for fix in free_card(case(TABLE))] == ["export CUDA_VISIBLE_DEVICES=1"]
    assert not list(free_card(case(TABLE + "srun: job 1 has been allocated resources\n")))
    assert not list(free_card(case(TABLE.replace("      0MiB", "  11000MiB"))))


@pytest.mark.parametrize(
    ("launch", "said"),
    [
        ("accumulate<<<(64,90000,1),(16,16,1)>>>", "90000 blocks in y"),
        ("k<<<dim3(64, 2, 70000), dim3(8, 8)>>>", "70000 blocks in z"),
        ("kernel[64, 2048](a)", "2048 threads"),
        ("kernel[(4, 4), (64, 64)](a)", "4096 threads"),
        ("grid=(100000, 1, 1) block=(1024, 2, 1)", "2048 threads"),
        ("k<<<0, 256>>>", "A size of the launch is 0"),
    ],
)
def test_which_size_of_a_launch(launch: str, said: str) -> None:
    found = [fix.text for fix in launched(case(f"launching {launch}\ninvalid configuration argument\n"))]
    assert len(found) == 1
    assert said in found[0]


def test_a_launch_that_fits() -> None:
    assert not list(launched(case("k<<<(90000,64,1),(16,16,1)>>>\ninvalid configuration argument\n")))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("python run.py --model /m/llama-2-70b-hf", "168G"),
        ("#SBATCH --mem=32G", "64G"),
        ("python run.py", "64G"),
    ],
)
def test_memory_of_a_job(text: str, size: str) -> None:
    first = next(iter(job_memory(case(f"{text}\nslurmstepd: error: Detected 1 oom_kill event in StepId=1.batch.\n"))))
    assert first.command == f"#SBATCH --mem={size}"
    assert not list(job_memory(case("python run.py\nKilled\n")))


def test_gpus_that_are_all_given() -> None:
    node = "$ kubectl describe node a1\n  nvidia.com/gpu:     4\nAllocated resources:\n  nvidia.com/gpu     {} {}\n"
    assert "spec.nodeName=a1" in next(iter(all_given(case(node.format(4, 4))))).command
    assert not list(all_given(case(node.format(2, 2))))


def test_a_dll_in_a_folder_that_is_listed() -> None:
    lost = "W tensorflow/dso_loader.cc:64] Could not load dynamic library 'cudnn64_8.dll'; dlerror: not found\n"
    listed = 'E:\\py>dir /b "C:\\cudnn\\v8.4\\bin"\ncudnn64_8.dll\ncudnn_ops_infer64_8.dll\n'
    found = explain_text(lost + listed).causes[0].fixes[0]
    assert found.command == 'set "PATH=C:\\cudnn\\v8.4\\bin;%PATH%"'
    assert not list(lies_on_windows(case("E:\\py>where cudnn64_8.dll\nC:\\cudnn\\v8.4\\bin\\cudnn64_8.dll\n")))


def test_the_newer_of_two_toolkits() -> None:
    two = "PS C:\\> $env:CUDA_PATH\nC:\\K\\CUDA\\v11.8\nPS C:\\> Get-Command x.dll\nC:\\K\\CUDA\\v11.2\\bin\\x.dll\n"
    assert [str(fix.command) for fix in newer_kit_first(case(two))] == [
        '$env:PATH = "C:\\K\\CUDA\\v11.8\\bin;$env:PATH"'
    ]
    assert not list(newer_kit_first(case(two.replace("11.8", "11.2"))))


def test_who_holds_a_card_of_windows() -> None:
    table = "C:\\>nvidia-smi\n|    0   N/A  N/A            9712      C   ...al\\Ollama\\ollama.exe    N/A      |\n"
    assert "taskkill /PID 9712" in next(iter(held_by_name(case(table)))).command
    assert not list(held_by_name(case(table.replace("ollama", "explorer").replace("Ollama", "x"))))


def test_nothing_free_beside_a_small_process_is_another_one() -> None:
    text = (
        "Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : {} GiB\n"
        "Requested               : 640.00 MiB\nDevice limit            : 8.00 GiB\nFree (according to CUDA): 0 bytes\n"
    )
    assert explain_text(text.format("1.62")).causes[0].id == "memory.other_process"
    assert explain_text(text.format("7.62")).causes[0].id != "memory.other_process"
