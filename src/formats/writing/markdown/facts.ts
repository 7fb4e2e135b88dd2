import { EMPTY_LEDGER, type Entry, type Json, type Totals } from "../../../index.ts";
import { numberOf, objectOf, textOf } from "../../content/fields.ts";
import { addUsage } from "../usage-ledger.ts";
import type { ExportedSession } from "../writer.ts";
import { inline } from "./text.ts";

/** Facts at the top of a transcript. */
interface Facts {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly models: readonly string[];
  readonly messages: number;
  readonly usage: Totals;
}

const MAX_MODELS = 20;

/** Builds the lines at the top of a transcript: agent, models, time and usage. */
export async function factLines(session: ExportedSession): Promise<readonly string[]> {
  const { record } = session;
  const facts = await gather(session);
  const source = objectOf(record.meta?.source as Json | undefined);
  const agent = textOf(source?.format);
  const { cost, requests, unpricedRequests } = facts.usage;
  const used = tokenWords(facts.usage);
  return [
    `- Session: ${inline(record.id)}`,
    ...(agent === undefined ? [] : [`- Agent: ${inline(agent)}`]),
    ...(facts.models.length === 0 ? [] : [`- Model: ${facts.models.map(inline).join(", ")}`]),
    ...(facts.from === undefined
      ? []
      : [`- Time: ${timeText(facts.from)} to ${timeText(facts.to ?? facts.from)}`]),
    `- Messages: ${facts.messages}`,
    ...(used === "" ? [] : [`- Tokens: ${used}`]),
    ...(requests === unpricedRequests ? [] : [`- Cost: $${cost.toFixed(cost < 1 ? 4 : 2)}`]),
  ];
}

/** Returns when a message was said: an import keeps this time in meta if it differs from the entry's. */
export function saidAt({ at, message }: Entry & { readonly kind: "message" }): number {
  return numberOf(message.meta?.at) ?? at;
}

/** Formats a time in UTC. */
export function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function tokenWords(usage: Totals): string {
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

async function gather(session: ExportedSession): Promise<Facts> {
  let from: number | undefined;
  let to: number | undefined;
  let messages = 0;
  let ledger = EMPTY_LEDGER;
  const models = new Set<string>();
  for await (const entry of session.entries("line")) {
    if (entry.kind === "message") {
      from = Math.min(from ?? Number.POSITIVE_INFINITY, saidAt(entry));
      to = Math.max(to ?? 0, saidAt(entry));
      messages++;
      if (entry.message.model !== undefined && models.size < MAX_MODELS) models.add(entry.message.model);
    } else if (entry.kind === "usage") {
      if (entry.model !== undefined && models.size < MAX_MODELS) models.add(entry.model);
      ledger = addUsage(ledger, entry);
    }
  }
  return { from, to, messages, models: [...models], usage: ledger.session };
}
