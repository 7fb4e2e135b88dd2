"""Headers that name the conversation of a request that goes through the gateway."""

from __future__ import annotations


def session_headers(session: str, *, token: str | None = None) -> dict[str, str]:
    """Headers for the openai and anthropic clients, as `default_headers` or `extra_headers`.

    Requests with the same `session` belong to one conversation, even if the client trims or edits its own copy.
    """
    if not session or any(ord(sign) < 32 or ord(sign) > 126 for sign in session):
        raise ValueError(f"session is {session!r}; expected printable ASCII")
    headers = {"x-longhaul-session": session}
    if token is not None:
        headers["x-longhaul-token"] = token
    return headers
