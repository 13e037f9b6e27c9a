"""A proxy that answers in the place of the search engines, with a certificate of its own."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Answer = Callable[[], bytes]


class SearchProxy(ThreadingHTTPServer):
    """Speaks as every host it is asked for.

    Attributes:
        answers: by host, what it gives; a host that is missing answers with an error.
        asked: the hosts, in order.
        ca_file: the certificate to trust.
    """

    daemon_threads = True

    def __init__(self, folder: Path, hosts: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.closing = threading.Event()
        self.ca_file = folder / "ca.pem"
        key_file = folder / "key.pem"
        _certify(hosts, self.ca_file, key_file)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(key_file)
        self.tls.set_alpn_protocols(["http/1.1"])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error."""


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: SearchProxy

    def do_CONNECT(self) -> None:
        host = self.path.partition(":")[0]
        self.send_response(200, "Connection established")
        self.end_headers()
        inner = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.close_connection = True
        with inner, inner.makefile("rb") as reading:
            length = 0
            while (line := reading.readline().strip()) != b"":
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            reading.read(length)
            self.server.asked.append(host)
            answer = self.server.answers.get(host)
            body = answer() if answer else b"busy"
            status = b"200 OK" if answer else b"503 Busy"
            head = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
            inner.sendall(head % (status, len(body)) + body)

    def log_message(self, *_: Any) -> None:
        """Silent."""


def _certify(hosts: list[str], ca_file: Path, key_file: Path) -> None:
    """An authority in `ca_file`; in `key_file` a certificate that it gave, with the key."""
    ca_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test's own authority")])
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
    names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
    authority = (
        _begun(ca_name, ca_name, ca_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    server = (
        _begun(name, ca_name, key)
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    ca_file.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        server.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )
