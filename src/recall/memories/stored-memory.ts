import { checkKind } from "../../model/argument-checks.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { checkSessionId, type Entry, type EntryId, type SessionId } from "../../model/entry.ts";
import { createArgumentError } from "../../model/errors.ts";
import { type MessageInput, textOfMessage } from "../../model/message.ts";
import { findMemoryOwner, MEMORY_PREFIX } from "../../model/session-key.ts";
import type { MemoryTrust, Validity } from "./memory-trust.ts";

/**
 * The origin of a memory: the user, by explicit request; the agent itself; or text of somebody else that the agent
 * quotes, as from a file or a web page.
 */
export type MemoryAuthor = "user" | "agent" | "quoted";

/** One memory of an agent. */
export interface StoredMemory extends Validity {
  /** Identifies the memory for `forget` and `expand`. */
  readonly id: EntryId;
  readonly at: number;
  readonly text: string;
  readonly by: MemoryAuthor;
  /** The origin, or the decision of the user about the memory: an accepted one has the trust "user". */
  readonly trust: MemoryTrust;
  /** The conversation in which it was saved, if that is known. */
  readonly source?: SessionId;
  /** The folder of the project in which it was saved, if that is known. */
  readonly project?: string;
}

/** The origin of a new memory, and the time during which it holds. */
export interface RememberOptions extends Validity {
  /** "user" only if a person explicitly asked for it, never for recalled, read or summarized text. */
  readonly by: MemoryAuthor;
  readonly source?: SessionId;
  /** The folder of the project; a note of an agent is shown there only, until a person accepts it. */
  readonly project?: string;
}

/** Maximum size of a memory. */
export const MAX_MEMORY_BYTES = 10 * 1024;

/** Begins the ids of sessions that hold memories. */
const MARK = "memory";

/** The agent when none is named. */
export const DEFAULT_AGENT = "default";

/** The session that holds an agent's memories. */
export function toMemorySession(agent: string): SessionId {
  if (typeof agent !== "string" || agent.trim() === "")
    throw createArgumentError("agent", agent, "the name of an agent");
  return checkSessionId(`${MEMORY_PREFIX}${agent}`);
}

/** The agent whose memories a session holds; undefined for any other session. */
export function findMemoryAgent(session: SessionId): string | undefined {
  return findMemoryOwner(checkKind("session", session, "text"));
}

/** The text of a memory, trimmed; undefined if it is blank. Throws ARGUMENT_INVALID if it is too long. */
export function checkMemoryText(text: string): string | undefined {
  if (typeof text !== "string") throw createArgumentError("text", text, "a text to remember");
  const trimmed = text.toWellFormed().trim();
  const sizeBytes = Buffer.byteLength(trimmed);
  if (sizeBytes > MAX_MEMORY_BYTES)
    throw createArgumentError(
      "text",
      `${[...trimmed.slice(0, 40)].join("")}… (${sizeBytes} bytes)`,
      `at most ${MAX_MEMORY_BYTES} bytes; say it shorter, or append it to a session, where it is found too`,
    );
  return trimmed === "" ? undefined : trimmed;
}

/** A memory as a message; only a memory of the user has the user's role. */
export function toMemoryMessage(
  text: string,
  { by, source, project, from, until }: RememberOptions,
): MessageInput {
  const meta = { longhaul: MARK, by, ...dropUndefined({ source, project, from, until }) };
  return { role: by === "user" ? "user" : "assistant", text, meta };
}

/** The memory that an entry holds, as it was remembered; undefined for any other entry. */
export function parseStoredMemory(entry: Entry): StoredMemory | undefined {
  if (entry.kind !== "message" || entry.message.meta?.longhaul !== MARK) return undefined;
  const { role, meta } = entry.message;
  const own = meta.by === "quoted" ? "quoted" : "agent";
  const by = role === "user" ? "user" : own;
  return {
    id: entry.id,
    at: entry.at,
    text: textOfMessage(entry.message),
    by,
    trust: by,
    ...(typeof meta.source === "string" && { source: meta.source }),
    ...(typeof meta.project === "string" && { project: meta.project }),
    ...(typeof meta.from === "number" && { from: meta.from }),
    ...(typeof meta.until === "number" && { until: meta.until }),
  };
}
