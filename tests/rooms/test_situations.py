"""Situations: place, program and fault together lead to the way that helps there, among the first two fixes."""

import pytest

from gpuwhy.logs import explain_text

CASES = {  # text: words that the first two fixes hold, and words that none of them holds
    "letters beyond ASCII": (
        "C:\\proj>python b.py\nnvcc fatal   : Could not open output file 'C:/Users/Zoë/AppData/Local/Temp/tmpxft_1'\n",
        ["TEMP=C:\\temp", "ASCII"], ["TMPDIR"]),
    "Store Python": (
        "C:\\Users\\me\\AppData\\Local\\Packages\\PythonSoftwareFoundation.Python.3.9_qbz\\LocalCache\\tensorflow\n"
        "Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found\n",
        ["python.org", "add_dll_directory"], ["%PATH%"]),
    "TensorFlow's pair": (
        "C:\\>python t.py\nW tensorflow/stream_executor/platform/default/dso_loader.cc:59] Could not load dynamic "
        "library 'cudart64_101.dll'; dlerror: cudart64_101.dll not found\n",
        ["CUDA 10.1", "cuDNN 7.6"], ["sudo"]),
    "--nv is given": (
        "$ singularity exec --nv image.sif ./a\n./a: error while loading shared libraries: libcuda.so.1: cannot open "
        "shared object file: No such file or directory\n",
        ["/.singularity.d/libs"], ["IMAGE.sif nvidia-smi"]),
    "a stale CDI file": (
        "podman run --rm --device nvidia.com/gpu=0 ubuntu nvidia-smi\nError: setting up CDI devices: failed to inject "
        'devices: failed to stat CDI host device "/dev/dri/renderD130": no such file or directory\n',
        ["nvidia-ctk cdi generate"], ["usermod"]),
    "Kepler's last driver": (
        "C:\\>a.exe\ncudaStreamCreate failed with error CUDA driver version is insufficient for CUDA runtime version\n"
        "card: GeForce GTX 680\n",
        ["475.14", "CUDA 11.4"], ["Install a newer driver"]),
    "the memory of WSL": (
        "5.15.133.1-microsoft-standard-WSL2, 64 GB RAM\nOut of memory: Killed process 12 (python)\n",
        ["memory=48GB"], ["memory=12GB"]),
    "Windows containers": (
        "C:\\>docker run --gpus all ubuntu\ndocker: no matching manifest for windows/amd64 10.0.19045 in the "
        "manifest list entries.\n",
        ["SwitchLinuxEngine"], ["sudo"]),
    "Numba and its toolkit": (
        "C:\\>py k.py\nNvvmSupportError: No supported GPU compute capabilities found. Please check your cudatoolkit "
        "version matches your CUDA version.\nnumba 0.55.1\n",
        ["cudatoolkit=11.2", "numba-cuda[cu12]"], []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_first_are_for_that_very_place(name):
    text, has, has_not = CASES[name]
    most = 3 if name == "Store Python" else 2  # behind the cure that others found
    said = "\n".join(f"{fix.text}\n{fix.command}" for fix in explain_text(text).causes[0].fixes[:most])
    assert [word for word in has if word not in said] == [], said
    assert [word for word in has_not if word in said] == [], said
