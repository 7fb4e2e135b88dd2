import { arrayOf, numberOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import { anthropicUsage } from "../../../formats/wire/usage.ts";
import type { MessageInput, ProviderFailure, Usage } from "../../../index.ts";
import type { JsonObject, ReplyReader } from "../api.ts";
import { isNothingSaid } from "../nothing-said.ts";
import { failureIn } from "../replies/failure.ts";
import { type Assembly, replyReader } from "../replies/reply-reader.ts";
import { messageOf } from "./decode.ts";
import { isWhole, StreamBlocks } from "./stream-blocks.ts";

/** A reader of replies in Anthropic's Messages API. */
export function makeReader(): ReplyReader {
  return replyReader(new AnthropicAssembly());
}

class AnthropicAssembly implements Assembly {
  readonly #blocks = new StreamBlocks();
  #body: readonly JsonObject[] | undefined;
  #head: JsonObject = {};
  #usage: JsonObject | undefined;
  #stopReason: string | undefined;
  isComplete = false;
  failure: ProviderFailure | undefined;

  takeEvent(type: string, event: JsonObject): void {
    switch (type) {
      case "message_start": {
        const message = objectOf(event.message) ?? {};
        this.#head = message;
        this.#addUsage(message.usage);
        break;
      }
      case "content_block_start":
        this.#blocks.start(event);
        break;
      case "content_block_delta":
        this.#blocks.add(event);
        break;
      case "content_block_stop":
        this.#blocks.stop(event);
        break;
      case "message_delta":
        this.#stopReason = textOf(objectOf(event.delta)?.stop_reason) ?? this.#stopReason;
        this.#addUsage(event.usage);
        break;
      case "message_stop":
        this.isComplete = this.failure === undefined;
        break;
      case "error":
        this.failure = failureIn(event);
        break;
    }
  }

  takeBody(body: JsonObject): void {
    if (body.type === "error" || objectOf(body.error)) {
      this.failure = failureIn(body);
      return;
    }
    if (!Array.isArray(body.content)) return;
    this.#head = body;
    this.#body = arrayOf(body.content)
      .map(objectOf)
      .filter((block) => block !== undefined);
    this.#stopReason = textOf(body.stop_reason);
    this.#addUsage(body.usage);
    this.isComplete = true;
  }

  takeEnd(): void {}

  message(): MessageInput | undefined {
    const content = this.#body?.filter(isWhole) ?? this.#blocks.content();
    const message = messageOf({ role: "assistant", content, model: this.#head.model });
    return isNothingSaid(message) ? undefined : message;
  }

  get hasBegun(): boolean {
    return this.#blocks.hasBegun || (this.#body?.length ?? 0) > 0;
  }

  get usage(): Usage | undefined {
    const body = anthropicUsage(this.#usage, {});
    return body?.kind === "usage" ? body.usage : undefined;
  }

  get stopReason(): string | undefined {
    return this.#stopReason;
  }

  get responseId(): string | undefined {
    return textOf(this.#head.id);
  }

  get model(): string | undefined {
    return textOf(this.#head.model);
  }

  /** Counts are totals of the reply so far, so a later report can only raise them. */
  #addUsage(value: unknown): void {
    const report = objectOf(value);
    if (!report) return;
    const merged = { ...this.#usage };
    for (const [field, count] of Object.entries(report)) {
      const before = numberOf(merged[field]);
      if (count === null || count === undefined) continue;
      merged[field] = before !== undefined && typeof count === "number" ? Math.max(before, count) : count;
    }
    this.#usage = merged;
  }
}
