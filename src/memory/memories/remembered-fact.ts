import { checkKind } from "../../model/argument-checks.ts";
import { checkSessionId, type Entry, type EntryId, type SessionId } from "../../model/entry.ts";
import { createArgumentError } from "../../model/errors.ts";
import { type MessageInput, textOfMessage } from "../../model/message.ts";

/** The author of a memory: the user, by explicit request, or the agent itself. */
export type MemoryAuthor = "user" | "agent";

/** One memory of an agent. */
export interface RememberedFact {
  /** Identifies the memory for `forget` and `expand`. */
  readonly id: EntryId;
  readonly at: number;
  readonly text: string;
  readonly by: MemoryAuthor;
}

/** Maximum size of a memory. */
export const MAX_MEMORY_BYTES = 10 * 1024;

const PREFIX = "memory:";
const MARK = "memory";

/** The agent when none is named. */
export const DEFAULT_AGENT = "default";

/** The session that holds an agent's memories. */
export function toMemorySession(agent: string): SessionId {
  if (typeof agent !== "string" || agent.trim() === "")
    throw createArgumentError("agent", agent, "the name of an agent");
  return checkSessionId(`${PREFIX}${agent}`);
}

/** The agent whose memories a session holds; undefined for any other session. */
export function findMemoryAgent(session: SessionId): string | undefined {
  return checkKind("session", session, "text").startsWith(PREFIX) ? session.slice(PREFIX.length) : undefined;
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

/** A memory as a message; an agent's own note never has the role of the user. */
export function toMemoryMessage(text: string, by: MemoryAuthor): MessageInput {
  return { role: by === "user" ? "user" : "assistant", text, meta: { longhaul: MARK, by } };
}

/** The memory that an entry holds; undefined for any other entry. */
export function parseRememberedFact(entry: Entry): RememberedFact | undefined {
  if (entry.kind !== "message" || entry.message.meta?.longhaul !== MARK) return undefined;
  const { role } = entry.message;
  const by = role === "user" ? "user" : "agent";
  return { id: entry.id, at: entry.at, text: textOfMessage(entry.message), by };
}
