"""The server: where it listens, how it starts, and how it ends."""

from __future__ import annotations

import ipaddress
import logging
import socket
import ssl
import threading
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

from easeci.charts import require_charts, warm_up
from easeci.errors import InfrastructureError, UsageError
from easeci.web.addresses import Network
from easeci.web.app import make_app
from easeci.web.connection import MOST_OF_ONE_ADDRESS, Connection, descriptors
from easeci.web.guards import host_of
from easeci.web.listener import Listener
from easeci.web.served_project import ServedProject
from easeci.web.site import Site

CLOSING_SECONDS = 5
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MOST_AT_ONCE = 400
WAITING_TO_BE_ACCEPTED = 128
QUIET = ("asyncio", "python_multipart", "uvicorn")


@dataclass(frozen=True)
class Listening:
    """Where the server listens.

    ``url`` is its address for browsers, if a proxy is in between. ``proxies`` are the networks
    whose ``X-Forwarded-For`` counts.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    url: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    proxies: tuple[Network, ...] = ()

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def hosts(self) -> frozenset[str]:
        """The host names that browsers may use; empty if all are allowed."""
        told = host_of(urlsplit(self.url).netloc) if self.url else ""
        if not self.loopback and not told:
            return frozenset()
        return frozenset({*LOOPBACK, self.host.lower(), *([told] if told else [])})

    @property
    def encrypted(self) -> bool:
        """Whether browsers use https, with us or with a proxy."""
        return self.certificate is not None or (self.url or "").startswith("https://")

    def address(self, port: int) -> str:
        """The address to open in a browser."""
        if self.url:
            return self.url.rstrip("/")
        scheme = "https" if self.certificate is not None else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{port}"


@dataclass
class Server:
    """A site that listens."""

    site: Site
    listening: Listening
    socket: Listener

    @staticmethod
    def bind(place: ServedProject, listening: Listening, login: str) -> Server:
        """Open the project and the port, so that errors come before anything is served."""
        require_charts()
        _require_sound(listening)
        site = Site(
            place,
            hosts=listening.hosts,
            url=listening.url,
            secure=listening.encrypted,
            login=login,
        )
        if not listening.loopback:
            site.visitors.require_tokens(listening.host)
        return Server(site, listening, _bound(listening))

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        return self.listening.address(self.socket.getsockname()[1])

    def run(self) -> None:
        """Serve until a signal ends it. Nothing of a request is written to a log."""
        threading.Thread(target=warm_up, name="warm up", daemon=True).start()
        for name in QUIET:  # they would log details of requests
            logger = logging.getLogger(name)
            logger.addHandler(logging.NullHandler())
            logger.propagate = False
        self.runner().run(sockets=[self.socket])

    def runner(self) -> uvicorn.Server:
        """The server of uvicorn, which runs with our socket."""
        server = uvicorn.Server(self._config)
        self.socket.served = lambda: descriptors(server.server_state.connections)
        return server

    @property
    def _config(self) -> uvicorn.Config:
        return uvicorn.Config(
            make_app(self.site),
            http=Connection,
            loop="asyncio",  # another one would not ask our socket
            backlog=WAITING_TO_BE_ACCEPTED,
            ws="none",
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=bool(self.listening.proxies),
            forwarded_allow_ips=[str(network) for network in self.listening.proxies],
            limit_concurrency=MOST_AT_ONCE,
            timeout_graceful_shutdown=CLOSING_SECONDS,
            ssl_certfile=self.listening.certificate,
            ssl_keyfile=self.listening.key,
        )


def _require_sound(listening: Listening) -> None:
    if (listening.certificate is None) != (listening.key is None):
        raise UsageError(
            "TLS needs both a certificate and its key",
            hint="Give --certificate FILE and --key FILE, as PEM.",
        )
    for path in (listening.certificate, listening.key):
        if path is not None and not path.is_file():
            raise UsageError(f"there is no file {path}")
    if listening.certificate is not None:
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(listening.certificate, listening.key, lambda: "")
        except (OSError, ValueError):  # an error of ssl is one of these
            raise UsageError(
                f"{listening.certificate} and {listening.key} cannot be used for https",
                hint="They must be a certificate and its own key, as PEM, without a password.",
            ) from None
    if listening.url is not None:
        split = urlsplit(listening.url)
        if split.scheme not in ("http", "https") or not split.hostname or split.path.strip("/"):
            raise UsageError(
                f"{listening.url} is not the address of a site",
                hint="Write it as browsers see it, such as https://easeci.example.org.",
            )


def _bound(listening: Listening) -> Listener:
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    bound = Listener(
        family,
        most=MOST_AT_ONCE,
        most_of_one=MOST_OF_ONE_ADDRESS,
        proxies=listening.proxies,
    )
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((listening.host, listening.port))
        bound.listen(WAITING_TO_BE_ACCEPTED)
    except (OSError, OverflowError) as error:
        bound.close()
        words = getattr(error, "strerror", None) or str(error)
        raise InfrastructureError(
            f"{listening.host}:{listening.port} cannot be listened on: {words}",
            hint="--port names another one; --port 0 takes any that is free.",
        ) from None
    return bound
