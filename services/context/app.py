from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from services.context.assembly.asking import Asking
from services.context.assembly.config import CallerConfigs
from services.context.assembly.service import Assembler
from services.context.audit.service import AuditTrail
from services.context.backlog.service import TenantBacklogs
from services.context.consolidation.schedule import Schedule
from services.context.consolidation.service import Consolidation
from services.context.costs.service import CostService
from services.context.delta.service import Sessions
from services.context.forwarding.mission_languages import MissionLanguages
from services.context.forwarding.owners import Owner, Owners
from services.context.forwarding.references import References
from services.context.gateway.passing.call import PREFIX
from services.context.gateway.passing.road import Gateway
from services.context.gateway.sessions.states import SWEEP_EVERY_SECONDS
from services.context.keys import Keys
from services.context.keys.limits import Rates
from services.context.keys.service import KeyService
from services.context.languages.service import Languages
from services.context.learning.evaluation import Evaluation
from services.context.learning.service import Learning
from services.context.log.accesses import Accesses
from services.context.log.feedback import Feedback
from services.context.log.journal import Journal
from services.context.log.service import AssemblyLog
from services.context.log.signals import Signals
from services.context.log.sources import Sources
from services.context.mcp.endpoint import Mcp
from services.context.profiles.service import ProfileService
from services.context.prompts.documents import Documents
from services.context.prompts.service import Prompts
from services.context.purge.service import Purge
from services.context.purge.tenants import TenantPurge
from services.context.remember.service import Remember
from services.context.rerank import open_reranker
from services.context.review.service import Review
from services.context.routes import ROUTES
from services.context.scrubbing.answers import tell_masked
from services.context.scrubbing.service import Scrubber
from services.context.settings import Settings
from services.context.synthesis.paying import open_paid
from services.context.synthesis.writing import Synthesis
from services.context.table_statistics import analyze_forever
from services.context.timeline.following import Following
from services.context.timeline.numbering import Numbering
from services.context.timeline.partitions import EVERY_SECONDS, maintain
from services.context.timeline.service import Timeline
from services.context.webhooks.deliverer import Deliverer
from services.context.webhooks.service import WebhookService
from shared.concurrency import clock
from shared.concurrency.tasks import background, every
from shared.costs import Ledger
from shared.database.doorbell import Doorbell
from shared.database.doorbell import connect as connect_redis
from shared.database.embedding_table import open_cached
from shared.database.housekeeping import tidy_forever
from shared.database.idempotency import Records
from shared.database.postgres import Database
from shared.identity import Signer
from shared.search.languages.detection import load_detector
from shared.web.app import create_app
from shared.web.door.admission import Admission, Apart
from shared.web.door.streams import Streams


@dataclass(frozen=True)
class Services:
    """The services that handlers may request."""

    assembler: Assembler
    signals: Signals
    remember_service: Remember
    consolidation: Consolidation
    feedback_service: Feedback
    keys: Keys
    timeline_service: Timeline
    assembly_log: AssemblyLog
    sources: Sources
    learning_service: Learning
    evaluation: Evaluation
    caller_configs: CallerConfigs
    profile_service: ProfileService
    cost_service: CostService
    purge_service: Purge
    tenant_purge: TenantPurge
    key_service: KeyService
    audit_trail: AuditTrail
    scrubber: Scrubber
    languages: Languages
    webhook_service: WebhookService
    mcp: Mcp
    owners: Owners
    prompts: Prompts
    sessions: Sessions
    review: Review
    backlogs: TenantBacklogs


