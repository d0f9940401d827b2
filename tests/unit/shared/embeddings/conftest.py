from collections.abc import Iterator

import pytest

from shared.embeddings.models import local_model


@pytest.fixture(autouse=True)
def models_of_this_test() -> Iterator[None]:
    """A process keeps the models that it has loaded."""
    local_model.cache_clear()
    yield
    local_model.cache_clear()
