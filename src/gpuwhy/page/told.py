"""The stack of a log without its machine: what the text tells of each layer, and which one the cause speaks of."""

from __future__ import annotations

from gpuwhy.page.values import Node

LAYERS = ("GPU", "driver", "CUDA", "cuDNN", "Python")
TELLS = {
    "told.gpu": ("GPU", "gpu"),
    "told.gpu_found": ("GPU", "gpu"),
    "told.driver": ("driver", "version"),
    "told.module": ("driver", "version"),
    "told.smi": ("driver", "version"),
    "told.cuda": ("CUDA", "version"),
    "told.nvcc": ("CUDA", "version"),
    "told.cudnn": ("cuDNN", "version"),
    "told.python": ("Python", "version"),
    "told.tf": ("TensorFlow", "version"),
    "told.torch_local": ("PyTorch", "version"),
    "told.ort": ("ONNX Runtime", "version"),
}
TITLES = {
    "torch": "PyTorch",
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "jaxlib": "JAX",
    "cupy": "CuPy",
}
SPEAKS = {
    "device": "GPU", "memory": "GPU", "driver": "driver", "container": "driver", "wsl": "driver", "cuda": "CUDA",
    "cudnn": "cuDNN", "framework": "framework", "install": "framework", "env": "framework",
}  # fmt: skip
"""By the beginning of a cause's id: the layer that it marks."""
SURE, MOST = 0.5, 6


def told_layers(report: Node) -> list[dict[str, str]]:
    """Rows as a report has them; none where the text tells of no layer and no cause."""
    said: dict[str, list[str]] = {}
    for one in report.nodes("symptoms"):
        name, value = _tells(one)
        if name and value and value not in said.setdefault(name, []):
            said[name].append(value)
    marked, cause = _marked(report)
    if not said and not marked:
        return []
    frameworks = [name for name in said if name not in LAYERS][:MOST] or ["framework"]
    return [_row(name, said.get(name, []), marked, cause, name not in LAYERS) for name in (*LAYERS, *frameworks)]


def _tells(symptom: Node) -> tuple[str, str]:
    fields = symptom.node("fields")
    if symptom.text("id") == "told.package":
        return TITLES.get(fields.text("name").lower(), ""), fields.text("version")
    if symptom.text("id") == "told.cuda" and "driver version" in symptom.text("text").lower():
        return "", ""  # nvidia-smi names the newest CUDA that the driver runs, not an installed one
    name, field = TELLS.get(symptom.text("id"), ("", ""))
    return name, fields.text(field)


def _marked(report: Node) -> tuple[str, str]:
    """The layer of the first cause, where that is more likely than not."""
    first = next(iter(report.nodes("causes")), Node(None))
    layer = SPEAKS.get(first.text("id").split(".")[0], "")
    return (layer, first.text("id")) if layer and first.number("confidence") >= SURE else ("", "")


def _row(name: str, said: list[str], marked: str, cause: str, framework: bool) -> dict[str, str]:
    text = ", ".join(said[:3]) or "the text does not say"
    if marked == name or (framework and marked == "framework"):
        return {"name": name, "text": text, "mark": "bad", "note": cause}
    return {"name": name, "text": text, "mark": "unknown" if said else "none", "note": "told, not seen" if said else ""}
