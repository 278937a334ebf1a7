"""Ninth operators, JAX: loops, types, keys, callbacks, meshes, options by name, kernels of its own, what does not fit."""

from __future__ import annotations

from lab.random.ninth import BAD, BUG, BUILD, IDX, LIM, OOM, ORD, OT, PATH, SEL, SET, SHA, Case, J, enter


def jx(target: str, cause: str, also: tuple[str, ...], body: str, expect: str = "", needs: str = "jax-matmul jax-grad") -> Case:  # fmt: skip
    """A program of JAX alone, after a healthy step on the device."""
    head = "d = jax.devices('@J@')[0]\nx = jax.device_put(jnp.ones((4, 4)), d)\nprint('warm', float((x @ x).sum()), flush=True)\n"
    return Case(needs, target, cause, also, code=f"{J}{head}{body}\n", expect=expect)


enter(
    "jax-loops",
    jx("condition is a vector", SHA, (OT,), "print(jax.lax.while_loop(lambda c: c < 5, lambda c: c + 1, jnp.zeros(3)))", "(?i)scalar|cond|bool"),
    jx("branches of unlike types", SHA, (OT,), "print(jax.lax.cond(True, lambda v: v, lambda v: v.astype(jnp.int32), x))", "(?i)branch|true_fun|type|identical"),
    jx("type of the carried value changes", SHA, (OT,), "print(jax.lax.fori_loop(0, 4, lambda i, c: c.astype(jnp.int8), x))", "(?i)carry|type|dtype"),
    jx("switch over no branches", OT, (SHA,), "print(jax.lax.switch(1, [], x))", "(?i)branch|empty"),
    jx("tree of another form carried", SHA, (OT,), "print(jax.lax.scan(lambda c, v: ((c, c), v), x, x))", "(?i)carry|structure|pytree|type"),
    jx("gradient through an unbounded loop", ORD, (OT, SHA, BUG), "print(jax.grad(lambda v: jax.lax.while_loop(lambda c: c.sum() < 90, lambda c: c * 2, v).sum())(x))", "(?i)reverse-mode|while_loop|forward"),
)  # fmt: skip
enter(
    "jax-numbers",
    jx("whole number of seventy bits", SHA, (OT,), "print(jnp.asarray(1 << 70))", "(?i)overflow|int|large"),
    jx("types that lax does not mix", SHA, (OT,), "print(jax.lax.add(x, x.astype(jnp.bfloat16)))", "(?i)dtype|type"),
    jx("shapes that lax does not widen", SHA, (), "print(jax.lax.mul(x, jnp.ones((4, 3))))", "(?i)shape"),
    jx("bits of another width", SHA, (OT,), "print(jax.lax.bitcast_convert_type(jnp.ones((3,), jnp.int8), jnp.float32))", "(?i)bitcast|shape|width|dimension"),
    jx("mixed types forbidden by itself", SHA, (SET, OT), "jax.config.update('jax_numpy_dtype_promotion', 'strict')\nprint(x + jnp.ones((4, 4), jnp.float16))", "(?i)promotion"),
    jx("widening forbidden by itself", SHA, (SET, OT), "jax.config.update('jax_numpy_rank_promotion', 'raise')\nprint(x + jnp.ones(4))", "(?i)rank|promotion"),
    jx("boolean mask of another length", SHA, (IDX, OT), "print(x[jnp.array([True, False])])", "(?i)boolean|mask|shape|index"),
    jx("float for an index", SHA, (IDX, OT), "print(x[jnp.array([0.0, 1.0])])", "(?i)index|integer|float"),
    jx("mode that nobody knows", OT, (SHA, IDX), "print(x.at[0].get(mode='wrapped'))", "(?i)mode"),
)  # fmt: skip
enter(
    "jax-keys",
    jx("generator of another name", SET, (OT, SHA), "print(jax.random.normal(jax.random.key(0, impl='mersenne'), (2,)))", "(?i)impl|mersenne|prng"),
    jx("old and new keys together", SHA, (OT,), "print(jnp.stack([jax.random.key(0), jax.random.PRNGKey(0)]))", "(?i)key|dtype|type|shape"),
    jx("key added to a number", SHA, (OT,), "print(jax.random.key(3) + 1)", "(?i)key|add|dtype|type"),
    jx("many keys where one is wanted", SHA, (OT,), "k = jax.random.split(jax.random.key(0), 3)\nprint(jax.random.normal(k, (2,)))", "(?i)key|shape|single|batch"),
    jx("bounds of a float draw in whole numbers", SHA, (OT,), "print(jax.random.uniform(jax.random.key(0), (2,), dtype=jnp.int32))", "(?i)dtype|float"),
    jx("choice without a place for it", SHA, (OT, IDX), "print(jax.random.choice(jax.random.key(0), 3, (9,), replace=False))", "(?i)replace|sample|larger"),
)  # fmt: skip
CB = "from jax.experimental import io_callback\n"
enter(
    "jax-host-calls",
    jx("writer raises", OT, (LIM,), CB + "def w(v):\n    raise OSError(28, 'No space left on device', 'metrics.bin')\nf = jax.jit(lambda v: io_callback(w, None, v))\nf(x)\njax.effects_barrier()", "(?i)space left"),
    jx("answer of another shape", SHA, (OT,), "import numpy\nf = jax.jit(lambda v: jax.pure_callback(lambda a: numpy.ones(3, 'f'), jax.ShapeDtypeStruct((5,), jnp.float32), v))\nprint(f(x))", "(?i)shape|callback|mismatch"),
    jx("debug print with a slip", OT, (), "jax.jit(lambda v: jax.debug.print('mean {m} of {n}', m=v.mean()))(x)\njax.effects_barrier()", "(?i)n'|KeyError|format|key"),
    jx("own rule without a derivative", OT, (ORD, SHA), "@jax.custom_jvp\ndef f(v):\n    return v * 2\nprint(jax.grad(lambda v: f(v).sum())(x))", "(?i)jvp|rule"),
    jx("callback mapped though forbidden", ORD, (OT, SHA), "import numpy\nf = lambda v: jax.pure_callback(lambda a: numpy.sin(a), jax.ShapeDtypeStruct(v.shape, v.dtype), v, vmap_method=None)\nprint(jax.vmap(f)(x))", "(?i)vmap"),
    jx("side effect without an order", ORD, (OT, BUG), CB + "f = lambda v: io_callback(lambda a: None, None, v, ordered=True)\nprint(jax.vmap(f)(x))", "(?i)vmap|ordered|batch"),
)  # fmt: skip
MESH = "import numpy\nfrom jax.sharding import Mesh, NamedSharding, PartitionSpec as P\nm = Mesh(numpy.array(jax.devices('@J@')[:1]), ('d',))\n"
enter(
    "jax-placing",
    jx("fourth device of one", SEL, (IDX, OT), "print(jax.device_put(x, jax.devices('@J@')[3]))", "(?i)index|list"),
    jx("memory of another kind", SEL, (SHA, OT, SET), "s = jax.sharding.SingleDeviceSharding(d, memory_kind='vmem_pool')\nprint(jax.device_put(x, s))", "(?i)memory|kind"),
    jx("process that is not here", SEL, (OT, "distributed.peer"), "print(jax.local_devices(process_index=3))", "(?i)process|Unknown"),
    jx("pieces under a name twice", SHA, (OT, SEL), MESH + "print(jax.device_put(x, NamedSharding(m, P('d', 'd'))))", "(?i)duplicate|d'|more than once|at most one"),
    jx("mapped over shards with other names", SHA, (OT, SEL), MESH + "f = jax.shard_map(lambda v: v, mesh=m, in_specs=P('rows'), out_specs=P('rows'))\nprint(f(x))", "(?i)rows"),
    jx("constraint without a mesh", ORD, (SHA, SEL, OT), MESH + "print(jax.jit(lambda v: jax.lax.with_sharding_constraint(v, P('d')))(x))", "(?i)mesh"),
    jx("places for three where there is one", SHA, (OT, SEL), MESH + "s = NamedSharding(m, P('d'))\nprint(jax.jit(lambda v: v, in_shardings=(s, s, s))(x))", "(?i)shardings|structure|pytree|prefix|tuple"),
    jx("mesh by hand of 2 x 2", SEL, (SHA, OT), "from jax.experimental import mesh_utils\nprint(mesh_utils.create_device_mesh((2, 2)))", "(?i)device|2"),
)  # fmt: skip
enter(
    "jax-options-by-name",
    jx("name with a slip", SET, (OT,), "jax.config.update('jax_platfrom_name', 'cuda')", "(?i)jax_platfrom_name|Unrecognized|config"),
    jx("host devices after the start", ORD, (SET, OT), "jax.config.update('jax_num_cpu_devices', 4)", "(?i)initialized|before|jax_num_cpu_devices"),
    jx("device by a wrong word", SEL, (SET, OT), "jax.config.update('jax_default_device', 'gpu:zero')\nprint(jnp.ones(2))", "(?i)device|gpu:zero|platform|invalid"),
    jx("cache's size in words", SET, (OT,), "jax.config.update('jax_compilation_cache_max_size', 'large')", "(?i)int|large|type"),
    jx("flag of the compiler for one function", SET, (OT, BUG), "f = jax.jit(lambda v: v * 2).lower(x).compile(compiler_options={'xla_gpu_go_faster': True})\nprint(f(x))", "(?i)xla_gpu_go_faster|option"),
    jx("value of another kind for one function", SET, (OT, BUG), "f = jax.jit(lambda v: v * 2).lower(x).compile(compiler_options={'xla_backend_optimization_level': 'much'})\nprint(f(x))", "(?i)much|option|value|parse"),
    jx("precision nobody has", SET, (OT, SHA), "print(jnp.dot(x, x, precision='ultra'))", "(?i)precision|ultra"),
)  # fmt: skip
enter(
    "jax-kept-work",
    jx("two profiles at once", ORD, (OT,), "jax.profiler.start_trace('tr')\njax.profiler.start_trace('tr')", "(?i)profile|already"),
    jx("profile ended that never began", ORD, (OT,), "jax.profiler.stop_trace()", "(?i)profile|start"),
    jx("array file cut", OT, (BAD,), "import os\njnp.save('a.npy', x)\nos.truncate('a.npy', 150)\nprint(jnp.load('a.npy').sum())", "(?i)reshape|cannot|EOF|size|read|buffer"),
    jx("archive that is a page", OT, (BAD,), "open('p.npz', 'w').write('<html>expired</html>')\nprint(jnp.load('p.npz'))", "(?i)pickle|magic|npz|allow"),
    jx("compiled for other shapes", SHA, (OT,), "f = jax.jit(lambda v: v * 2).lower(x).compile()\nprint(f(jnp.ones((5, 5))))", "(?i)shape|type|aval|compiled|signature"),
    jx("tree with other leaves", OT, (SHA,), "t = jax.tree.structure({'w': 1, 'b': 2})\nprint(jax.tree.unflatten(t, [x]))", "(?i)leaves|leaf|few"),
    jx("cache folder is a file", LIM, (OT, SET, PATH), "open('kept', 'w').close()\njax.config.update('jax_raise_persistent_cache_errors', True)\njax.config.update('jax_persistent_cache_min_compile_time_secs', 0.0)\njax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)\njax.config.update('jax_compilation_cache_dir', 'kept/xla')\nprint(jax.jit(lambda v: v * 3 + 1)(x))", "(?i)kept"),
)  # fmt: skip
enter(
    "jax-does-not-fit",
    jx("unit matrix of a million", OOM, (), "print(jnp.eye(1 << 20).sum())", "(?i)memory|RESOURCE|alloc"),
    jx("full Jacobian", OOM, (), "print(jax.jacfwd(lambda v: jnp.sin(v))(jnp.ones(1 << 20)).shape)", "(?i)memory|RESOURCE|alloc"),
    jx("every pair at once", OOM, (), "v = jnp.ones((1 << 19, 4))\nprint(jax.jit(lambda a: jnp.sort(jnp.abs(a[:, None] - a[None]).sum(-1), 1)[:, 0].sum())(v))", "(?i)memory|RESOURCE|alloc"),
    jx("product of Kronecker", OOM, (), "v = jnp.ones((1 << 10, 1 << 10))\nprint(jnp.kron(v, v).shape)", "(?i)memory|RESOURCE|alloc"),
    jx("padded beyond all sense", OOM, (SHA,), "print(jnp.pad(x, 1 << 19).shape)", "(?i)memory|RESOURCE|alloc"),
    jx("all lags of a signal", OOM, (), "v = jnp.arange(1 << 20)\nprint(jnp.ones(1 << 20)[(v[:, None] + v[None]) % 7].sum())", "(?i)memory|RESOURCE|alloc"),
)  # fmt: skip
PAL = "from jax.experimental import pallas as pl\n"
enter(
    "jax-own-kernels",
    jx("kernel with one argument too few", OT, (SHA, BUILD, ORD), PAL + "def k(a):\n    a[...] = 1\nprint(pl.pallas_call(k, out_shape=jax.ShapeDtypeStruct((16,), jnp.float32))(jnp.ones(16)))", "(?i)argument|positional"),
    jx("written with another shape", SHA, (OT, BUILD), PAL + "def k(a, o):\n    o[...] = a[...][:, None]\nprint(pl.pallas_call(k, out_shape=jax.ShapeDtypeStruct((16,), jnp.float32))(jnp.ones(16)))", "(?i)shape|broadcast|value"),
    jx("returns what it should write", OT, (SHA, BUILD), PAL + "def k(a, o):\n    return a[...] * 2\nprint(pl.pallas_call(k, out_shape=jax.ShapeDtypeStruct((16,), jnp.float32))(jnp.ones(16)))", "(?i)return|None|kernel"),
    jx("value kept from outside", ORD, (OT, SHA, BUILD), PAL + "t = jnp.arange(16.0)\ndef k(a, o):\n    o[...] = a[...] + t\nprint(pl.pallas_call(k, out_shape=jax.ShapeDtypeStruct((16,), jnp.float32))(jnp.ones(16)))", "(?i)capture|constant"),
    jx("foreign function of another platform", BUILD, (OT, SET, ORD, BUG), "print(jax.ffi.ffi_call('acme_rms_norm', jax.ShapeDtypeStruct((4, 4), jnp.float32))(x))", "(?i)acme_rms_norm|custom call|registered"),
)  # fmt: skip
