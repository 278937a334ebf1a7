"""Child: the bytes behind an address that the user named, in base64; https only, bounded, no cookies."""

import base64
import sys
from urllib.request import HTTPRedirectHandler, Request, build_opener


class OnlyHttps(HTTPRedirectHandler):
    """Follows a redirection only where it stays encrypted."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        """See the base class."""
        if not newurl.lower().startswith("https://"):
            raise ValueError("the address leads to one without https")
        return HTTPRedirectHandler.redirect_request(self, req, fp, code, msg, headers, newurl)


def main():
    """Usage: fetch.py ADDRESS MOST."""
    address, most = sys.argv[1], int(sys.argv[2])
    try:
        with build_opener(OnlyHttps).open(Request(address, headers={"User-Agent": "gpuwhy"}), timeout=30) as answer:
            data = answer.read(most + 1)
    except Exception as error:
        sys.stderr.write("%s" % (error,))
        return 1
    if len(data) > most:
        sys.stderr.write("more than %d bytes" % most)
        return 1
    sys.stdout.write(base64.b64encode(data).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
