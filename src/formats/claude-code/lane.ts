import type { Json } from "../../index.ts";
import { arrayOf, definedFields, objectOf, textOf } from "../content/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { Conversation, type Shared } from "./conversation.ts";
import { kindOf, type LineKind, messageIdOf } from "./lines.ts";
import { commandOutputOf, isRunning } from "./progress.ts";

interface HeldLine {
  readonly line: LineRecord;
  readonly kind: LineKind;
}

/** Maximum bytes of held lines: a message still open beyond it continues as another one. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** Approximate memory of a dropped line while other lines are held. */
const PASSED_BYTES = 100;

/**
 * Turns one conversation's lines into records. The lines of one assistant message are interleaved with those of its
 * tools: they are held until the message is complete, and come out as one message followed by all the others.
 */
export class Lane {
  readonly #shared: Shared;
  readonly #conversation: Conversation;
  #held: HeldLine[] = [];
  /** Ids and parents of lines in between that become no record. */
  #passed: JsonObject[] = [];
  #ids = new Set<string>();
  #heldBytes = 0;
  #copiedBytes = 0;
  /** Position and text of the newest held progress of each command. */
  #outputs = new Map<string, { readonly index: number; readonly text: string }>();

  constructor(shared: Shared, child: string | undefined, state?: Json) {
    const saved = objectOf(state) ?? {};
    this.#shared = shared;
    this.#conversation = new Conversation(shared, child, objectOf(saved.conversation));
    for (const line of arrayOf(saved.held) as readonly LineRecord[])
      this.#hold({ line, kind: kindOf(line.record) });
    for (const record of arrayOf(saved.passed)) this.pass(record as JsonObject);
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Tells whether a line with this id was read before. */
  has(uuid: string): boolean {
    return this.#ids.has(uuid) || this.#conversation.has(uuid);
  }

  take(line: LineRecord): void {
    const { record } = line;
    const uuid = textOf(record.uuid);
    if (uuid !== undefined && this.has(uuid)) {
      this.#shared.tell({ type: "copy", bytes: line.sizeBytes });
      return;
    }
    const kind = kindOf(record);
    if (!this.#belongs(record, kind)) this.flush();
    if (this.#held.length > 0 || kind === "assistant") this.#hold({ line, kind });
    else this.#conversation.line(line, kind);
    if (this.#heldBytes > MAX_HELD_BYTES) this.flush();
  }

  /** Skips a line that becomes no record. */
  pass({ uuid, parentUuid }: JsonObject): void {
    const id = textOf(uuid);
    if (id === undefined) return;
    const passed = { uuid: id, ...definedFields({ parentUuid }) };
    if (this.#held.length === 0) {
      this.#conversation.pass(passed);
      return;
    }
    this.#passed.push(passed);
    this.#ids.add(id);
    this.#heldBytes += PASSED_BYTES;
  }

  /** Emits all held lines; while the file may still grow, it leaves out partial output of running commands. */
  flush(isGrowing = false): void {
    const held = this.#held;
    const passed = this.#passed;
    const copiedBytes = this.#copiedBytes;
    if (held.length === 0) return;
    this.#held = [];
    this.#passed = [];
    this.#ids = new Set();
    this.#heldBytes = 0;
    this.#copiedBytes = 0;
    this.#outputs = new Map();
    const others = held.filter(({ kind }) => kind !== "assistant");
    const neighbours = others.map(({ line }) => line);
    this.#conversation.message(held.flatMap(({ line, kind }) => (kind === "assistant" ? [line] : [])));
    for (const { line, kind } of others) {
      const output = isGrowing ? commandOutputOf(line.record) : undefined;
      if (output && isRunning(output, neighbours)) this.#conversation.pass(line.record);
      else this.#conversation.line(line, kind, neighbours);
    }
    for (const record of passed) this.#conversation.pass(record);
    if (copiedBytes > 0) this.#shared.tell({ type: "copy", bytes: copiedBytes });
  }

  toJSON(): Json {
    return {
      conversation: this.#conversation.toJSON(),
      ...(this.#held.length > 0 && { held: this.#held.map(({ line }) => line) as unknown as Json }),
      ...(this.#passed.length > 0 && { passed: [...this.#passed] as Json }),
    };
  }

  /** Tells whether the held message may continue after this line. */
  #belongs(record: JsonObject, kind: LineKind): boolean {
    const [first] = this.#held;
    if (!first) return true;
    switch (kind) {
      case "assistant": {
        const id = messageIdOf(record);
        return id !== undefined && id === messageIdOf(first.line.record);
      }
      case "prompt":
      case "boundary":
        return false;
      case "result":
      case "aside":
        return this.#ids.has(record.parentUuid as string) || !this.#conversation.isBranch(record);
      default:
        return true;
    }
  }

  #hold(held: HeldLine): void {
    const { line } = held;
    const { record } = line;
    const uuid = textOf(record.uuid);
    if (uuid !== undefined) this.#ids.add(uuid);
    this.#heldBytes += line.sizeBytes;
    const output = commandOutputOf(record);
    const earlier = output && this.#outputs.get(output.callId);
    if (output && earlier && output.text.startsWith(earlier.text)) {
      const { line: dropped } = this.#held[earlier.index] as HeldLine;
      this.#held[earlier.index] = held;
      this.#outputs.set(output.callId, { index: earlier.index, text: output.text });
      this.#heldBytes -= dropped.sizeBytes;
      this.#copiedBytes += dropped.sizeBytes;
      this.pass(dropped.record);
      return;
    }
    this.#held.push(held);
    if (output) this.#outputs.set(output.callId, { index: this.#held.length - 1, text: output.text });
  }
}
