"""What content may look like: every limit and form, refused at the door by name (K2)."""

import re
from zoneinfo import ZoneInfo

from clarion.model.errors import Invalid, TooLarge
from clarion.model.text import MAX_HANDLE_CHARS, MAX_TEXT_BYTES, is_handle

MAX_KEY_CHARS = 190
"""The longest key of a thread, a post, an organisation or a team; the opening post's key is a little longer."""

MAX_TITLE_CHARS = 1000
MAX_LINK_CHARS = 2000
MAX_NAME_CHARS = 200
MAX_ADDRESS_CHARS = 320
MAX_LOCALE_CHARS = 35
MAX_ROLE_CHARS = 40

MAX_PEOPLE = 1000
"""The most people, teams or review comments that one command takes."""

_LOCALE = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")


def check_text(text: str, what: str = "text") -> None:
    """Refuse a text over 65,536 bytes of UTF-8, one with a NUL character, and one that is no Unicode."""
    _check_characters(text, what)
    if (size := len(text.encode())) > MAX_TEXT_BYTES:
        raise TooLarge(f"the {what} takes {size} bytes of UTF-8, at most {MAX_TEXT_BYTES} are allowed")


def check_title(title: str) -> None:
    """Refuse a title that is blank or longer than 1,000 characters."""
    _check_length(title, "title", MAX_TITLE_CHARS)
    _check_not_blank(title, "title")


def check_link(link: str) -> None:
    """Refuse a link with white space in it, or longer than 2,000 characters; an empty one is none."""
    _check_length(link, "link", MAX_LINK_CHARS)
    if any(char.isspace() for char in link):
        raise Invalid(f"the link {link[:80]!r} has white space in it: write it as %20")


def check_key(key: str, what: str) -> None:
    """Refuse a host's key that is blank or longer than 190 characters."""
    _check_length(key, f"key of the {what}", MAX_KEY_CHARS)
    _check_not_blank(key, f"key of the {what}")


def check_handle(handle: str) -> None:
    """Refuse what cannot be a handle (T3)."""
    _check_characters(handle, "handle")
    if not is_handle(handle):
        raise Invalid(
            f"{handle[:MAX_HANDLE_CHARS]!r} is no handle: letters and digits, with `-`, `_` and `.` between them,"
            f" at most {MAX_HANDLE_CHARS} characters"
        )


def check_name(name: str) -> None:
    """Refuse a name longer than 200 characters; it may be empty."""
    _check_length(name, "name", MAX_NAME_CHARS)


def check_space_name(name: str) -> None:
    """Refuse a space's name that is blank or longer than 200 characters."""
    check_name(name)
    _check_not_blank(name, "name of a space")


def check_role(role: str) -> None:
    """Refuse a member's role that is blank or longer than 40 characters."""
    _check_length(role, "role", MAX_ROLE_CHARS)
    _check_not_blank(role, "role")


def check_address(address: str) -> None:
    """Refuse what cannot be a mail address; an empty one is none."""
    _check_length(address, "address", MAX_ADDRESS_CHARS)
    if address and not _ADDRESS.fullmatch(address):
        raise Invalid(f"{address[:80]!r} is no mail address: name@domain, without white space")


def check_locale(locale: str) -> None:
    """Refuse what has not the form of a locale."""
    if len(locale) > MAX_LOCALE_CHARS or not _LOCALE.fullmatch(locale):
        raise Invalid(f"{locale[:MAX_LOCALE_CHARS]!r} is no locale: a language and its variants, such as en or pt-BR")


def check_zone(zone: str) -> None:
    """Refuse a time zone that the time zone database does not have."""
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise Invalid(f"{zone[:64]!r} is no time zone: a name such as Europe/Lisbon, or UTC") from None


def check_choice(value: str, allowed: tuple[str, ...], what: str) -> None:
    """Refuse a value that is none of those allowed."""
    if value not in allowed:
        raise Invalid(f"{value[:40]!r} is no {what}: one of {', '.join(allowed)}")


def check_count(count: int, what: str) -> None:
    """Refuse a list of more than 1,000."""
    if count > MAX_PEOPLE:
        raise TooLarge(f"{count} {what} in one command, at most {MAX_PEOPLE} are allowed")


def _check_length(value: str, what: str, limit: int) -> None:
    _check_characters(value, what)
    if len(value) > limit:
        raise TooLarge(f"the {what} takes {len(value)} characters, at most {limit} are allowed")


def _check_not_blank(value: str, what: str) -> None:
    if not value.strip():
        raise Invalid(f"the {what} is blank")


def _check_characters(value: str, what: str) -> None:
    if "\0" in value:
        raise Invalid(f"the {what} has a NUL character in it, which no text of the database can hold")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise Invalid(f"the {what} has half a surrogate pair in it, which is no Unicode text")
