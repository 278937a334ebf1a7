"""Tries the rendezvous of a job without a GPU: `python -I -S reach.py listen|reach HOST PORT SECONDS`.

One side listens for so many seconds, and answers only this script; the others connect. Prints one JSON object: how far
it came (resolve, connect, answer, large), and the address and interface that the system chose.
"""

import errno
import json
import os
import re
import socket
import sys
import time

HELLO = b"gpuwhy reach 1\n"
LARGE = 256 * 1024  # more than one packet of any size: a path that drops large ones stops here
NAMES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "UCX_NET_DEVICES")
KEPT = 4096


def say(value):
    """Print one JSON object."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def interfaces():
    """Interface → its IPv4 address, where Linux tells."""
    try:
        import fcntl
        import struct
    except ImportError:
        return {}
    found = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(asker.fileno(), 0x8915, struct.pack("256s", os.fsencode(name)[:15]))  # SIOCGIFADDR
                found[name] = socket.inet_ntoa(answer[20:24])
            except OSError:
                continue
    return found


def chosen(address):
    """Our own address on the way to another, without sending anything; and its interface."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asker:
            asker.connect((address, 9))
            mine = asker.getsockname()[0]
    except OSError:
        return "", ""
    names = [name for name, one in interfaces().items() if one == mine]
    return mine, names[0] if names else ""


def would_use(value, names):
    """The interfaces that NCCL's and gloo's variable picks: prefixes, `=` exact, `^` none of these."""
    exclude, exact = value.startswith("^"), value.lstrip("^").startswith("=")
    parts = [part for part in value.lstrip("^=").split(",") if part]

    def matches(name):
        return any(name == part if exact else name.startswith(part.split(":")[0]) for part in parts)

    return [name for name in names if matches(name) != exclude]


def steered(interface):
    """For each variable that is set: which interfaces it leaves, and whether the way goes over one of them."""
    out, names = {}, sorted(interfaces())
    for name in NAMES:
        value = os.environ.get(name)
        if value:
            left = would_use(value, names)
            out[name] = {"value": value[:200], "leaves": left[:16], "fits": interface in left if interface else None}
    return out


def words(error):
    """An error's name, and a sentence where it says little."""
    known = {
        errno.ECONNREFUSED: "refused: nothing listens there, or a firewall rejects it",
        errno.EHOSTUNREACH: "no route, or a firewall rejects it",
        errno.ENETUNREACH: "no route",
        errno.ETIMEDOUT: "no answer: a firewall drops it, or the machine is off",
    }
    if isinstance(error, socket.timeout):
        return "ETIMEDOUT", known[errno.ETIMEDOUT]
    return errno.errorcode.get(error.errno or 0, "error"), known.get(error.errno, str(error))


def reach(host, port, seconds):
    """Resolve, connect until it works or time is up, speak, and send much."""
    told = {"role": "reach", "to": "%s:%d" % (host, port), "stage": "resolve", "ok": False}
    try:
        found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
    except socket.gaierror as error:
        told.update({"error": "name", "text": "%s has no address here: %s" % (host, error.strerror)})
        return told
    address = found[0][4][0]
    mine, interface = chosen(address)
    told.update({"address": mine, "interface": interface, "steered": steered(interface), "stage": "connect"})
    until = time.monotonic() + seconds
    while True:
        begun = time.monotonic()
        try:
            with socket.create_connection((address, port), max(0.2, min(5.0, until - begun))) as link:
                told["ms"] = round((time.monotonic() - begun) * 1000, 2)
                told.update(speak(link, until))
                return told
        except OSError as error:
            told["error"], told["text"] = words(error)
        if time.monotonic() + 0.2 >= until:
            return told
        time.sleep(0.2)


def speak(link, until):
    """Whether our own listener answers, and takes more than a packet."""
    link.settimeout(max(0.2, until - time.monotonic()))
    try:
        link.sendall(HELLO)
        if not link.recv(len(HELLO), socket.MSG_WAITALL).startswith(HELLO):
            return {"stage": "answer", "error": "stranger", "text": "something else listens on that port"}
    except OSError as error:
        return {"stage": "answer", "error": words(error)[0], "text": "it connects, and then nothing comes"}
    try:
        link.sendall(b"x" * LARGE)
        if link.recv(3, socket.MSG_WAITALL) == b"ok\n":
            return {"stage": "large", "ok": True, "error": "", "text": "", "peer": link.getpeername()[0]}
    except OSError:
        pass
    return {"stage": "large", "error": "large", "text": "small packets pass, large ones do not: the MTU on the way"}


def serve(link):
    """One connection: our word, then much, then ok; whatever else comes is hung up on."""
    link.settimeout(5.0)
    if link.recv(len(HELLO), socket.MSG_WAITALL) != HELLO:
        return False
    link.sendall(HELLO)
    got = 0
    while got < LARGE:
        piece = link.recv(65536)
        if not piece:
            return False
        got += len(piece)
    link.sendall(b"ok\n")
    return True


def listen(host, port, seconds):
    """Take connections for so many seconds, one after another."""
    told = {"role": "listen", "to": "%s:%d" % (host, port), "ok": False, "stage": "listen", "came": []}
    until = time.monotonic() + seconds
    try:
        family = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)[0][0]
        server = socket.socket(family, socket.SOCK_STREAM)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((host, port))
        server.listen(128)
    except socket.gaierror as error:
        told.update({"error": "name", "text": "%s has no address here: %s" % (host, error.strerror)})
        return told
    except OSError as error:
        name, text = words(error)
        told.update({"error": name, "text": "cannot listen there: %s" % text})
        return told
    told["ok"] = True
    with server:
        while time.monotonic() < until and len(told["came"]) < KEPT:
            server.settimeout(max(0.05, until - time.monotonic()))
            try:
                link, peer = server.accept()
            except OSError:
                break
            with link:
                try:
                    if serve(link):
                        told["came"].append(peer[0])
                except OSError:
                    pass
    return told


def main(role, host, port, seconds):
    """One try, one line."""
    say((listen if role == "listen" else reach)(host, int(port), float(seconds)))


if __name__ == "__main__":
    if not re.match(r"\d{1,5}$", sys.argv[3]):
        sys.exit("reach.py listen|reach HOST PORT SECONDS")
    main(*sys.argv[1:5])
