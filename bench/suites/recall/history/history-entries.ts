import { toEntry } from "../../../../src/log/entry-body.ts";
import type { Log } from "../../../../src/log/log.ts";
import type { Message, Role } from "../../../../src/model/message.ts";
import type { Part } from "../../../../src/model/part.ts";

/** One message of a history, with large parts restored. */
export interface HistoryEntry {
  readonly session: string;
  readonly atMs: number;
  readonly role: Role;
  readonly parts: readonly Part[];
  /** Fields of the agent's own format. */
  readonly meta?: Message["meta"];
}

const PAGE = 200;

/** The messages of every session of a log, session by session. */
export async function* readHistory(log: Log): AsyncGenerator<HistoryEntry> {
  for (let after = 0; ; ) {
    const heads = await log.store.entries.heads({ after, limit: PAGE });
    for (const { session, seq: head } of heads) yield* readSession(log, session, head);
    if (heads.length < PAGE) return;
    after = heads.at(-1)?.place ?? after;
  }
}

async function* readSession(log: Log, session: string, head: number): AsyncGenerator<HistoryEntry> {
  for (let from = 1; from <= head; ) {
    const page = await log.store.entries.read(session, {
      from,
      to: head,
      limit: PAGE,
      order: "ascending",
      kinds: ["message"],
    });
    for (const stored of page) {
      const entry = toEntry(session, stored);
      if (entry.kind !== "message") continue;
      const { role, parts, meta } = entry.message;
      const restored: Part[] = [];
      for (const part of parts)
        restored.push(part.type === "blob" && part.of ? await log.blobs.restore(part) : part);
      yield { session, atMs: entry.at, role, parts: restored, ...(meta && { meta }) };
    }
    if (page.length < PAGE) return;
    from = (page.at(-1)?.seq ?? head) + 1;
  }
}

/** The text of a message as one document, for the baseline. */
export function toDocument({ parts }: HistoryEntry): string {
  return parts.map(toText).join("\n").slice(0, 60_000);
}

function toText(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return `${part.name} ${Object.values((part.input ?? {}) as object)
        .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
        .join("\n")}`;
    case "tool-result":
      return part.output
        .map((output) =>
          output.type === "text" ? output.text : output.type === "blob" ? (output.preview ?? "") : "",
        )
        .join("\n");
    default:
      return "";
  }
}
