"""Compose files: services, their image, their variables and whether they ask for a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import images
from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.read import shell
from gpuwhy.lint.read.yamls import Map, Node, Seq, Text, top
from gpuwhy.lint.sheet import Image, Sheet, Variable, Workload

_LEFT_OUT = re.compile(
    r"\s*#\s*(-\s*)?(driver:\s*nvidia|runtime:\s*nvidia|gpus:|capabilities:.*gpu)"
)
_PARENT = re.compile(r"\s*#\s*(deploy|resources|reservations|devices)\s*:")


def read(path: str, text: str) -> Sheet:
    """A compose file."""
    sheet = Sheet(path, "compose")
    whole = top(sheet, text, "compose file: a mapping with `services`") or Map()
    for name, service in whole.map("services").items():
        if isinstance(service, Map):
            place = Place(path, getattr(name, "line", 0))
            work = _service(place, str(name), service)
            work.partial = work.partial or "include" in whole
            sheet.workloads.append(work)
    _share(sheet.workloads)
    _left_out(sheet, text.split("\n"))
    return sheet


def _left_out(sheet: Sheet, lines: list[str]) -> None:
    """Reservations that are commented out, each with the service that they stand in."""
    for number, line in enumerate(lines, 1):
        if not _LEFT_OUT.match(line):
            continue
        before = [work for work in sheet.workloads if work.place.line <= number]
        owner = max(before, key=lambda work: work.place.line, default=None)
        if owner and owner.left_out is None and owner.request is None:
            start = number
            while start > 1 and _PARENT.match(lines[start - 2]):
                start -= 1
            owner.left_out = Place(sheet.path, start)


def _same(work: Workload) -> tuple[str, str]:
    return (work.image.text if work.image else "", work.built)


def _share(works: list[Workload]) -> None:
    """Services of one image of which another asks for a GPU: a server and its workers."""
    asking = {_same(work) for work in works if work.request}
    for number, work in enumerate(works):
        again = work.image and any(_same(work) == _same(one) for one in works[:number])
        unknown = again and images.read(_same(work)[0]).gpu is None
        if not work.request and (_same(work) in asking or unknown):
            work.partial = True  # said once, of the first


def _service(place: Place, name: str, service: Map) -> Workload:
    work = Workload(name, place)
    image, build = service.at("image"), service.at("build")
    if isinstance(image, Text) and image:
        work.image = Image(shell.expand(image, {}), Place(place.path, image.line))
    if isinstance(build, Text):
        work.built = f"{build}/Dockerfile"
    elif isinstance(build, Map):
        work.built = f"{build.text('context') or '.'}/{build.text('dockerfile') or 'Dockerfile'}"
        arguments = variables(place.path, build.at("args")).values()
        work.arguments = {one.name: one.value for one in arguments}
        work.target = shell.expand(build.text("target"), {})
    work.partial = "extends" in service or not (work.image or work.built)
    work.partial = work.partial or _only_builds(place.path, service)
    work.variables = variables(place.path, service.at("environment"))
    work.exempt = _mounts_devices(service)
    entry, command = words(service.at("entrypoint")), words(service.at("command"))
    work.command = f"{entry} {command}".strip()
    _requests(work, service)
    return work


def _only_builds(path: str, service: Map) -> bool:
    """docker-compose.build.yml, which says how the services of another file are built."""
    plain = re.search(r"(^|/)(docker-)?compose\.ya?ml$", path)
    return not plain and all(str(key) == "build" for key in service)


def _requests(work: Workload, service: Map) -> None:
    """Where a service asks for GPUs: devices, `gpus`, or the nvidia runtime."""
    path = work.place.path
    for device in service.seq("deploy", "resources", "reservations", "devices"):
        if isinstance(device, Map):
            _device(work, device)
    if "gpus" in service:
        work.request = work.request or Place(path, service.line_of("gpus"))
        for entry in service.seq("gpus"):
            if isinstance(entry, Text):
                said = "`gpus` takes `all` or a list of mappings"
                said += f", not {str(entry)!r}, and Compose refuses it"
                work.wrong_request.append(Problem(Place(path, entry.line), said))
    if service.text("runtime").startswith("nvidia"):
        work.only_runtime = work.request is None and not service.at("env_file")
        work.request = work.request or Place(path, service.line_of("runtime"))
    for generic in service.seq("deploy", "resources", "reservations", "generic_resources"):
        work.request = work.request or Place(path, generic.line)


def _device(work: Workload, device: Map) -> None:
    place = Place(work.place.path, device.line)
    wanted = [str(one).lower() for one in device.seq("capabilities")]
    driver = device.text("driver")
    if "capabilities" not in device:
        said = "a device reservation without `capabilities`, which Compose refuses"
        work.wrong_request.append(Problem(place, said))
    elif driver in ("nvidia", "") and not {"gpu", "nvidia", "compute"} & set(wanted):
        if driver == "nvidia":
            listed = ", ".join(wanted) or "nothing"
            said = f"an nvidia device with capabilities [{listed}], without gpu"
            work.wrong_request.append(Problem(place, said))
        return
    if "count" in device and "device_ids" in device:
        said = "both `count` and `device_ids`, which exclude each other"
        work.wrong_request.append(Problem(place, said))
    work.request = work.request or place


def _mounts_devices(service: Map) -> bool:
    seen = ("/dev/nvidia", "nvidia.com/gpu", "/dev/dri", "/dev/kfd")
    return any(name in str(one) for one in service.seq("devices") for name in seen)


def variables(path: str, node: Node | None) -> dict[str, Variable]:
    """`environment` as a list of `A=b` or as a mapping; a value from outside is left out."""
    found = (
        Variable(name, shell.expand(text, {}), Place(path, line))
        for name, text, line in _assigned(node)
    )
    return {one.name: one for one in found if "$" not in one.value}


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
    """A command, written as a text or as a list."""
    if isinstance(node, Text):
        return re.sub(r"\s+", " ", node[:20_000])
    if isinstance(node, Seq):
        return " ".join(str(word)[:5_000] for word in node[:500] if isinstance(word, Text))
    return ""
