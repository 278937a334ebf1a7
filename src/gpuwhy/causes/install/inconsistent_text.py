"""install.inconsistent in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.causes.text.asked import Asked
from gpuwhy.causes.text.conditions import by_package
from gpuwhy.causes.text.installing import jax_together
from gpuwhy.causes.text.meant import meant
from gpuwhy.causes.text.room import Text
from gpuwhy.knowledge.messages import LEFT_ASIDE, NO_IMPORT, UNRESOLVED
from gpuwhy.model.cause import Fix

_OF_JAX = ("jax.plugin_abi", "pairs.jaxlib", "pairs.plugin", "pairs.jax_part")


def _made(case: Asked) -> Iterator[Fix]:
    if any(signature in _OF_JAX for signature, _, _ in case.behind):
        yield jax_together(case, "\n".join(line for _, line, _ in case.behind))


TEXT = Text(
    "install.inconsistent",
    clues=(
        ("pairs.jaxlib", 5.4, "jaxlib {installed} is installed, and this jax goes with {wanted}"),
        ("pairs.plugin", 5.4, "{name} {installed} is installed, and jaxlib {wanted} takes a plug-in of its own release only"),
        ("pairs.jax_part", 4.4, "parts of JAX are of different releases"),
        ("pairs.required", 5.2, "{name}{wants} is asked for, and {found} is installed"),
        ("pairs.pip", 3.8, "{by} {by_version} asks for {name}{wants}; {found} is installed"),
        ("pairs.pip_missing", 2.8, "{by} {by_version} asks for {name}, which is not installed"),
        ("pairs.keras", 4.2, "Keras and TensorFlow, or what is built on them, are of releases that do not fit"),
        ("pairs.scipy", 4.0, "SciPy is of another release than the package that uses it expects"),
        ("pairs.tf_numpy", 3.8, "TensorFlow cannot hand its own type to NumPy: it was compiled for another NumPy"),
        ("pairs.between", 4.0, "{name} is of another release than the installed package that asks it for {what}", by_package),
        ("pairs.between", 2.4, "{name} has no {what}: it is of another release than whoever asks expects"),
        ("jax.plugin_abi", 4.4, "the plug-in and jaxlib are of different releases"),
        ("python.protobuf", 4.8, "protobuf and the code that was generated for another release of it do not fit"),
        ("python.numpy_abi", 4.6, "a module was compiled against NumPy 1 and meets NumPy 2, or the other way round"),
        ("python.numba_numpy", 3.6, "Numba and NumPy are of releases that do not fit"),
        ("python.keras", 2.0, "Keras versions do not fit"),
        ("tf.addons", 2.6, "the add-on and TensorFlow are of releases that do not fit"),
        ("torch.different_cuda", 1.6, "PyTorch and {what} were compiled with different CUDA versions"),
        ("torch.namespace", 1.4, "the operators of {name} were not loaded: it may be of another release"),
    ),
    remedies=(
        meant("Install NumPy 1, which the module was compiled against; or a release of the module for NumPy 2", 'pip install "numpy<2"', said="python.numpy_abi python.numba_numpy", safe=True),
        meant("Install an older protobuf, which the generated code was made for; or a newer release of the package", 'pip install "protobuf<4"', said="python.protobuf", safe=True),
        meant("Keras 2 for a program or package that was written for it", "pip install tf-keras && export TF_USE_LEGACY_KERAS=1", said="pairs.keras python.keras", safe=True),
        meant("Or install a SciPy of the time of the package that uses it", 'pip install "scipy<1.13"', said="pairs.scipy", safe=True),
        meant("Install what the message asks for, in one command with the package that asks, so that pip keeps both", said="pairs.required pairs.pip pairs.pip_missing"),
        meant("See every contradiction in the environment", "pip check", safe=True, look=True),
        meant("Let gpuwhy compare what is installed, also what pip check cannot see", "gpuwhy check", safe=True, look=True),
    ),
    admitted_by=(*UNRESOLVED, *NO_IMPORT, *LEFT_ASIDE),
    made=_made,
)  # fmt: skip
