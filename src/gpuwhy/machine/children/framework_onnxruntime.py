"""ONNX Runtime on the GPU, for framework.py; its two small models are written by hand (docs:
onnx.proto).
"""

import ctypes
import glob
import importlib
import os
import re

numbers = importlib.import_module("framework_numbers")
CUDA = "CUDAExecutionProvider"
FLOAT = 1  # TensorProto.DataType
IR_VERSION, OPSET = 4, 9  # what every release since 0.4 reads


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
    """A ValueInfoProto: a float tensor of fixed shape."""
    dims = b"".join(field(1, field(1, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, dims)))


def model(operator, left, right, out):
    """A ModelProto: one operator with two inputs and one output."""
    node = field(1, "a") + field(1, "b") + field(2, "c") + field(3, "node") + field(4, operator)
    graph = field(1, node) + field(2, "graph")
    graph += (
        field(11, tensor("a", left)) + field(11, tensor("b", right)) + field(12, tensor("c", out))
    )
    return field(1, IR_VERSION) + field(7, graph) + field(8, field(1, "") + field(2, OPSET))


class Probe:
    """The stages of ONNX Runtime."""

    lists_gently = False  # it lists GPUs by opening its CUDA provider

    def __init__(self, talk, gentle):
        self.talk = talk
        self.gentle = gentle
        self.ort = None

    def load(self):
        """Import; version and providers of this build."""
        ort = self.ort = self.talk.call(
            "import onnxruntime", importlib.import_module, "onnxruntime"
        )
        built = [
            part for part in (self.constant("cuda_version"), self.constant("cudnn_version")) if part
        ]
        has = CUDA in ort.get_available_providers()
        self.talk.about(ort.__version__, built or (["CUDA"] if has else ["no CUDA"]))

    def constant(self, name):
        """A version that the build keeps in its own module."""
        try:
            value = getattr(
                importlib.import_module("onnxruntime.capi.build_and_package_info"), name, ""
            )
        except ImportError:
            return ""
        return "%s %s" % ({"cuda_version": "CUDA"}.get(name, "cuDNN"), value) if value else ""

    def devices(self):
        """Open the CUDA provider, as the first session does; where it falls back to the CPU, ask
        the loader why.
        """
        available = self.talk.call(
            "onnxruntime.get_available_providers()", self.ort.get_available_providers
        )
        if CUDA not in available:
            self.talk.fail("look for the CUDA provider", "this ONNX Runtime is built without CUDA")
        session = self.talk.call(
            "InferenceSession(%s)" % CUDA, self.session, model("MatMul", (2, 2), (2, 2), (2, 2))
        )
        if CUDA not in session.get_providers():
            self.talk.mapped()
            self.talk.spoilt = True
            why = self.provider_error()
            self.after_preloading()
            self.talk.fail("get_providers()", "fell back to the CPU" + (": " + why if why else ""))
        self.talk.say({"devices": ["CUDA device 0"]})

    def session(self, data):
        """A session that asks for CUDA alone, with little memory."""
        options = self.ort.SessionOptions()
        provider = CUDA
        if self.version() >= (1, 8):
            provider = (
                CUDA,
                {"gpu_mem_limit": str(256 << 20), "arena_extend_strategy": "kSameAsRequested"},
            )
        return self.ort.InferenceSession(data, options, providers=[provider])

    def version(self):
        """Major and minor."""
        found = re.match(r"(\d+)\.(\d+)", self.ort.__version__)
        return (int(found.group(1)), int(found.group(2))) if found else (0, 0)

    def provider_error(self):
        """What the loader says of the provider's library."""
        folder = os.path.join(os.path.dirname(self.ort.__file__), "capi")
        form = "%s.dll" if os.name == "nt" else "lib%s.so"
        for name in (form % "onnxruntime_providers_shared", form % "onnxruntime_providers_cuda"):
            for path in glob.glob(os.path.join(glob.escape(folder), name)):
                try:
                    ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
                except OSError as error:
                    return str(error)
        return ""

    def after_preloading(self):
        """Whether the provider opens once the release's own helper has loaded the nvidia wheels."""
        if not hasattr(self.ort, "preload_dlls"):
            return
        try:
            self.ort.preload_dlls()
            works = CUDA in self.session(model("MatMul", (2, 2), (2, 2), (2, 2))).get_providers()
        except Exception:
            return
        if works:
            self.talk.note("the CUDA provider opens after onnxruntime.preload_dlls()")

    def run(self, name, operator, left, right, wanted):
        """One model on the GPU, held against the host."""
        data = model(operator, left.shape, right.shape, wanted.shape)
        session = self.talk.call("InferenceSession, " + operator, self.session, data)
        if CUDA not in session.get_providers():
            self.talk.fail("get_providers()", "ran on the CPU")
        (got,) = self.talk.twice(name, lambda: session.run(None, {"a": left, "b": right}))
        self.talk.compare(name, got.astype("float64"), wanted)

    def matmul(self):
        """A product in float32."""
        left, right = numbers.matrices(numbers.load())
        self.run("run, MatMul", "MatMul", left, right, left.dot(right))

    def convolution(self):
        """A convolution in float32."""
        numpy = numbers.load()
        pictures, filters, gradient = numbers.pictures(numpy)
        wanted = numbers.channels_first(numbers.convolved(numpy, pictures, filters, gradient)[0])
        given = numbers.channels_first(pictures), numbers.filters_first(filters)
        self.run("run, Conv", "Conv", given[0], given[1], wanted)
