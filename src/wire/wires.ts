import { checkKind } from "../model/argument-checks.ts";
import { createArgumentError } from "../model/errors.ts";
import type { Usage } from "../model/usage.ts";
import { anthropicWire, parseAnthropicUsage } from "./anthropic/anthropic-wire.ts";
import { googleWire } from "./google/google-wire.ts";
import { interactionsWire } from "./google/interactions-wire.ts";
import { parseOpenaiUsage } from "./openai/parse-openai-usage.ts";
import { openaiChatWire } from "./openai-chat/openai-chat-wire.ts";
import { openaiResponsesWire } from "./openai-responses/openai-responses-wire.ts";
import { parseGoogleUsage } from "./usage/parse-google-usage.ts";
import type { Wire, WireName } from "./wire.ts";

/** All wires. */
export const WIRES: readonly Wire[] = [anthropicWire, openaiChatWire, openaiResponsesWire, googleWire];

const WIRE_BY_NAME: Readonly<Record<WireName, Wire>> = {
  anthropic: anthropicWire,
  "openai-chat": openaiChatWire,
  "openai-responses": openaiResponsesWire,
  google: googleWire,
};

export function getWire(name: WireName): Wire {
  return WIRE_BY_NAME[name];
}

/** The wire of an endpoint: Google has another one for interactions. */
export function getEndpointWire(name: WireName, path: string): Wire {
  return name === "google" && /\/interactions$/.test(path) ? interactionsWire : WIRE_BY_NAME[name];
}

/** The supported APIs; many other providers use one of them. */
export const REPORTING_APIS = ["anthropic", "openai-chat", "openai-responses", "google"] as const;

export type ReportingApi = (typeof REPORTING_APIS)[number];

const PARSERS: Readonly<Record<ReportingApi, (report: unknown) => Usage | undefined>> = {
  anthropic: parseAnthropicUsage,
  "openai-chat": parseOpenaiUsage,
  "openai-responses": parseOpenaiUsage,
  google: parseGoogleUsage,
};

/**
 * Converts a provider's usage report: the `usage` object of a response or stream event, or `usageMetadata` for Google.
 * Undefined if it contains no count.
 */
export function parseUsageReport(api: ReportingApi, report: unknown): Usage | undefined {
  if (!REPORTING_APIS.includes(api))
    throw createArgumentError("api", api, `one of ${REPORTING_APIS.join(", ")}`);
  return PARSERS[api](report);
}

/**
 * Merges a later report of the same stream into an earlier one. Reports are cumulative, so the later one wins, except
 * where it omits a count or reports 0.
 */
export function mergeUsage(earlier: Usage | undefined, later: Usage | undefined): Usage | undefined {
  for (const [option, usage] of Object.entries({ earlier, later }))
    if (usage !== undefined) checkKind(option, usage, "object");
  if (!earlier || !later) return later ?? earlier;
  return { ...earlier, ...Object.fromEntries(Object.entries(later).filter(([, count]) => count !== 0)) };
}
