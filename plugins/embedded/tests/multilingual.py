"""Multilingual E5: tests that compute with it are skipped where it is not downloaded."""

import pytest

from ramify.embedded.encoders.e5 import E5, e5_is_downloaded

DOWNLOADED = pytest.mark.skipif(not e5_is_downloaded(), reason=f"the model is not here: run `ramify download {E5}`")
