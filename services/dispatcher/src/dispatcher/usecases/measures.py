"""The dispatcher's metrics; labels are closed sets, never a number, tenant or message."""

from prometheus_client import Counter, Gauge, Histogram

from chassis.telemetry.metrics import registry

ATTEMPTS = Counter(
    "pilot_dispatcher_attempts_total", "Attempts that ended, by what came of them", ["outcome"], registry=registry
)
CALL_SECONDS = Histogram(
    "pilot_dispatcher_call_seconds",
    "Duration of calls to a gateway's send endpoint",
    registry=registry,
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30),
)
CALLS_UNDER_WAY = Gauge("pilot_dispatcher_calls_under_way", "Claimed attempts not settled yet", registry=registry)
CLAIM_SECONDS = Histogram(
    "pilot_dispatcher_claim_seconds",
    "Duration of the claiming transaction",
    registry=registry,
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)
START_DELAY_SECONDS = Histogram(
    "pilot_dispatcher_start_delay_seconds",
    "From the instant an attempt is to leave to its call",
    registry=registry,
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5),
)
JOBS = Gauge("pilot_dispatcher_jobs", "Unfinished jobs by state, sampled", ["state"], registry=registry)
TAKEN_IN = Counter("pilot_dispatcher_jobs_taken_in_total", "New jobs", registry=registry)
CANCELED = Counter("pilot_dispatcher_jobs_canceled_total", "Messages canceled before any call", registry=registry)
EXPIRED = Counter("pilot_dispatcher_jobs_expired_total", "Jobs whose delivery window closed", registry=registry)
NUMBER_REMOVED = Counter(
    "pilot_dispatcher_jobs_number_removed_total", "Jobs that failed because their number is gone", registry=registry
)
SUPPRESSED = Counter(
    "pilot_dispatcher_jobs_suppressed_total", "Jobs that said again what was said last", registry=registry
)
STRAYED = Counter(
    "pilot_dispatcher_jobs_strayed_total", "Jobs found where no claim looks, and brought back", registry=registry
)
RESOLVED = Counter(
    "pilot_dispatcher_uncertain_resolved_total", "Uncertain attempts resolved, by how", ["by"], registry=registry
)
LEASES_LOST = Counter(
    "pilot_dispatcher_leases_lost_total", "Attempts whose caller was not heard of again", registry=registry
)
PLACES_ASKED_BACK = Counter(
    "pilot_dispatcher_places_asked_back_total",
    "Times an unanswered call was to let others of its lane pass, by whether it did",
    ["outcome"],
    registry=registry,
)
ANSWERS_FENCED_OFF = Counter(
    "pilot_dispatcher_answers_fenced_off_total", "Answers that came after their lease was lost", registry=registry
)
RETRIES = Counter(
    "pilot_dispatcher_retries_total",
    "Second tries that were due, by whether their gateway's budget had room for them",
    ["outcome"],
    registry=registry,
)
RESERVED_IDS = Counter(
    "pilot_dispatcher_reserved_ids_total",
    "Messages taken under an id of our choice, by whether the gateway honoured it",
    ["honoured"],
    registry=registry,
)
CONNECTION_CHANGES = Counter(
    "pilot_dispatcher_connection_changes_total",
    "Connections seen to change, by new state",
    ["state"],
    registry=registry,
)
LANE_ALERTS = Counter(
    "pilot_dispatcher_lane_alerts_total",
    "Numbers that somebody should look into, by what was noticed; the log says which",
    ["kind"],
    registry=registry,
)
LANES = Gauge(
    "pilot_dispatcher_lanes", "Numbers by condition, sampled; one may be in several", ["condition"], registry=registry
)
RECEIPTS = Counter(
    "pilot_dispatcher_receipts_total", "Receipts that told something new about a job", ["status"], registry=registry
)
TIMED_OUT = Counter(
    "pilot_dispatcher_jobs_timed_out_total",
    "Jobs that fell due while nobody was at work, not sent late",
    registry=registry,
)
