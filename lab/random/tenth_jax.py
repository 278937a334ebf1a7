"""Tenth operators, JAX: mapping, derivatives, trees and static values, products, cuts, compilers told by files, memory and hosts."""

from __future__ import annotations

from lab.random.tenth import BUG, IDX, LIM, OOM, ORD, OT, PEER, SEL, SET, SHA, Case, J, enter, py


def jx(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """A program that computes on the device first."""
    head = (
        J
        + "dev = jax.devices('@J@')[0]\nx = jax.device_put(jnp.ones((4, 3)), dev)\nprint('on', x.devices(), float((x @ x.T).sum()), flush=True)\n"
    )
    return py("jax-matmul jax-grad", target, cause, also, head + body, expect)


enter(
    "jax-mapping",
    jx("lengths that differ", SHA, (OT,), "print(jax.vmap(jnp.dot)(x, jnp.ones((5, 3))))", "(?i)size|vmap|axis"),
    jx("axis beyond the array", SHA, (OT, IDX), "print(jax.vmap(jnp.sum, in_axes=4)(x))", "(?i)axis|vmap|rank"),
    jx("axes for two, arguments one", SHA, (OT,), "print(jax.vmap(lambda a: a + 1, in_axes=(0, None))(x))", "(?i)in_axes|argument"),
    jx("a number mapped over", SHA, (OT,), "print(jax.vmap(lambda a, b: a * b)(x, 3.0))", "(?i)vmap|axis|rank"),
    jx("scan over rows of unlike number", SHA, (OT,), "print(jax.lax.scan(lambda c, r: (c, r[0] + r[1].sum()), 0.0, (x, jnp.ones((5, 2)))))", "(?i)scan|leading|size"),
    jx("mapped on the host over a tree", SHA, (OT,), "print(jax.lax.map(lambda r: r['a'] + r['b'], {'a': x, 'b': jnp.ones((2, 3))}))", "(?i)scan|leading|size"),
)  # fmt: skip
enter(
    "jax-derivatives",
    jx("of whole numbers", SHA, (OT,), "print(jax.grad(lambda v: (v * 2).sum())(jnp.arange(3)))", "(?i)int|float|dtype"),
    jx("of what is no number", SHA, (OT,), "print(jax.grad(lambda v: v * 2)(x))", "(?i)scalar"),
    jx("own rule with one answer too few", SHA, (OT,), "@jax.custom_vjp\ndef f(a, b):\n    return (a * b).sum()\nf.defvjp(lambda a, b: (f(a, b), (a, b)), lambda r, g: (g * r[1],))\nprint(jax.grad(f)(x, x))", "(?i)custom_vjp|tuple|tree|length"),
    jx("own rule of another shape", SHA, (OT,), "@jax.custom_vjp\ndef f(a):\n    return (a ** 2).sum()\nf.defvjp(lambda a: (f(a), a), lambda r, g: (g * r[0],))\nprint(jax.grad(f)(x))", "(?i)shape|custom_vjp|cotangent"),
    jx("own rule never given", ORD, (OT,), "@jax.custom_jvp\ndef f(a):\n    return jnp.sin(a).sum()\nprint(jax.grad(f)(x))", "(?i)defjvp|custom_jvp|rule|jvp"),
    jx("help for another argument", OT, (SHA, IDX), "print(jax.grad(lambda v: v.sum(), argnums=2)(x))", "(?i)argnums|positional"),
    jx("side value without a word", OT, (SHA,), "print(jax.value_and_grad(lambda v: (v.sum(), v))(x))", "(?i)scalar|tuple"),
)  # fmt: skip
enter(
    "jax-trees-and-static",
    jx("list for a fixed value", OT, (SHA, ORD), "f = jax.jit(lambda v, n: v.reshape(n), static_argnums=1)\nprint(f(x, [12]))", "(?i)hashable|static"),
    jx("a word as an array", SHA, (OT,), "print(jax.jit(lambda v, m: v * 2)(x, 'relu'))", "(?i)str|JAX type|abstract"),
    jx("a class nobody told of", SHA, (OT,), "class P:\n    w = 1.0\nprint(jax.jit(lambda p: p)(P()))", "(?i)JAX type|abstract|P object|not a valid"),
    jx("trees of unlike form", SHA, (OT,), "print(jax.tree.map(lambda a, b: a - b, {'w': x, 'b': x}, {'w': x}))", "(?i)structure|key|mismatch|dict"),
    jx("fixed value by a name that is none", OT, (SHA,), "f = jax.jit(lambda v, n: v * n, static_argnames='size')\nprint(f(x, 3))", "(?i)static_argnames|size"),
    jx("leaf that is nothing", SHA, (OT,), "print(jnp.stack([x, None]))", "(?i)None"),
)  # fmt: skip
enter(
    "jax-products",
    jx("inner sizes that differ", SHA, (OT,), "print(x @ jnp.ones((4, 2)))", "(?i)contract|shape|dot|size"),
    jx("letters that do not fit", SHA, (OT,), "print(jnp.einsum('ij,jk', x, jnp.ones((5, 2))))", "(?i)size|einsum|dimension|label"),
    jx("factors of a rectangle", SHA, (OT,), "print(jnp.linalg.cholesky(x))", "(?i)square|shape|last two"),
    jx("system of unlike height", SHA, (OT,), "print(jnp.linalg.solve(jnp.eye(4), jnp.ones((5, 1))))", "(?i)shape|solve|contract|match|size|incompatible"),
    jx("channels of a convolution", SHA, (OT,), "print(jax.lax.conv(jnp.ones((1, 3, 8, 8)), jnp.ones((4, 5, 3, 3)), (1, 1), 'SAME'))", "(?i)feature|channel|conv"),
    jx("joined of unlike width", SHA, (OT,), "print(jnp.concatenate([x, jnp.ones((4, 2))]))", "(?i)concat|shape|dimension"),
    jx("attention of unlike heads", SHA, (OT,), "print(jax.nn.dot_product_attention(jnp.ones((1, 8, 6, 16)), jnp.ones((1, 8, 4, 16)), jnp.ones((1, 8, 4, 16))))", "(?i)head|shape|multiple|div"),
)  # fmt: skip
enter(
    "jax-cuts",
    jx("more than is there", SHA, (OT, IDX), "print(jax.lax.slice(x, (0, 0), (9, 3)))", "(?i)slice|limit|bound"),
    jx("moving window larger than the array", SHA, (OT, IDX), "print(jax.lax.dynamic_slice(x, (0, 0), (5, 3)))", "(?i)slice|size"),
    jx("widened the wrong way", SHA, (OT,), "print(jnp.broadcast_to(x, (4, 5)))", "(?i)broadcast|shape"),
    jx("numbers into another count", SHA, (OT,), "print(x.reshape(5, 3))", "(?i)reshape|size"),
    jx("too many indices", SHA, (OT, IDX), "print(x[0, 0, 0])", "(?i)indices|index"),
    jx("repeated by a traced number", OT, (SHA, ORD), "print(jax.jit(lambda n: jnp.repeat(x, n, axis=0))(jnp.array([1, 2, 1, 1])))", "(?i)trac|concrete|total_repeat_length"),
)  # fmt: skip
TOLD = (OT, BUG, "install.corrupted")


def flags(target: str, value: str, also: tuple[str, ...] = TOLD, setup: str = "") -> Case:
    """The compiler is told by XLA_FLAGS to take something from a file, or a value of another kind."""
    return Case("jax-matmul jax-grad jax-fft", target, SET, also, setup=setup, environ={"XLA_FLAGS": value}, void="")


enter(
    "xla-flags-by-file",
    flags("tuning results that are not there", "--xla_gpu_load_autotune_results_from=$W/none.textproto", (*TOLD, LIM)),
    flags("tuning results are a page", "--xla_gpu_load_autotune_results_from=$W/page.textproto", setup="echo '<html>404</html>' > $W/page.textproto"),
    flags("card's description is not there", "--xla_gpu_target_config_filename=$W/h200.textproto", (*TOLD, LIM)),
    flags("card's description is empty", "--xla_gpu_target_config_filename=$W/e.textproto", setup=": > $W/e.textproto"),
    flags("a number in words", "--xla_gpu_autotune_level=high"),
    flags("yes for true", "--xla_gpu_enable_latency_hiding_scheduler=ja"),
    flags("two flags with a comma", "--xla_gpu_autotune_level=0,--xla_dump_hlo_as_text=true"),
    flags("quotes that stay", "'--xla_gpu_autotune_level=0'"),
    flags("harmless: dumped as text", "--xla_dump_to=$W/dump --xla_dump_hlo_as_text"),
)  # fmt: skip
GROW = (
    "import os\nos.environ['XLA_PYTHON_CLIENT_MEM_FRACTION'] = '.01'\n"
    + J
    + "assert jax.default_backend() == 'gpu', 'cuda'\n"
)
FULL = "(?i)RESOURCE_EXHAUSTED|out of memory"
enter(
    "jax-grows",
    py("jax-grad", "states kept in a list", OOM, (), GROW + "kept = []\nfor i in range(400):\n    kept.append(jnp.full((64, 1024, 256), float(i)))\njax.block_until_ready(kept)\n", FULL),
    py("jax-grad", "steps of a scan kept", OOM, (), GROW + "f = lambda c, _: (jnp.sin(c), c)\nprint(jax.jit(lambda c: jax.lax.scan(f, c, None, length=500)[1])(jnp.ones((1024, 4096))).shape)\n", FULL),
    py("jax-grad", "gradient through many layers", OOM, (), GROW + "def net(x):\n    for i in range(60):\n        x = jnp.tanh(x * (1.0 + i))\n        x = jax.lax.optimization_barrier(x)\n    return x.sum()\nx = jnp.ones((8192, 4096))\nprint('batch', x.nbytes >> 20, 'MB', flush=True)\ng = jax.jit(jax.grad(net))(x)\nprint(float(g.sum()))\n", FULL),
    py("jax-grad", "batch mapped whole", OOM, (), GROW + "a = jnp.ones((512, 256))\nprint('pairs', flush=True)\nd = jax.vmap(lambda u: jax.vmap(lambda v: jnp.outer(u, v))(a))(a)\nprint(d.shape)\n", FULL),
)  # fmt: skip
enter(
    "jax-clusters",
    jx("coordinator without a port", SET, (OT, PEER, ORD), "jax.distributed.initialize('node-1', 1, 0)", "(?i)before|port|address|initialize"),
    py("jax", "name that nobody resolves", PEER, (SET, OT), J + "jax.distributed.initialize('head.invalid:@O@', 2, 1, initialization_timeout=6)\nprint(jax.devices())\n", "(?i)deadline|unavailable|resol|dns|timeout|timed"),
    py("jax", "devices of a word", SEL, (SET, OT), J + "jax.distributed.initialize('127.0.0.1:@O@', 1, 0, local_device_ids='first')\nprint(jax.devices())\n", "(?i)first|int|device|type|str"),
    py("jax", "more processes than come", PEER, (ORD, OT), J + "jax.distributed.initialize('127.0.0.1:@O@', 3, 0, initialization_timeout=6)\nprint(jax.devices())\n", "(?i)deadline|barrier|timed|timeout|connected"),
    py("jax", "asked about the cluster without one", OT, (PEER, ORD, SEL), J + "from jax.experimental import multihost_utils\nprint(jax.devices('@J@'), flush=True)\nprint(jax.devices('@J@')[jax.process_count() * 4].id)\n", "(?i)index"),
)  # fmt: skip
