"""What installed packages offer: names without importing, and one clear error for what is missing, broken or offered twice."""

from pathlib import Path

import pytest

from ramify.tools import plugins
from ramify.tools.errors import PluginError, UsageError
from tests.installing import Installer


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installer:
    return Installer(tmp_path, monkeypatch)


def test_what_is_offered_is_named_and_loaded(install: Installer) -> None:
    before = plugins.names("ramify.strategies")
    install("birch", "[ramify.strategies]\nsecond = birch:B\nfirst = birch:A.real\n", "A = 1 + 0j\nB = 'b'\n")
    assert plugins.names("ramify.strategies") == ["second", "first", *before]
    assert plugins.load("ramify.strategies", "first") == 1
    assert plugins.load("ramify.strategies", "second") == "b"


def test_what_is_not_installed_is_absent(install: Installer) -> None:
    assert "first" not in plugins.names("ramify.strategies")
    with pytest.raises(PluginError, match=r"'first'.*ramify\.strategies"):
        plugins.load("ramify.strategies", "first")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_library", "no_such_library"),
        ("def first(:", "SyntaxError"),
        ("second = 1", "first"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_broken_plugin_is_named_with_its_distribution(install: Installer, code: str, reason: str) -> None:
    install("broken_birch", "[ramify.strategies]\nfirst = broken_birch:first\n", code)
    assert "first" in plugins.names("ramify.strategies")
    with pytest.raises(PluginError, match="broken_birch") as raised:
        plugins.load("ramify.strategies", "first")
    assert reason in raised.value.what
    assert "broken_birch" in raised.value.remedy


def test_an_error_of_ours_while_loading_stays_as_it_is(install: Installer) -> None:
    code = "from ramify.tools.errors import UsageError\nraise UsageError('no key is set', 'set KEY')\n"
    install("keyless", "[ramify.strategies]\nfirst = keyless:first\n", code)
    with pytest.raises(UsageError, match="no key is set"):
        plugins.load("ramify.strategies", "first")


def test_a_name_that_two_packages_offer_is_an_error_that_names_both(install: Installer) -> None:
    install("ash", "[ramify.strategies]\nfirst = ash:A\nsecond = ash:A\n", "A = 1\n")
    install("oak", "[ramify.strategies]\nfirst = oak:A\n", "A = 2\n")
    assert plugins.names("ramify.strategies").count("first") == 1
    with pytest.raises(PluginError, match=r"oak.*ash|ash.*oak"):
        plugins.load("ramify.strategies", "first")
    assert plugins.load("ramify.strategies", "second") == 1
