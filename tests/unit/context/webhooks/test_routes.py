"""How long routes of webhooks may take."""

from __future__ import annotations

from services.context.purge.routes import purge
from services.context.webhooks.routes import delete_webhook


def test_deleting_a_webhook_with_all_its_deliveries_may_take_as_long_as_a_purge() -> None:
    assert delete_webhook.opt["seconds"] == purge.opt["seconds"]
