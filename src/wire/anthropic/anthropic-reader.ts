import type { MessageInput } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import { toArray, toNumber, toObject, toText } from "../fields.ts";
import { isEmptyMessage } from "../is-empty-message.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import { readStreamFailure } from "../replies/read-failure.ts";
import { createReplyReader, type ReplyAssembly } from "../replies/reply-reader.ts";
import type { ReplyReader, WireObject } from "../wire.ts";
import { decodeAnthropicElement } from "./decode-anthropic.ts";
import { parseAnthropicUsage } from "./parse-anthropic-usage.ts";
import { isCompleteBlock, StreamBlocks } from "./stream-blocks.ts";

/** A reader of replies in Anthropic's Messages API. */
export function createAnthropicReader(): ReplyReader {
  return createReplyReader(new AnthropicAssembly());
}

class AnthropicAssembly implements ReplyAssembly {
  readonly #blocks = new StreamBlocks();
  #body: readonly WireObject[] | undefined;
  #head: WireObject = {};
  #usage: WireObject | undefined;
  /** `#usage` in our terms, once it was asked for. */
  #parsedUsage: Usage | undefined;
  #stopReason: string | undefined;
  isComplete = false;
  failure: ProviderFailure | undefined;

  takeEvent(type: string, event: WireObject): void {
    switch (type) {
      case "message_start": {
        const message = toObject(event.message) ?? {};
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
        this.#stopReason = toText(toObject(event.delta)?.stop_reason) ?? this.#stopReason;
        this.#addUsage(event.usage);
        break;
      case "message_stop":
        this.isComplete = this.failure === undefined;
        break;
      case "error":
        this.failure = readStreamFailure(event);
        break;
    }
  }

  takeBody(body: WireObject): void {
    if (body.type === "error" || toObject(body.error)) {
      this.failure = readStreamFailure(body);
      return;
    }
    if (!Array.isArray(body.content)) return;
    this.#head = body;
    this.#body = toArray(body.content)
      .map(toObject)
      .filter((block) => block !== undefined);
    this.#stopReason = toText(body.stop_reason);
    this.#addUsage(body.usage);
    this.isComplete = true;
  }

  takeEnd(): void {}

  message(): MessageInput | undefined {
    const content = this.#body?.filter(isCompleteBlock) ?? this.#blocks.content();
    const message = decodeAnthropicElement({ role: "assistant", content, model: this.#head.model });
    return isEmptyMessage(message) ? undefined : message;
  }

  get hasBegun(): boolean {
    return this.#blocks.hasBegun || (this.#body?.length ?? 0) > 0;
  }

  get usage(): Usage | undefined {
    if (this.#usage) this.#parsedUsage ??= parseAnthropicUsage(this.#usage);
    return this.#parsedUsage;
  }

  get stopReason(): string | undefined {
    return this.#stopReason;
  }

  get responseId(): string | undefined {
    return toText(this.#head.id);
  }

  get model(): string | undefined {
    return toText(this.#head.model);
  }

  get diagnosis(): WireObject | undefined {
    const { cache_miss_reason } = toObject(this.#head.diagnostics) ?? {};
    return toObject(cache_miss_reason);
  }

  /** Counts are totals of the reply so far, so a later report can only raise them. */
  #addUsage(value: unknown): void {
    const report = toObject(value);
    if (!report) return;
    const merged = { ...this.#usage };
    for (const [field, count] of Object.entries(report)) {
      const before = toNumber(merged[field]);
      if (count === null || count === undefined) continue;
      merged[field] = before !== undefined && typeof count === "number" ? Math.max(before, count) : count;
    }
    this.#usage = merged;
    this.#parsedUsage = undefined;
  }
}
