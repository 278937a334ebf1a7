"""What each framework does on the GPU, for framework.py: import, devices, matmul, convolution.

`matmul` and `convolution` give the name of each calculation and a function that returns its results
on the host. All numbers that go in are 1, so that what comes out is known without a second
calculation; they are exact in float16.
"""

import ctypes
import glob
import importlib
import logging
import os
import re

KINDS = ("float32", "float16")
SIDE = 256  # of the matrices
PICTURES, FILTERS, RESULT = (2, 8, 16, 16), (8, 8, 3, 3), (2, 8, 14, 14)  # channels first


class Probe:
    """What all frameworks have in common; `product` and `convolved` are parts of a result with
    their lowest and highest number.
    """

    module = ""
    lists_gently = False  # whether listing the GPUs makes no context on them
    product = [("product", SIDE, SIDE)]
    convolved = [("forward", 72, 72), ("input gradient", 8, 72), ("filter gradient", 392, 392)]

    def __init__(self, talk, gentle):
        self.talk, self.gentle, self.own = talk, gentle, None

    def load(self):
        """Import; version and build."""
        name = "import " + self.module
        self.own = self.talk.call(name, importlib.import_module, self.module)
        self.talk.about(self.own.__version__, self.built_for())

    def ones(self, kind, *shape):
        """An array of ones, by numpy, which every framework but PyTorch needs itself."""
        return importlib.import_module("numpy").ones(shape, kind)

    def on_cpu(self, where="the CPU"):
        """It did not use the GPU."""
        self.talk.fail("look where it ran", "ran on " + where)


class Torch(Probe):
    """Any release from 0.4."""

    module = "torch"
    lists_gently = True  # cudaGetDeviceCount, or NVML

    def built_for(self):
        """CUDA or ROCm, and cuDNN."""
        torch = self.own
        if getattr(torch.version, "hip", None):
            return ["ROCm %s" % torch.version.hip]
        cuda = getattr(torch.version, "cuda", None)
        built = ["CUDA %s" % cuda if cuda else "no CUDA"]
        cudnn = getattr(getattr(torch, "_C", None), "_cudnn", None)
        if hasattr(cudnn, "getCompileVersion"):
            built.append("cuDNN " + ".".join(str(part) for part in cudnn.getCompileVersion()))
        return built

    def devices(self):
        """How many GPUs; where there is none, initialising says why."""
        cuda, talk = self.own.cuda, self.talk
        count = talk.call("torch.cuda.device_count()", cuda.device_count)
        names = ["GPU %d" % index for index in range(count)]
        if not self.gentle:
            talk.call("torch.cuda.init()", cuda.init if hasattr(cuda, "init") else cuda._lazy_init)
            names = [cuda.get_device_name(index) for index in range(count)]
        talk.say({"devices": names})
        if count == 0:
            talk.fail("count the GPUs", "torch counts no GPU")
        if not self.gentle:
            capability = "%d.%d" % tuple(cuda.get_device_capability(0))
            talk.told("torch.cuda.get_device_capability(0)", capability)
            if hasattr(cuda, "get_arch_list"):
                talk.told("torch.cuda.get_arch_list()", " ".join(cuda.get_arch_list()))

    def ones(self, kind, *shape):
        """Ones on the GPU."""
        return self.own.ones(*shape, dtype=getattr(self.own, kind), device="cuda")

    def done(self, *tensors):
        """Results on the host, once the GPU has finished: errors of a launch come then."""
        self.own.cuda.synchronize()
        return [one.detach().cpu().float() for one in tensors]

    def matmul(self):
        """A context, then a product."""
        yield (
            "torch.zeros(1, device='cuda')",
            lambda: self.done(self.own.zeros(1, device="cuda"))[:0],
        )
        for kind in KINDS:
            yield (
                "torch.matmul, " + kind,
                lambda kind=kind: self.done(
                    self.ones(kind, SIDE, SIDE).matmul(self.ones(kind, SIDE, SIDE))
                ),
            )

    def convolution(self):
        """cuDNN's version, then a convolution forward and back."""
        self.talk.call("torch.backends.cudnn.version()", self.own.backends.cudnn.version)
        for kind in KINDS:
            yield "conv2d, " + kind, lambda kind=kind: self.both_ways(kind)

    def both_ways(self, kind):
        """The convolution and its two gradients."""
        pictures, filters = (self.ones(kind, *shape) for shape in (PICTURES, FILTERS))
        pictures.requires_grad_()
        filters.requires_grad_()
        forward = self.own.nn.functional.conv2d(pictures, filters)
        forward.float().sum().backward()
        return self.done(forward, pictures.grad, filters.grad)


