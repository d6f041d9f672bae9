"""A time stamp service on loopback: real tokens, made by OpenSSL, and answers of hostile ones."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

OPENSSL = shutil.which("openssl")
CONFIG = """
[tsa]
default_tsa = one
[one]
serial = {folder}/serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
accuracy = secs:1
ess_cert_id_chain = no
ess_cert_id_alg = {ess}
"""
Answer = Callable[[bytes], bytes]


class Authority:
    """Makes tokens with its own certificate."""

    def __init__(
        self, folder: Path, *, kind: str = "rsa", usage: Any = ExtendedKeyUsageOID.TIME_STAMPING, ess: str = "sha256"
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        key: Any = rsa.generate_private_key(65537, 2048) if kind == "rsa" else ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Harbour clock {kind}")])
        now = datetime.now(UTC)
        self.certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=30))
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=True)
            .sign(key, hashes.SHA256())
        )
        pem = serialization.Encoding.PEM
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        (folder / "key.pem").write_bytes(private)
        (folder / "certificate.pem").write_bytes(self.certificate.public_bytes(pem))
        (folder / "serial").write_text("01\n")
        (folder / "openssl.cnf").write_text(CONFIG.format(folder=folder, ess=ess))
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        return self.certificate.fingerprint(hashes.SHA256()).hex()

    def answer(self, query: bytes) -> bytes:
        """The answer of an honest service."""
        with self._lock:
            (self.folder / "query").write_bytes(query)
            names = {"inkey": "key.pem", "signer": "certificate.pem", "config": "openssl.cnf", "queryfile": "query"}
            options = [part for name, file in names.items() for part in (f"-{name}", str(self.folder / file))]
            command = [str(OPENSSL), "ts", "-reply", "-section", "one", *options, "-out", str(self.folder / "answer")]
            subprocess.run(command, check=True, capture_output=True)
            return (self.folder / "answer").read_bytes()

    def proves(self, token: bytes, digest: bytes) -> bool:
        """Whether OpenSSL, with this certificate as the root, accepts a token about a hash."""
        (self.folder / "token").write_bytes(token)
        command = [
            str(OPENSSL),
            "ts",
            "-verify",
            "-token_in",
            "-in",
            str(self.folder / "token"),
            "-digest",
            digest.hex(),
        ]
        command += ["-CAfile", str(self.folder / "certificate.pem"), "-partial_chain"]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0


@contextmanager
def service(answer: Answer, *, status: int = 200, seconds: float = 0, drip: bool = False) -> Iterator[str]:
    """A server that gives this answer to every request; its address."""
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["content-length"]))
            assert self.headers["content-type"] == "application/timestamp-query"
            body = answer(query)
            stopped.wait(seconds)
            self.send_response(status)
            self.send_header("content-type", "application/timestamp-reply")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            try:
                for at in range(0, len(body), 1 if drip else 1 << 16):
                    self.wfile.write(body[at : at + (1 if drip else 1 << 16)])
                    if drip and stopped.wait(0.2):
                        return
            except OSError:
                pass

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/stamp"
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
