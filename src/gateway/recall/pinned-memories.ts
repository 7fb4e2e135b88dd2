import type { Memories, SessionRecord } from "../../index.ts";
import { findProjectFolder } from "../../model/session-origin.ts";
import { estimateText } from "../../window-entry.ts";
import type { WireName, WireObject } from "../../wire/wire.ts";
import type { Incoming } from "../door/incoming.ts";
import type { Services } from "../exchange/services.ts";
import { getMemoryAgent, type PersonIds } from "../identity/person-ids.ts";
import type { BodyChanges } from "../outgoing/outgoing-body.ts";
import { type CutBody, parseRange } from "../request/cut-body.ts";
import type { OutgoingPiece } from "../request/outgoing-piece.ts";
import { parseElement, type RequestMessages } from "../request/request-messages.ts";
import type { CallRequest } from "../thread/call-request.ts";
import type { Thread } from "../thread/thread.ts";
import { appendText, appendTextToElement } from "./context-pieces.ts";

/** Maximum share of a window for memories; a smaller window gets none. */
const MAX_SHARE = 0.1;
/** So few that a section of this size is never counted as too large. */
const BYTES_PER_TOKEN = 2;

/**
 * Adds the person's pinned memories to a request of a conversation, so that they count in its window. Returns the same
 * object if the request must not change.
 */
export function addMemories(
  callRequest: CallRequest,
  { principal }: Pick<Incoming, "principal">,
  { kernel, config }: Pick<Services, "kernel" | "config">,
  { kind, session }: Pick<Thread, "kind" | "session">,
): CallRequest | Promise<CallRequest> {
  const { policy, isDryRun, limits } = callRequest;
  const isTalk = kind === "main" || kind === "agent";
  if (isDryRun || policy === "none" || !isTalk) return callRequest;
  const add = (memories: CallRequest["memories"]) => (memories ? { ...callRequest, memories } : callRequest);
  const reading = readPersonMemories(principal, { kernel, config }, limits.window, () => session.record());
  return reading instanceof Promise ? reading.then(add) : add(reading);
}

/**
 * The memories for the calls of a person, with notes about the project of the conversation; those of all projects
 * without one. Undefined if they are off or too large for the window.
 */
export function readPersonMemories(
  principal: PersonIds,
  { kernel, config }: Pick<Services, "kernel" | "config">,
  windowTokens: number,
  readRecord?: () => Promise<SessionRecord>,
): CallRequest["memories"] | Promise<CallRequest["memories"]> {
  if (!config().memories) return undefined;
  const agent = getMemoryAgent(principal);
  const own = kernel.memories(agent);
  if (own.isKnownEmpty) return { agent, text: undefined };
  return readSection(own, windowTokens * MAX_SHARE, readRecord).then(
    (section) => section && { agent, ...section },
  );
}

async function readSection(
  memories: Memories,
  maxTokens: number,
  readRecord: (() => Promise<SessionRecord>) | undefined,
): Promise<{ readonly text: string | undefined } | undefined> {
  const record = readRecord && (await readRecord());
  const project = record ? (findProjectFolder(record) ?? null) : undefined;
  const text = await memories.pinSection({ project });
  const isTooLarge = (section: string | undefined) =>
    section !== undefined && estimateText(section) > maxTokens;
  if (!isTooLarge(text)) return { text };
  // Long notes of agents must not take the user's own memories out of the prompt.
  const short = await memories.pinSection({ project, maxBytes: Math.floor(maxTokens * BYTES_PER_TOKEN) });
  return short === undefined || isTooLarge(short) ? undefined : { text: short };
}

/**
 * Changes to a body that put memories at the end of the system prompt. Everything before keeps its bytes and its cache
 * markers, so that the provider's cache is lost only when the memories change.
 */
export function appendMemories(
  api: WireName,
  messages: RequestMessages,
  changes: BodyChanges,
  text: string,
): BodyChanges {
  const { cut } = messages;
  if (api === "openai-chat") return { ...changes, pieces: appendToLead(messages, changes.pieces, text) };
  const name = api === "anthropic" ? "system" : "instructions";
  const own = changes.fields?.get(name) ?? readField(cut, name);
  if (api === "anthropic" && typeof own !== "string") {
    const appended = new Map(changes.appended).set(name, [{ type: "text", text }]);
    return Array.isArray(own) || own === undefined ? { ...changes, appended } : changes;
  }
  const whole = typeof own === "string" && own !== "" ? appendText(own, text) : text;
  return { ...changes, fields: new Map(changes.fields).set(name, whole) };
}

function readField({ bytes, fields }: CutBody, name: string): unknown {
  const range = fields.get(name);
  return range && (parseRange(bytes, range) ?? "");
}

/** Appends a text to the last instruction before the messages; without any, it becomes the only one. */
function appendToLead(
  { cut, lead }: RequestMessages,
  pieces: readonly OutgoingPiece[] | undefined,
  text: string,
): readonly OutgoingPiece[] {
  const whole: readonly OutgoingPiece[] = pieces ?? [{ from: 0, to: cut.elements.length }];
  if (lead === 0) return [{ elements: [{ role: "system", content: text }] }, ...whole];
  const last = lead - 1;
  return whole.flatMap((piece): readonly OutgoingPiece[] => {
    if (!("from" in piece) || piece.from > last || piece.to <= last) return [piece];
    const element: WireObject = appendTextToElement("openai-chat", parseElement(cut, last), text);
    return [
      ...(piece.from < last ? [{ from: piece.from, to: last }] : []),
      { elements: [element], index: last },
      ...(piece.to > lead ? [{ from: lead, to: piece.to }] : []),
    ];
  });
}
