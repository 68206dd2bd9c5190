"""Who may ask: this machine alone, or whoever has the token. Checked before anything else sees a request."""

import ipaddress
import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "lengthlab"
LONGEST = 8192  # bytes of a path with its query
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach a server at this address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """Checks Host, Origin, token, method and size; adds the headers that every answer carries."""

    def __init__(self, app: ASGIApp, host: str, port: int, token: str | None) -> None:
        self.app, self.host, self.port, self.token = app, host, port, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self.app)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._knows(headers.get("host", "")):
            return _problem(421, "this server does not answer to that name")
        origin = headers.get("origin")
        foreign = headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
        if (origin is not None and urlsplit(origin).netloc != headers["host"]) or (
            foreign and scope["path"].startswith("/api/")
        ):
            return _problem(403, "another page may not ask this server")
        if scope["method"] not in ("GET", "HEAD"):
            response = _problem(405, "everything here is asked with GET")
            response.headers["allow"] = "GET, HEAD"
            return response
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            return _problem(413, "no request here has a body")
        if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST:
            return _problem(414, f"a request has at most {LONGEST} characters")
        return self._check_token(scope, headers)

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        if self.token is None:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if given and secrets.compare_digest(given.encode(), self.token.encode()):
            response = RedirectResponse(scope["path"])  # so that the token does not stay in the address
            response.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return response
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            cookie = None
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        shown = cookie.value if cookie else bearer
        if secrets.compare_digest(shown.encode(), self.token.encode()):
            return None
        return _problem(401, "this server wants the token that lengthlab serve printed")

    def _knows(self, host: str) -> bool:
        """Whether a Host header names this server. A name that somebody pointed at this address is not enough."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        if port != self.port:
            return False
        if is_loopback(name) or name == self.host.strip("[]"):
            return True
        if is_loopback(self.host):
            return False
        try:
            ipaddress.ip_address(name)
            return True  # an address cannot be pointed elsewhere
        except ValueError:
            return name == socket.gethostname().lower()


def _problem(status: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status)
