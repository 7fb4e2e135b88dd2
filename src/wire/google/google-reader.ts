import type { MessageInput } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import { omitFields, toArray, toObject, toText } from "../fields.ts";
import { isEmptyMessage } from "../is-empty-message.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import { readStreamFailure } from "../replies/read-failure.ts";
import { createReplyReader, type ReplyAssembly } from "../replies/reply-reader.ts";
import { parseGoogleUsage } from "../usage/parse-google-usage.ts";
import type { ReplyReader, WireObject } from "../wire.ts";
import { decodeGoogleElement } from "./decode-google.ts";

/** A reader of replies of Google's generateContent, whole or streamed. */
export function createGoogleReader(): ReplyReader {
  return createReplyReader(new GoogleAssembly());
}

class GoogleAssembly implements ReplyAssembly {
  readonly #parts: WireObject[] = [];
  #usage: unknown;
  failure: ProviderFailure | undefined;
  stopReason: string | undefined;
  responseId: string | undefined;
  model: string | undefined;

  takeEvent(_type: string, chunk: WireObject): void {
    this.takeBody(chunk);
  }

  takeBody(chunk: WireObject): void {
    if (chunk.error !== undefined && chunk.error !== null) this.failure = readStreamFailure(chunk);
    this.#usage = toObject(chunk.usageMetadata) ?? this.#usage;
    this.responseId = toText(chunk.responseId) ?? this.responseId;
    this.model = toText(chunk.modelVersion) ?? this.model;
    this.stopReason = toText(toObject(chunk.promptFeedback)?.blockReason) ?? this.stopReason;
    for (const value of toArray(chunk.candidates)) {
      const candidate = toObject(value);
      if (!candidate || (candidate.index ?? 0) !== 0) continue;
      for (const part of toArray(toObject(candidate.content)?.parts)) this.#add(toObject(part));
      this.stopReason = toText(candidate.finishReason) ?? this.stopReason;
    }
  }

  takeEnd(): void {
    // The last chunk names the reason for the end.
  }

  message(): MessageInput | undefined {
    const message = decodeGoogleElement({ role: "model", parts: this.#parts }, this.model);
    return isEmptyMessage(message) ? undefined : message;
  }

  get isComplete(): boolean {
    return this.stopReason !== undefined && this.failure === undefined;
  }

  get hasBegun(): boolean {
    return this.#parts.length > 0;
  }

  get usage(): Usage | undefined {
    return parseGoogleUsage(this.#usage);
  }

  /** Joins pieces of one text; a signature ends its part. */
  #add(part: WireObject | undefined): void {
    if (!part || toObject(part.functionCall)?.willContinue === true) return;
    const last = this.#parts.at(-1);
    const isPiece = typeof part.text === "string" && typeof last?.text === "string";
    if (isPiece && last.thought === part.thought && last.thoughtSignature === undefined) {
      const rest = omitFields(part, ["text"]);
      this.#parts[this.#parts.length - 1] = { ...last, ...rest, text: `${last.text}${part.text}` };
    } else if (part.text !== "" || omitFields(part, ["text"])) this.#parts.push(part);
  }
}
