"""What the statements of the bench are made of. A third of the templates is held out: no rule was tuned on them."""

from collections.abc import Sequence
from typing import NamedTuple


class Relation(NamedTuple):
    """A question and the templates that state its answer. `{s}` is the subject, `{v}` the value."""

    question: str
    subjects: Sequence[str]
    values: Sequence[str]
    seen: Sequence[str]
    held_out: Sequence[str]


SYSTEMS = ("staging", "production", "billing", "search", "checkout", "analytics", "reporting", "gateway")
SERVICES = tuple(f"{name} service" for name in ("payment", "invoice", "login", "mail", "catalog", "image"))
TEAMS = tuple(f"{name} team" for name in ("platform", "mobile", "data", "support", "growth", "security"))
PEOPLE = ("Mia Torres", "Jonas Weber", "Priya Nair", "Omar Haddad", "Lena Fischer", "Tom Becker", "Ana Silva")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CITIES = ("Lisbon", "Berlin", "Toronto", "Nairobi", "Osaka", "Oslo", "Denver")
COMPANIES = ("Northwind", "Acme Robotics", "Blue Harbor", "Initech", "Globex", "Umbra Labs")
HOSTS = ("db-2", "db-7", "db-9", "db-14", "pg-eu-3", "pg-us-1")
PORTS = ("5432", "6033", "8080", "9090", "7443", "8443")
TOOLS = ("PagerDuty", "Grafana", "Slack", "Jenkins", "Buildkite", "Linear")
TIMES = ("02:00", "03:30", "04:15", "22:00", "23:45", "01:10")
COUNTS = ("3", "5", "8", "12", "20", "40")
MONEY = ("$4,000", "$5,500", "$7,200", "$9,000", "$12,000", "$15,000")
DURATIONS = ("7 days", "14 days", "30 days", "60 days", "90 days")
REGIONS = ("eu-west-1", "us-east-2", "ap-south-1", "eu-north-1", "us-west-2")
EDITORS = ("vim", "Helix", "emacs", "Zed", "nano", "VS Code")
COLOURS = ("green", "blue", "teal", "orange", "purple", "grey")


def _attribute(
    attribute: str, subjects: Sequence[str], values: Sequence[str], *also: str, held_out: Sequence[str] = ()
) -> Relation:
    """An attribute of a thing, in prose, notes and the key: value form."""
    return Relation(
        question=f"What is the {{s}} {attribute}?",
        subjects=subjects,
        values=values,
        seen=(
            f"The {{s}} {attribute} is {{v}}.",
            f"{{s}} {attribute}: {{v}}",
            f"{{s}} {attribute} = {{v}}",
            f"The {attribute} of {{s}} is {{v}}",
            f"- {{s}} {attribute}: {{v}}",
            f"The {{s}} {attribute} is now {{v}}.",
            *also,
        ),
        held_out=(
            f"Our {{s}} {attribute} is currently {{v}}.",
            f"Update: the {{s}} {attribute} was changed to {{v}}.",
            f"{{s}} {attribute} -> {{v}}",
            *held_out,
        ),
    )


RELATIONS: tuple[Relation, ...] = (
    _attribute("database", SYSTEMS, HOSTS, held_out=("As of this week, the {s} database is {v}.",)),
    _attribute("deploy window", SYSTEMS, DAYS, "The deploy window for {s} is {v}."),
    _attribute("owner", SERVICES, PEOPLE, "The owner of the {s} is {v}."),
    _attribute("port", SERVICES, PORTS, "The {s} listens on port {v}."),
    _attribute("region", SYSTEMS, REGIONS, held_out=("The {s} region is {v} from now on.",)),
    _attribute("on-call engineer", TEAMS, PEOPLE),
    _attribute("monthly budget", TEAMS, MONEY, held_out=("The monthly budget of the {s} is {v} as of May.",)),
    _attribute("retry limit", SERVICES, COUNTS),
    _attribute("backup time", SYSTEMS, TIMES),
    _attribute("log retention", SYSTEMS, DURATIONS),
    _attribute("status color", SYSTEMS, COLOURS),
    Relation(
        "Where does {s} live?",
        PEOPLE,
        CITIES,
        ("{s} lives in {v}.", "{s} now lives in {v}.", "{s} has moved to {v}."),
        ("Currently {s} lives in {v}.", "{s} relocated to {v}."),
    ),
    Relation(
        "Which company does {s} work for?",
        PEOPLE,
        COMPANIES,
        ("{s} works at {v}.", "{s} works for {v} now."),
        ("As of March, {s} works at {v}.",),
    ),
    Relation(
        "How many replicas does the {s} cluster have?",
        SYSTEMS,
        COUNTS,
        ("The {s} cluster has {v} replicas.", "{s} cluster replicas: {v}"),
        ("The {s} cluster now runs {v} replicas.",),
    ),
    Relation(
        "Which tool does the {s} use for alerts?",
        TEAMS,
        TOOLS,
        ("The {s} uses {v} for alerts.",),
        ("For alerts, the {s} uses {v}.",),
    ),
    Relation(
        "Where does the {s} application run?",
        SYSTEMS,
        HOSTS,
        (
            "The {s} application runs on {v}.",
            "The {s} application is hosted on {v}.",
            "The {s} application has moved to {v}.",
        ),
        ("The {s} application is now deployed to {v}.", "The {s} application was migrated to {v}."),
    ),
    Relation(
        "How long is the lease of the {s}?",
        SERVICES,
        DURATIONS,
        ("The {s} lease is {v}.", "The lease of the {s} is {v}.", "The {s}'s lease lasts {v}."),
        ("The {s}'s lease now takes {v}.", "The lease for the {s} is {v}."),
    ),
    Relation(
        "What is the favorite editor of {s}?",
        PEOPLE,
        EDITORS,
        ("{s}'s favorite editor is {v}.", "The favorite editor of {s} is {v}."),
        ("{s}'s favorite editor is now {v}.",),
    ),
    Relation(
        "How long are the {s} logs kept?",
        SYSTEMS,
        COUNTS,
        ("The {s} logs are kept for {v} days.", "The {s} logs are now kept for {v} days."),
        ("Logs of {s} expire after {v} days.",),
    ),
)

