import { statSync } from "node:fs";
import { isNamedSession, readConversations } from "../../kernel/calls/project-conversations.ts";
import type { Kernel } from "../../kernel/index.ts";
import { readRequestUsage } from "../../kernel/usage/request-usage.ts";
import { UsageSums } from "../../kernel/usage/usage-sums.ts";
import { toObject } from "../../wire/fields.ts";

/** Facts of the process that serves the line. */
interface StatusFacts {
  /** The newest answer to a hook, in words; empty if there is none. */
  readonly lastRecall: string;
  readonly now: number;
}

/** Anthropic keeps a prompt's cache for five minutes unless a client asks for an hour. */
const CACHE_MS = 300_000;
const LONG_CACHE_MS = 3_600_000;

/** One line about a conversation: the share of its window, its cache, the savings of edits and the last recall. */
export async function buildStatusLine(
  kernel: Kernel | undefined,
  input: unknown,
  { lastRecall, now }: StatusFacts,
): Promise<string> {
  const fields = toObject(input) ?? {};
  const saved =
    kernel && typeof fields.session_id === "string" ? await readSaved(kernel, fields.session_id) : 0;
  return [
    "longhaul",
    describeWindow(toObject(fields.context_window)),
    describeCache(fields, now),
    ...(saved > 0 ? [`saved $${saved.toFixed(2)}`] : []),
    ...(lastRecall === "" ? [] : [`recall: ${lastRecall}`]),
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

function describeWindow(window: Readonly<Record<string, unknown>> | undefined): string {
  const share = window?.used_percentage;
  return typeof share === "number" ? `window ${Math.round(share)}%` : "";
}

/** Every request renews the cache, and the client writes its transcript with every request. */
function describeCache(fields: Readonly<Record<string, unknown>>, now: number): string {
  const { transcript_path: path } = fields;
  const written = typeof path === "string" ? statSync(path, { throwIfNoEntry: false })?.mtimeMs : undefined;
  if (written === undefined) return "";
  const isLong = fields.cache_ttl === "1h";
  const left = written + (isLong ? LONG_CACHE_MS : CACHE_MS) - now;
  return left > 0 ? `cache hot, ${formatLeft(left)} left` : "cache cold";
}

function formatLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

async function readSaved(kernel: Kernel, name: string): Promise<number> {
  const { conversations } = await readConversations(kernel, {});
  const own = conversations.find(({ id }) => isNamedSession(id, name));
  if (!own) return 0;
  await using session = await kernel.session(own.id);
  const sums = new UsageSums();
  for await (const spent of readRequestUsage(session, (model) => kernel.modelFacts(model))) sums.add(spent);
  return sums.savings.savedCost;
}
