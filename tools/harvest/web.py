"""Web: byte ranges of remote files, bounded, retried and counted; anything but the bytes asked for is an error."""

from __future__ import annotations

import random
import re
import threading
import time
from urllib.request import getproxies

import urllib3

TRIES = 5
_RETRY = {408, 425, 429, 500, 502, 503, 504}
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class WebError(Exception):
    """A server did not give the bytes that were asked for."""


class Web:
    """One pool of connections; counts what it asked and got."""

    def __init__(self, connections: int = 16, pause: float = 0.5) -> None:
        timeout = urllib3.Timeout(connect=30, read=120)
        options = {"maxsize": connections, "block": True, "timeout": timeout, "retries": False}
        proxy = getproxies().get("https")
        self._pool = urllib3.ProxyManager(proxy, **options) if proxy else urllib3.PoolManager(**options)
        self._pause = pause
        self._lock = threading.Lock()
        self.requests = self.received = 0

    def page(self, url: str, accept: str = "*/*") -> tuple[str, bytes] | None:
        """(content type, body) of a whole document; None where there is none (404)."""
        answer = self._ask(url, {"Accept": accept})
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise WebError(f"status {answer.status}")
        return answer.headers.get("Content-Type", ""), answer.data

    def tail(self, url: str, size: int) -> tuple[bytes, int]:
        """The last `size` bytes of a file (or all of it), and the file's whole size."""
        data, start, total = self._range(url, f"bytes=-{size}")
        if start + len(data) != total:
            raise WebError(f"asked for the end, got bytes {start} to {start + len(data)} of {total}")
        return data, total

    def bytes(self, url: str, start: int, size: int) -> bytes:
        """Exactly `size` bytes from `start`."""
        data, first, _ = self._range(url, f"bytes={start}-{start + size - 1}")
        if first != start or len(data) != size:
            raise WebError(f"asked for {size} bytes at {start}, got {len(data)} at {first}")
        return data

    def _range(self, url: str, asked: str) -> tuple[bytes, int, int]:
        answer = self._ask(url, {"Range": asked, "Accept-Encoding": "identity"})
        if answer.status == 200:
            raise WebError("the server ignores ranges")
        if answer.status != 206:
            raise WebError(f"status {answer.status}")
        place = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        if not place:
            raise WebError("a partial answer that does not say which part it is")
        first, last, total = map(int, place.groups())
        if len(answer.data) != last - first + 1:
            raise WebError(f"{len(answer.data)} bytes came instead of {last - first + 1}")
        return answer.data, first, total

    def _ask(self, url: str, headers: dict[str, str]) -> urllib3.BaseHTTPResponse:
        """One request, asked again after a pause when the server or the connection fails."""
        problem = ""
        for attempt in range(TRIES):
            if attempt:
                time.sleep(self._pause * 2**attempt * (1 + random.random()))
            try:
                answer = self._fetch(url, headers)
            except (urllib3.exceptions.HTTPError, OSError) as error:
                problem = f"{type(error).__name__}"
                continue
            if answer.status not in _RETRY:
                return answer
            problem = f"status {answer.status}"
        raise WebError(f"{problem}, {TRIES} times")

    def _fetch(self, url: str, headers: dict[str, str]) -> urllib3.BaseHTTPResponse:
        with self._lock:
            self.requests += 1
        answer = self._pool.request("GET", url, headers=headers, redirect=True, preload_content=False)
        if answer.status == 200 and "Range" in headers:  # the whole file: not wanted, whatever its size
            answer.close()
            return answer
        data = answer.read(cache_content=True)
        answer.release_conn()
        with self._lock:
            self.received += len(data)
        return answer