class TensorFlow(Probe):
    """2.x, and 1.x from 1.7, where eager execution is turned on."""

    module = "tensorflow"  # older releases make a context to list the GPUs

    def load(self):
        """With all that it prints."""
        if os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") != "0":
            del os.environ["TF_CPP_MIN_LOG_LEVEL"]
        Probe.load(self)

    def built_for(self):
        """CUDA and cuDNN by its own build information, where it keeps some."""
        if not self.own.test.is_built_with_cuda():
            return ["no CUDA"]
        try:
            info = importlib.import_module("tensorflow.python.platform.build_info")
        except ImportError:
            return ["CUDA"]
        values, built = getattr(info, "build_info", None) or {}, []
        for name, key in (("CUDA", "cuda_version"), ("cuDNN", "cudnn_version")):
            found = values.get(key) or getattr(info, key + "_number", "")
            built += ["%s %s" % (name, found)] if found else []
        return built or ["CUDA"]

    def devices(self):
        """The GPUs that it lists; memory is then taken as it is needed, on the first of them."""
        if not self.own.test.is_built_with_cuda():
            name = "tf.test.is_built_with_cuda()"
            self.talk.fail(name, "this TensorFlow is built without CUDA")
        old = self.own.__version__.startswith("1.")
        names = self.by_session() if old else self.by_config(self.own.config)
        self.talk.say({"devices": names})
        if not names:
            self.talk.fail("count the GPUs", "TensorFlow lists no GPU")

    def by_config(self, config):
        """TensorFlow 2: keep to the first GPU, and do not fall back."""
        listed = getattr(config, "list_physical_devices", None)
        listed = listed or config.experimental.list_physical_devices
        gpus = self.talk.call("tf.config.list_physical_devices('GPU')", listed, "GPU")
        if gpus:
            config.experimental.set_visible_devices(gpus[:1], "GPU")
            config.experimental.set_memory_growth(gpus[0], True)
            config.set_soft_device_placement(False)
        return [self.name_of(config, gpu) for gpu in gpus]

    def name_of(self, config, gpu):
        """The product's name, where the release can tell it."""
        try:
            return config.experimental.get_device_details(gpu)["device_name"]
        except Exception:
            return gpu.name

    def by_session(self):
        """TensorFlow 1: the same by a session's options, which its eager execution takes too."""
        v1 = getattr(getattr(self.own, "compat", None), "v1", None) or self.own
        config = v1.ConfigProto(allow_soft_placement=False)
        config.gpu_options.allow_growth = True
        v1.enable_eager_execution(config)
        module = importlib.import_module("tensorflow.python.client.device_lib")
        found = self.talk.call("device_lib.list_local_devices()", module.list_local_devices, config)
        return [one.physical_device_desc or one.name for one in found if one.device_type == "GPU"]

    def ones(self, kind, *shape):
        """Ones on the device that is current."""
        return self.own.constant(Probe.ones(self, kind, *shape))

    def back(self, *tensors):
        """The values of tensors that the GPU made."""
        for one in tensors:
            if "GPU" not in one.device:
                self.on_cpu("the CPU: %s" % one.device)
        return [one.numpy() for one in tensors]

    def matmul(self):
        """A product."""
        for kind in KINDS:
            yield "tf.matmul, " + kind, lambda kind=kind: self.multiplied(kind)

    def multiplied(self, kind):
        """One product."""
        with self.own.device("/GPU:0"):
            left, right = self.ones(kind, SIDE, SIDE), self.ones(kind, SIDE, SIDE)
            return self.back(self.own.matmul(left, right))

    def convolution(self):
        """A convolution forward and back."""
        for kind in KINDS:
            yield "tf.nn.conv2d, " + kind, lambda kind=kind: self.both_ways(kind)

    def both_ways(self, kind):
        """One convolution, channels last, and its gradients."""
        tf = self.own
        with tf.device("/GPU:0"):
            x, w = self.ones(kind, 2, 16, 16, 8), self.ones(kind, 3, 3, 8, 8)
            with tf.GradientTape() as tape:
                tape.watch([x, w])
                forward = tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID")
            gradient = self.ones(kind, 2, 14, 14, 8)
            return self.back(forward, *tape.gradient(forward, [x, w], output_gradients=gradient))


