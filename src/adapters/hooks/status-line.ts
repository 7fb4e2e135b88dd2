/** Facts that only the process that serves the store knows. */
interface StatusFacts {
  /** Money that edits of the conversation have saved. */
  readonly saved?: number;
  /** The newest answer to a hook, in words; empty if there is none. */
  readonly lastRecall?: string;
}

/** Anthropic keeps a prompt's cache for five minutes unless a client asks for an hour. */
const CACHE_MS = 300_000;
const LONG_CACHE_MS = 3_600_000;

/** One line about a conversation: the share of its window, its cache, the savings of edits and the last recall. */
export function renderStatusLine(input: unknown, { saved = 0, lastRecall = "" }: StatusFacts = {}): string {
  const fields = (input ?? {}) as Readonly<Record<string, unknown>>;
  return [
    "longhaul",
    describeWindow(fields.context_window),
    describeCache(fields, Date.now()),
    saved > 0 ? `saved $${saved.toFixed(2)}` : "",
    lastRecall === "" ? "" : `recall: ${lastRecall}`,
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

function describeWindow(window: unknown): string {
  const share = (window as { readonly used_percentage?: unknown } | null | undefined)?.used_percentage;
  return typeof share === "number" ? `window ${Math.round(share)}%` : "";
}

/** Every request renews the cache, and the client writes its transcript with every request. */
function describeCache(fields: Readonly<Record<string, unknown>>, now: number): string {
  const { transcript_path: path } = fields;
  const written =
    typeof path === "string"
      ? process.getBuiltinModule("node:fs").statSync(path, { throwIfNoEntry: false })?.mtimeMs
      : undefined;
  if (written === undefined) return "";
  const isLong = fields.cache_ttl === "1h";
  const left = written + (isLong ? LONG_CACHE_MS : CACHE_MS) - now;
  return left > 0 ? `cache hot, ${formatLeft(left)} left` : "cache cold";
}

function formatLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}
