"""What pip is told of where packages are reaches uv."""

from release.install import uv_settings

LISTED = """\
:env:.find-links='/wheels'
:env:.disable-pip-version-check='1'
global.constraint='/etc/pins.txt'
global.extra-index-url='file:///one/simple file:///two/simple'
global.find-links='/other'
global.index-url='https://user:secret@mirror.example/simple'
global.timeout='60'
"""


def test_uv_finds_packages_where_pip_does() -> None:
    assert uv_settings(LISTED, {}) == {
        "UV_CONSTRAINT": "/etc/pins.txt",
        "UV_DEFAULT_INDEX": "https://user:secret@mirror.example/simple",
        "UV_FIND_LINKS": "/wheels",
        "UV_HTTP_TIMEOUT": "60",
        "UV_INDEX": "file:///one/simple file:///two/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_several_folders_of_files_are_told_as_uv_reads_them() -> None:
    assert uv_settings("global.find-links='/one\\n/two'", {}) == {"UV_FIND_LINKS": "/one,/two"}


def test_what_uv_was_told_itself_stays() -> None:
    assert uv_settings("global.index-url='https://mirror.example/simple'", {"UV_DEFAULT_INDEX": "https://other.example/simple"}) == {}