class Heard(logging.Handler):
    """What JAX logs of plugins that did not start: its own error names only the CPU."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.said = []
        logger = logging.getLogger("jax._src.xla_bridge")
        if not logger.hasHandlers():  # what Python would do if we were not listening
            logger.addHandler(logging.StreamHandler())
        logger.addHandler(self)

    def emit(self, record):
        """Keep the exception's words, else the message's."""
        error = record.exc_info[1] if record.exc_info else None
        self.said.append(str(error or record.getMessage()).strip()[:600])


class Jax(Probe):
    """Any release with `jax.devices`."""

    module = "jax"  # listing the GPUs makes a client, with a context on each
    builds = ("jax_cuda13_plugin._versions", "jax_cuda12_plugin._versions", "jaxlib.cuda._versions")

    def load(self):
        """JAX would take most of the memory at its first use."""
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        Probe.load(self)

    def built_for(self):
        """CUDA and cuDNN by the versions module of the plugin, where there is one."""
        for name in self.builds:
            try:
                module = importlib.import_module(name)
                cuda, cudnn = module.cuda_runtime_build_version(), module.cudnn_build_version()
            except Exception:
                continue
            return ["CUDA %d.%d" % (cuda // 1000, cuda % 1000 // 10), "cuDNN %d" % cudnn]
        return []

    def devices(self):
        """The GPUs of the CUDA client; where there is none, what its start said."""
        heard = Heard()
        try:
            found = self.talk.call("jax.devices('gpu')", self.own.devices, "gpu")
        except RuntimeError:
            why = self.start_error() or (heard.said or [""])[0]
            if why:
                self.talk.fail("start of the CUDA client", why)
            raise
        self.talk.say({"devices": [getattr(one, "device_kind", str(one)) for one in found]})
        self.gpu = found[0]

    def start_error(self):
        """What the client's start raised: newer releases keep it, and name only the CPU."""
        try:
            errors = importlib.import_module("jax._src.xla_bridge")._backend_errors
        except (ImportError, AttributeError):
            return ""
        return str(errors.get("cuda") or errors.get("gpu") or "").strip()[:600]

    def ones(self, kind, *shape):
        """Ones on the GPU."""
        return self.own.device_put(Probe.ones(self, kind, *shape), self.gpu)

    def back(self, *arrays):
        """The values of arrays that the GPU made."""
        numpy = importlib.import_module("numpy")
        for one in arrays:
            several = callable(getattr(one, "devices", None))
            devices = one.devices() if several else [one.device_buffer.device()]
            if any(device.platform == "cpu" for device in devices):
                self.on_cpu()
        return [numpy.asarray(one.block_until_ready()) for one in arrays]

    def matmul(self):
        """A product."""
        product = self.own.jit(lambda a, b: a.dot(b))
        for kind in KINDS:
            yield (
                "dot, " + kind,
                lambda kind=kind: self.back(
                    product(self.ones(kind, SIDE, SIDE), self.ones(kind, SIDE, SIDE))
                ),
            )

    def convolution(self):
        """A convolution forward and back."""
        both = self.own.jit(self.both_ways)
        for kind in KINDS:
            yield (
                "lax.conv, " + kind,
                lambda kind=kind: self.back(
                    *both(*(self.ones(kind, *shape) for shape in (PICTURES, FILTERS, RESULT)))
                ),
            )

    def both_ways(self, pictures, filters, gradient):
        """The convolution and its two gradients."""
        conv = self.own.lax.conv
        forward, back = self.own.vjp(lambda x, w: conv(x, w, (1, 1), "VALID"), pictures, filters)
        return (forward,) + tuple(back(gradient))


# ---------------------------------------------------------------- ONNX Runtime

CUDA = "CUDAExecutionProvider"


