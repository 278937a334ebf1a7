"""Makers: remedies that take more than a row to make; a row names one by `make`."""

from collections.abc import Callable

from gpuwhy.advise import made_files, made_installs, made_memory, made_torch
from gpuwhy.advise.names import Names
from gpuwhy.advise.remedy import Remedy

MAKERS: dict[str, Callable[[Names], Remedy | None]] = {
    "cudnn_of_build": made_installs.cudnn_of_build,
    "cudnn_of_release": made_installs.cudnn_of_release,
    "cupy_of_library": made_installs.cupy_of_library,
    "extension_for_framework": made_torch.extension_for_framework,
    "folder_on_path": made_files.folder_on_path,
    "free_gpu": made_memory.free_gpu,
    "jax_with_cuda": made_installs.jax_with_cuda,
    "library_wheel": made_installs.library_wheel,
    "older_gcc": made_files.older_gcc,
    "onnxruntime_pair": made_installs.onnxruntime_pair,
    "python_with_wheels": made_files.python_with_wheels,
    "reinstall_damaged": made_files.reinstall_damaged,
    "rename_file": made_files.rename_file,
    "share_of_free": made_memory.share_of_free,
    "smaller_batch": made_memory.smaller_batch,
    "stop_holder": made_memory.stop_holder,
    "tensorflow_for_library": made_installs.tensorflow_for_library,
    "tensorflow_on_windows": made_installs.tensorflow_on_windows,
    "torch_companions": made_torch.torch_companions,
    "torch_for_cuda": made_torch.torch_for_cuda,
    "torch_for_gpu": made_torch.torch_for_gpu,
    "torch_with_cuda": made_torch.torch_with_cuda,
    "wanted_release": made_installs.wanted_release,
}
