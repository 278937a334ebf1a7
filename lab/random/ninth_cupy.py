"""Ninth operators, CuPy: compiler's options, solvers, sparse and filter functions, textures, pools, captures, types without a loop."""

from __future__ import annotations

from lab.random.ninth import (
    BAD,
    BUILD,
    COMPILER,
    IDX,
    ILL,
    LAU,
    OOM,
    ORD,
    OT,
    PATH,
    SEL,
    SET,
    SHA,
    UNSUP,
    C,
    Case,
    enter,
)


def cp(target: str, cause: str, also: tuple[str, ...], body: str, expect: str = "", needs: str = "cupy-matmul cupy-raw") -> Case:  # fmt: skip
    """A program of CuPy alone, after a healthy step on the device."""
    head = "a = cupy.ones((8, 8), dtype='f')\nprint('warm', float((a @ a).sum()), flush=True)\n"
    return Case(needs, target, cause, also, code=f"{C}{head}{body}\n", expect=expect)


KERNEL = 'extern "C" __global__ void k(float* p) { @BODY@ }'


def raw(target: str, cause: str, also: tuple[str, ...], body: str, options: str, expect: str) -> Case:
    """A kernel of the user's own with other options."""
    text = KERNEL.replace("@BODY@", body)
    return cp(target, cause, also, f"k = cupy.RawKernel(r'''{text}''', 'k'{options})\nk((1,), (8,), (a,))\nprint(float(a.sum()))", expect)  # fmt: skip


