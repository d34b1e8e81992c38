"""Credentials: API keys of the host and tokens of people.

Kept here: a secret is shown once and kept as its SHA-256 only; looking one up is by that digest, so that how
long it takes tells nothing of a secret. Each function is a command in the caller's transaction.
"""

import hmac
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from secrets import token_bytes, token_urlsafe

from clarion.model.errors import NotFound, Unauthorised
from clarion.model.keys import Key
from clarion.store.database import Command
from clarion.store.queries import ask

TOKEN_DAYS = 30
"""How long a person's token holds unless its host says otherwise."""
MAX_TOKEN_DAYS = 3650
MAX_LABEL_CHARS = 200

HOST_PREFIX = "clh_"
PERSON_PREFIX = "clp_"


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential that holds now: the host's where it names no person."""

    id: int
    person: Key | None


@dataclass(frozen=True, slots=True)
class Issued:
    """A person's new token: all but the secret, and from what that is made."""

    id: int
    expires_at: datetime
    nonce: str = field(repr=False)


def digest(secret: str) -> bytes:
    """Return what is kept of a secret."""
    return sha256(secret.encode("utf-8", "surrogateescape")).digest()


def is_same_secret(given: str, known: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell how much of them is."""
    return hmac.compare_digest(digest(given), digest(known))


def new_nonce() -> str:
    """Return what makes a token unlike all others."""
    return token_bytes(32).hex()


def make_token(host_secret: str, nonce: str) -> str:
    """Return the token that a host's own secret and a nonce make.

    So an answer that is kept for a repeated request can hold the nonce, and the token itself stays unwritten:
    without the host's secret, which is not written either, nobody makes it from that.
    """
    mac = hmac.new(host_secret.encode("utf-8", "surrogateescape"), bytes.fromhex(nonce), sha256).digest()
    return PERSON_PREFIX + urlsafe_b64encode(mac).decode().rstrip("=")


def find_credential(secret: str) -> Command[Credential]:
    """Return the credential with this secret. Raises: `Unauthorised` where there is none that holds now.

    A person's holds while the person is active. Cost: one statement by primary key.
    """
    rows = yield ask("find_credential", digest=digest(secret))
    if not rows:
        raise Unauthorised("this key or token is unknown, expired or revoked")
    return Credential(rows[0]["id"], rows[0]["person"])


def issue_token(
    person: Key, *, host_secret: str, nonce: str, days: int = TOKEN_DAYS, label: str = ""
) -> Command[Issued]:
    """Give a person a token for so many days. Raises: `NotFound` for one who is not there or not active."""
    secret = make_token(host_secret, nonce)
    rows = yield ask("issue_token", digest=digest(secret), person=person, days=days, label=label)
    if not rows:
        raise NotFound(f"there is no active person {person}")
    return Issued(rows[0]["id"], rows[0]["expires_at"], nonce)


def revoke_token(person: Key, token: int) -> Command[int]:
    """Let one of a person's tokens count no more. Raises: `NotFound` where the person has none of this id."""
    rows = yield ask("revoke_tokens", person=person, token=token)
    if not rows:
        raise NotFound(f"the person {person} has no token {token}")
    return 1


def revoke_tokens(person: Key) -> Command[int]:
    """Let none of a person's tokens count any more; returns how many there were."""
    return len((yield ask("revoke_tokens", person=person, token=None)))


def exchange_token(secret: str) -> Command[str]:
    """Return a fresh token for one that then counts no more, so that a link with it signs in once.

    It expires when the old one would have. Raises: `Unauthorised`.
    """
    fresh = PERSON_PREFIX + token_urlsafe(32)
    rows = yield ask("exchange_token", digest=digest(secret), fresh=digest(fresh))
    if not rows:
        raise Unauthorised("this link was used before, has expired, or was revoked")
    return fresh


def enter_as(handle_folded: str) -> Command[str]:
    """Return a token for the active person with this handle: for the demo alone. Raises: `NotFound`."""
    fresh = PERSON_PREFIX + token_urlsafe(32)
    rows = yield ask("enter_as", digest=digest(fresh), handle_folded=handle_folded)
    if not rows:
        raise NotFound("there is nobody with this handle")
    return fresh


def leave(secret: str) -> Command[None]:
    """Let a person's token count no more, whoever's it is; unknown ones do nothing."""
    yield ask("leave", digest=digest(secret))


def add_host_key(label: str = "") -> Command[str]:
    """Return a new API key of the host's, which is shown this once."""
    secret = HOST_PREFIX + token_urlsafe(32)
    yield ask("add_host_key", digest=digest(secret), label=label)
    return secret
