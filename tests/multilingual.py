"""Multilingual E5: tests that compute with it are skipped where it is not downloaded."""

import pytest

from ramify.tools.embeddings.e5 import E5, is_downloaded

DOWNLOADED = pytest.mark.skipif(not is_downloaded(), reason=f"the model is not here: run `ramify download {E5}`")
