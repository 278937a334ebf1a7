"""How fast is `gpuwhy plan`, beside an installer that resolves the same, and on files that are hard to resolve?

    python bench/plan.py [--runs N] [--offline] [--hard] [--folder FOLDER]

Rows: one framework, and a requirements file of 30 lines, for a described machine; each is a new process. `uv pip
compile` resolves the same for the same Python and platform, from its cache (run once before, so that nothing is
fetched any more; --offline makes sure). It answers another question, since it knows neither GPU nor driver, and gpuwhy
leaves packages that use no GPU to the installer: the ratio says what the answer costs, not who is better. The budget of
the first row is 300 ms, of every other 2 s. --hard times sets written after the slowest of 237 files from public
repositories, --folder every requirements file below a folder of yours; of both the processor time is told.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINES = """
torch>=2.4
torchvision
torchaudio
numpy<3
pandas
scipy
scikit-learn
matplotlib
pillow
tqdm
requests
pyyaml
jinja2
click
rich
packaging
filelock
fsspec
networkx
sympy
regex
safetensors
huggingface-hub
tokenizers
transformers
einops
psutil
tensorboard
onnx
joblib
""".strip()
HARD = {
    "two majors of CUDA": "torch==2.0.1\ntorchvision==0.15.2\nonnxruntime==1.23.2\nnumpy==1.26.4",
    "many companions": "torch\ntorchvision\ntorchaudio\ntransformers\naccelerate\nbitsandbytes\npeft\ntrl\nxformers\n"
    "flash-attn\ndeepspeed\nonnxruntime-gpu==1.18.1\nsentence-transformers\ndiffusers\ntimm\nopen-clip-torch",
    "an ended companion": "tensorflow\ntensorflow_addons\ntorch\ntorchvision\ntorchaudio\ntorchmetrics\n"
    "jax[cuda12]\nflax",
    "a framework for another CUDA": "torch>=2.0.0\ntorchvision\ncupy-cuda12x\ntransformers>=4.46.2\npeft\nlightning\n"
    "diffusers",
    "all frameworks": "tensorflow\ntorch\njax\nonnxruntime-gpu\ncupy-cuda12x\nkeras\nnumba",
    "pins that cannot meet": "torch==1.13.1\ntorchvision==0.15.2\ntensorflow==2.15.0\nxformers==0.0.22\nvllm==0.6.3",
    "a server": "vllm\ntransformers\nray\nfastapi\nxformers\ntriton\nnvidia-ml-py\nflashinfer-python",
    "old pins": "tensorflow-gpu==2.3.0\ntorch==1.7.1\ntorchvision==0.8.2\nkeras==2.4.3\nnumpy==1.18.5\nmxnet-cu102",
}
"""Our own words, in the shape of files that took long."""
MACHINE = ("--driver", "550", "--gpu", "RTX 4090", "--python", "3.12", "--os", "linux")


def main(argv: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time of `gpuwhy plan` beside `uv pip compile`.")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--offline", action="store_true", help="let uv use its cache only")
    parser.add_argument("--hard", action="store_true", help="sets that are hard to resolve, in processor time")
    parser.add_argument("--folder", type=Path, help="every requirements file below it, in processor time")
    options = parser.parse_args(argv)
    if options.hard or options.folder:
        return hard(options.folder)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requirements.txt"
        for title, text, budget in (("tensorflow", "tensorflow[and-cuda]", 0.3), ("30 lines", LINES, 2.0)):
            file.write_text(text.replace("[and-cuda]", "") + "\n")
            ours = timed([sys.executable, "-m", "gpuwhy", "plan", "-r", str(file), *MACHINE], options.runs)
            file.write_text(text + "\n")
            uv = ["uv", "pip", "compile", "-q", str(file), "--python-version", "3.12", "--python-platform", "linux"]
            theirs = timed([*uv, *(["--offline"] if options.offline else [])], options.runs)
            print(
                f"{title:<12} gpuwhy plan {ours * 1e3:6.0f} ms (budget {budget * 1e3:.0f})   "
                f"uv pip compile {theirs * 1e3:6.0f} ms   ratio {theirs / ours:.2f}"
            )
    return 0


def hard(folder: Path | None) -> int:
    """The processor time of each set or file, the slowest first; a status of 1 where one takes more than 2 s."""
    from gpuwhy.choose.chooser import choose
    from gpuwhy.plan.describe import described
    from gpuwhy.plan.requirements import RequirementError, from_file

    texts = dict(HARD) if folder is None else {str(f): f.read_text(errors="replace") for f in files(folder)}
    machines = [
        ("550", ("RTX 4090",)),
        ("535", ("GTX 1080",), "3.10"),
        ("580", ("RTX 5090",), "", "windows"),
    ]
    took = []
    for title, text in texts.items():
        for machine in machines:
            start = time.process_time()
            with contextlib.suppress(RequirementError, OSError):
                read = from_file(
                    title, lambda path, text=text, title=title: text if path == title else Path(path).read_text()
                )
                choose(described(tuple(read), *machine))
            took.append((time.process_time() - start, title))
    took.sort(reverse=True)
    print(f"{len(texts)} sets on {len(machines)} machines; median {took[len(took) // 2][0]:.2f} s; slowest:")
    for seconds, title in took[:8]:
        print(f"  {seconds:5.2f} s  {title}")
    return 1 if took[0][0] > 2 else 0


def files(folder: Path) -> list[Path]:
    """Requirements files below a folder."""
    return sorted(f for f in folder.rglob("*.txt") if "requirements" in f.name or f.parent.name == "requirements")


def timed(command: list[str], runs: int) -> float:
    """The median time of a command in seconds, after one run that warms the caches."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        times.append(time.perf_counter() - start)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} failed: {done.stderr or done.stdout}")
    return statistics.median(times[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
