from __future__ import annotations

from litestar import Router, get, put
from litestar.di import NamedDependency
from litestar.params import JSONBody

from services.context.languages.schemas import TenantLanguage, TenantLanguageInput
from services.context.languages.service import Languages
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN, READ


@get("/", opt=READ)
async def language(
    languages: NamedDependency[Languages], principal: PrincipalDep, deadline: DeadlineDep
) -> TenantLanguage:
    """The language of the tenant's texts and questions, where neither they nor their writer tells it."""
    return await languages.language(principal, deadline)


@put("/", opt=ADMIN)
async def set_language(
    languages: NamedDependency[Languages],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    data: JSONBody[TenantLanguageInput],
) -> TenantLanguage:
    """Set the language of texts and questions that are too short to tell it, from now on and for the whole tenant.

    A `language` in a request wins over it, and so does a text that is clearly in another language.
    """
    return await languages.set_language(principal, data.language, deadline)


LANGUAGE = Router("/language", route_handlers=[language, set_language])