enter(
    "kernel-options",
    raw("card of long ago", BUILD, (UNSUP, SET), "p[0] = 1;", ", options=('--gpu-architecture=sm_20',)", "(?i)arch|sm_20|invalid"),
    raw("language of tomorrow", BUILD, (SET,), "p[0] = 1;", ", options=('-std=c++55',)", "(?i)c\\+\\+55|std|option"),
    raw("option of another compiler", BUILD, (SET,), "p[0] = 1;", ", options=('-ftree-vectorize',)", "(?i)option|ftree"),
    raw("compiler outside, not to be had", BUILD, (COMPILER, PATH), "p[0] = 1;", ", backend='nvcc', options=('-ccbin', '/opt/gcc-5/bin/g++')", "(?i)gcc-5|nvcc|compil"),
    raw("back end of another name", OT, (SET, BUILD), "p[0] = 1;", ", backend='clang'", "(?i)backend|clang"),
    raw("shared memory of 200 kB inside", BUILD, (LAU,), "__shared__ float s[50000]; s[threadIdx.x] = 1; __syncthreads(); p[threadIdx.x] = s[7 - threadIdx.x];", "", "(?i)shared"),
    raw("two types of a name", BUILD, (), "int q = 1; float q = 2; p[0] = q;", "", "(?i)declared|q"),
    raw("header that is nowhere", BUILD, (PATH, COMPILER), "p[0] = 1; }\n#include <acme/half_math.cuh>\n__device__ void z() {", "", "(?i)half_math"),
)  # fmt: skip
SP = "import cupyx.scipy.sparse as sp\n"
enter(
    "cupy-solvers",
    cp("system of unlike sizes", SHA, (OT,), "print(cupy.linalg.solve(a, cupy.ones(5, dtype='f')))", "(?i)shape|dim|size|match"),
    cp("eigenvalues of a rectangle", SHA, (OT,), "print(cupy.linalg.eigvalsh(cupy.ones((3, 5))))", "(?i)square"),
    cp("triangle of unlike sizes", SHA, (OT,), "from cupyx.scipy.linalg import solve_triangular\nprint(solve_triangular(a, cupy.ones(5, dtype='f')))", "(?i)incompatible|dim|shape"),
    cp("factors of a cube", SHA, (OT,), "from cupyx.scipy.linalg import lu_factor\nprint(lu_factor(cupy.ones((2, 2, 2))))", "(?i)dim|array|square|LinAlg"),
    cp("whole numbers in half precision", SHA, (OT,), "print(cupy.linalg.svd(cupy.ones((4, 4), dtype='e')))", "(?i)dtype|float16|type|support"),
    cp("inverse that is none, checked", OT, (SHA,), "with cupyx.errstate(linalg='raise'):\n    print(cupy.linalg.inv(cupy.zeros((4, 4))))".replace("with cupyx", "import cupyx\nwith cupyx"), "(?i)singular|LinAlg"),
    cp("not positive, checked", OT, (SHA,), "import cupyx\nwith cupyx.errstate(linalg='raise'):\n    print(cupy.linalg.cholesky(-cupy.eye(4)))", "(?i)definite|LinAlg|minor"),
    cp("more eigenvalues than rows", SHA, (OT, IDX), SP + "from cupyx.scipy.sparse.linalg import eigsh\nprint(eigsh(sp.eye(6, format='csr'), k=6))", "(?i)k|must"),
)  # fmt: skip
enter(
    "cupy-sparse",
    cp("starts too few", SHA, (OT, IDX), SP + "print(sp.csr_matrix((cupy.ones(2), cupy.array([0, 1]), cupy.array([0, 2])), shape=(4, 4)))", "(?i)indptr|index|size|length"),
    cp("whole numbers as entries", SHA, (OT,), SP + "print(sp.csr_matrix(cupy.ones((4, 4), dtype='i')))", "(?i)bool|float|dtype|support"),
    cp("sum of unlike shapes", SHA, (OT,), SP + "print(sp.eye(4, format='csr') + sp.eye(5, format='csr'))", "(?i)shape|dim|inconsistent"),
    cp("product of unlike sizes", SHA, (OT,), SP + "print(sp.eye(4, format='csr') @ cupy.ones(5))", "(?i)dim|mismatch|shape"),
    cp("row that is not there", IDX, (OT, SHA), SP + "print(sp.eye(4, format='csr')[9])", "(?i)index|range|bound"),
    cp("cube as a matrix", SHA, (OT,), SP + "print(sp.csr_matrix(cupy.ones((2, 2, 2))))", "(?i)dim|2-D|two|ndim"),
    cp("host's matrix taken for the card's", SHA, (OT, SEL), SP + "import scipy.sparse\nprint(sp.eye(4, format='csr') @ scipy.sparse.eye(4, format='csr'))", "(?i)type|support|unsupported|shape|dim|operand"),
    cp("system by another format", SHA, (OT,), SP + "from cupyx.scipy.sparse.linalg import spsolve\nprint(spsolve(sp.eye(4, format='csr'), cupy.ones(3)))", "(?i)dim|shape|size|match"),
)  # fmt: skip
ND = "from cupyx.scipy import ndimage\n"
enter(
    "cupy-filters",
    cp("weights of another rank", SHA, (OT,), ND + "print(ndimage.convolve(a, cupy.ones(3)))", "(?i)shape|dim|weights"),
    cp("border of another name", OT, (SHA, SET), ND + "print(ndimage.gaussian_filter(a, 1.0, mode='fold'))", "(?i)mode|fold|boundary"),
    cp("points of another rank", SHA, (OT,), ND + "print(ndimage.map_coordinates(a, cupy.ones((3, 5))))", "(?i)shape|coord|dim"),
    cp("turned about one axis", OT, (SHA, IDX), ND + "print(ndimage.rotate(a, 30, axes=(0, 5)))", "(?i)ax"),
    cp("order nine", OT, (SHA,), ND + "print(ndimage.zoom(a, 2.0, order=9))", "(?i)order"),
    cp("marks of another shape", SHA, (OT,), ND + "print(ndimage.sum(a, cupy.ones((3, 3), dtype='i'), 1))", "(?i)shape|broadcast"),
    cp("transform over an axis too many", IDX, (SHA, OT), "print(cupy.fft.fftn(a, axes=(0, 4)))", "(?i)ax"),
    cp("norm of another name", OT, (SHA, SET), "print(cupy.fft.rfft(a, norm='unitary'))", "(?i)norm|unitary"),
    cp("real transform of complex numbers", SHA, (OT,), "print(cupy.fft.rfft(a.astype('F') + 1j))", "(?i)complex|real|type"),
)  # fmt: skip
enter(
    "cupy-without-a-loop",
    cp("remainder of complex numbers", SHA, (OT,), "print(a.astype('F') % 2)", "(?i)complex|loop|type|support"),
    cp("words", SHA, (OT,), "print(cupy.array(['a', 'b']))", "(?i)dtype|support|unsupported"),
    cp("bits of floats", SHA, (OT,), "print(cupy.bitwise_or(a, a))", "(?i)loop|type|float"),
    cp("numbers of eighty bits", SHA, (OT,), "import numpy\nprint(cupy.asarray(numpy.ones(4, dtype=numpy.longdouble)))", "(?i)dtype|float128|longdouble|support"),
    cp("own function with a loop over a list", BUILD, (OT, SHA), "f = cupy.vectorize(lambda v: sum([v, v]))\nprint(f(a))", "(?i)support|lambda|source|not|expr"),
    cp("three inputs where there are two", SHA, (OT,), "k = cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x + y', 'sum2')\nprint(k(a, a, a, a))", "(?i)argument|number"),
    cp("types that are not one", SHA, (OT,), "k = cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x + y', 'sum2')\nprint(k(a, a.astype('d')))", "(?i)type|mismatch"),
    cp("placed into a narrower type", SHA, (OT,), "b = cupy.zeros((8, 8), dtype='i')\ncupy.add(a, a, out=b)", "(?i)cast"),
    cp("shapes that do not widen", SHA, (), "print(a + cupy.ones(3))", "(?i)broadcast|shape"),
)  # fmt: skip
RT = "from cupy.cuda import runtime\n"
TEX = "from cupy.cuda import texture\nfrom cupy.cuda import runtime as r\nc = texture.ChannelFormatDescriptor(32, 0, 0, 0, r.cudaChannelFormatKindFloat)\n"
enter(
    "cupy-places",
    cp("managed memory of terabytes", OOM, (), "cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)\nprint(cupy.ones((1 << 43,), dtype='u1').sum())", "(?i)memory"),
    cp("driver's pool of terabytes", OOM, (), "cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)\nprint(cupy.empty((1 << 43,), dtype='u1').sum())", "(?i)memory"),
    cp("twice the card as a limit", OT, (SET, OOM), "cupy.get_default_memory_pool().set_limit(fraction=2.0)", "(?i)fraction|limit"),
    cp("copy longer than the array", ILL, (SHA, ORD), RT + "import numpy\nh = numpy.zeros(64, 'f')\nruntime.memcpy(h.ctypes.data, a.data.ptr, 1 << 40, 2)", "(?i)cuda"),
    cp("filled beyond the end", ILL, (SHA, ORD), RT + "runtime.memset(a.data.ptr, 1, 1 << 42)\nruntime.deviceSynchronize()", "(?i)cuda"),
    cp("prefetched to the fifth card", SEL, (SHA, ILL, ORD), RT + "runtime.memPrefetchAsync(a.data.ptr, 64, 4, 0)\nruntime.deviceSynchronize()", "(?i)cuda"),
    cp("texture wider than allowed", SHA, (LAU, OOM, OT), TEX + "print(texture.CUDAarray(c, 1 << 22))", "(?i)cuda|invalid"),
    cp("texture of three dimensions without a depth", SHA, (OT,), TEX + "t = texture.CUDAarray(c, 8, 8)\nt.copy_from(cupy.ones((8, 9), dtype='f'))", "(?i)shape|size|mismatch|cuda|invalid"),
    cp("host's memory registered that is not there", ILL, (SHA, ORD, OT, "memory.host"), RT + "runtime.hostRegister(0x1000, 4096, 0)", "(?i)cuda"),
)  # fmt: skip
ST = "s = cupy.cuda.Stream(non_blocking=True)\n"
enter(
    "cupy-captures",
    cp("begun twice", ORD, (), ST + "with s:\n    s.begin_capture()\n    s.begin_capture()", "(?i)captur|cuda"),
    cp("ended before it began", ORD, (), ST + "with s:\n    print(s.end_capture())", "(?i)captur|cuda"),
    cp("sorted inside", ORD, (), ST + "x = cupy.arange(4096)[::-1].copy()\nwith s:\n    s.begin_capture()\n    y = cupy.unique(x)\n    g = s.end_capture()\n    g.launch()", "(?i)captur|cuda"),
    cp("waited for inside", ORD, (), ST + "with s:\n    s.begin_capture()\n    s.synchronize()", "(?i)captur|cuda"),
    cp("copied to the host inside", ORD, (), ST + "with s:\n    s.begin_capture()\n    print(a.get(stream=s))", "(?i)captur|cuda"),
    cp("host function raises", OT, (ORD,), ST + "def told(_):\n    raise KeyError('frame 12')\ns.launch_host_func(told, None)\ns.synchronize()\nraise SystemExit('host function failed, see above')", "(?i)frame 12|host function"),
)  # fmt: skip
enter(
    "cupy-files",
    cp("array file cut", OT, (BAD,), "import os\ncupy.save('x.npy', a)\nos.truncate('x.npy', 140)\nprint(cupy.load('x.npy'))", "(?i)reshape|cannot|EOF|read|size|buffer"),
    cp("table with words", OT, (SHA,), "open('t.csv', 'w').write('1,2\\n3,gpu\\n')\nprint(cupy.asarray(cupy.genfromtxt('t.csv', delimiter=',', converters={1: float})))", "(?i)gpu|convert|float"),
    cp("objects in a file", OT, (BAD, SHA), "import numpy\nnumpy.save('o.npy', numpy.array([{}, None], dtype=object))\nprint(cupy.load('o.npy'))", "(?i)pickle"),
    cp("kernel's file is gone", OT, (PATH, BUILD), "m = cupy.RawModule(path='build/kernels.cubin')\nprint(m.get_function('k'))", "(?i)FILE_NOT_FOUND|file|cubin"),
    cp("function of another file", OT, (BUILD, PATH), "m = cupy.RawModule(code=r'extern \"C\" __global__ void scale(float* p) { p[0] = 1; }')\nprint(m.get_function('rescale'))", "(?i)NOT_FOUND|symbol"),
    cp("constant that the module has not", OT, (BUILD, PATH), "m = cupy.RawModule(code=r'extern \"C\" __global__ void scale(float* p) { p[0] = 1; }')\nprint(m.get_global('table'))", "(?i)NOT_FOUND|symbol"),
)  # fmt: skip
