"""Migrations: what changes in a program when a framework moves from one series of releases to another."""

from __future__ import annotations

import msgspec

from gpuwhy.knowledge.tables import source
from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least


class Migration(msgspec.Struct, frozen=True):
    """A border between two series; crossing it upwards needs what `text` says."""

    framework: str
    border: str
    text: str
    source: Source


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        "tensorflow",
        "2.0",
        "TensorFlow 1.x → 2.x: graphs and sessions are gone. `tf.Session`, `tf.placeholder` and `tf.layers` live on in "
        "`tf.compat.v1`: `import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()` runs most programs unchanged, "
        "except those that use `tf.contrib`, which was removed without a substitute in TensorFlow itself (slim became "
        "tf-slim, layers and losses went to Keras). `tf_upgrade_v2 --infile a.py --outfile b.py` renames the rest",
        source("TensorFlow guide: migrate from TensorFlow 1.x"),
    ),
    Migration(
        "tensorflow",
        "2.16",
        "TensorFlow before 2.16 → 2.16 and newer: `tf.keras` is Keras 3. Models are saved as `.keras` (the SavedModel "
        "folder is written by `model.export`), optimizers lost `decay` and `tf.keras.optimizers.legacy`, estimators "
        "are gone. `pip install tf-keras` and `TF_USE_LEGACY_KERAS=1` before the import keep Keras 2 if needed",
        source("TensorFlow 2.16 release notes", "Keras 3 as the default; tf-keras for Keras 2; estimators removed"),
    ),
    Migration(
        "torch",
        "2.0",
        "PyTorch 1.x → 2.x: programs run unchanged, compiled extensions must be built again; Python 3.8 or newer",
        source("PyTorch 2.0 release notes"),
    ),
    Migration(
        "torch",
        "2.6",
        "PyTorch before 2.6 → 2.6 and newer: `torch.load` reads tensors only (`weights_only=True`); checkpoints that "
        "hold other objects need `weights_only=False` (for trusted files) or `torch.serialization.add_safe_globals`",
        source("PyTorch 2.6 release notes", "torch.load: weights_only is True by default"),
    ),
    Migration(
        "jax",
        "0.6",
        "JAX before 0.6 → 0.6 and newer: `jax.tree_map` is `jax.tree.map`, and much of `jax.core` and `jax.lib` "
        "went to `jax.extend`",
        source("JAX change log"),
    ),
)


def crossed(framework: str, before: str, after: str) -> tuple[Migration, ...]:
    """The borders between two releases, going up; () when it goes down."""
    return tuple(
        row
        for row in MIGRATIONS
        if row.framework == framework and not at_least(before, row.border) and at_least(after, row.border)
    )
