import { arrayOf, numberOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import { CALL_FIELDS } from "../../../formats/content/openai-responses-items.ts";
import type { JsonObject } from "../api.ts";
import { valueIn } from "../replies/event-json.ts";

interface OpenItem {
  fields: JsonObject;
  /** Content of a message received so far, by index. */
  readonly content: Map<number, { type: "output_text" | "refusal"; text: string }>;
  isDone: boolean;
}

/** The output items of a streamed response. */
export class StreamItems {
  readonly #items = new Map<number, OpenItem>();
  /** True once the reply has text, reasoning or a call. */
  hasBegun = false;

  add(event: JsonObject): void {
    const fields = objectOf(event.item);
    if (!fields) return;
    const item = this.#item(event);
    if (!item.isDone) item.fields = fields;
    this.hasBegun ||= fields.type !== "message" && fields.type !== "reasoning";
  }

  done(event: JsonObject): void {
    const fields = objectOf(event.item);
    if (fields) this.#put(this.#item(event), fields);
  }

  /** Adds a piece of text, or sets the whole text. */
  say(event: JsonObject, type: "output_text" | "refusal", text: unknown, isWhole: boolean): void {
    if (typeof text !== "string") return;
    const { content } = this.#item(event);
    const index = numberOf(event.content_index) ?? 0;
    const before = isWhole ? "" : (content.get(index)?.text ?? "");
    content.set(index, { type, text: before + text });
    this.hasBegun ||= text !== "";
  }

  /** Takes all items as listed by the response itself. */
  replace(output: unknown): void {
    for (const [output_index, item] of arrayOf(output).entries()) this.done({ output_index, item });
  }

  /** Items as the client will send them back: complete ones, and the text so far of an incomplete message. */
  whole(): readonly JsonObject[] {
    const ordered = [...this.#items].sort(([one], [other]) => one - other);
    return ordered.flatMap(([, { fields, content, isDone }]): readonly JsonObject[] => {
      if (isDone) return isWhole(fields) ? [fields] : [];
      const blocks = [...content.values()].filter(({ text }) => text !== "");
      if ((fields.type ?? "message") !== "message" || blocks.length === 0) return [];
      const said = blocks.map(({ type, text }) =>
        type === "refusal" ? { type, refusal: text } : { type, text },
      );
      return [{ type: "message", role: "assistant", content: said }];
    });
  }

  #item(event: JsonObject): OpenItem {
    const index = numberOf(event.output_index) ?? this.#items.size;
    const known = this.#items.get(index);
    if (known) return known;
    const item: OpenItem = { fields: {}, content: new Map(), isDone: false };
    this.#items.set(index, item);
    return item;
  }

  #put(item: OpenItem, fields: JsonObject): void {
    item.fields = fields;
    item.isDone = true;
    this.hasBegun = true;
  }
}

/** False for an incomplete call. */
function isWhole(item: JsonObject): boolean {
  const type = textOf(item.type) ?? "";
  const isOpen = item.status === "incomplete" || item.status === "in_progress";
  if (type === "function_call") {
    const input = textOf(item.arguments)?.trim() ?? "";
    return !isOpen && (input === "" || valueIn(input) !== undefined);
  }
  return !(isOpen && CALL_FIELDS.has(type));
}
