# SPDX-License-Identifier: MIT
"""An HTTP/1.1 server that does what servers should not: tears, stalls, resets, drips, floods.

    python3 faults.py

Prints one line, `PORT TLS_PORT DEAD_PORT CA_FILE`, and serves on 127.0.0.1 until its standard input
ends. Connections to the dead port are refused. The path chooses the behaviour; each is a function below. The TLS port has a
certificate of a private CA that the `openssl` command makes at start.
"""
import gzip
import json
import os
import select
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from urllib.parse import parse_qs, urlsplit

FOREVER = 60  # seconds; every client gives up long before
requests_seen = 0
connections_seen = 0
told = threading.Semaphore(0)
hang_ups = threading.Semaphore(0)  # one for each stalled exchange that the client has ended


class Request:
    def __init__(self, sock):
        self.sock = sock
        self.file = sock.makefile("rb")

    def read_head(self):
        if self.file.peek(1)[:1] == b"\x16":  # TLS
            self.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            return False
        line = self.file.readline()
        if not line.strip():
            return False
        self.method, self.target, _ = line.decode("latin-1").split(" ", 2)
        self.headers = {}
        self.raw_headers = []
        while (line := self.file.readline()).strip():
            name, _, value = line.decode("latin-1").partition(":")
            self.raw_headers.append([name, value.strip()])
            self.headers[name.lower()] = value.strip()
        parts = urlsplit(self.target)
        self.path = parts.path
        self.query = {k: v[0] for k, v in parse_qs(parts.query).items()}
        return True

    def read_body(self):
        self.body = self.file.read(int(self.headers.get("content-length", "0")))

    def number(self, name, default):
        return int(self.query.get(name, default))

    def send(self, data):
        self.sock.sendall(data if isinstance(data, bytes) else data.encode())

    def head(self, *headers, status="200 OK"):
        self.send("HTTP/1.1 %s\r\n%s\r\n" % (status, "".join(h + "\r\n" for h in headers)))

    def reply(self, body, *headers, status="200 OK"):
        body = body if isinstance(body, bytes) else body.encode()
        lines = ["Content-Length: %d" % len(body), *headers]
        head = "HTTP/1.1 %s\r\n%s\r\n\r\n" % (status, "\r\n".join(lines))
        self.send(head.encode() + (b"" if self.method == "HEAD" else body))

    def chunk(self, data):
        data = data if isinstance(data, bytes) else data.encode()
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        self.file.close()
        self.sock.close()

    def wait_for_hang_up(self):
        """Sends nothing more; notes when the client has gone."""
        self.sock.settimeout(FOREVER)
        try:
            while self.sock.recv(65536):
                pass
        except OSError:
            pass
        hang_ups.release()


CHUNKED = "Transfer-Encoding: chunked"
EVENTS = "Content-Type: text/event-stream"


# Each returns True when the connection may serve another request.

def ok(r):
    r.reply("ok", "X-Mixed-Case: Value ", "X-Empty:")
    return True


def echo(r):
    r.reply(json.dumps({"method": r.method, "target": r.target, "headers": r.raw_headers,
                        "body": len(r.body), "sum": zlib.crc32(r.body)}))
    return True


def status(r):
    r.reply("status body", status=r.query["code"] + " Whatever")
    return True


def counts(r):
    r.reply(json.dumps([requests_seen, connections_seen]))
    return True


def wait_hang_up(r):
    r.reply("gone" if hang_ups.acquire(timeout=10) else "still there")
    return True


def forget_hang_ups(r):
    while hang_ups.acquire(blocking=False):
        pass
    r.reply("ok")
    return True


def events(r):
    r.head(EVENTS, CHUNKED)
    r.chunk("data: one\n\n: keep-alive\n\nevent: x\nid: 7\nda")
    r.chunk("ta: two\r\n\r\ndata: cut")
    r.chunk("")
    return True


def lines(r):
    r.reply('{"n":1}\n\n{"n":2}\r\n{"n":3}')
    return True


def drip(r):
    """One byte at a time, `ms` apart."""
    body = b"data: d\xc3\xa9j\xc3\xa0 vu\r\n\r\n"
    r.head(EVENTS, "Content-Length: %d" % len(body))
    for byte in body:
        r.send(bytes([byte]))
        time.sleep(r.number("ms", 1) / 1000)
    return True


def torn_chunks(r):
    r.head(EVENTS, CHUNKED)
    r.chunk("data: first\n\n")


def torn_length(r):
    r.head("Content-Length: 1000")
    r.send("data: first\n\n")


def torn_head(r):
    r.send("HTTP/1.1 200 OK\r\nContent-Ty")


def until_close(r):
    r.head(EVENTS, "Connection: close")
    r.send("data: first\n\n")


def reset_early(r):
    r.reset()


def close_early(r):
    r.close()


def reset_when_told(r):
    """Resets in mid-stream, once the client says (GET /go) that it has read what came before."""
    r.head(EVENTS, CHUNKED)
    r.chunk("data: first\n\n")
    told.acquire(timeout=FOREVER)
    r.reset()


def go(r):
    told.release()
    r.reply("ok")
    return True


def silence(r):
    """One event, then nothing."""
    r.head(EVENTS, CHUNKED)
    r.chunk("data: first\n\n")
    r.wait_for_hang_up()


def no_head(r):
    r.wait_for_hang_up()


def half_head(r):
    r.send("HTTP/1.1 200 OK\r\nX: ")
    r.wait_for_hang_up()


