"""Compose files: services, their image, their variables and whether they ask for a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint import shell
from gpuwhy.lint.sheet import Handed, Image, Sheet, Variable, Workload
from gpuwhy.lint.yamls import BadYamlError, Map, Node, Seq, Text, documents
from gpuwhy.model.lint import Place, Problem


def read(path: str, text: str) -> Sheet:
    """A compose file."""
    sheet = Sheet(path, "compose")
    try:
        found = documents(text)
    except BadYamlError as error:
        sheet.problems.append(Problem(Place(path, error.line), str(error)))
        return sheet
    top = found[0] if found else Map()
    if not isinstance(top, Map):
        sheet.problems.append(Problem(Place(path, 1), "no compose file: a mapping with `services` is expected"))
        return sheet
    whole = "include" not in top
    for name, service in top.map("services").items():
        if isinstance(service, Map):
            sheet.workloads.append(_service(path, str(name), getattr(name, "line", 0), service, whole))
    _share(sheet.workloads)
    _left_out(sheet, text)
    return sheet


def _left_out(sheet: Sheet, text: str) -> None:
    """Reservations that are commented out, each with the service that they stand in."""
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*#\s*(-\s*)?(driver:\s*nvidia|runtime:\s*nvidia|gpus:|capabilities:.*gpu)", line):
            before = [work for work in sheet.workloads if work.place.line <= number]
            owner = max(before, key=lambda work: work.place.line, default=None)
            if owner is not None and owner.left_out is None and owner.request is None:
                owner.left_out = Place(sheet.path, _block(text.split("\n"), number))


def _block(lines: list[str], number: int) -> int:
    """The first line of the commented block that a line belongs to: `# deploy:`."""
    start = number
    while start > 1 and re.match(r"\s*#\s*(deploy|resources|reservations|devices)\s*:", lines[start - 2]):
        start -= 1
    return start


def _share(works: list[Workload]) -> None:
    """Services of one image of which another asks for a GPU: a server and its workers."""
    asking = {(work.image.text if work.image else "", work.built) for work in works if work.request}
    for number, work in enumerate(works):
        same = (work.image.text if work.image else "", work.built)
        again = [one for one in works[:number] if one.image and same == (one.image.text, one.built)]
        if not work.request and (same in asking or (again and containers.read(same[0]).gpu is None)):
            work.partial = True  # said once, of the first


def _service(path: str, name: str, line: int, service: Map, whole: bool) -> Workload:
    image, build = service.at("image"), service.at("build")
    work = Workload("compose", name, Place(path, line))
    if isinstance(image, Text) and image:
        work.image = Image(shell.expand(image, {}), Place(path, image.line))
    if isinstance(build, Text):
        work.built = f"{build}/Dockerfile"
    elif isinstance(build, Map):
        _build(path, work, build)
    work.partial = not whole or "extends" in service or not (work.image or work.built) or _only_builds(path, service)
    work.variables = variables(path, service.at("environment"))
    work.exempt = _mounts_devices(service)
    work.command = f"{words(service.at('entrypoint'))} {words(service.at('command'))}".strip()
    if "entrypoint" not in service and (handed := words(service.at("command"))):
        work.handed = Handed(handed, Place(path, service.line_of("command")))
    work.shared_memory = _shared_memory(service)
    work.stays = service.text("restart") in ("always", "unless-stopped")
    work.terminal = service.text("tty") == "true" or service.text("stdin_open") == "true"
    _requests(path, work, service)
    return work


def _only_builds(path: str, service: Map) -> bool:
    """docker-compose.build.yml, which says how the services of another file are built."""
    plain = re.search(r"(^|/)(docker-)?compose\.ya?ml$", path)
    return not plain and all(str(key) == "build" for key in service)


def _build(path: str, work: Workload, build: Map) -> None:
    work.built = f"{build.text('context') or '.'}/{build.text('dockerfile') or 'Dockerfile'}"
    work.arguments = {v.name: v.value for v in variables(path, build.at("args")).values()}
    work.target = shell.expand(build.text("target"), {})


def _requests(path: str, work: Workload, service: Map) -> None:
    """Where a service asks for GPUs: devices, `gpus`, or the nvidia runtime."""
    for device in service.seq("deploy", "resources", "reservations", "devices"):
        if isinstance(device, Map):
            _device(path, work, device)
    if "gpus" in service:
        work.request = work.request or Place(path, service.line_of("gpus"))
        for entry in service.seq("gpus"):
            if isinstance(entry, Text):
                said = f"`gpus` takes `all` or a list of mappings, not {str(entry)!r}, and Compose refuses it"
                work.wrong_request.append(Problem(Place(path, entry.line), said))
    if service.text("runtime").startswith("nvidia"):
        work.only_runtime = work.request is None and not service.at("env_file")
        work.request = work.request or Place(path, service.line_of("runtime"))
        work.runtime_class = True
    for generic in service.seq("deploy", "resources", "reservations", "generic_resources"):
        work.request = work.request or Place(path, generic.line)


def _device(path: str, work: Workload, device: Map) -> None:
    place = Place(path, device.line)
    wanted = [str(c).lower() for c in device.seq("capabilities")]
    if "capabilities" not in device:
        work.wrong_request.append(Problem(place, "a device reservation without `capabilities`, which Compose refuses"))
    elif device.text("driver") in ("nvidia", "") and not {"gpu", "nvidia", "compute"} & set(wanted):
        if device.text("driver") == "nvidia":
            listed = ", ".join(wanted) or "nothing"
            work.wrong_request.append(Problem(place, f"an nvidia device with capabilities [{listed}], without gpu"))
        return
    parts = [one for one in wanted if one in _PARTS]
    if parts and "compute" not in parts:
        work.device_parts = (", ".join(parts), Place(path, device.line_of("capabilities")))
    if "count" in device and "device_ids" in device:
        work.wrong_request.append(Problem(place, "both `count` and `device_ids`, which exclude each other"))
    work.request = work.request or place


_PARTS = frozenset(["compute", "compat32", "graphics", "utility", "video", "display", "ngx"])
"""Capabilities of a device that Docker hands on as NVIDIA_DRIVER_CAPABILITIES."""


def _mounts_devices(service: Map) -> bool:
    seen = ("/dev/nvidia", "nvidia.com/gpu", "/dev/dri", "/dev/kfd")
    return any(name in str(d) for d in service.seq("devices") for name in seen)


def _shared_memory(service: Map) -> bool:
    mounted = [*service.seq("volumes"), *service.seq("tmpfs")]
    return bool(
        "shm_size" in service
        or service.text("ipc") in ("host", "shareable")
        or service.text("ipc").startswith(("service:", "container:"))
        or any("/dev/shm" in words(m) for m in mounted)
    )


def variables(path: str, node: Node | None) -> dict[str, Variable]:
    """`environment` as a list of `A=b` or as a mapping; a value from outside is left out."""
    out = {name: Variable(name, shell.expand(text, {}), Place(path, line)) for name, text, line in _assigned(node)}
    return {name: variable for name, variable in out.items() if "$" not in variable.value}


def _assigned(node: Node | None) -> Iterator[tuple[str, str, int]]:
    """Each name with its value and its line."""
    if isinstance(node, Map):
        for key, value in node.items():
            if isinstance(value, Text):
                yield str(key), value, getattr(key, "line", node.line)
    elif isinstance(node, Seq):
        for entry in node:
            if isinstance(entry, Text) and "=" in entry:
                name, _, text = entry.partition("=")
                yield name, text, entry.line


def words(node: Node | None) -> str:
    """A command, written as a text or as a list; the values of a mapping one level deep."""
    if isinstance(node, Text):
        return re.sub(r"\s+", " ", node[:20_000])
    if isinstance(node, Seq):
        return " ".join(str(w)[:5_000] for w in node[:500] if isinstance(w, Text))
    return " ".join(str(v)[:5_000] for v in node.values() if isinstance(v, Text)) if isinstance(node, Map) else ""
