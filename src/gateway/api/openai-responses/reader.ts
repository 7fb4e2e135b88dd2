import { objectOf, textOf } from "../../../formats/content/fields.ts";
import { openaiUsage } from "../../../formats/wire/usage.ts";
import type { MessageInput, ProviderFailure, Usage } from "../../../index.ts";
import type { JsonObject, ReplyReader } from "../api.ts";
import { isNothingSaid } from "../nothing-said.ts";
import { failureIn } from "../replies/failure.ts";
import { type Assembly, replyReader } from "../replies/reply-reader.ts";
import { messageOf } from "./decode.ts";
import { StreamItems } from "./stream-items.ts";

/** A reader of replies in OpenAI's Responses API. */
export function makeReader(): ReplyReader {
  return replyReader(new ResponsesAssembly());
}

/** Events with reasoning text, which also arrives complete with its item. */
const THOUGHT = ["response.reasoning_summary_text.delta", "response.reasoning_text.delta"];

class ResponsesAssembly implements Assembly {
  readonly #items = new StreamItems();
  #response: JsonObject = {};
  #hasThought = false;
  isComplete = false;
  failure: ProviderFailure | undefined;
  stopReason: string | undefined;

  takeEvent(type: string, event: JsonObject): void {
    switch (type) {
      case "response.output_item.added":
        this.#items.add(event);
        break;
      case "response.output_item.done":
        this.#items.done(event);
        break;
      case "response.output_text.delta":
        this.#items.say(event, "output_text", event.delta, false);
        break;
      case "response.output_text.done":
        this.#items.say(event, "output_text", event.text, true);
        break;
      case "response.refusal.delta":
        this.#items.say(event, "refusal", event.delta, false);
        break;
      case "response.refusal.done":
        this.#items.say(event, "refusal", event.refusal, true);
        break;
      case "response.completed":
      case "response.done":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        this.#end(objectOf(event.response) ?? {}, type.slice("response.".length));
        break;
      case "error":
        this.failure = failureIn(event);
        break;
      default:
        if (THOUGHT.includes(type)) this.#hasThought = true;
        this.#meet(objectOf(event.response) ?? {});
    }
  }

  takeBody(body: JsonObject): void {
    if (body.object === "response" || Array.isArray(body.output))
      this.#end(body, textOf(body.status) ?? "completed");
    else if (body.error !== undefined && body.error !== null) this.failure = failureIn(body);
  }

  takeEnd(): void {}

  message(): MessageInput | undefined {
    const message = messageOf("assistant", this.#items.whole());
    if (isNothingSaid(message)) return undefined;
    return this.model === undefined ? message : { ...message, model: this.model };
  }

  items(): readonly JsonObject[] {
    return this.#items.whole();
  }

  get hasBegun(): boolean {
    return this.#items.hasBegun || this.#hasThought;
  }

  get usage(): Usage | undefined {
    const body = openaiUsage(this.#response.usage, {});
    return body?.kind === "usage" ? body.usage : undefined;
  }

  get responseId(): string | undefined {
    return textOf(this.#response.id);
  }

  get model(): string | undefined {
    return textOf(this.#response.model);
  }

  #meet(response: JsonObject): void {
    this.#response = { ...this.#response, ...response };
  }

  #end(response: JsonObject, status: string): void {
    this.#meet(response);
    this.#items.replace(response.output);
    this.stopReason =
      textOf(objectOf(response.incomplete_details)?.reason) ?? textOf(response.status) ?? status;
    if (status === "failed" || objectOf(response.error)) this.failure = failureIn({ response });
    else this.isComplete = ["completed", "done", "incomplete"].includes(status) && this.failure === undefined;
  }
}