def slow_head(r):
    time.sleep(r.number("ms", 300) / 1000)
    r.reply("late")
    return True


def interim(r):
    for line in ("100 Continue", "102 Processing", "103 Early Hints"):
        r.send("HTTP/1.1 %s\r\nX-Interim: 1\r\n\r\n" % line)
        time.sleep(r.number("ms", 0) / 1000)
    r.reply("final")
    return True


def close_after(r):
    """Says that the connection stays, and closes it."""
    r.reply("ok")


def reset_next(r):
    """Keeps the connection, and resets it as soon as the next request is there."""
    r.reply("ok")
    if r.read_head():
        global requests_seen
        requests_seen += 1
        r.reset()


def huge(r):
    count = r.number("bytes", 1 << 20)
    r.head("Content-Length: %d" % count)
    block = bytes(range(256)) * 256
    while count > 0:
        r.send(block[:count])
        count -= len(block[:count])
    return True


def endless(r):
    r.head(CHUNKED)
    block = b"x" * 65536
    while True:
        r.chunk(block)


def long_line(r):
    r.head(CHUNKED)
    r.chunk("short\n")
    for _ in range(300):
        r.chunk(b"y" * 65536)
    r.chunk("\n")
    r.chunk("")
    return True


def zipped(r):
    r.reply(gzip.compress(b"data: unzipped\n\n"), "Content-Encoding: gzip")
    return True


def bomb(r):
    body = gzip.compress(bytes(100 << 20), 9)
    r.reply(body, "Content-Encoding: gzip")
    return True


def bad_gzip(r):
    r.reply(b"\x1f\x8b\x08\x00 this is no gzip", "Content-Encoding: gzip")
    return True


def big_head(r):
    r.head(*("X-Filler-%d: %s" % (i, "z" * 1000) for i in range(2000)))


def many_headers(r):
    r.reply("ok", *("X-%d: 1" % i for i in range(1500)))
    return True


def folded(r):
    r.reply("ok", "X-Folded: one\r\n  two\r\n\tthree")
    return True


def not_http(r):
    r.send("SSH-2.0-whatever\r\n")


def trailers(r):
    r.head(CHUNKED, "X-Head: 1")
    r.chunk("body")
    r.send("0\r\nX-Trailer: 1\r\n\r\n")
    return True


def refuse_body(r):
    """Answers as soon as the head is there and never reads the body."""
    r.reply("too large", "Connection: close", status="413 Content Too Large")
    r.sock.shutdown(socket.SHUT_WR)
    r.wait_for_hang_up()


def stop_reading(r):
    """Takes none of the body until the client has gone: a poll, since a read would take some."""
    poll = select.poll()
    poll.register(r.sock, select.POLLRDHUP)
    poll.poll(FOREVER * 1000)


def redirect(r):
    left = r.number("left", 1)
    r.reply("moved", "Location: %s" % ("/redirect?left=%d" % (left - 1) if left > 1 else "/echo"),
            status="302 Found")
    return True


def redirect_to(r):
    r.reply("moved", "Location: " + r.query["to"], status=r.query.get("code", "302") + " Moved")
    return True


def redirect_endless_body(r):
    r.head("Location: /echo", CHUNKED, status="302 Found")
    while True:
        r.chunk(b"x" * 65536)


BEHAVIOURS = {f.__name__.replace("_", "-"): f for f in (
    ok, echo, status, counts, wait_hang_up, forget_hang_ups, events, lines, drip, torn_chunks, torn_length, torn_head,
    until_close, reset_early, close_early, reset_when_told, go, silence, no_head, half_head,
    slow_head, interim, close_after, reset_next, huge, endless, long_line, zipped, bomb, bad_gzip, big_head,
    many_headers, folded, not_http, trailers, refuse_body, stop_reading, redirect, redirect_to,
    redirect_endless_body)}
UNREAD_BODY = {"refuse-body", "stop-reading"}


def serve_connection(sock):
    global requests_seen, connections_seen
    connections_seen += 1
    request = Request(sock)
    try:
        while request.read_head():
            requests_seen += 1
            name = request.path.lstrip("/")
            if name not in UNREAD_BODY:
                request.read_body()
            behave = BEHAVIOURS.get(name)
            if behave is None:
                request.reply("no such behaviour", status="404 Not Found")
            elif not behave(request):
                break
    except (OSError, ValueError):
        pass
    finally:
        request.close()


def serve(listener, context=None):
    def handle(sock):
        if context is not None:
            try:
                sock.settimeout(10)
                sock = context.wrap_socket(sock, server_side=True)
                sock.settimeout(None)
            except OSError:
                return
        serve_connection(sock)

    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=handle, args=(sock,), daemon=True).start()


def make_certificates(directory):
    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=directory, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test CA",
            "-days", "30")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    with open(os.path.join(directory, "names"), "w") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-extfile", "names", "-out", "server.pem", "-days", "30")


def listen():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def main():
    directory = tempfile.mkdtemp(prefix="gudgeon-faults-")
    try:
        make_certificates(directory)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(directory, "server.pem"),
                                os.path.join(directory, "server.key"))
        plain, tls = listen(), listen()
        dead = socket.socket()  # bound, not listening
        dead.bind(("127.0.0.1", 0))
        threading.Thread(target=serve, args=(plain,), daemon=True).start()
        threading.Thread(target=serve, args=(tls, context), daemon=True).start()
        print(*(s.getsockname()[1] for s in (plain, tls, dead)),
              os.path.join(directory, "ca.pem"), flush=True)
        sys.stdin.read()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
