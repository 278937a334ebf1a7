"""What a framework really does, in the Python under diagnosis: `framework.py NAME [--gentle]`.

Prints one JSON object a line, as talk.py says; besides {"mapped": […]} and {"exception": …}.
All numbers that go into a calculation are 1, so that what comes out is known without a second one;
they are exact in float16. Standard library only, Python 3.5 and newer.
"""

import ctypes
import faulthandler
import glob
import importlib
import os
import re
import sys
import traceback

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

import talk  # noqa: E402
from talk import Failed, Stage, clock, compare, failed, say, since  # noqa: E402

MOST_TEXT = 6000
HANGING = 100.0  # seconds after which every thread's stack is printed; the parent ends us at 120
TOLERANCE = 0.02
MAPPED = re.compile(
    r".*/(lib(cuda|cudart|cublas|cudnn|cufft|curand|cusolver|cusparse|cupti|cutensor|nccl|nvrtc"
    r"|nvJitLink|nvinfer|nvshmem|nvidia|nvToolsExt|nvtx|cufile|torch|c10|caffe2|tensorflow"
    r"|onnxruntime|jax)[^/]*\.so"
    r"|[^/]*(xla_cuda_plugin|_pywrap_tensorflow|onnxruntime_pybind11|xla_extension|_jax)[^/]*\.so"
    r"|torch/_C\.[^/]*)[^/]*$"
)
NESTED = re.compile(r"\w*(Error|Exception|Warning): .*\S")
KINDS = ("float32", "float16")
SIDE = 256
SQUARE = (SIDE, SIDE)
PICTURES, FILTERS, RESULT = (2, 8, 16, 16), (8, 8, 3, 3), (2, 8, 14, 14)  # channels first
CUDA = "CUDAExecutionProvider"


def tell_mapped():
    """The files of CUDA, the driver and the frameworks in this process, in order of address; a
    deleted one says so.
    """
    files = []
    for _, _, path in talk.mapped():
        if path not in files and MAPPED.match(path.replace(" (deleted)", "")):
            files.append(path)
    say({"mapped": files})


def call(name, function, *args):
    """Call what has a name of its own, and tell what it raises, which goes on."""
    say({"calling": name})
    start = clock()
    try:
        return function(*args)
    except BaseException as error:
        failed(name, text=reason(error), ms=since(start))
        raise


def attempt(name, step, *args):
    """Run one stage; whether it passed."""
    with Stage(name) as stage:
        try:
            step(*args)
        except (Exception, SystemExit) as error:
            if not isinstance(error, Failed):
                say({"exception": story(error)})
            raise Failed(reason(error)) from None
        finally:
            tell_mapped()
    return stage.ok


def compute(work, wanted):
    """Each calculation of a stage, and the extremes of its results, which the host knows."""
    for name, function in work:
        for (part, lowest, highest), got in zip(wanted, call(name, function)):
            found = (float(got.min()), float(got.max()))
            off = [abs(one - other) for one, other in zip(found, (lowest, highest))]
            right = all(one <= TOLERANCE * highest for one in off)  # false for NaN too
            wrong = "wrong result: from %g to %g instead of %g to %g" % (found + (lowest, highest))
            compare("check %s, %s" % (name, part), right, wrong)


def reason(error):
    """The line of an exception that tells what happened: not a list of remedies, not the traceback
    inside it.
    """
    kind, text = type(error).__name__, str(error)
    lines = [line.strip() for line in text.splitlines() if re.search(r"\w", line)]
    inner = [line for line in lines if NESTED.match(line)]
    if inner and ("Original error" in text or lines[0].startswith("Traceback")):
        return inner[-1]
    if isinstance(error, Failed):
        return text
    return "%s: %s" % (kind, lines[0]) if lines else kind