# Statements that share words with the facts above, or with each other, and that all hold at the same time.
SAME_SUBJECT: tuple[Sequence[str], ...] = (
    (
        "The {s} dashboard is public.",
        "The {s} dashboard is built with Grafana.",
        "The {s} dashboard needs a login.",
    ),
    (
        "The {s} schema is versioned in Git.",
        "The {s} schema is 140 tables large.",
        "{s} schema docs: wiki/schema",
    ),
    ("The {s} runbook is owned by the night shift.", "The {s} runbook is stored in the wiki."),
    (
        "{s} certificate issuer: Let's Encrypt",
        "{s} certificate lifetime: 90 days",
        "{s} certificate type: wildcard",
    ),
    ("The {s} cluster is encrypted at rest.", "The {s} cluster is monitored by Grafana."),
    ("{p} likes climbing.", "{p} likes old films.", "{p} likes strong coffee."),
    ("{p} is from Porto.", "{p} is a night owl.", "{p} is 34 years old."),
    ("{p} speaks Spanish.", "{p} speaks German.", "{p} owns the release notes.", "{p} owns the style guide."),
    ("The {s} export takes 14 minutes.", "The {s} export costs $3.", "The {s} export is 14 GB large."),
    ("{p} has moved to the data team.", "{p} switched to Linux.", "{p} moved to tears at the farewell."),
    ("The {s} queue is fast.", "The {s} queue is q-17.", "The {s} queue is drained at night."),
)
EVENTS: tuple[Sequence[str], ...] = (
    ("Ran test {s}-login: ok", "Ran test {s}-logout: ok", "Ran test {s}-signup: failed"),
    (
        "Ran the {s} suite: 214 passed",
        "Ran the {s} suite: 215 passed",
        "Ran the {s} suite: 213 passed, 2 failed",
    ),
    ("Step 1: open the {s} console", "Step 2: stop the {s} workers", "Step 3: rotate the {s} key"),
    ("1. Export the {s} table", "2. Check the {s} counts", "3. Import the {s} table"),
    (
        "2026-03-01 10:02:11 ERROR {s}: connection reset",
        "2026-03-01 10:02:12 ERROR {s}: pool exhausted",
        "2026-03-01 10:03:40 INFO {s}: recovered",
    ),
    (
        "Deployed {s} build 411 to staging.",
        "Deployed {s} build 412 to staging.",
        "Deployed {s} build 415 to staging.",
    ),
    ("Fixed the {s} bug in parser.py line 40.", "Fixed the {s} bug in lexer.py line 12."),
    (
        "Decision: keep the {s} cron job",
        "Decision: drop the {s} beta flag",
        "Decision: pin the {s} base image",
    ),
    ("TODO: rename the {s} bucket", "TODO: archive the {s} wiki", "TODO: ask about the {s} invoice"),
    ("Met {p} about the {s} launch.", "Met {p} about the {s} audit.", "Called {p} about the {s} launch."),
    (
        "{p}: let us ship the {s} fix today",
        "{p}: the {s} tests look fine to me",
        "{p}: who reviews the {s} patch?",
    ),
    ("Note: the {s} import took 14 minutes", "Note: the {s} export took 3 minutes"),
    ("Incident 31: {s} was slow for an hour", "Incident 32: {s} lost two workers"),
    ("Paid the {s} invoice of $310.", "Paid the {s} invoice of $415.", "Paid the {s} invoice of $275."),
)
