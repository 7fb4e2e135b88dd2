import type { Json } from "../../index.ts";
import { dropUndefined, toArray, toObject, toText } from "../../wire/fields.ts";
import type { LineRecord } from "../reading/decode-lines.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { ClaudeCodeConversation, type SharedState } from "./claude-code-conversation.ts";
import { getLineKind, getMessageId, type LineKind } from "./claude-code-lines.ts";
import { extractCommandOutput, isRunning } from "./progress-lines.ts";

interface HeldLine {
  readonly line: LineRecord;
  readonly kind: LineKind;
}

/** Maximum bytes of held lines: a message still open beyond it continues as another one. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** Approximate memory of a dropped line while other lines are held. */
const SKIPPED_LINE_BYTES = 100;

/**
 * Turns one conversation's lines into records. The lines of one assistant message are interleaved with those of its
 * tools: they are held until the message is complete, and come out as one message followed by all the others.
 */
export class Lane {
  readonly #shared: SharedState;
  readonly #conversation: ClaudeCodeConversation;
  #held: HeldLine[] = [];
  /** Ids and parents of lines in between that become no record. */
  #passed: JsonObject[] = [];
  #ids = new Set<string>();
  #heldBytes = 0;
  #copiedBytes = 0;
  /** Position and text of the newest held progress of each command. */
  #outputs = new Map<string, { readonly index: number; readonly text: string }>();

  constructor(shared: SharedState, child: string | undefined, state?: Json) {
    const saved = toObject(state) ?? {};
    this.#shared = shared;
    this.#conversation = new ClaudeCodeConversation(shared, child, toObject(saved.conversation));
    for (const line of toArray(saved.held) as readonly LineRecord[])
      this.#hold({ line, kind: getLineKind(line.record) });
    for (const record of toArray(saved.passed)) this.skipLine(record as JsonObject);
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Tells whether a line with this id was read before. */
  has(uuid: string): boolean {
    return this.#ids.has(uuid) || this.#conversation.has(uuid);
  }

  addLine(line: LineRecord): void {
    const { record } = line;
    const uuid = toText(record.uuid);
    if (uuid !== undefined && this.has(uuid)) {
      this.#shared.emit({ type: "copy", bytes: line.sizeBytes });
      return;
    }
    const kind = getLineKind(record);
    if (!this.#belongsToMessage(record, kind)) this.flush();
    if (this.#held.length > 0 || kind === "assistant") this.#hold({ line, kind });
    else this.#conversation.addLine(line, kind);
    if (this.#heldBytes > MAX_HELD_BYTES) this.flush();
  }

  /** Skips a line that becomes no record. */
  skipLine({ uuid, parentUuid }: JsonObject): void {
    const id = toText(uuid);
    if (id === undefined) return;
    const passed = { uuid: id, ...dropUndefined({ parentUuid }) };
    if (this.#held.length === 0) {
      this.#conversation.skipLine(passed);
      return;
    }
    this.#passed.push(passed);
    this.#ids.add(id);
    this.#heldBytes += SKIPPED_LINE_BYTES;
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
    this.#conversation.addMessage(held.flatMap(({ line, kind }) => (kind === "assistant" ? [line] : [])));
    for (const { line, kind } of others) {
      const output = isGrowing ? extractCommandOutput(line.record) : undefined;
      if (output && isRunning(output, neighbours)) this.#conversation.skipLine(line.record);
      else this.#conversation.addLine(line, kind, neighbours);
    }
    for (const record of passed) this.#conversation.skipLine(record);
    if (copiedBytes > 0) this.#shared.emit({ type: "copy", bytes: copiedBytes });
  }

  toJSON(): Json {
    return {
      conversation: this.#conversation.toJSON(),
      ...(this.#held.length > 0 && { held: this.#held.map(({ line }) => line) as unknown as Json }),
      ...(this.#passed.length > 0 && { passed: [...this.#passed] as Json }),
    };
  }

  /** Tells whether the held message may continue after this line. */
  #belongsToMessage(record: JsonObject, kind: LineKind): boolean {
    const [first] = this.#held;
    if (!first) return true;
    switch (kind) {
      case "assistant": {
        const id = getMessageId(record);
        return id !== undefined && id === getMessageId(first.line.record);
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
    const uuid = toText(record.uuid);
    if (uuid !== undefined) this.#ids.add(uuid);
    this.#heldBytes += line.sizeBytes;
    const output = extractCommandOutput(record);
    const earlier = output && this.#outputs.get(output.callId);
    if (output && earlier && output.text.startsWith(earlier.text)) {
      const { line: dropped } = this.#held[earlier.index] as HeldLine;
      this.#held[earlier.index] = held;
      this.#outputs.set(output.callId, { index: earlier.index, text: output.text });
      this.#heldBytes -= dropped.sizeBytes;
      this.#copiedBytes += dropped.sizeBytes;
      this.skipLine(dropped.record);
      return;
    }
    this.#held.push(held);
    if (output) this.#outputs.set(output.callId, { index: this.#held.length - 1, text: output.text });
  }
}
