"""Compose files: services, their image, their variables and whether they ask for a GPU."""

import re

from gpuwhy.knowledge import images
from gpuwhy.lint.mistakes import Place
from gpuwhy.lint.read import shell
from gpuwhy.lint.read.yamls import Node, top
from gpuwhy.lint.sheet import Sheet, Word, Workload

_SEEN = ("/dev/nvidia", "nvidia.com/gpu", "/dev/dri", "/dev/kfd")


def read(path: str, text: str) -> Sheet:
    """A compose file."""
    sheet = Sheet(path, "compose")
    whole = top(sheet, text, "compose file: a mapping with `services`")
    for name, service in whole.at("services").fields.items():
        if service.is_map:
            work = _service(path, name, service)
            work.partial = work.partial or "include" in whole.fields
            sheet.workloads.append(work)
    # services of one image of which another asks for a GPU: a server and its workers
    asking = {one.origin for one in sheet.workloads if one.request}
    for number, work in enumerate(sheet.workloads):
        again = work.image and any(work.origin == one.origin for one in sheet.workloads[:number])
        unknown = again and images.read(work.origin[0]).gpu is None
        if not work.request and (work.origin in asking or unknown):
            work.partial = True  # said once, of the first
    return sheet


def _service(path: str, name: str, service: Node) -> Workload:
    work = Workload(name, Place(path, service.key))
    image, build = service.at("image"), service.at("build")
    if image.text:
        work.image = Word(shell.expand(image.text, {}), Place(path, image.line))
    if build.text:
        work.built = f"{build.text}/Dockerfile"
    elif build.is_map:
        file = build.at("dockerfile").text or "Dockerfile"
        work.built = f"{build.at('context').text or '.'}/{file}"
        arguments = _variables(path, build.at("args"))
        work.arguments = {name: one.text for name, one in arguments.items()}
        work.target = shell.expand(build.at("target").text, {})
    plain = re.search(r"(^|/)(docker-)?compose\.ya?ml$", path)
    only_built = not plain and set(service.fields) == {"build"}
    work.partial = "extends" in service.fields or not (work.image or work.built) or only_built
    work.variables = _variables(path, service.at("environment"))
    work.exempt = any(name in node.text for node in service.at("devices").items for name in _SEEN)
    for node in (service.at("entrypoint"), service.at("command")):
        said = [node.text[:20_000], *(word.text[:5_000] for word in node.items[:500])]
        work.command = f"{work.command} {' '.join(' '.join(said).split())}".strip()
    asked = _asked(service)
    work.request = Place(path, asked[0]) if asked else None
    return work


def _asked(service: Node) -> list[int]:
    """The lines where a service asks for GPUs by devices, `gpus`, its runtime or resources."""
    reserved, lines = service.at("deploy", "resources", "reservations"), []
    for device in reserved.at("devices").items:
        wanted = {one.text.lower() for one in device.at("capabilities").items}
        other = (
            device.at("driver").text not in ("nvidia", "") or "capabilities" not in device.fields
        )
        if device.is_map and (other or wanted & {"gpu", "nvidia", "compute"}):
            lines.append(device.line)
    lines += [service.at("gpus").key] if "gpus" in service.fields else []
    runtime = service.at("runtime")
    lines += [runtime.key] if runtime.text.startswith("nvidia") else []
    return lines + [one.line for one in reserved.at("generic_resources").items]


def _variables(path: str, node: Node) -> dict[str, Word]:
    """`environment` as a list of `A=b` or as a mapping; a value from outside is left out."""
    found = [(name, one.text, one.key) for name, one in node.fields.items()]
    for entry in node.items:
        name, equals, text = entry.text.partition("=")
        found += [(name, text, entry.line)] if equals else []
    words = {name: Word(shell.expand(text, {}), Place(path, at)) for name, text, at in found}
    return {name: word for name, word in words.items() if "$" not in word.text}
