"""Errors of the gateway."""

from __future__ import annotations

from typing import Any, Mapping


class LonghaulError(Exception):
    """An error reply of the gateway: `code` for programs, the message and `remedy` for people."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        remedy: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        # Messages of the kernel often end with the remedy already.
        super().__init__(message if remedy in message else f"{message} {remedy}")
        self.status = status
        self.code = code
        self.message = message
        self.remedy = remedy
        self.details: Mapping[str, Any] = details or {}


def parse_error(status: int, body: object) -> LonghaulError:
    """The error that a reply holds; replies of proxies have other forms."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        return LonghaulError(status, "UNEXPECTED", f"The gateway answered {status}.")
    return LonghaulError(
        status,
        error["code"],
        str(error.get("message", "")),
        str(error.get("remedy", "")),
        error.get("details"),
    )
