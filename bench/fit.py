"""`gpuwhy fit` beside accelerate's estimator and env-doctor's model check, on models whose memory was measured.

    python -m bench.fit PREDICTED.jsonl MEASURED.jsonl      with torch, transformers, accelerate and env-doctor

accelerate gets each model on the meta device and its own formulas of `estimate-memory`; env-doctor, which knows models
by name, gets the true number of parameters, as its look-up would give it. Neither knows batch or tokens. A ratio of one
is right; the truth is what NVML saw of the process, and beside it what the framework's allocator had at most.
"""

from __future__ import annotations

import statistics
import sys

from lab.fit_cases import BY_NAME, MODES
from lab.fit_models import build
from lab.fit_score import joined

PRECISIONS = {"bf16": ("bf16", "bfloat16", 2), "f32": ("fp32", "float32", 4)}


def rivals(name):
    """Total f32 bytes by accelerate, and parameters."""
    import torch
    from accelerate.utils import calculate_maximum_sizes

    with torch.device("meta"):
        model = build(BY_NAME[name])
    total, _ = calculate_maximum_sizes(model)
    return total, sum(one.numel() for one in model.parameters())


def by_accelerate(total, options):
    """What `accelerate estimate-memory` prints for this use: total size, or the peak of training with Adam."""
    from accelerate.commands.estimate import estimate_training_usage

    kind = "bfloat16" if options.get("amp") or options.get("dtype") == "bf16" else "float32"
    if options["task"] == "train":
        return max(estimate_training_usage(total, kind).values())
    return total // (2 if kind == "bfloat16" else 1)


def by_env_doctor(parameters, options):
    """What `env-doctor model` prints; it has no answer for training."""
    from env_doctor.utilities.vram_calculator import VRAMCalculator

    if options["task"] == "train":
        return None
    precision = PRECISIONS[options.get("dtype") or "f32"][0]
    return VRAMCalculator()._calculate_from_params(parameters / 1e9, precision) * (1 << 20)


def line(name, ratios):
    """One estimator's ratios."""
    if not ratios:
        return f"  {name:<12} no answer"
    errors = [abs(ratio - 1) for ratio in ratios]
    shares = ", ".join(
        f"{sum(e <= limit for e in errors) / len(errors):.0%} within {limit:.0%}" for limit in (0.1, 0.2)
    )
    spread = f"from {min(ratios):.2f} to {max(ratios):.2f}"
    return f"  {name:<12} {len(ratios):>4} cases  median ratio {statistics.median(ratios):.2f}, {spread}; {shares}"


def main():
    """Print the table."""
    rows = [row for row in joined(sys.argv[1], sys.argv[2]) if row["by"] != "jax" and "bytes" in row]
    known = {name: rivals(name) for name in sorted({row["model"] for row in rows})}
    for title, of in (("inference", "inference"), ("training", "train")):
        some = [row for row in rows if MODES[row["mode"]]["task"] == of]
        told = {"gpuwhy": [], "accelerate": [], "env-doctor": []}
        inside = {"gpuwhy": [], "accelerate": [], "env-doctor": []}
        for row in some:
            total, parameters = known[row["model"]]
            options = MODES[row["mode"]]
            answers = {"accelerate": by_accelerate(total, options), "env-doctor": by_env_doctor(parameters, options)}
            answers["gpuwhy"] = row["bytes"]
            for name, answer in answers.items():
                if answer is not None:
                    told[name].append(answer / row["real"])
                    inside[name].append((row["allocator"] if name == "gpuwhy" else answer) / row["allocated"])
        print(f"{title}, the process by NVML", *(line(name, ratios) for name, ratios in told.items()), sep="\n")
        print(f"{title}, the allocator's peak", *(line(name, ratios) for name, ratios in inside.items()), sep="\n")


if __name__ == "__main__":
    main()
