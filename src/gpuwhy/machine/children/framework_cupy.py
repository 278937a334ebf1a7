"""CuPy on the GPU, for framework.py."""

import importlib
import os

numbers = importlib.import_module("framework_numbers")
CODE = r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""


class Probe:
    """The stages of CuPy; "convolution" is a kernel that it compiles here, since it has no
    convolution of its own.
    """

    lists_gently = True  # cudaGetDeviceCount makes no context

    def __init__(self, talk, gentle):
        self.talk = talk
        self.gentle = gentle
        self.cupy = None

    def load(self):
        """Import; version and build. Compiled kernels are not left in the home folder."""
        os.environ.setdefault("CUPY_CACHE_IN_MEMORY", "1")
        cupy = self.cupy = self.talk.call("import cupy", importlib.import_module, "cupy")
        self.talk.about(cupy.__version__, self.built_for())

    def built_for(self):
        """The CUDA version that it was compiled with."""
        try:
            built = importlib.import_module("cupy_backends.cuda.api.driver").get_build_version()
        except Exception:
            return []
        return ["CUDA %d.%d" % (built // 1000, built % 1000 // 10)]

    def devices(self):
        """The GPUs, by the runtime."""
        runtime, talk = self.cupy.cuda.runtime, self.talk
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

    def free(self):
        """What memory is free now."""
        self.talk.memory("cudaMemGetInfo", self.cupy.cuda.runtime.memGetInfo)

    def finished(self, array):
        """The same, once the GPU has finished."""
        self.cupy.cuda.Stream.null.synchronize()
        return array

    def matmul(self):
        """A context, then a product in float32."""
        cupy, talk, numpy = self.cupy, self.talk, numbers.load()
        left, right = numbers.matrices(numpy)
        a = talk.call("cupy.asarray", lambda: self.finished(cupy.asarray(left)))
        self.free()
        b = cupy.asarray(right)
        got = talk.twice("cupy.dot, float32", lambda: self.finished(a.dot(b)))
        talk.compare("cupy.dot, float32", cupy.asnumpy(got).astype("float64"), left.dot(right))

    def convolution(self):
        """A kernel compiled by NVRTC, and launched."""
        cupy, talk, numpy = self.cupy, self.talk, numbers.load()
        left, right = numbers.matrices(numpy)
        a, b, c = cupy.asarray(left), cupy.asarray(right), cupy.zeros(left.shape, "float32")
        self.free()
        kernel = talk.call("cupy.RawKernel", cupy.RawKernel, CODE, "add")
        blocks = (left.size + 255) // 256
        talk.twice(
            "compile and launch",
            lambda: self.launch(kernel, blocks, (a, b, c, numpy.int32(left.size))),
        )
        talk.compare("compile and launch", cupy.asnumpy(c).astype("float64"), left + right)

    def launch(self, kernel, blocks, given):
        """One launch, finished."""
        kernel((blocks,), (256,), given)
        self.cupy.cuda.Stream.null.synchronize()
