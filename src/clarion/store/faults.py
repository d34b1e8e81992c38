"""Which errors of the database are the connection's, which are the moment's, and which the statement's."""

import psycopg
from psycopg import errors


def is_disconnect(error: BaseException) -> bool:
    """Whether the connection is lost: the work on it is undone, and so is the lease (O6)."""
    if isinstance(error, errors.AdminShutdown | errors.CrashShutdown | errors.CannotConnectNow):
        return True
    if isinstance(error, errors.IdleInTransactionSessionTimeout | errors.IdleSessionTimeout):
        return True
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and error.sqlstate is None


def is_transient(error: BaseException) -> bool:
    """Whether trying again is all it takes: a deadlock or a serialisation failure, no attempt (O6)."""
    return isinstance(error, errors.DeadlockDetected | errors.SerializationFailure | errors.LockNotAvailable)
