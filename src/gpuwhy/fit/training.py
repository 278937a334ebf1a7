"""Training: gradients, the optimizer's state and what its step needs for a moment."""

from __future__ import annotations

from dataclasses import dataclass

from gpuwhy.fit.bits import width
from gpuwhy.fit.weights import Loaded


@dataclass(frozen=True, slots=True)
class Optimizer:
    """What an optimizer keeps for each parameter, and what one step takes besides."""

    states: float  # copies of the parameters, in their own type
    fixed: float  # bytes for each parameter, whatever its type
    step: float  # copies of the parameters while it steps, as torch does it by default (foreach)
    text: str


OPTIMIZERS = {
    "sgd": Optimizer(0, 0, 0, "no state"),
    "momentum": Optimizer(1, 0, 0, "a momentum"),
    "adam": Optimizer(2, 0, 1, "two moments"),
    "adamw": Optimizer(2, 0, 1, "two moments"),
    "adamw-fused": Optimizer(2, 0, 0, "two moments, stepped in one kernel"),
    "adamw8bit": Optimizer(0, 2 + 8 / 256, 0, "two moments in 8 bits with a scale for 256"),
    "lion": Optimizer(1, 0, 0, "a momentum"),
    "adafactor": Optimizer(0, 0, 1, "rows and columns of the second moment"),
    "muon": Optimizer(1, 0, 0.3, "a momentum for matrices, two moments for the rest"),
}


def state(name: str, weights: Loaded, parameters: int, size: float, shard: int = 1) -> int:
    """Bytes of the optimizer's state for so many parameters of `size` bytes."""
    kind = OPTIMIZERS[name]
    if name == "adafactor":
        return int((weights.rows + max(0, parameters - weights.matrices - weights.table)) * 4 / shard)
    if name == "muon":
        matrices = min(weights.matrices, parameters)
        return int((matrices + 2 * (parameters - matrices)) * size / shard)
    return int(parameters * (kind.states * size + kind.fixed) / shard)


def step(name: str, framework: str, parameters: int, size: float, shard: int = 1) -> int:
    """What the step holds for a moment above weights, gradients and state."""
    if framework != "torch":
        return 0
    return int(OPTIMIZERS[name].step * parameters * size / shard)


def adapters(weights: Loaded, rank: int) -> int:
    """Parameters of LoRA on every matrix."""
    return weights.rows * rank


def trained_width(weights: Loaded, amp: bool) -> float:
    """Bytes of a parameter that is trained."""
    return 4.0 if amp else max(2.0, width(weights.dtype))