def varint(value):
    """A number in protobuf's variable length."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """One field: a number, or bytes, or text."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name, shape):
    """A ValueInfoProto: a float32 tensor of fixed shape."""
    dims = b"".join(field(1, field(1, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def model(operator, left, right, out):
    """A ModelProto (onnx.proto), IR 4 and opset 9, which every release since 0.4 reads: one
    operator with two inputs and one output.
    """
    node = field(1, "a") + field(1, "b") + field(2, "c") + field(3, "node") + field(4, operator)
    inputs = field(11, tensor("a", left)) + field(11, tensor("b", right))
    graph = field(1, node) + field(2, "graph") + inputs + field(12, tensor("c", out))
    return field(1, 4) + field(7, graph) + field(8, field(1, "") + field(2, 9))


class OnnxRuntime(Probe):
    """Small models in float32."""

    module = "onnxruntime"  # it lists GPUs by opening its CUDA provider

    def built_for(self):
        """The versions that the build keeps in a module of its own."""
        try:
            info = importlib.import_module("onnxruntime.capi.build_and_package_info")
        except ImportError:
            info = None
        named = (("CUDA", "cuda_version"), ("cuDNN", "cudnn_version"))
        built = [
            "%s %s" % (name, getattr(info, key)) for name, key in named if getattr(info, key, "")
        ]
        return built or ["CUDA" if CUDA in self.own.get_available_providers() else "no CUDA"]

    def devices(self):
        """Open the CUDA provider, as the first session does; where that fails, ask the loader."""
        talk = self.talk
        name = "onnxruntime.get_available_providers()"
        if CUDA not in talk.call(name, self.own.get_available_providers):
            talk.fail("look for the CUDA provider", "this ONNX Runtime is built without CUDA")
        data = model("MatMul", (2, 2), (2, 2), (2, 2))
        session = talk.call("InferenceSession(%s)" % CUDA, self.session, data)
        if CUDA not in session.get_providers():
            talk.mapped()
            talk.spoilt = True
            why = self.provider_error()
            talk.fail("get_providers()", "fell back to the CPU" + (": " + why if why else ""))
        talk.say({"devices": ["CUDA device 0"]})

    def session(self, data):
        """A session that asks for CUDA alone, with little memory."""
        provider, found = CUDA, re.match(r"(\d+)\.(\d+)", self.own.__version__)
        if found and (int(found.group(1)), int(found.group(2))) >= (1, 8):
            little = {"gpu_mem_limit": str(256 << 20), "arena_extend_strategy": "kSameAsRequested"}
            provider = (CUDA, little)
        return self.own.InferenceSession(data, self.own.SessionOptions(), providers=[provider])

    def provider_error(self):
        """What the loader says of the provider's library."""
        folder = os.path.join(os.path.dirname(self.own.__file__), "capi")
        form = "%s.dll" if os.name == "nt" else "lib%s.so"
        for name in ("onnxruntime_providers_shared", "onnxruntime_providers_cuda"):
            for path in glob.glob(os.path.join(glob.escape(folder), form % name)):
                try:
                    ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
                except OSError as error:
                    return str(error)
        return ""

    def run(self, operator, left, right, out):
        """One model on the GPU."""
        session = self.session(model(operator, left, right, out))
        if CUDA not in session.get_providers():
            self.on_cpu()
        given = {"a": self.ones("float32", *left), "b": self.ones("float32", *right)}
        return session.run(None, given)

    def matmul(self):
        """A product."""
        yield "run, MatMul", lambda: self.run("MatMul", *[(SIDE, SIDE)] * 3)

    def convolution(self):
        """A convolution."""
        yield "run, Conv", lambda: self.run("Conv", PICTURES, FILTERS, RESULT)


class CuPy(Probe):
    """In place of a convolution, which it does not have, a kernel that it compiles here."""

    module = "cupy"
    lists_gently = True  # cudaGetDeviceCount
    convolved = [("sum", 2, 2)]
    code = r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""

    def load(self):
        """Compiled kernels are not left in the home folder."""
        os.environ.setdefault("CUPY_CACHE_IN_MEMORY", "1")
        Probe.load(self)

    def built_for(self):
        """The CUDA version that it was compiled with."""
        try:
            built = importlib.import_module("cupy_backends.cuda.api.driver").get_build_version()
        except Exception:
            return []
        return ["CUDA %d.%d" % (built // 1000, built % 1000 // 10)]

    def devices(self):
        """The GPUs, by the runtime."""
        runtime, talk = self.own.cuda.runtime, self.talk
        count = talk.call("cudaGetDeviceCount", runtime.getDeviceCount)
        talk.say({"devices": [self.name_of(runtime, index) for index in range(count)]})
        if count == 0:
            talk.fail("count the GPUs", "CuPy counts no GPU")
        talk.call("cudaRuntimeGetVersion", runtime.runtimeGetVersion)

    def name_of(self, runtime, index):
        """The product's name, where the release can tell it."""
        try:
            name = runtime.getDeviceProperties(index)["name"]
        except Exception:
            return "GPU %d" % index
        return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)

    def ones(self, kind, *shape):
        """Ones on the GPU."""
        return self.own.asarray(Probe.ones(self, kind, *shape))

    def back(self, array):
        """The values of an array, once the GPU has finished."""
        self.own.cuda.Stream.null.synchronize()
        return [self.own.asnumpy(array)]

    def matmul(self):
        """A context, then a product."""
        yield "cupy.asarray", lambda: self.back(self.ones("float32", 1))[:0]
        yield (
            "cupy.dot, float32",
            lambda: self.back(
                self.ones("float32", SIDE, SIDE).dot(self.ones("float32", SIDE, SIDE))
            ),
        )

    def convolution(self):
        """A kernel compiled by NVRTC, and launched."""
        yield "compile and launch", self.launched

    def launched(self):
        """One launch."""
        one = self.ones("float32", SIDE, SIDE)
        out = self.own.zeros((SIDE, SIDE), "float32")
        kernel = self.own.RawKernel(self.code, "add")
        count = importlib.import_module("numpy").int32(SIDE * SIDE)
        kernel((SIDE * SIDE // 256,), (256,), (one, one, out, count))
        return self.back(out)


PROBES = {one.module: one for one in (Torch, TensorFlow, Jax, OnnxRuntime, CuPy)}
