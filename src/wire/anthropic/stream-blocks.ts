import { parseJsonOrUndefined, toNumber, toObject, toText } from "../fields.ts";
import type { WireObject } from "../wire.ts";
import { isCompleteBlock } from "./decode-anthropic.ts";

interface OpenBlock {
  fields: { [field: string]: unknown };
  /** The input of a call received so far, as JSON. */
  input: string;
  isStopped: boolean;
}

/** The field that each type of delta extends. */
const DELTA_FIELDS: ReadonlyMap<string, string> = new Map([
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

  start(event: WireObject): void {
    const fields = toObject(event.content_block);
    const index = toNumber(event.index) ?? this.#blocks.length;
    const before = this.#byIndex.get(index);
    if (!fields || (before && !before.isStopped)) return;
    const block: OpenBlock = { fields: { ...fields }, input: "", isStopped: false };
    this.#byIndex.set(index, block);
    this.#blocks.push(block);
    this.hasBegun ||= hasContent(fields);
  }

  add(event: WireObject): void {
    const delta = toObject(event.delta);
    const block = this.#byIndex.get(toNumber(event.index) ?? -1);
    if (!delta || !block || block.isStopped) return;
    const { fields } = block;
    const field = DELTA_FIELDS.get(String(delta.type));
    if (field !== undefined) {
      const opaque = toText(delta.encrypted_content);
      if (opaque !== undefined) fields.encrypted_content = opaque;
      const piece = toText(delta[field]);
      if (piece === undefined) return;
      fields[field] = `${toText(fields[field]) ?? ""}${piece}`;
      this.hasBegun = true;
    } else if (delta.type === "signature_delta") fields.signature = delta.signature;
    else if (delta.type === "input_json_delta") block.input += toText(delta.partial_json) ?? "";
    else if (delta.type === "citations_delta") addCitation(fields, delta.citation);
  }

  stop(event: WireObject): void {
    const block = this.#byIndex.get(toNumber(event.index) ?? -1);
    if (!block || block.isStopped) return;
    block.isStopped = true;
    if (block.input !== "") block.fields.input = parseJsonOrUndefined(block.input);
  }

  /** Blocks as the client will send them back: all complete ones, and the text so far of an incomplete one. */
  content(): readonly WireObject[] {
    return this.#blocks.flatMap(({ fields, isStopped }) => {
      if (fields.type === "text") return toText(fields.text) === undefined ? [] : [fields];
      return isStopped && isCompleteBlock(fields) ? [fields] : [];
    });
  }
}

function addCitation(fields: OpenBlock["fields"], citation: unknown): void {
  // Creates the list once: appending to a copy each time would be quadratic.
  if (!Array.isArray(fields.citations)) fields.citations = [];
  (fields.citations as unknown[]).push(citation);
}

function hasContent({ type, text, thinking }: WireObject): boolean {
  if (type === "text") return toText(text) !== undefined;
  return type !== "thinking" || toText(thinking) !== undefined;
}
