"""What shared/web/app.py needs of Litestar's internals. A failure names what another version of Litestar changed."""

from __future__ import annotations

from litestar import Litestar

from shared.web.app import _Litestar


def test_litestar_is_started_without_pydantic() -> None:
    assert not _for_pydantic(_Litestar())
    # The control: the environment has pydantic, and Litestar would load it.
    assert _for_pydantic(Litestar())


def test_no_other_plugin_is_left_out() -> None:
    left_out = _names(Litestar()) - _names(_Litestar()) - _for_pydantic(Litestar())
    # It describes attrs' classes in a document that Litestar would make.
    assert left_out == {"AttrsSchemaPlugin"}


def _names(app: Litestar) -> set[str]:
    return {type(plugin).__name__ for plugin in app.plugins}


def _for_pydantic(app: Litestar) -> set[str]:
    return {name for name in _names(app) if name.startswith("Pydantic")}
