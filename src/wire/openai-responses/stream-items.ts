import { parseJsonOrUndefined, toArray, toNumber, toObject, toText } from "../fields.ts";
import type { WireObject } from "../wire.ts";
import { CALL_FIELDS } from "./openai-responses-items.ts";

interface OpenItem {
  fields: WireObject;
  /** Content of a message received so far, by index. */
  readonly content: Map<number, { type: "output_text" | "refusal"; text: string }>;
  isDone: boolean;
}

/** The output items of a streamed response. */
export class StreamItems {
  readonly #items = new Map<number, OpenItem>();
  /** True once the reply has text, reasoning or a call. */
  hasBegun = false;

  add(event: WireObject): void {
    const fields = toObject(event.item);
    if (!fields) return;
    const item = this.#item(event);
    if (!item.isDone) item.fields = fields;
    this.hasBegun ||= fields.type !== "message" && fields.type !== "reasoning";
  }

  finishItem(event: WireObject): void {
    const fields = toObject(event.item);
    if (fields) this.#put(this.#item(event), fields);
  }

  /** Adds a piece of text, or sets the whole text. */
  addText(event: WireObject, type: "output_text" | "refusal", text: unknown, isWhole: boolean): void {
    if (typeof text !== "string") return;
    const { content } = this.#item(event);
    const index = toNumber(event.content_index) ?? 0;
    const before = isWhole ? "" : (content.get(index)?.text ?? "");
    content.set(index, { type, text: before + text });
    this.hasBegun ||= text !== "";
  }

  /** Takes all items as listed by the response itself. */
  replace(output: unknown): void {
    for (const [output_index, item] of toArray(output).entries()) this.finishItem({ output_index, item });
  }

  /** Items as the client will send them back: complete ones, and the text so far of an incomplete message. */
  completeItems(): readonly WireObject[] {
    const ordered = [...this.#items].sort(([one], [other]) => one - other);
    return ordered.flatMap(([, { fields, content, isDone }]): readonly WireObject[] => {
      if (isDone) return isCompleteItem(fields) ? [fields] : [];
      const blocks = [...content.values()].filter(({ text }) => text !== "");
      if ((fields.type ?? "message") !== "message" || blocks.length === 0) return [];
      const contentSoFar = blocks.map(({ type, text }) =>
        type === "refusal" ? { type, refusal: text } : { type, text },
      );
      return [{ type: "message", role: "assistant", content: contentSoFar }];
    });
  }

  #item(event: WireObject): OpenItem {
    const index = toNumber(event.output_index) ?? this.#items.size;
    const known = this.#items.get(index);
    if (known) return known;
    const item: OpenItem = { fields: {}, content: new Map(), isDone: false };
    this.#items.set(index, item);
    return item;
  }

  #put(item: OpenItem, fields: WireObject): void {
    item.fields = fields;
    item.isDone = true;
    this.hasBegun = true;
  }
}

/** False for an incomplete call. */
function isCompleteItem(item: WireObject): boolean {
  const type = toText(item.type) ?? "";
  const isOpen = item.status === "incomplete" || item.status === "in_progress";
  if (type === "function_call") {
    const input = toText(item.arguments)?.trim() ?? "";
    return !isOpen && (input === "" || parseJsonOrUndefined(input) !== undefined);
  }
  return !(isOpen && CALL_FIELDS.has(type));
}