@asynccontextmanager
async def opened(
    settings: Settings, database: Database, rates: Rates, keys: Keys, scrubber: Scrubber, gateway: Gateway
) -> AsyncIterator[Services]:
    """Opens the services and their background tasks, without HTTP. Closes them in reverse order."""
    async with AsyncExitStack() as stack:
        # Otherwise the first question would load it, on the event loop.
        detector = asyncio.create_task(asyncio.to_thread(load_detector))
        stack.push_async_callback(rates.close)
        stack.push_async_callback(database.close)
        ledger = Ledger(database, "context", settings.prices)
        stack.push_async_callback(ledger.close)
        gateway.ledger = ledger
        stack.callback(gateway.close)
        embedder, table = await open_cached(settings.embedding, database, "context", ledger)
        stack.push_async_callback(embedder.close)
        reranker = open_reranker(settings.rerank, ledger)
        if reranker is not None:
            stack.push_async_callback(reranker.close)
        await database.open()
        ledger.start()
        await detector
        doorbell = Doorbell(connect_redis(settings.redis_url))
        stack.push_async_callback(doorbell.stop)
        doorbell.start()
        journal = Journal(database, doorbell)
        stack.push_async_callback(journal.close)
        journal.start()
        stack.push_async_callback(keys.usage.stop)
        keys.usage.start()
        signals = Signals(database)
        stack.push_async_callback(signals.stop)
        signals.start()
        following = Following()
        numbering = Numbering(database, settings.redis_url, following)
        stack.push_async_callback(numbering.stop)
        numbering.start()
        mcp = Mcp(settings.mcp_toolset, settings.mcp_hosts, settings.public_url)
        stack.push_async_callback(mcp.stop)
        owners = Owners(
            {
                name: Owner(name, url, Signer(name, secrets))
                for name, url, secrets in (
                    ("cache", settings.cache_url, settings.cache_secrets),
                    ("agent_memory", settings.agent_memory_url, settings.agent_memory_secrets),
                )
            }
        )
        stack.push_async_callback(owners.close)
        accesses = Accesses(owners)
        stack.push_async_callback(accesses.stop)
        accesses.start()
        helper = open_paid(settings.helper, ledger)
        if helper is not None:
            stack.push_async_callback(helper.close)
        configs = CallerConfigs(database)
        profiles = ProfileService(database)
        records = Records("context")
        sessions = Sessions(database, owners)
        assembler = Assembler(
            Asking(
                settings,
                embedder,
                configs,
                profiles,
                MissionLanguages(owners["cache"]),
                References(owners["agent_memory"]),
            ),
            owners,
            journal,
            accesses,
            reranker,
            Synthesis(helper),
            sessions,
        )
        sources = Sources(owners, profiles)
        consolidation = Consolidation(database, owners)
        deliverer = Deliverer(database, settings.webhook_reach)
        stack.push_async_callback(deliverer.stop)
        deliverer.start()
        tenant_purge = TenantPurge(database, journal, owners, keys, rates, configs)
        await stack.enter_async_context(
            background(
                lambda: clock.follow_forever(database.clock),
                lambda: tidy_forever(database, records, table),
                lambda: every(EVERY_SECONDS, "partitions", lambda: maintain(database)),
                lambda: analyze_forever(database),
                lambda: every(SWEEP_EVERY_SECONDS, "gateway sessions", gateway.states.sweep),
                lambda: every(SWEEP_EVERY_SECONDS, "what sessions were given", sessions.sweep),
                tenant_purge.finish_forever,
                Schedule(database, consolidation, settings.consolidate_seconds).run_forever,
            )
        )
        yield Services(
            assembler=assembler,
            signals=signals,
            remember_service=Remember(database, records, owners, settings.remember_ttl_hours),
            consolidation=consolidation,
            feedback_service=Feedback(database, records, journal),
            keys=keys,
            timeline_service=Timeline(database, following, Streams(settings.streams)),
            assembly_log=AssemblyLog(database, journal),
            sources=sources,
            learning_service=Learning(database, settings.max_budget),
            evaluation=Evaluation(database, settings.default_budget, settings.max_budget),
            caller_configs=configs,
            profile_service=profiles,
            cost_service=CostService(database, records, settings.prices),
            purge_service=Purge(database, journal, owners, keys),
            tenant_purge=tenant_purge,
            key_service=KeyService(database, keys, records, doorbell.ring, settings.key_ttl_days),
            audit_trail=AuditTrail(database),
            scrubber=scrubber,
            languages=Languages(database, keys),
            webhook_service=WebhookService(database, records, deliverer.sender, settings.webhook_reach),
            mcp=mcp,
            owners=owners,
            prompts=Prompts(Documents(owners, sources), assembler),
            sessions=sessions,
            review=Review(database, owners),
            backlogs=TenantBacklogs(owners),
        )


def create(settings: Settings) -> Admission:
    database = Database(
        settings.database_url, connections=settings.connections, application="scrubjay-context"
    )
    rates = Rates(connect_redis(settings.redis_url))
    keys = Keys(database, settings.tokens, rates, settings.key_limits)
    scrubber = Scrubber(database, settings.scrubbing)
    gateway = Gateway(keys, settings.gateway, database, settings.prices)
    return create_app(
        routes=ROUTES,
        services=Services,
        opened=lambda: opened(settings, database, rates, keys, scrubber, gateway),
        authenticate=keys.authenticate,
        tenant_of=keys.tenant_of,
        database=database,
        in_flight=settings.in_flight,
        scraping=settings.scraping,
        screen=scrubber.screen,
        before_send=[tell_masked],
        apart=Apart(PREFIX, gateway),
    )
