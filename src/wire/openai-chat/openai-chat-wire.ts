import { ByteCollector } from "../../model/base/byte-collector.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Message, MessageInput } from "../../model/message.ts";
import type { ToolCallPart, ToolResultPart } from "../../model/part.ts";
import type { Usage } from "../../model/usage.ts";
import { toAllowedName } from "../allowed-name.ts";
import { isEmptyMessage } from "../block-content.ts";
import { toArray, toObject, toText } from "../fields.ts";
import { capOpenaiUsage } from "../openai/cap-openai-usage.ts";
import { toOpenaiError } from "../openai/openai-error.ts";
import { parseOpenaiUsage } from "../openai/parse-openai-usage.ts";
import type { PartSource } from "../part-source.ts";
import { readFailureReply, readStreamFailure } from "../replies/read-failure.ts";
import { ReplyAssembly } from "../replies/reply-reader.ts";
import { type MessageTurn, readRequestTurns } from "../request-turns.ts";
import { NO_RESULT, TOOL_ERROR, withErrorMark } from "../result-marks.ts";
import type { EncodedRequest, Wire, WireObject } from "../wire.ts";
import { encodeChatContent, markMedia } from "./chat-content-encode.ts";
import { decodeChat, decodeChatElement, isChatLead, isChatMessage, OPENAI_CHAT_NAME } from "./decode-chat.ts";
import { encodeChat } from "./encode-chat.ts";
import { newChatCall } from "./openai-chat-calls.ts";
import { buildReasoningFields } from "./openai-chat-message.ts";
import { StreamCalls } from "./stream-calls.ts";
import { StreamDetails } from "./stream-details.ts";

const FIELD = "messages";

/** OpenAI's Chat Completions API, and the many compatible ones. */
export const openaiChatWire: Wire = {
  name: OPENAI_CHAT_NAME,
  title: "OpenAI Chat Completions",
  path: "/chat/completions",
  messagesField: FIELD,
  leadFields: [],
  isMessage: isChatMessage,
  decodeLead: () => [],
  isLead: isChatLead,
  decode: decodeChat,
  isMessagePerElement: true,
  encodeRequest: encodeChatRequest,
  encodeEdited: encodeChat,
  createReader: () => new ChatAssembly(),
  parseUsage: (report) => parseOpenaiUsage(report),
  capUsage: capOpenaiUsage,
  parseFailure: readFailureReply,
  encodeFault: (fault) => ({ error: toOpenaiError(fault, FIELD) }),
  encodeFaultEvent: (fault) => `data: ${JSON.stringify({ error: toOpenaiError(fault, FIELD) })}\n\n`,
};

/** A message, and its media for a following user message. */
interface EncodedChatMessage {
  readonly message: WireObject | undefined;
  readonly media: readonly WireObject[];
}

/** Texts that arrive in pieces, by field of the delta. */
type Texts = { [field in "content" | "reasoning_content" | "reasoning" | "refusal"]: string };

/**
 * Encodes a conversation as a request of the Chat Completions API: `{ messages }`. Media in tool results follow in a
 * separate user message. A failed tool's output begins with "[tool error]". Reasoning from other formats, for which
 * OpenAI has no field, and raw parts of other formats are left out.
 */
async function encodeChatRequest(
  messages: AsyncIterable<Message>,
  source: PartSource,
): Promise<EncodedRequest> {
  return { lead: {}, elements: encodeMessages(messages, source) };
}

async function* encodeMessages(
  messages: AsyncIterable<Message>,
  source: PartSource,
): AsyncGenerator<WireObject> {
  let media: WireObject[] = [];
  let spoken = 0;
  /** An assistant message with calls; the next one's calls join it if nothing comes between. */
  let calling: WireObject | undefined;
  for await (const turn of readRequestTurns(messages, source, OPENAI_CHAT_NAME)) {
    if (turn.role !== "assistant" && calling) {
      yield calling;
      calling = undefined;
    }
    if (turn.role === "missing") {
      for (const { callId } of turn.calls) yield { role: "tool", tool_call_id: callId, content: NO_RESULT };
      continue;
    }
    if (turn.role === "tool") {
      for (const { part } of turn.pieces) {
        const written = await encodeToolMessage(part, source);
        yield written.message;
        for (const one of written.media) media.push(one);
      }
      continue;
    }
    // Other messages may follow only after all results.
    if (media.length > 0 && !calling) {
      yield { role: "user", content: media };
      media = [];
    }
    if (turn.role !== "assistant") {
      const message = await encodePlainMessage(turn, source);
      if (message) yield message;
      continue;
    }
    const written = await encodeAssistantMessage(turn, source, `message ${++spoken}`);
    for (const one of written.media) media.push(one);
    const message =
      calling && written.message ? joinMessages(calling, written.message) : (written.message ?? calling);
    calling = message?.tool_calls ? message : undefined;
    if (message && !calling) yield message;
  }
  if (calling) yield calling;
  if (media.length > 0) yield { role: "user", content: media };
}

