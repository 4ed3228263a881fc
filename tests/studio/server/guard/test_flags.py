"""The flags of `ramify studio`."""

import subprocess
from pathlib import Path

import pytest

from ramify.studio.server.guard import parse_origin
from ramify.tools.errors import UsageError
from tests.studio.conftest import Ramify
from tests.studio.dev_server import RAMIFY, free_port


class TestFlags:
    """What is wrong with a flag is said before anything is served."""

    @pytest.mark.parametrize(
        "url", ["evil.example", "ftp://evil.example", "https://a.example/path", "https://user@a.example", "http://a:b", ""]
    )
    def test_what_is_no_origin(self, ramify: Ramify, url: str) -> None:
        outcome = ramify("studio", "--allow-origin", url)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1)
        assert "is not a valid origin" in outcome.err

    def test_origins_are_written_as_browsers_write_them(self) -> None:
        assert parse_origin("HTTPS://Studio.Example:443/") == "https://studio.example"
        assert parse_origin("http://[2001:DB8::1]:2024") == "http://[2001:db8::1]:2024"
        with pytest.raises(UsageError):
            parse_origin("*")

    def test_an_index_that_is_not_there(self, tmp_path: Path) -> None:
        command = [RAMIFY, "studio", "--port", str(free_port()), "--index", str(tmp_path / "none")]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1
        assert f"there is no index in '{tmp_path / 'none'}'" in done.stderr.splitlines()[-1]
