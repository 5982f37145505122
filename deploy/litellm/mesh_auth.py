"""Per-agent gateway keys for a LiteLLM proxy without a database.

LiteLLM calls `user_api_key_auth` for each request (`general_settings.custom_auth: mesh_auth.user_api_key_auth`).
Keys are read from the JSON file that MESH_GATEWAY_KEYS names, and read again when the file changes:

    {"agents": [{"agent": "adolf", "sha256": "<hex of the key's SHA-256>", "models": ["tier/small"],
                 "rpm": 30, "max_parallel": 4}]}

The file holds digests, never keys. `models` is the allowlist of `model_name`s; an agent without one may call
nothing (LiteLLM itself reads an empty list as "everything", so it is checked here). Metered groups under
`paid/` are reached only by an agent whose `models` names them one by one.
"""

import hashlib
import hmac
import json
import os
from typing import Any

from fastapi import Request
from litellm.proxy._types import LitellmUserRoles, ProxyException, UserAPIKeyAuth

_loaded: dict[str, Any] = {"stamp": None, "agents": {}}


def _agents() -> dict[str, dict[str, Any]]:
    path = os.environ["MESH_GATEWAY_KEYS"]
    stat = os.stat(path)
    stamp = (stat.st_mtime_ns, stat.st_size)
    if _loaded["stamp"] != stamp:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)["agents"]
        _loaded["agents"] = {entry["sha256"]: entry for entry in entries}
        _loaded["stamp"] = stamp
    return _loaded["agents"]


def _is_master(api_key: str) -> bool:
    master = os.environ.get("LITELLM_MASTER_KEY", "")
    return bool(master) and hmac.compare_digest(api_key.encode(), master.encode())


async def _wanted_model(request: Request) -> str | None:
    """The model that a call names, None where it names none in its body."""
    if request.method != "POST":
        return None
    if "json" not in request.headers.get("content-type", ""):
        raise _refused(403, "auth_error", "Agents send JSON; forms and uploads are not for them.")
    try:
        body = await request.json()
    except ValueError as error:
        raise _refused(400, "invalid_request_error", "The body is not JSON.") from error
    model = body.get("model") if isinstance(body, dict) else None
    return model if isinstance(model, str) else None


def _refused(status: int, kind: str, message: str) -> ProxyException:
    return ProxyException(message=message, type=kind, param=None, code=status)


async def user_api_key_auth(request: Request, api_key: str) -> UserAPIKeyAuth:
    if _is_master(api_key):
        return UserAPIKeyAuth(api_key=api_key, user_role=LitellmUserRoles.PROXY_ADMIN)
    digest = hashlib.sha256(api_key.encode()).hexdigest()
    entry = _agents().get(digest)
    if entry is None:
        raise _refused(401, "auth_error", "This gateway key belongs to no agent.")
    models = entry.get("models") or []
    model = await _wanted_model(request)
    if model is not None and model not in models:
        raise _refused(
            403,
            "key_model_access_denied",
            f"The gateway key of agent {entry['agent']} does not allow model {model}.",
        )
    return UserAPIKeyAuth(
        api_key=digest,
        key_alias=entry["agent"],
        user_id=entry["agent"],
        models=models or ["none"],
        rpm_limit=entry.get("rpm"),
        max_parallel_requests=entry.get("max_parallel"),
        metadata={"agent": entry["agent"], "disable_fallbacks": True},
    )