/** Joins two assistant messages, because the results of all calls must follow. */
function joinMessages(first: WireObject, second: WireObject): WireObject {
  const contents = [first.content, second.content].flatMap((content) =>
    typeof content === "string" ? [{ type: "text", text: content }] : toArray(content),
  );
  const calls = [...toArray(first.tool_calls), ...toArray(second.tool_calls)];
  return { ...first, ...second, content: contents.length > 0 ? contents : null, tool_calls: calls };
}

/** Encodes a message of the user or the system; undefined if it has no content. */
async function encodePlainMessage(
  { role, message, pieces }: MessageTurn,
  source: PartSource,
): Promise<WireObject | undefined> {
  const { role: ownRole, name } = getOwnMeta(message);
  const content = await encodeChatContent(pieces, source);
  if (content === undefined) return undefined;
  return {
    role: role === "system" && ownRole === "developer" ? "developer" : role,
    content,
    ...(typeof name === "string" && { name }),
  };
}

/** Encodes a message of the model; `owner` names it in the marks of its media. */
async function encodeAssistantMessage(
  turn: MessageTurn,
  source: PartSource,
  owner: string,
): Promise<EncodedChatMessage> {
  const own = getOwnMeta(turn.message);
  const { pieces, media } = await markMedia(turn.pieces, owner, source);
  const calls = turn.pieces.flatMap(({ part, extra }) =>
    part.type === "tool-call" ? [encodeToolCall(part, extra)] : [],
  );
  const content = await encodeChatContent(pieces, source);
  if (content === undefined && calls.length === 0) return { message: undefined, media };
  const message = {
    role: "assistant",
    content: content ?? null,
    ...(typeof own.name === "string" && { name: own.name }),
    ...buildReasoningFields(
      turn.pieces.map(({ part }) => part),
      own.reasoning,
    ),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { message, media };
}

/** An export has tools of other formats, whose names may need a change; a client's own call keeps its name. */
function encodeToolCall(part: ToolCallPart, extra: WireObject | undefined): WireObject {
  const name = extra?.type === "custom" ? part.name : toAllowedName(part.name);
  return newChatCall({ ...part, name }, extra);
}

/** Encodes a tool result. */
async function encodeToolMessage(
  part: ToolResultPart,
  source: PartSource,
): Promise<EncodedChatMessage & { readonly message: WireObject }> {
  const output = part.output.map((piece) => ({ part: piece }));
  const { pieces, media } = await markMedia(output, part.callId, source);
  const written = (await encodeChatContent(pieces, source)) ?? "";
  // The importer recognizes a mark only in a content list.
  const content =
    typeof written === "string" && media.length > 0 ? [{ type: "text", text: written }] : written;
  const name = part.name === undefined ? {} : { name: toAllowedName(part.name) };
  const message = {
    role: "tool",
    tool_call_id: part.callId,
    ...name,
    content: part.isError ? markFailed(content) : content,
  };
  return { message, media };
}

function markFailed(content: string | readonly WireObject[]): string | readonly WireObject[] {
  return typeof content === "string"
    ? withErrorMark(content)
    : [{ type: "text", text: TOOL_ERROR }, ...content];
}

function getOwnMeta(message: Message): WireObject {
  return toObject(message.meta?.[OPENAI_CHAT_NAME]) ?? {};
}

/** Reads replies in OpenAI's Chat Completions API and compatible ones. */
class ChatAssembly extends ReplyAssembly {
  readonly #texts: Texts = { content: "", reasoning_content: "", reasoning: "", refusal: "" };
  readonly #calls = new StreamCalls();
  /** The single call of the legacy field "function_call". */
  readonly #legacy = new StreamCalls();
  readonly #details = new StreamDetails();
  readonly #media = new StreamMedia();
  #usage: unknown;
  #tier: unknown;
  #isEnded = false;
  stopReason: string | undefined;
  responseId: string | undefined;
  model: string | undefined;

  protected override takeEvent(_type: string, chunk: WireObject): void {
    this.#take(chunk, "delta");
  }

  protected override takeBody(body: WireObject): void {
    this.#take(body, "message");
  }

  protected override takeEnd(): void {
    this.#isEnded = true;
  }

  message(): MessageInput | undefined {
    const { content, refusal, reasoning, reasoning_content } = this.#texts;
    const calls = this.#hasEnded ? this.#calls.completeCalls(this.#isCutShort) : [];
    const [legacy] = this.#hasEnded ? this.#legacy.completeCalls(this.#isCutShort) : [];
    const details = this.#hasEnded ? this.#details.all : [];
    const message = decodeChatElement({
      role: "assistant",
      content: content === "" ? null : content,
      model: this.model,
      ...(reasoning_content !== "" && { reasoning_content }),
      ...(reasoning !== "" && { reasoning }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(refusal !== "" && { refusal }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(legacy && { function_call: legacy.function }),
      ...this.#media.fields(this.#hasEnded),
    });
    return isEmptyMessage(message) ? undefined : message;
  }

  get isComplete(): boolean {
    return this.#hasEnded && this.failure === undefined;
  }

  get hasBegun(): boolean {
    const isSaid = Object.values(this.#texts).some((text) => text !== "");
    const isCalled = this.#calls.hasAny || this.#legacy.hasAny;
    return isSaid || isCalled || this.#details.all.length > 0 || this.#media.hasAny;
  }

  get usage(): Usage | undefined {
    return parseOpenaiUsage(this.#usage, { service_tier: this.#tier });
  }

  /** The finish reason ends the message; usage and the end marker follow it. */
  get #hasEnded(): boolean {
    return this.#isEnded || (this.stopReason !== undefined && this.stopReason !== "error");
  }

  get #isCutShort(): boolean {
    return this.stopReason === undefined || this.stopReason === "length";
  }

  #take(chunk: WireObject, field: "delta" | "message"): void {
    if (chunk.error !== undefined && chunk.error !== null) this.failure = readStreamFailure(chunk);
    this.responseId = toText(chunk.id) ?? this.responseId;
    this.model = toText(chunk.model) ?? this.model;
    this.#tier = chunk.service_tier ?? this.#tier;
    this.#usage = toObject(chunk.usage) ?? toObject(toObject(chunk.x_groq)?.usage) ?? this.#usage;
    for (const value of toArray(chunk.choices)) {
      const choice = toObject(value);
      if (!choice || (choice.index ?? 0) !== 0) continue;
      this.#usage = toObject(choice.usage) ?? this.#usage;
      this.#add(toObject(choice[field]) ?? {});
      this.stopReason = toText(choice.finish_reason) ?? this.stopReason;
    }
  }

  #add(delta: WireObject): void {
    for (const field of Object.keys(this.#texts) as (keyof Texts)[])
      this.#texts[field] += typeof delta[field] === "string" ? delta[field] : "";
    // Some servers send content as a list of parts.
    for (const part of toArray(delta.content)) this.#texts.content += toText(toObject(part)?.text) ?? "";
    this.#calls.add(delta.tool_calls);
    const legacy = toObject(delta.function_call);
    if (legacy) this.#legacy.add([{ index: 0, id: "function", function: legacy }]);
    this.#details.add(delta.reasoning_details);
    this.#media.add(delta);
  }
}

/** The parts of a streamed message other than text and calls: images, audio, annotations. */
class StreamMedia {
  readonly #images: unknown[] = [];
  readonly #annotations: unknown[] = [];
  #audio: WireObject | undefined;
  #transcript = "";
  /** Decoded audio; each chunk is base64 of its own. */
  readonly #sound = new ByteCollector();

  /** Adds the media of a delta or of a whole message. */
  add(delta: WireObject): void {
    for (const image of toArray(delta.images)) this.#images.push(image);
    for (const annotation of toArray(delta.annotations)) this.#annotations.push(annotation);
    const audio = toObject(delta.audio);
    if (!audio) return;
    const { transcript, data, ...rest } = audio;
    this.#audio = { ...this.#audio, ...rest };
    this.#transcript += toText(transcript) ?? "";
    if (toText(data) !== undefined) this.#sound.add(Buffer.from(data as string, "base64"));
  }

  get hasAny(): boolean {
    return this.#images.length > 0 || this.#audio !== undefined;
  }

  /** Fields of the message; images and audio data only once it is complete. */
  fields(isWhole: boolean): WireObject {
    const data = this.#sound.length > 0 && isWhole ? this.#sound.bytes.toString("base64") : undefined;
    return {
      ...(this.#images.length > 0 && isWhole && { images: this.#images }),
      ...(this.#annotations.length > 0 && { annotations: this.#annotations }),
      ...(this.#audio && {
        audio: {
          ...this.#audio,
          ...(this.#transcript !== "" && { transcript: this.#transcript }),
          ...dropUndefined({ data }),
        },
      }),
    };
  }
}
