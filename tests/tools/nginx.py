"""nginx before scripted model servers, with the configuration of docs/operating.md."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

PAGE = Path(__file__).parents[2] / "docs" / "operating.md"
PROGRAM = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def configuration(ports: Sequence[int], port: int, folder: str) -> str:
    """Return the page's file for these servers on loopback, with the files that nginx writes in a folder."""
    blocks = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 1
    first, *others = re.findall(r"^ *server gpu\d:8000 (.*);\n", blocks[0], re.MULTILINE)
    assert all(other == first for other in others)
    servers = "".join(f"        server 127.0.0.1:{server} {first};\n" for server in ports)
    text = re.sub(r"(?:^ *server gpu\d:8000 .*;\n)+", servers, blocks[0], flags=re.MULTILINE)
    own = [f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")]
    text = text.replace("http {", f"http {{\n    access_log off; {' '.join(own)}")
    return text.replace("127.0.0.1:8080", f"127.0.0.1:{port}")


@contextmanager
def proxied(ports: Sequence[int]) -> Iterator[str]:
    """Run nginx before the servers at these ports; yield its address."""
    assert PROGRAM is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with TemporaryDirectory(prefix="nginx-") as folder:
        file = Path(folder) / "nginx.conf"
        file.write_text(configuration(ports, port, folder), encoding="utf-8")
        options = f"daemon off; pid {folder}/pid; error_log {folder}/errors;"
        running = subprocess.Popen([PROGRAM, "-p", folder, "-e", f"{folder}/errors", "-c", str(file), "-g", options])
        try:
            for _ in range(100):
                with socket.socket() as client:
                    if client.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert running.poll() is None, Path(folder, "errors").read_text(encoding="utf-8")
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            running.terminate()
            running.wait()
