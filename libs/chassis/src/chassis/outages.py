"""Tells trouble of a backing service, which passes, from a fault in the code, which does not."""

from aiormq.exceptions import AMQPError, ChannelInvalidStateError
from sqlalchemy.exc import OperationalError

from chassis.database import TRANSIENT_SQLSTATES, UnavailableError, is_transient

_PASSING_TROUBLE = (UnavailableError, OperationalError, AMQPError, ChannelInvalidStateError)
_PASSING_TROUBLE = (UnavailableError, OperationalError, AMQPError, ChannelInvalidStateError)
_PROGRAMMING_FAULTS = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)


def is_outage(error: BaseException) -> bool:
    """True if database, broker or network could not do it now, so that the caller may come again."""
    if isinstance(error, _PROGRAMMING_FAULTS):
        return False
    if isinstance(error, _PASSING_TROUBLE) or is_transient(error):
        return True
    sqlstate = getattr(error, "sqlstate", None)
    return isinstance(sqlstate, str) and sqlstate.startswith(TRANSIENT_SQLSTATES)
