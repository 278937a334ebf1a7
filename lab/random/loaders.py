"""Programs that do what a framework's start does and then stop: a draw costs a second instead of ten.

A start is the framework's own code, ended by an import hook right after its libraries are loaded; `whole` ones go to the
end. The `own` ones are a user's bindings to NVIDIA's libraries by ctypes. `@N@` stands for the CUDA major of JAX's plugin.
"""

from __future__ import annotations

STOP = "import sys\nclass Enough(Exception):\n    pass\nclass Stop:\n    def find_spec(self, name, path=None, target=None):\n        if name == '{0}':\n            raise Enough\nsys.meta_path.insert(0, Stop())\ntry:\n    import {1}\nexcept Enough:\n    pass\nprint('RESULT', '{1} loaded')\n"
NVIDIA = "import ctypes, glob, os, sysconfig\nsite = sysconfig.get_paths()['purelib']\ncu13 = os.path.isdir(os.path.join(site, 'nvidia', 'cu13'))\ndef opened(name):\n    found = sorted(glob.glob(os.path.join(site, 'nvidia', '*', 'lib', name)))\n    return ctypes.CDLL(found[0] if found else name, mode=ctypes.RTLD_GLOBAL)\n"
JAX = "import importlib, jax\nplugin = next(p for p in (importlib.util.find_spec('jax_plugins.xla_cuda13'), importlib.util.find_spec('jax_plugins.xla_cuda12')) if p).name\np = importlib.import_module(plugin)\np._load_nvidia_libraries()\np._import_extensions()\nif p.cuda_versions is None:\n    raise RuntimeError('JAX plugin extensions could not be imported')\n"
LOADERS: dict[str, str] = {
    "torch-start": STOP.format("torch._tensor", "torch"),
    "torch-whole": "import torch\nprint('RESULT', float(torch.arange(5.0).sum()))\n",
    "jax-start": JAX + "print('RESULT', p.cuda_versions.cudnn_get_version() > 8000)\n",
    "jax-plugin": JAX + "import ctypes\nctypes.CDLL(str(p._get_library_path()))\nprint('RESULT plugin')\n",
    "cupy-start": "import cupy\nfrom cupy.cuda import cublas, cusparse, nvrtc\nprint('RESULT', nvrtc.getVersion()[0] > 10)\n",
    "cupy-compile": "import cupy\nfrom cupy.cuda import nvrtc\np = nvrtc.createProgram('extern \"C\" __global__ void k(float* p) { p[0] = 1; }', 'k.cu', (), ())\nnvrtc.compileProgram(p, ('-arch=compute_80',))\nprint('RESULT', len(nvrtc.getPTX(p)) > 100)\n",
    "ort-start": "import ctypes, os\nimport onnxruntime as ort\nif os.environ.get('LAB_DRIVER'):\n    ctypes.CDLL(os.environ['LAB_DRIVER'], mode=ctypes.RTLD_GLOBAL)\nort.preload_dlls()\nhome = os.path.join(os.path.dirname(ort.__file__), 'capi')\nctypes.CDLL(os.path.join(home, 'libonnxruntime_providers_shared.so'), mode=ctypes.RTLD_GLOBAL)\nctypes.CDLL(os.path.join(home, 'libonnxruntime_providers_cuda.so'))\nprint('RESULT providers loaded')\n",
    "tensorflow-start": STOP.format("tensorflow.python.eager", "tensorflow"),
    "own-cudnn": NVIDIA
    + "dnn = opened('libcudnn.so.9')\nprint('cuDNN', dnn.cudnnGetVersion(), flush=True)\nfor part in ('Graph', 'Ops', 'Cnn', 'Adv'):\n    code = getattr(dnn, f'cudnn{part}VersionCheck')()\n    if code:\n        raise SystemExit(f'cudnn{part}VersionCheck returned {code}')\nprint('RESULT cudnn')\n",
    "own-nvrtc": NVIDIA
    + "rtc = opened('libnvrtc.so.13' if cu13 else 'libnvrtc.so.12')\np = ctypes.c_void_p()\nsource = b'extern \"C\" __global__ void k(float* p) { p[0] = 1; }'\nassert rtc.nvrtcCreateProgram(ctypes.byref(p), source, b'k.cu', 0, None, None) == 0\ncode = rtc.nvrtcCompileProgram(p, 0, None)\nif code:\n    n = ctypes.c_size_t()\n    rtc.nvrtcGetProgramLogSize(p, ctypes.byref(n))\n    log = ctypes.create_string_buffer(n.value)\n    rtc.nvrtcGetProgramLog(p, log)\n    raise SystemExit(f'nvrtcCompileProgram returned {code}: {log.value.decode()}')\nprint('RESULT compiled')\n",
    "own-solver": NVIDIA
    + "names = ('nvJitLink.so.13', 'cublasLt.so.13', 'cublas.so.13', 'cusparse.so.12', 'cusolver.so.12') if cu13 else ('nvJitLink.so.12', 'cublasLt.so.12', 'cublas.so.12', 'cusparse.so.12', 'cusolver.so.11')\nfor name in names:\n    opened('lib' + name)\nprint('RESULT libraries')\n",
}
