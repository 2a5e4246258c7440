"""A package index on the loopback address: PEP 503 pages and files with ranges, and a count of what was asked."""
import hashlib
import http.server
import pathlib
import re
import threading
import urllib.parse


class LocalIndex:
    """Serves FOLDER/<index name>/*.whl as /<index name>/simple/<project>/."""

    def __init__(self, folder):
        self.folder, self.requests, self.bytes = pathlib.Path(folder), 0, 0
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.do_GET(body=False)

            def do_GET(self, body=True):
                index.requests += 1
                path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
                if found := re.fullmatch(r"/([^/]+)/simple/([^/]+)/", path):
                    return index.page(self, *found.groups())
                file = index.folder / path.lstrip("/")
                if ".." in path or not file.is_file():
                    return self.answer(404, b"no such file")
                return index.file(self, file, body)

            def answer(self, status, content, headers=(), body=True):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if body:
                    self.wfile.write(content)
                    index.bytes += len(content)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server.server_port}/{name}/simple"

    def page(self, handler, name, project):
        links = []
        for wheel in sorted((self.folder / name).glob("*.whl")):
            if re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower() == project:
                digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
                links.append(f'<a href="/{name}/{urllib.parse.quote(wheel.name)}#sha256={digest}">{wheel.name}</a>')
        handler.answer(200 if links else 404, "<!DOCTYPE html>".encode() + "\n".join(links).encode(), [("Content-Type", "text/html")])

    def file(self, handler, file, body):
        content = file.read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range", ""))
        etag = ("ETag", f'"{hashlib.sha256(content).hexdigest()[:16]}"')
        if not asked:
            return handler.answer(200, content, [etag, ("Accept-Ranges", "bytes")], body)
        begin, end = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
        return handler.answer(206, content[begin : end + 1], [etag, ("Content-Range", f"bytes {begin}-{end}/{len(content)}")], body)

    def close(self):
        self.server.shutdown()