def story(error):
    """The traceback from where the framework's code begins, a long one without its middle."""
    trace = error.__traceback__
    while trace is not None:
        if os.path.dirname(os.path.realpath(trace.tb_frame.f_code.co_filename)) != HERE:
            break
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    if len(text) <= MOST_TEXT:
        return text
    return text[: MOST_TEXT // 3] + "\n[...]\n" + text[-MOST_TEXT * 2 // 3 :]


# ---------------------------------------------------------------- frameworks


PRODUCT = [("product", SIDE, SIDE)]
CONVOLVED = [("forward", 72, 72), ("input gradient", 8, 72), ("filter gradient", 392, 392)]
"""What the parts of a result are called, with their lowest and highest number.

Each framework below gives what lists its GPUs, and pairs of a name and what computes the parts of a
product, and of a convolution.
"""


def each_kind(name, function):
    """A calculation in each number format."""
    return [(name + kind, lambda kind=kind: function(kind)) for kind in KINDS]


def numpy_ones(kind, shape):
    """An array of ones, by numpy, which every framework but PyTorch needs itself."""
    return importlib.import_module("numpy").ones(shape, kind)


def torch(own, gentle):
    """PyTorch: any release from 0.4."""
    cuda = own.cuda

    def devices():
        """Where there is none, initialising says why."""
        count = call("torch.cuda.device_count()", cuda.device_count)
        if not gentle:
            call("torch.cuda.init()", cuda.init if hasattr(cuda, "init") else cuda._lazy_init)
        compare("count the GPUs", count, "torch counts no GPU")

    def ones(kind, shape):
        return own.ones(*shape, dtype=getattr(own, kind), device="cuda")

    def back(*tensors):
        cuda.synchronize()  # errors of a launch come then
        return [one.detach().cpu().float() for one in tensors]

    def context():
        return back(own.zeros(1, device="cuda"))[:0]

    def multiplied(kind):
        return back(ones(kind, SQUARE).matmul(ones(kind, SQUARE)))

    def version():
        own.backends.cudnn.version()
        return []

    def convolved(kind):
        pictures, filters = ones(kind, PICTURES), ones(kind, FILTERS)
        pictures.requires_grad_()
        filters.requires_grad_()
        forward = own.nn.functional.conv2d(pictures, filters)
        forward.float().sum().backward()
        return back(forward, pictures.grad, filters.grad)

    products = [("torch.zeros(1, device='cuda')", context)] + each_kind(
        "torch.matmul, ", multiplied
    )
    convolutions = [("torch.backends.cudnn.version()", version)] + each_kind("conv2d, ", convolved)
    return devices, products, convolutions


def tensorflow(own, gentle):
    """TensorFlow from 1.14, where eager execution is turned on, to 2.x."""

    def devices():
        """Keep to the first GPU, and do not fall back."""
        built = own.test.is_built_with_cuda()
        compare("tf.test.is_built_with_cuda()", built, "this TensorFlow is built without CUDA")
        if own.__version__.startswith("1."):
            own.compat.v1.enable_eager_execution()
        config = own.config
        listed = getattr(config, "list_physical_devices", None)  # since 2.1
        listed = listed or config.experimental.list_physical_devices
        gpus = call("tf.config.list_physical_devices('GPU')", listed, "GPU")
        compare("count the GPUs", gpus, "TensorFlow lists no GPU")
        config.experimental.set_visible_devices(gpus[:1], "GPU")
        config.experimental.set_memory_growth(gpus[0], True)  # taken as it is needed
        config.set_soft_device_placement(False)

    def ones(kind, shape):
        return own.constant(numpy_ones(kind, shape))

    def back(*tensors):
        for one in tensors:
            compare("look where it ran", "GPU" in one.device, "ran on the CPU: " + one.device)
        return [one.numpy() for one in tensors]

    def multiplied(kind):
        with own.device("/GPU:0"):
            return back(own.matmul(ones(kind, SQUARE), ones(kind, SQUARE)))

    def convolved(kind):
        """Channels last."""
        with own.device("/GPU:0"):
            x, w = ones(kind, (2, 16, 16, 8)), ones(kind, (3, 3, 8, 8))
            with own.GradientTape() as tape:
                tape.watch([x, w])
                forward = own.nn.conv2d(x, w, [1, 1, 1, 1], "VALID")
            gradient = ones(kind, (2, 14, 14, 8))
            return back(forward, *tape.gradient(forward, [x, w], output_gradients=gradient))

    products = each_kind("tf.matmul, ", multiplied)
    return devices, products, each_kind("tf.nn.conv2d, ", convolved)


def jax(own, gentle):
    """Any release with `jax.devices`."""
    gpus = []

    def devices():
        try:
            gpus.extend(call("jax.devices('gpu')", own.devices, "gpu"))
        except RuntimeError:  # it names only the CPU; the bridge keeps what the CUDA client said
            errors = getattr(sys.modules.get("jax._src.xla_bridge"), "_backend_errors", {})
            why = str(errors.get("cuda") or errors.get("gpu") or "").strip()[:600]
            compare("start of the CUDA client", not why, why)
            raise

    def on_gpu(function, kind, *shapes):
        """The values of arrays that the GPU made of ones."""
        numpy = importlib.import_module("numpy")
        given = [own.device_put(numpy_ones(kind, shape), gpus[0]) for shape in shapes]
        arrays = own.jit(function)(*given)
        for one in arrays:
            several = callable(getattr(one, "devices", None))
            places = one.devices() if several else [one.device_buffer.device()]
            on_cpu = any(place.platform == "cpu" for place in places)
            compare("look where it ran", not on_cpu, "ran on the CPU")
        return [numpy.asarray(one.block_until_ready()) for one in arrays]

    def multiplied(kind):
        return on_gpu(lambda a, b: (a.dot(b),), kind, SQUARE, SQUARE)

    def both_ways(pictures, filters, gradient):
        forward, back = own.vjp(lambda x, w: own.lax.conv(x, w, (1, 1), "VALID"), pictures, filters)
        return (forward,) + tuple(back(gradient))

    def convolved(kind):
        return on_gpu(both_ways, kind, PICTURES, FILTERS, RESULT)

    return devices, each_kind("dot, ", multiplied), each_kind("lax.conv, ", convolved)


def block(tag, *parts):
    """A field of protobuf that has a length, which is short here."""
    data = b"".join(parts)
    return bytes([tag, len(data)]) + data


def model(operator):
    """A ModelProto (onnx.proto), IR 4 and opset 9, which every release since 0.4 reads: one
    operator with two inputs, float32 of any shape.
    """
    tensor = block(18, block(10, b"\x08\x01"))
    node = block(10, block(10, b"a"), block(10, b"b"), block(18, b"c"), block(34, operator))
    inputs = [block(90, block(10, name), tensor) for name in (b"a", b"b")]
    graph = block(58, node, block(18, b"graph"), *inputs, block(98, block(10, b"c"), tensor))
    return b"\x08\x04" + graph + block(66, b"\x0a\x00\x10\x09")


def provider_error(own):
    """What the loader says of the provider's library."""
    folder = os.path.join(os.path.dirname(own.__file__), "capi")
    form = "%s.dll" if os.name == "nt" else "lib%s.so"
    for name in ("onnxruntime_providers_shared", "onnxruntime_providers_cuda"):
        for path in glob.glob(os.path.join(glob.escape(folder), form % name)):
            try:
                ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
            except OSError as error:
                return str(error)
    return ""


def onnxruntime(own, gentle):
    """Small models in float32."""

    def opened(operator):
        """A session that asks for CUDA alone, with little memory."""
        provider, found = CUDA, re.match(r"(\d+)\.(\d+)", own.__version__)
        if found and (int(found.group(1)), int(found.group(2))) >= (1, 8):
            little = {"gpu_mem_limit": str(256 << 20), "arena_extend_strategy": "kSameAsRequested"}
            provider = (CUDA, little)
        return own.InferenceSession(model(operator), own.SessionOptions(), providers=[provider])

    def devices():
        """Open the CUDA provider, as the first session does; where that fails, ask the loader."""
        name = "onnxruntime.get_available_providers()"
        built = CUDA in call(name, own.get_available_providers)
        compare("look for the CUDA provider", built, "this ONNX Runtime is built without CUDA")
        session = call("InferenceSession(%s)" % CUDA, opened, b"MatMul")
        if CUDA not in session.get_providers():
            why = provider_error(own)
            compare("get_providers()", False, "fell back to the CPU" + (": " + why if why else ""))

    def run(operator, left, right):
        session = opened(operator)
        compare("look where it ran", CUDA in session.get_providers(), "ran on the CPU")
        given = {"a": numpy_ones("float32", left), "b": numpy_ones("float32", right)}
        return session.run(None, given)

    products = [("run, MatMul", lambda: run(b"MatMul", SQUARE, SQUARE))]
    return devices, products, [("run, Conv", lambda: run(b"Conv", PICTURES, FILTERS))]


KERNEL = r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""


def cupy(own, gentle):
    """CuPy: in place of a convolution, which it does not have, a kernel that it compiles here."""

    def devices():
        count = call("cudaGetDeviceCount", own.cuda.runtime.getDeviceCount)
        compare("count the GPUs", count, "CuPy counts no GPU")

    def ones(shape):
        return own.asarray(numpy_ones("float32", shape))

    def back(array):
        own.cuda.Stream.null.synchronize()
        return [own.asnumpy(array)]

    def launched():
        one, out = ones(SQUARE), own.zeros(SQUARE, "float32")
        count = importlib.import_module("numpy").int32(SIDE * SIDE)
        kernel = own.RawKernel(KERNEL, "add")
        kernel((SIDE * SIDE // 256,), (256,), (one, one, out, count))
        compare("check the sum", float(back(out)[0].max()) == 2, "1 and 1 are not 2")
        return []

    products = [
        ("cupy.asarray", lambda: back(ones((1,)))[:0]),
        ("cupy.dot, float32", lambda: back(ones(SQUARE).dot(ones(SQUARE)))),
    ]
    return devices, products, [("compile and launch", launched)]


PROBES = {one.__name__: one for one in (torch, tensorflow, jax, onnxruntime, cupy)}
LISTS_GENTLY = ("torch", "cupy")  # listing the GPUs makes no context on them
SETTINGS = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "CUPY_CACHE_IN_MEMORY": "1"}
"""Where the user has not set them: JAX would take most of the memory, CuPy would write files."""


def load(name):
    """Import, with all that it prints; an empty folder of that name is no framework."""
    for variable, value in SETTINGS.items():
        os.environ.setdefault(variable, value)
    os.environ.pop("TF_CPP_MIN_LOG_LEVEL", "")
    call("import " + name, importlib.import_module, name).__version__  # noqa: B018


def main(name, gentle):
    """Every stage in order; without an import or a device there is no going on."""
    talk.begin()
    sys.path[:] = [path for path in sys.path if os.path.realpath(path) != HERE]
    faulthandler.enable()
    faulthandler.dump_traceback_later(HANGING)
    if not attempt("import", load, name) or (gentle and name not in LISTS_GENTLY):
        return
    own = sys.modules[name]
    if name == "tensorflow" and not hasattr(own, "config"):  # before 1.14
        return
    devices, products, convolutions = PROBES[name](own, gentle)
    if attempt("devices", devices) and not gentle:
        attempt("matmul", compute, products, PRODUCT)
        attempt("convolution", compute, convolutions, CONVOLVED)


if __name__ == "__main__":
    main(sys.argv[1], "--gentle" in sys.argv)
    talk.leave()
