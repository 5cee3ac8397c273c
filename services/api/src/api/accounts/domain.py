"""Projects as values, and how they get their names for machines."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

SLUG_LENGTH_MAX = 60
_APART = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project of a tenant; `slug` is its name for machines, unique within the tenant."""

    project_id: UUID
    tenant_id: UUID
    name: str
    slug: str
    description: str
    production_approved: bool
    created_at: datetime


def slug_of(name: str) -> str:
    """`Loja São José` becomes `loja-sao-jose`; a name without Latin letters and digits becomes `project`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _APART.sub("-", plain)[:SLUG_LENGTH_MAX].strip("-") or "project"


def distinct_slug(slug: str, project_id: UUID) -> str:
    """The slug of a project whose first choice is taken within its tenant."""
    return f"{slug}-{project_id.hex[-8:]}"
