import { numberOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../api.ts";
import { valueIn } from "../replies/event-json.ts";

interface OpenBlock {
  fields: { [field: string]: unknown };
  /** The input of a call received so far, as JSON. */
  input: string;
  isStopped: boolean;
}

/** The field that each type of delta extends. */
const GROWING: ReadonlyMap<string, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
  ["compaction_delta", "content"],
]);

/** The content blocks of a streamed message. */
export class StreamBlocks {
  readonly #blocks: OpenBlock[] = [];
  /** Blocks by index in the stream; a new block may reuse the index of a stopped one. */
  readonly #byIndex = new Map<number, OpenBlock>();
  /** True once the reply has text, reasoning or a call. */
  hasBegun = false;

  start(event: JsonObject): void {
    const fields = objectOf(event.content_block);
    const index = numberOf(event.index) ?? this.#blocks.length;
    const before = this.#byIndex.get(index);
    if (!fields || (before && !before.isStopped)) return;
    const block: OpenBlock = { fields: { ...fields }, input: "", isStopped: false };
    this.#byIndex.set(index, block);
    this.#blocks.push(block);
    this.hasBegun ||= isSaying(fields);
  }

  add(event: JsonObject): void {
    const delta = objectOf(event.delta);
    const block = this.#byIndex.get(numberOf(event.index) ?? -1);
    if (!delta || !block || block.isStopped) return;
    const { fields } = block;
    const field = GROWING.get(String(delta.type));
    if (field !== undefined) {
      const opaque = textOf(delta.encrypted_content);
      if (opaque !== undefined) fields.encrypted_content = opaque;
      const piece = textOf(delta[field]);
      if (piece === undefined) return;
      fields[field] = `${textOf(fields[field]) ?? ""}${piece}`;
      this.hasBegun = true;
    } else if (delta.type === "signature_delta") fields.signature = delta.signature;
    else if (delta.type === "input_json_delta") block.input += textOf(delta.partial_json) ?? "";
    else if (delta.type === "citations_delta") addCitation(fields, delta.citation);
  }

  stop(event: JsonObject): void {
    const block = this.#byIndex.get(numberOf(event.index) ?? -1);
    if (!block || block.isStopped) return;
    block.isStopped = true;
    if (block.input !== "") block.fields.input = valueIn(block.input);
  }

  /** Blocks as the client will send them back: all complete ones, and the text so far of an incomplete one. */
  content(): readonly JsonObject[] {
    return this.#blocks.flatMap(({ fields, isStopped }) => {
      if (fields.type === "text") return textOf(fields.text) === undefined ? [] : [fields];
      return isStopped && isWhole(fields) ? [fields] : [];
    });
  }
}

function addCitation(fields: OpenBlock["fields"], citation: unknown): void {
  // Creates the list once: appending to a copy each time would be quadratic.
  if (!Array.isArray(fields.citations)) fields.citations = [];
  (fields.citations as unknown[]).push(citation);
}

/** False for a block with incomplete input. */
export function isWhole(block: JsonObject): boolean {
  return !("input" in block) || objectOf(block.input) !== undefined;
}

function isSaying({ type, text, thinking }: JsonObject): boolean {
  if (type === "text") return textOf(text) !== undefined;
  return type !== "thinking" || textOf(thinking) !== undefined;
}
