import type { Json, PartInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toArray, toTime } from "../../wire/fields.ts";
import type { Input } from "../reading/input.ts";
import type { Item, ProblemItem } from "../reading/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { hashRecordVersion } from "./record-version.ts";

/** Cline's names for the kinds of edits, by number. */
export const EDIT_TYPES = [
  "context edit",
  "no_file_read",
  "read_file_tool",
  "alter_file_tool",
  "file_mention",
];

/** A replacement text that Cline sends instead of a block. */
interface ContextEdit {
  readonly id: string;
  readonly message: number;
  readonly block: number;
  readonly type: number;
  readonly at: number | undefined;
  readonly text: string;
  readonly metadata: readonly unknown[];
}

/** Maximum text of edits in memory; edits beyond it are emitted after everything else. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** Cline's edits of the window, in order of time. */
export class ContextEdits {
  readonly problems: ProblemItem[] = [];
  readonly #input: Input;
  readonly #path: string;
  readonly #records = new Map<number, string>();
  /** Tool results among the edited blocks, by place: their replacement must stay a result. */
  readonly #results = new Map<string, string>();
  #held: ContextEdit[] = [];
  #heldElements = 0;
  #hasMore = false;
  #startedAt: number | undefined;
  isWhole = true;

  constructor(input: Input, path: string) {
    this.#input = input;
    this.#path = path;
  }

  /** Loads the edits that fit into memory; must be called first. Returns elements of unknown shape as raw records. */
  async load(startedAt: number | undefined): Promise<Item[]> {
    const unknown: Item[] = [];
    this.#startedAt = startedAt;
    let bytes = 0;
    for await (const element of this.#input.jsonElements(this.#path)) {
      const { value, index = 0 } = element;
      const problem = this.#input.elementProblem(this.#path, element);
      if (problem) this.problems.push(problem);
      if (value === undefined) this.isWhole = false;
      else if (bytes <= MAX_HELD_BYTES) {
        const { edits, others } = parseEdits(value, index, this.#startedAt);
        for (const one of edits) this.#held.push(one);
        bytes += edits.reduce((sum, { text }) => sum + text.length, 0);
        this.#heldElements = index + 1;
        for (const one of others) unknown.push(one);
      } else this.#hasMore = true;
    }
    this.#held.sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
    for (const { message } of this.#held) this.#records.set(message, "");
    return unknown;
  }

  /** Notes a message of the conversation that was emitted. */
  addMessage(index: number, record: string, blocks: readonly JsonObject[]): void {
    if (!this.#records.has(index)) return;
    this.#records.set(index, record);
    for (const [at, { type, tool_use_id: callId }] of blocks.entries())
      if (type === "tool_result" && typeof callId === "string") this.#results.set(`${index}.${at}`, callId);
  }

  /** Yields edits made before that time to emitted messages. */
  *takeDue(before: number): Generator<Item> {
    const isDue = ({ at, message }: ContextEdit) =>
      at !== undefined && at < before && this.#records.get(message) !== "";
    const due = this.#held.filter(isDue);
    if (due.length === 0) return;
    this.#held = this.#held.filter((edit) => !isDue(edit));
    for (const edit of due) yield* this.#buildItems(edit);
  }

  /** Yields all remaining edits after everything else was emitted. */
  async *takeRest(): AsyncGenerator<Item> {
    for (const edit of this.#held) yield* this.#buildItems(edit);
    this.#held = [];
    if (!this.#hasMore) return;
    for await (const { value, index = 0 } of this.#input.jsonElements(this.#path)) {
      if (value === undefined || index < this.#heldElements) continue;
      const { edits, others } = parseEdits(value, index, this.#startedAt);
      yield* others;
      for (const edit of edits) yield* this.#buildItems(edit);
    }
  }

  *#buildItems({ id, message, block, type, at, text, metadata }: ContextEdit): Generator<Item> {
    const callId = this.#results.get(`${message}.${block}`);
    const part: PartInput =
      callId === undefined ? { type: "text", text } : { type: "tool-result", callId, output: text };
    yield {
      type: "record",
      id,
      version: hashRecordVersion([type, at, text]),
      ...dropUndefined({ at }),
      body: {
        kind: "overlay",
        edit: {
          type: "replace",
          target: { record: this.#records.get(message) || `#${message}`, part: block },
          parts: [part],
        },
        reason: EDIT_TYPES[type] ?? `edit type ${type}`,
        ...dropUndefined({ madeAt: at }),
      },
    };
    if (metadata.length > 0)
      yield {
        type: "record",
        id: `${id}:metadata`,
        version: hashRecordVersion(metadata),
        ...dropUndefined({ at }),
        body: { kind: "raw", value: { context: [message, block, at ?? null], metadata: metadata as Json } },
      };
  }
}

/** Parses the edits of one message; elements of another shape are kept raw. */
function parseEdits(
  value: unknown,
  place: number,
  startedAt: number | undefined,
): {
  readonly edits: readonly ContextEdit[];
  readonly others: readonly Item[];
} {
  const [message, inner] = toArray(value);
  const [type, blocks] = toArray(inner);
  const edits: ContextEdit[] = [];
  const others: Item[] = [];
  const keep = (context: unknown) =>
    others.push({
      type: "record",
      id: `context#${place}.${others.length}`,
      version: hashRecordVersion(context),
      ...dropUndefined({ at: startedAt }),
      body: { kind: "raw", value: { context: context as Json } },
    });
  if (!isIndex(message) || !Array.isArray(blocks)) keep(value);
  else
    for (const entry of blocks) {
      const [block, updates] = toArray(entry);
      for (const [count, update] of toArray(updates).entries()) {
        const [time, kind, texts, metadata] = toArray(update);
        const [text] = toArray(texts);
        if (!isIndex(block) || kind !== "text" || typeof text !== "string")
          keep([message, type, block, update]);
        else
          edits.push({
            id: `context:${message}.${block}.${count}`,
            message,
            block,
            type: isIndex(type) ? type : 0,
            at: toTime(time),
            text,
            metadata: toArray(metadata),
          });
      }
    }
  return { edits, others };
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
