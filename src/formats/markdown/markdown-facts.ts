import type { Entry, Json } from "../../index.ts";
import { EMPTY_LEDGER, type Totals } from "../../window-entry.ts";
import { toNumber, toObject, toText } from "../../wire/fields.ts";
import type { ExportedSession } from "../port/writer.ts";
import { addUsage } from "../writing/usage-ledger.ts";
import { escapeInline } from "./markdown-text.ts";

/** Facts at the top of a transcript. */
interface TranscriptFacts {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly models: readonly string[];
  readonly messages: number;
  readonly usage: Totals;
}

const MAX_MODELS = 20;

/** Builds the lines at the top of a transcript: agent, models, time and usage. */
export async function renderFactLines(session: ExportedSession): Promise<readonly string[]> {
  const { record } = session;
  const facts = await collectFacts(session);
  const source = toObject(record.meta?.source as Json | undefined);
  const agent = toText(source?.format);
  const { cost, requests, unpricedRequests } = facts.usage;
  const used = formatTokens(facts.usage);
  return [
    `- Session: ${escapeInline(record.id)}`,
    ...(agent === undefined ? [] : [`- Agent: ${escapeInline(agent)}`]),
    ...(facts.models.length === 0 ? [] : [`- Model: ${facts.models.map(escapeInline).join(", ")}`]),
    ...(facts.from === undefined
      ? []
      : [`- Time: ${formatUtcTime(facts.from)} to ${formatUtcTime(facts.to ?? facts.from)}`]),
    `- Messages: ${facts.messages}`,
    ...(used === "" ? [] : [`- Tokens: ${used}`]),
    ...(requests === unpricedRequests ? [] : [`- Cost: $${cost.toFixed(cost < 1 ? 4 : 2)}`]),
  ];
}

/** Returns when a message was said: an import keeps this time in meta if it differs from the entry's. */
export function getMessageTime({ at, message }: Entry & { readonly kind: "message" }): number {
  return toNumber(message.meta?.at) ?? at;
}

/** Formats a time in UTC. */
export function formatUtcTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function formatTokens(usage: Totals): string {
  const counts: readonly (readonly [string, number])[] = [
    ["input", usage.inputTokens],
    ["output", usage.outputTokens],
    ["read from cache", usage.cacheReadTokens],
    ["written to cache", usage.cacheWriteTokens],
  ];
  return counts
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count.toLocaleString("en")} ${word}`)
    .join(", ");
}

async function collectFacts(session: ExportedSession): Promise<TranscriptFacts> {
  let from: number | undefined;
  let to: number | undefined;
  let messages = 0;
  let ledger = EMPTY_LEDGER;
  const models = new Set<string>();
  for await (const entry of session.entries("line")) {
    if (entry.kind === "message") {
      from = Math.min(from ?? Number.POSITIVE_INFINITY, getMessageTime(entry));
      to = Math.max(to ?? 0, getMessageTime(entry));
      messages++;
      if (entry.message.model !== undefined && models.size < MAX_MODELS) models.add(entry.message.model);
    } else if (entry.kind === "usage") {
      if (entry.model !== undefined && models.size < MAX_MODELS) models.add(entry.model);
      ledger = addUsage(ledger, entry);
    }
  }
  return { from, to, messages, models: [...models], usage: ledger.session };
}
