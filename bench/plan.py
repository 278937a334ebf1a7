"""How fast is `gpuwhy plan`, beside an installer that resolves the same?

    python bench/plan.py [--runs N] [--offline]

Rows: one framework, and a requirements file of 30 lines, for a described machine; each is a new process. `uv pip
compile` resolves the same for the same Python and platform, from its cache (run once before, so that nothing is
fetched any more; --offline makes sure). It answers another question, since it knows neither GPU nor driver, and gpuwhy
leaves packages that use no GPU to the installer: the ratio says what the answer costs, not who is better. The budget of
the first row is 300 ms, of the second 2 s.
"""

from __future__ import annotations

import argparse
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
MACHINE = ("--driver", "550", "--gpu", "RTX 4090", "--python", "3.12", "--os", "linux")


def main(argv: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time of `gpuwhy plan` beside `uv pip compile`.")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--offline", action="store_true", help="let uv use its cache only")
    options = parser.parse_args(argv)
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
