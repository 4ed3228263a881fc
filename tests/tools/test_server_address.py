"""How several addresses are recognized, and the forms in which Ollama's is told."""

import pytest

from ramify.tools.errors import UsageError
from ramify.tools.server_address import is_server_address, ollama_host, single_address, split_addresses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a:1/v1", ["http://a:1/v1"]),
        ("http://a:1/v1 http://b:2/v1", ["http://a:1/v1", "http://b:2/v1"]),
        (" http://a , https://b,\nHTTP://c, ", ["http://a", "https://b", "HTTP://c"]),
        ("gpu1:11434,gpu2:11434 gpu3", ["gpu1:11434", "gpu2:11434", "gpu3"]),
        ("http://a/v1 http://a/v1/", ["http://a/v1/"]),
        ("http://me:one,two@a/v1", ["http://me:one,two@a/v1"]),
        ("http://me:one,two@a/v1,http://b/v1?key=c,d", ["http://me:one,two@a/v1", "http://b/v1?key=c,d"]),
        (None, []),
        (" , ", []),
    ],
)
def test_spaces_and_commas_divide_addresses_and_nothing_in_them(text: str | None, expected: list[str]) -> None:
    assert list(split_addresses(text)) == expected


@pytest.mark.parametrize("text", ["http://a:1,b:2", "http://a:1/v1,b:2/v1", "http://a,b", "http://a/v1,"])
def test_two_of_which_one_has_no_scheme_are_no_address(text: str) -> None:
    assert not is_server_address(text)


@pytest.mark.parametrize("several", ["http://me:pass-one@a/v1, http://you:pass-two@b/v1?key=k-e-y", ["http://a", "http://b", "http://a/"]])
def test_several_are_refused_without_their_passwords(several: str | list[str]) -> None:
    with pytest.raises(UsageError, match=r"names 2 model servers: http://a.*, http://b.* — put a proxy before them") as caught:
        single_address(several)
    assert not any(secret in str(caught.value) for secret in ("pass-one", "pass-two", "k-e-y"))


def test_one_is_taken_from_a_list_and_what_is_no_address_stays() -> None:
    assert single_address(["http://a", "http://a/"]) == single_address(" http://a/,") == "http://a/"
    assert [single_address(value) for value in (None, "", ",", [], [1, 2], 7)] == [None, "", ",", None, [1, 2], 7]


@pytest.mark.parametrize(
    ("named", "address"),
    [
        (None, "http://127.0.0.1:11434"),
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:4000", "http://127.0.0.1:4000"),
        (":4000", "http://127.0.0.1:4000"),
        ("box", "http://box:11434"),
        ("box/ollama/", "http://box:11434/ollama"),
        ("http://box", "http://box:80"),
        ("https://box", "https://box:443"),
        ("http://box:4000/", "http://box:4000"),
        ("[::1]:4000", "http://[::1]:4000"),
        ("[::]", "http://[::1]:11434"),
        ("http://me:secret@box:4000", "http://me:secret@box:4000"),
        (' "box:4000" ', "http://box:4000"),
    ],
)
def test_every_form_of_ollama_host(named: str | None, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", named or "")
    assert ollama_host(None) == address
    monkeypatch.setenv("OLLAMA_HOST", "elsewhere:1")
    if named:
        assert ollama_host(named) == address, "base_url comes first"


def test_an_ollama_host_that_is_no_address() -> None:
    with pytest.raises(UsageError, match="'box:port' is not an address"):
        ollama_host("me:secret@box:port")
