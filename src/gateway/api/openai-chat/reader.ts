import { arrayOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import { openaiUsage } from "../../../formats/wire/usage.ts";
import type { MessageInput, ProviderFailure, Usage } from "../../../index.ts";
import type { JsonObject, ReplyReader } from "../api.ts";
import { isNothingSaid } from "../nothing-said.ts";
import { failureIn } from "../replies/failure.ts";
import { type Assembly, replyReader } from "../replies/reply-reader.ts";
import { messageOf } from "./decode.ts";
import { StreamCalls } from "./stream-calls.ts";
import { StreamDetails } from "./stream-details.ts";
import { StreamMedia } from "./stream-media.ts";

/** A reader of replies in OpenAI's Chat Completions API and compatible ones. */
export function makeReader(): ReplyReader {
  return replyReader(new ChatAssembly());
}

/** Texts that arrive in pieces, by field of the delta. */
type Texts = { [field in "content" | "reasoning_content" | "reasoning" | "refusal"]: string };

class ChatAssembly implements Assembly {
  readonly #texts: Texts = { content: "", reasoning_content: "", reasoning: "", refusal: "" };
  readonly #calls = new StreamCalls();
  /** The single call of the legacy field "function_call". */
  readonly #legacy = new StreamCalls();
  readonly #details = new StreamDetails();
  readonly #media = new StreamMedia();
  #usage: unknown;
  #isEnded = false;
  failure: ProviderFailure | undefined;
  stopReason: string | undefined;
  responseId: string | undefined;
  model: string | undefined;

  takeEvent(_type: string, chunk: JsonObject): void {
    this.#take(chunk, "delta");
  }

  takeBody(body: JsonObject): void {
    this.#take(body, "message");
  }

  takeEnd(): void {
    this.#isEnded = true;
  }

  message(): MessageInput | undefined {
    const { content, refusal, reasoning, reasoning_content } = this.#texts;
    const calls = this.#hasEnded ? this.#calls.whole(this.#isCutShort) : [];
    const [legacy] = this.#hasEnded ? this.#legacy.whole(this.#isCutShort) : [];
    const details = this.#hasEnded ? this.#details.all : [];
    const message = messageOf({
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
    return isNothingSaid(message) ? undefined : message;
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
    const body = openaiUsage(this.#usage, {});
    return body?.kind === "usage" ? body.usage : undefined;
  }

  /** The finish reason ends the message; usage and the end marker follow it. */
  get #hasEnded(): boolean {
    return this.#isEnded || (this.stopReason !== undefined && this.stopReason !== "error");
  }

  get #isCutShort(): boolean {
    return this.stopReason === undefined || this.stopReason === "length";
  }

  #take(chunk: JsonObject, field: "delta" | "message"): void {
    if (chunk.error !== undefined && chunk.error !== null) this.failure = failureIn(chunk);
    this.responseId = textOf(chunk.id) ?? this.responseId;
    this.model = textOf(chunk.model) ?? this.model;
    this.#usage = objectOf(chunk.usage) ?? objectOf(objectOf(chunk.x_groq)?.usage) ?? this.#usage;
    for (const value of arrayOf(chunk.choices)) {
      const choice = objectOf(value);
      if (!choice || (choice.index ?? 0) !== 0) continue;
      this.#usage = objectOf(choice.usage) ?? this.#usage;
      this.#add(objectOf(choice[field]) ?? {});
      this.stopReason = textOf(choice.finish_reason) ?? this.stopReason;
    }
  }

  #add(delta: JsonObject): void {
    for (const field of Object.keys(this.#texts) as (keyof Texts)[])
      this.#texts[field] += typeof delta[field] === "string" ? delta[field] : "";
    // Some servers send content as a list of parts.
    for (const part of arrayOf(delta.content)) this.#texts.content += textOf(objectOf(part)?.text) ?? "";
    this.#calls.add(delta.tool_calls);
    const legacy = objectOf(delta.function_call);
    if (legacy) this.#legacy.add([{ index: 0, id: "function", function: legacy }]);
    this.#details.add(delta.reasoning_details);
    this.#media.add(delta);
  }
}
