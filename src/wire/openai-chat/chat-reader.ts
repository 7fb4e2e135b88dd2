import type { MessageInput } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import { toArray, toObject, toText } from "../fields.ts";
import { isEmptyMessage } from "../is-empty-message.ts";
import { parseOpenaiUsage } from "../openai/parse-openai-usage.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import { readStreamFailure } from "../replies/read-failure.ts";
import { createReplyReader, type ReplyAssembly } from "../replies/reply-reader.ts";
import type { ReplyReader, WireObject } from "../wire.ts";
import { decodeChatElement } from "./decode-chat.ts";
import { StreamCalls } from "./stream-calls.ts";
import { StreamDetails } from "./stream-details.ts";
import { StreamMedia } from "./stream-media.ts";

/** A reader of replies in OpenAI's Chat Completions API and compatible ones. */
export function createChatReader(): ReplyReader {
  return createReplyReader(new ChatAssembly());
}

/** Texts that arrive in pieces, by field of the delta. */
type Texts = { [field in "content" | "reasoning_content" | "reasoning" | "refusal"]: string };

class ChatAssembly implements ReplyAssembly {
  readonly #texts: Texts = { content: "", reasoning_content: "", reasoning: "", refusal: "" };
  readonly #calls = new StreamCalls();
  /** The single call of the legacy field "function_call". */
  readonly #legacy = new StreamCalls();
  readonly #details = new StreamDetails();
  readonly #media = new StreamMedia();
  #usage: unknown;
  #tier: unknown;
  #isEnded = false;
  failure: ProviderFailure | undefined;
  stopReason: string | undefined;
  responseId: string | undefined;
  model: string | undefined;

  takeEvent(_type: string, chunk: WireObject): void {
    this.#take(chunk, "delta");
  }

  takeBody(body: WireObject): void {
    this.#take(body, "message");
  }

  takeEnd(): void {
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
