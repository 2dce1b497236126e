"""Stream text from a package over HTTP, piece by piece as it is made.

    python docs/demo/serve.py PACKAGE.trv tokenizer.json [PORT]
    curl -N "http://127.0.0.1:8000/?prompt=Return+the&max_tokens=200&temperature=0.7"

One text is made at a time, others wait. A prompt that begins as an earlier one is read from there.
"""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from typing import Any
from urllib.parse import parse_qs, urlsplit

import tokenizers
import trivium

NUMBERS = {"temperature": float, "top_p": float, "min_p": float, "top_k": int, "seed": int}
"""What a request may say of `trivium.Sampling`."""


class Handler(BaseHTTPRequestHandler):
    """Answers with text that follows the prompt of a request."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        given = {name: values[-1] for name, values in parse_qs(urlsplit(self.path).query).items()}
        try:
            numbers = {n: read(given[n]) for n, read in NUMBERS.items() if n in given}
            sampling = trivium.Sampling(**numbers)
            most = int(given.get("max_tokens", "128"))
        except (ValueError, trivium.RunError) as error:
            self.send_error(400, str(error))
            return
        with self.server.lock:
            self._answer(given.get("prompt", ""), most, sampling)

    def _answer(self, prompt: str, most: int, sampling: trivium.Sampling) -> None:
        generator = self.server.generator
        try:
            pieces = generator.stream_text(prompt, max_tokens=most, sampling=sampling)
            first = next(pieces, "")
        except trivium.RunError as error:
            self.send_error(400, str(error))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in chain((first,), pieces):
            self._send(piece)
        self.wfile.write(b"0\r\n\r\n")

    def _send(self, piece: str) -> None:
        data = piece.encode()
        if data:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Has one generator for all requests."""

    def __init__(self, package: str, tokenizer: str, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.tokenizer = tokenizers.Tokenizer.from_file(tokenizer)
        self.generator = trivium.Generator(package, tokenizer=self.tokenizer)
        self.lock = threading.Lock()


def main(package: str, tokenizer: str, port: str = "8000") -> None:
    server = Server(package, tokenizer, int(port))
    print(f"http://127.0.0.1:{server.server_port}/?prompt=…", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
