"""What published packages raise, with where: endings that are the user's own matter, by the thousand, for lab/innocents.py.

    python -m lab.innocent_raises SOURCES ENDINGS.jsonl [--most 40]

SOURCES has a folder for each package with its Python files (`pip download --no-deps`, unpacked). Every `raise Type("…")` whose
words do not name the GPU stack becomes the end of a program: the traceback with the user's line above, or its last line
alone. Names in a template are filled with values that such a name has.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NEAR = re.compile(
    r"cuda|gpu|nvidia|nccl|cudnn|cublas|triton|tensorrt|\bxla\b|device|driver|accelerator|rocm|\bhip\b|\bmps\b|\bxpu\b|\bhpu\b|\btpu\b"
    r"|out of memory|allocat|shared memory|\.so\b|\bdll\b|capability|compil|kernel|quantiz|flash|bitsandbytes|fp8|bf16|fp16|nvml"
    r"|requires? (?:the )?(?:torch|tensorflow|jax|pytorch)",
    re.IGNORECASE,
)
"""Words by which a message may be meant of the stack: not for this list."""
GROUPS = re.compile(
    r"rank|world_?size|process group|distributed|peer|worker|deepspeed|fsdp|ddp|tensor.?parallel", re.IGNORECASE
)
"""Words by which it may be meant of a job of several processes."""
FAIR = ("program.shape", "program.index", "program.order", "framework.bug")
"""What a reader may call the user's mistake with arrays, or a framework's own."""
VALUES = {
    "dtype": "float64", "shape": "(3, 224, 224)", "shapes": "[(2, 3), (4,)]", "path": "data/train.csv", "file": "config.yaml",
    "filename": "results.json", "name": "encoder", "key": "learning_rate", "keys": "['id', 'label']", "url": "https://example.org/v1/items",
    "type": "<class 'str'>", "value": "'foo'", "n": "12", "index": "7", "mode": "'median'", "version": "1.4.2", "model": "my-model",
    "column": "price", "columns": "['a', 'b']", "e": "invalid literal", "err": "timed out", "exc": "not a mapping", "id": "a81c", "dim": "3",
    "class": "Widget", "message": "bad request", "status": "404", "port": "8080", "host": "db.internal", "size": "128", "length": "50",
}  # fmt: skip
"""What a name in a template stands for."""


class Raised(NamedTuple):
    """One raise: the type, the words, and where it stands."""

    package: str
    file: str
    line: int
    function: str
    code: str
    type: str
    message: str


def value(name: str, draw: random.Random) -> str:
    """Something that a name like this may hold."""
    low = name.lower().rsplit(".", 1)[-1].rstrip("_s")
    for known, shown in VALUES.items():
        if low.endswith(known):
            return shown
    return draw.choice(("3", "'auto'", "None", "{'a': 1}", "0.5", "['x']", "<class 'int'>", "default"))


def words(node: ast.expr | None, draw: random.Random) -> str | None:
    """The message of a raise, with the names in it filled; None where it is no literal."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_part(one, draw) for one in node.values)
    if isinstance(node, ast.BinOp):
        left, right = words(node.left, draw), words(node.right, draw)
        if isinstance(node.op, ast.Mod):
            return None if left is None else re.sub(r"%(?:\(\w+\))?[-\d.]*[srdfxi]", lambda _: value("x", draw), left)
        return left + (right or value("x", draw)) if left is not None else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        left = words(node.func.value, draw)
        return None if left is None else re.sub(r"\{(\w*)[^{}]*\}", lambda m: value(m[1] or "x", draw), left)
    return None


def _part(node: ast.expr, draw: random.Random) -> str:
    if isinstance(node, ast.FormattedValue):
        return value(ast.unparse(node.value), draw)
    return str(node.value) if isinstance(node, ast.Constant) else ""


def raises(package: str, root: Path, draw: random.Random) -> Iterator[Raised]:
    """Every raise of a package that has words."""
    for path in sorted(root.rglob("*.py")):
        try:
            source = path.read_text(encoding="utf-8")
            tree = ast.parse(source)
        except (SyntaxError, ValueError, UnicodeDecodeError, RecursionError):
            continue
        lines = source.split("\n")
        for outer in ast.walk(tree):
            if not isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for node in ast.walk(outer):
                if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call) or not node.exc.args:
                    continue
                said = words(node.exc.args[0], draw)
                if said and len(said) > 12:
                    name = ast.unparse(node.exc.func)
                    yield Raised(
                        package, str(path.relative_to(root)), node.lineno, outer.name,
                        lines[node.lineno - 1].strip(), name, re.sub(r"\n\s*", "\n", said).strip(),
                    )  # fmt: skip


def ended(one: Raised, draw: random.Random) -> str:
    """A program that ended so, as its user pastes it."""
    spoken = f"{_type(one)}: {one.message}"
    shape = draw.random()
    if shape < 0.12:
        return spoken
    if shape < 0.2:
        return f"{draw.choice(('ERROR', 'CRITICAL', '[ERROR]', '2026-03-02 11:04:51,118 ERROR'))} {spoken}"
    site = draw.choice(
        ("/home/mara/venv/lib/python3.11/site-packages", "/usr/local/lib/python3.12/dist-packages", "/opt/conda/lib/python3.10/site-packages")
    )  # fmt: skip
    call = draw.choice(
        ("main()", "run(args)", "df = load(cfg)", "result = client.fetch(item)", "train_ds = build(cfg.data)")
    )
    return (
        "Traceback (most recent call last):\n"
        f'  File "/home/mara/proj/train.py", line {draw.randrange(20, 300)}, in <module>\n    {call}\n'
        f'  File "{site}/{one.file}", line {one.line}, in {one.function}\n    {one.code}\n{spoken}'
    )


def _type(one: Raised) -> str:
    """The type as Python prints it: with its module, but for those that Python has itself."""
    last = one.type.rsplit(".", 1)[-1]
    if last in dir(__builtins__) or last in vars(__import__("builtins")):
        return last
    module = one.file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return f"{module}.{last}"


FRAMEWORKS = frozenset(
    """transformers diffusers accelerate peft trl lightning pytorch-lightning vllm sglang deepspeed timm keras tf-keras flax optax chex
    ray torchmetrics ultralytics composer fairscale bentoml litserve xgboost lightgbm catboost numba monai gpytorch botorch pyro-ppl
    sentence-transformers stable-baselines3 tianshou axolotl mmengine mmdet detectron2 orbax-checkpoint mosaicml-streaming lm-eval
    segment-anything spacy""".split()  # noqa: SIM905
)
"""Packages some of whose words are about the stack."""


def main() -> int:
    """Walk, keep at most so many of each package, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path)
    parser.add_argument("endings", type=Path)
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    draw, number = random.Random(args.seed), 0
    with args.endings.open("w", encoding="utf-8") as file:
        for folder in sorted(args.sources.iterdir()):
            found = {one.message: one for one in raises(folder.name, folder, draw)}
            kept = [one for one in found.values() if not NEAR.search(one.message + one.file + one.type)]
            if folder.name in FRAMEWORKS:
                kept = [one for one in kept if not GROUPS.search(one.message + one.file)]
            for one in draw.sample(kept, min(args.most, len(kept))):
                number += 1
                row = {"name": f"{one.package}:{one.file}:{one.line}", "fair": FAIR, "log": ended(one, draw)}
                file.write(json.dumps(row) + "\n")
    print(f"{number} endings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
