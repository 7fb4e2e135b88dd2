import { checkFields, checkKind } from "./argument-checks.ts";
import type { UsageBody } from "./entry.ts";
import { createArgumentError } from "./errors.ts";
import { checkUsage } from "./usage.ts";

/** Returns `body` if it is a usage report that the log can hold, else throws ARGUMENT_INVALID. */
export function checkUsageBody(body: UsageBody): UsageBody {
  checkKind("usage", body, "json");
  if (body.kind !== "usage") throw createArgumentError("usage.kind", body.kind, '"usage"');
  checkUsage(body.usage, "usage.usage");
  return checkFields("usage", body, {
    model: "text?",
    provider: "text?",
    request: "text?",
    meta: "object?",
  });
}
