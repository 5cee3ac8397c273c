"""What services may put into a log line beyond the generic fields: identifiers and closed words, nothing personal."""

LOG_FIELDS = frozenset(
    {
        "category",
        "correlation_id",
        "delivery_id",
        "endpoint_id",
        "error_code",
        "instance",
        "lane_state",
        "message_id",
        "number_id",
        "project_id",
        "proof",
        "round",
        "tenant_id",
    }
)
