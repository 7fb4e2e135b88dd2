import type { MessageInput } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import { toObject, toText } from "../fields.ts";
import { isEmptyMessage } from "../is-empty-message.ts";
import { parseOpenaiUsage } from "../openai/parse-openai-usage.ts";
import type { ProviderFailure } from "../provider-failure.ts";
import { readStreamFailure } from "../replies/read-failure.ts";
import { createReplyReader, type ReplyAssembly } from "../replies/reply-reader.ts";
import type { ReplyReader, WireObject } from "../wire.ts";
import { decodeResponsesItems } from "./decode-responses.ts";
import { StreamItems } from "./stream-items.ts";

/** A reader of replies in OpenAI's Responses API. */
export function createResponsesReader(): ReplyReader {
  return createReplyReader(new ResponsesAssembly());
}

/** Events with reasoning text, which also arrives complete with its item. */
const REASONING_EVENTS = ["response.reasoning_summary_text.delta", "response.reasoning_text.delta"];

class ResponsesAssembly implements ReplyAssembly {
  readonly #items = new StreamItems();
  #response: WireObject = {};
  #hasThought = false;
  isComplete = false;
  failure: ProviderFailure | undefined;
  stopReason: string | undefined;

  takeEvent(type: string, event: WireObject): void {
    switch (type) {
      case "response.output_item.added":
        this.#items.add(event);
        break;
      case "response.output_item.done":
        this.#items.finishItem(event);
        break;
      case "response.output_text.delta":
        this.#items.addText(event, "output_text", event.delta, false);
        break;
      case "response.output_text.done":
        this.#items.addText(event, "output_text", event.text, true);
        break;
      case "response.refusal.delta":
        this.#items.addText(event, "refusal", event.delta, false);
        break;
      case "response.refusal.done":
        this.#items.addText(event, "refusal", event.refusal, true);
        break;
      case "response.completed":
      case "response.done":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        this.#end(toObject(event.response) ?? {}, type.slice("response.".length));
        break;
      case "error":
        this.failure = readStreamFailure(event);
        break;
      default:
        if (REASONING_EVENTS.includes(type)) this.#hasThought = true;
        this.#meet(toObject(event.response) ?? {});
    }
  }

  takeBody(body: WireObject): void {
    if (body.object === "response" || Array.isArray(body.output))
      this.#end(body, toText(body.status) ?? "completed");
    else if (body.error !== undefined && body.error !== null) this.failure = readStreamFailure(body);
  }

  takeEnd(): void {}

  message(): MessageInput | undefined {
    const message = decodeResponsesItems("assistant", this.#items.completeItems());
    if (isEmptyMessage(message)) return undefined;
    return this.model === undefined ? message : { ...message, model: this.model };
  }

  items(): readonly WireObject[] {
    return this.#items.completeItems();
  }

  get hasBegun(): boolean {
    return this.#items.hasBegun || this.#hasThought;
  }

  get usage(): Usage | undefined {
    const usage = parseOpenaiUsage(this.#response.usage, this.#response);
    const webSearches = this.items().filter(({ type }) => type === "web_search_call").length;
    return usage && webSearches > 0 ? { ...usage, webSearches } : usage;
  }

  get responseId(): string | undefined {
    return toText(this.#response.id);
  }

  get model(): string | undefined {
    return toText(this.#response.model);
  }

  get diagnosis(): WireObject | undefined {
    return toObject(this.#response.prompt_cache_diagnostics);
  }

  #meet(response: WireObject): void {
    this.#response = { ...this.#response, ...response };
  }

  #end(response: WireObject, status: string): void {
    this.#meet(response);
    this.#items.replace(response.output);
    this.stopReason =
      toText(toObject(response.incomplete_details)?.reason) ?? toText(response.status) ?? status;
    if (status === "failed" || toObject(response.error)) this.failure = readStreamFailure({ response });
    else this.isComplete = ["completed", "done", "incomplete"].includes(status) && this.failure === undefined;
  }
}
