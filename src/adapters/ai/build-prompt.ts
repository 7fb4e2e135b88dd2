import type { PlacedMessages } from "../../kernel/calls/conversation.ts";
import type { Blobs } from "../../kernel/faces/log.ts";
import type { Slot } from "../../kernel/faces/window.ts";
import {
  type EntryId,
  type FittedWindow,
  formatEntryId,
  isLonghaulError,
  type SessionId,
} from "../../kernel/index.ts";
import { NO_RESULT } from "../../wire/result-marks.ts";
import { computeMessageKey, hasInputOf } from "./compute-message-key.ts";
import { encodeSdkMessages, type MediaReader, type SdkMessagePair } from "./encode-sdk-messages.ts";
import { createRoleMerger, mergePromptRoles, type OutgoingMessage } from "./merge-prompt-roles.ts";
import type { SdkCallerMessage } from "./sdk-conversation.ts";
import { listSdkParts, type SdkMessage } from "./sdk-message.ts";
import type { Media } from "./to-plain-message.ts";

/** Sources of a prompt's messages and media. */
interface PromptSource {
  readonly session: SessionId;
  readonly placed: PlacedMessages<SdkCallerMessage>;
  /** The caller's messages, in order. */
  readonly callerMessages?: readonly SdkCallerMessage[];
  /** Bytes that the caller passed. */
  readonly media: Media;
  readonly blobs?: Pick<Blobs, "bytes"> | undefined;
}

/** The messages of a fitted window. Unchanged messages are the caller's own objects, so every byte stays the same. */
export async function buildPrompt(
  { slots, messages }: Pick<FittedWindow, "slots" | "messages">,
  source: PromptSource,
): Promise<readonly SdkMessage[]> {
  const bytesOf = createMediaReader(source);
  const toolNames = new Map<string, string>();
  const outgoing: OutgoingMessage<SdkMessage>[] = [];
  const indexes = new Map(source.callerMessages?.map(({ sdk }, index) => [sdk, index]));
  for (const [index, slot] of slots.entries()) {
    const message = messages[index] ?? slot.message;
    for (const part of message.parts) if (part.type === "tool-call") toolNames.set(part.callId, part.name);
    const placed = slot.isNote ? undefined : source.placed.byId.get(toEntryId(slot, source.session));
    const given = placed?.callerMessage;
    const isSame =
      placed?.partCount === slot.message.parts.length &&
      given?.key === computeMessageKey(slot.message) &&
      !hasEditedInput(slot);
    const place = {
      index: given && indexes.get(given.sdk),
      seq: slot.isNote ? undefined : slot.seq,
    };
    if (given && isSame) outgoing.push({ message: given.sdk, ...place });
    else {
      const own = given ?? (await encodeOriginal(slot, toolNames, bytesOf));
      const written = await encodeSdkMessages(message, own, toolNames, bytesOf);
      for (const one of written) outgoing.push({ message: one, ...place });
    }
  }
  const prompt = mergePromptRoles(
    outgoing,
    createRoleMerger("ai-sdk"),
    (index) => source.callerMessages?.[index]?.sdk,
  );
  return addMissingResults(prompt);
}

/** True if the input of a tool call was cleared or clipped. */
function hasEditedInput({ message, original = message, logged = original }: Slot): boolean {
  return message.parts.some(
    (part, index) => part.type === "tool-call" && !hasInputOf(part, logged.parts[index]),
  );
}

/** The original of a changed message, as a caller would have passed it. */
async function encodeOriginal(
  { original, message }: Slot,
  toolNames: ReadonlyMap<string, string>,
  bytesOf: MediaReader,
): Promise<SdkMessagePair | undefined> {
  if (!original || original === message) return undefined;
  const [sdk] = await encodeSdkMessages(original, undefined, toolNames, bytesOf);
  return sdk && { sdk, message: original };
}

/** The id of the entry that a slot shows. */
export function toEntryId({ seq, cite }: Slot, session: SessionId): EntryId {
  if (cite === undefined) return formatEntryId(session, seq);
  return cite.startsWith("#") ? `${session}${cite}` : cite;
}

function createMediaReader({ media, blobs }: PromptSource): MediaReader {
  return async ({ digest }) => {
    const given = media.get(digest);
    if (given || !blobs) return given;
    try {
      return await blobs.bytes(digest);
    } catch (error) {
      if (isLonghaulError(error, "BLOB_TOO_LARGE") || isLonghaulError(error, "BLOB_NOT_FOUND"))
        return undefined;
      throw error;
    }
  };
}

/**
 * Adds placeholder results for calls that never got one, for example after an abort: providers refuse a call without a
 * result.
 */
export function addMissingResults(prompt: readonly SdkMessage[]): readonly SdkMessage[] {
  const whole: SdkMessage[] = [];
  let open = new Map<unknown, unknown>();
  const close = () => {
    if (open.size === 0) return;
    const output = { type: "error-text", value: NO_RESULT };
    const content = [...open].map(([toolCallId, toolName]) => ({
      type: "tool-result",
      toolCallId,
      toolName,
      output,
    }));
    whole.push({ role: "tool", content });
    open = new Map();
  };
  for (const message of prompt) {
    if (message.role !== "tool") close();
    whole.push(message);
    for (const { type, toolCallId, toolName, providerExecuted } of listSdkParts(message)) {
      if (type === "tool-call" && providerExecuted !== true) open.set(toolCallId, toolName);
      if (type === "tool-result") open.delete(toolCallId);
    }
  }
  close();
  return whole;
}
