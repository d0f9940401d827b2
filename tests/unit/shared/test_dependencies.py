"""What handlers ask for by type is what they get, one dependency after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from tools.openapi.document import apps


def every_handler() -> Iterator[Any]:
    for app in apps():
        for route in app.routes:
            if isinstance(route, HTTPRoute):
                for handler in route.route_handlers:
                    yield pytest.param(route, handler, id=f"{route.path} {handler.fn.__name__}")


HANDLERS = sorted(every_handler(), key=lambda case: str(case.id))  # routes come out of sets


@pytest.mark.parametrize(("route", "handler"), HANDLERS)
def test_no_dependencies_are_resolved_in_a_task_group(route: HTTPRoute, handler: HTTPRouteHandler) -> None:
    model = handler.create_kwargs_model(route.path_parameters)
    assert all(len(batch) == 1 for batch in model.dependency_batches)


@pytest.mark.parametrize(("route", "handler"), HANDLERS)
def test_a_handler_is_given_the_types_it_names(route: HTTPRoute, handler: HTTPRouteHandler) -> None:
    provided = handler.resolve_dependencies()
    for name, field in handler.parsed_fn_signature.parameters.items():
        if name in provided:
            assert provided[name].parsed_fn_signature.return_type.annotation is field.annotation
