"""Clues for the installation."""

from __future__ import annotations

from gpuwhy.causes.clues import of
from gpuwhy.causes.clues.conditions import all_of, asks, by_package, field, in_packages, line, no, wants, with_
from gpuwhy.model.symptom import Clue, Reading, Symptom


def _both_tensorflows(s: Symptom, r: Reading) -> bool:
    told = r.told.versions
    return len({"tensorflow", "tensorflow-gpu", "tensorflow-cpu"} & told.keys()) > 1


def _both_runtimes(s: Symptom, r: Reading) -> bool:
    return {"onnxruntime", "onnxruntime-gpu"} <= r.told.versions.keys()


_PARTS = r"(?:torch|jaxlib|onnxruntime)\.(?!_C\b)\w|tensorflow\.python\.\w"

CLUES: tuple[Clue, ...] = (
    *of(
        "install.corrupted",
        ("packages.node_binding", 2.6, "the compiled part of the package is not there"),
        ("packages.partial", 2.9, "{name} is an empty shell: files of it are gone"),
        ("torch.preload", 2.2, "{library} is missing from the environment"),
        ("build.damaged", 4.6, "{library} is damaged: the linker does not recognise it"),
        ("loader.no_permission", 3.0, "{library} may not be read by this user: the installation is damaged", no(asks("driver"))),
        ("shadow.circular", 2.0, "{name} of the installed package is there in part only", in_packages),
        ("loader.corrupt", 4.8, "{library} is damaged: it is no complete library"),
        ("loader.wrong_class", 2.6, "{library} is a library of another kind ({elf})", no(with_("loader.undefined_symbol", "loader.driver_symbol"))),
        ("torch.checkpoint", 2.2, "the checkpoint file is damaged"),
        ("loader.cudnn_windows", 3.2, "{library} is damaged or of another architecture", field("number", "193")),
        ("packages.damaged", 4.0, "a package file is damaged"),
        ("packages.damaged_words", 2.4, "a file is said to be damaged"),
        ("windows.dll_load_failed", 3.0, "a DLL is damaged or of another architecture", field("invalid", ".")),
        ("windows.error", 3.0, "a DLL is damaged or of another architecture (193)", field("number", "193")),
        ("windows.load_library", 3.0, "a DLL is damaged or of another architecture (193)", field("number", "193")),
        ("signal.bus", 2.9, "a bus error, as of a library file that is cut off"),
        ("loader.cudnn_sub", 1.6, "a part of cuDNN is missing from its folder", no(wants("driver", "nvrtc"))),
        ("loader.cudnn_symbol", 1.6, "a part of cuDNN is missing from its folder"),
        ("tf.partial", 2.4, "tensorflow is an empty shell: its files are gone"),
        ("ort.partial", 2.2, "onnxruntime is an empty shell: its files are gone"),
        ("windows.torch_dll", 1.6, "{library} cannot be loaded"),
        ("tf.cudnn_handle", 0.9, "cuDNN did not start; a stale ~/.nv cache does that too"),
        ("tf.conv_check", 1.9, "cuDNN failed inside a check; a stale ~/.nv cache does that too"),
        ("cuda.invalid_image", 1.2, "the GPU code is damaged"),
        ("cuda.software_validity_not_established", 2.4, "an integrity check failed (error 103)"),
        ("loader.cannot_open", 2.5, "pip installs {library} with torch: here its file is gone, or cannot be read", all_of(asks("cuda", "cudnn", "nccl", "nvrtc"), with_("torch.own_import"))),
        ("python.module", 0.8, "a module is not there"),
        ("python.module", 3.3, "{name} is a part of its package, and its file is not there", all_of(field("name", _PARTS), no(line("is not a package")))),
    ),
    *of(
        "install.conflict",
        ("packages.partial", 2.4, "{name} is an empty shell, as after uninstalling one of two packages"),
        ("cupy.two_packages", 5.2, "two CuPy packages are installed over each other"),
        ("ort.two_packages", 5.0, "two onnxruntime packages are installed over each other"),
        ("tf.partial", 3.8, "tensorflow is an empty shell, as after uninstalling one of two packages"),
        ("ort.partial", 3.8, "onnxruntime is an empty shell, as after uninstalling one of two packages"),
        ("ort.not_available", 2.7, "the CPU package may have been installed over the GPU one"),
        ("ort.not_available", 4.0, "both onnxruntime packages are listed", _both_runtimes),
        ("told.package", 2.9, "several tensorflow packages are listed", _both_tensorflows),
        ("told.package", 2.9, "both onnxruntime packages are listed", _both_runtimes),
        ("loader.undefined_symbol", 2.6, "{symbol} is missing: two wheels write one libnccl", field("symbol", r"p?nccl")),
        ("loader.undefined_symbol", 3.2, "{symbol} is missing: two wheels write one libnccl", all_of(field("symbol", r"p?nccl"), field("object", r".*libtorch"))),
        ("packages.no_suitable", 2.4, "installing pulls the CPU package over the GPU one"),
        ("jax.plugin_abi", 2.0, "the plug-in and jaxlib are of different releases"),
        ("packages.uninstalled_over", 1.6, "{package} was removed"),
        ("tf.old_api", 0.8, "the tensorflow that is imported is not the one that is expected"),
    ),
    *of(
        "install.inconsistent",
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
)  # fmt: skip
