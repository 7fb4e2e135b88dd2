import type { MessageInput, PartInput, ReasoningPart } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toText } from "../../wire/fields.ts";
import type { KnownPrints } from "../deduplication/known-prints.ts";
import type { Item, RecordItem } from "../reading/item.ts";
import { prependReasoning } from "./response-items.ts";
import { buildRawRolloutRecord, buildRolloutRecord, type RolloutLine } from "./rollout-line.ts";
import { type StrippedEvent, stripKnownTexts } from "./stripped-event.ts";

/** An event that may repeat a later item, or the output of a call if it has a call id. */
interface HeldEvent {
  readonly line: RolloutLine;
  readonly callId?: string;
}

/** Reasoning that belongs to the model's next message or call. */
interface HeldReasoning {
  readonly line: RolloutLine;
  readonly model: string | undefined;
  readonly parts: ReasoningPart[];
}

const MAX_HELD = 32;

/**
 * Queue of outgoing items. Reasoning and events are held until their item is known, and later items wait with them. A
 * model message gets the id of its first line, so it keeps its id however much of it existed at the first import.
 */
export class Outbox {
  readonly #known: KnownPrints;
  #last: string;
  #hasMessages: boolean;
  #thoughts: HeldReasoning | undefined;
  #queue: (Item | HeldEvent)[] = [];
  #items: Item[] = [];

  constructor(known: KnownPrints, state: { readonly last: string; readonly hasMessages: boolean }) {
    this.#known = known;
    this.#last = state.last;
    this.#hasMessages = state.hasMessages;
  }

  /** True if nothing is held. */
  get isSettled(): boolean {
    return this.#thoughts === undefined && this.#queue.length === 0;
  }

  /** Id of the last emitted record; "" if none. */
  get last(): string {
    return this.#last;
  }

  get hasMessages(): boolean {
    return this.#hasMessages;
  }

  /** Returns the finished items and removes them. */
  takeItems(): readonly Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  /** Adds an item that is not a message. */
  addItem(item: Item): void {
    if (this.isSettled || item.type === "copy" || item.type === "session") this.#emit(item);
    else this.#hold(item);
  }

  /** Holds reasoning of the model. */
  holdReasoning(line: RolloutLine, part: ReasoningPart, model: string | undefined): void {
    if (this.#thoughts && this.#thoughts.parts.length >= MAX_HELD) this.release();
    this.#thoughts ??= { line: this.#findAnnouncingLine() ?? line, model, parts: [] };
    this.#thoughts.parts.push(part);
  }

  /** Adds a message or call of the model, with the held reasoning. */
  addModelMessage(record: RecordItem, message: MessageInput): void {
    const first = this.#thoughts?.line ?? this.#findAnnouncingLine();
    const said = prependReasoning(message, this.#thoughts?.parts ?? []);
    this.#thoughts = undefined;
    const body = { kind: "message", message: said } as const;
    this.#emit(first ? { ...record, id: first.id, version: "whole", body } : { ...record, body });
    this.#drain(({ callId }) => callId === undefined);
  }

  /** Adds a tool's output. */
  addToolOutput(record: RecordItem, callId: string): void {
    if (this.#thoughts) this.release();
    else this.#drain((waiting) => waiting.callId === undefined || waiting.callId === callId);
    this.#emit(record);
  }

  /** Adds a message of somebody else. */
  addMessage(record: RecordItem): void {
    this.release();
    this.#emit(record);
  }

  /** Holds an event whose item may follow. */
  holdEvent(line: RolloutLine, callId: string | undefined): void {
    this.#hold({ line, ...dropUndefined({ callId }) });
  }

  /** Adds the new content of an event. */
  addEvent(line: RolloutLine, rest: StrippedEvent): void {
    for (const item of buildEventItems(line, rest)) this.addItem(item);
  }

  /** Emits everything held on its own. */
  release(): void {
    const thoughts = this.#thoughts;
    this.#thoughts = undefined;
    if (thoughts) this.#emitParts(thoughts.line, thoughts.parts, thoughts.model);
    this.#drain(() => true);
  }

  /** Emits held content at the current end of the file: an unfinished model message comes out as far as it is known. */
  finish(): void {
    const thoughts = this.#thoughts;
    const announced = this.#queue.flatMap((held) =>
      "type" in held ? [] : (findAnnouncement(held, this.#known) ?? []),
    );
    this.#thoughts = undefined;
    const first = thoughts?.line ?? announced[0]?.line;
    const parts = [...(thoughts?.parts ?? []), ...announced.map(({ part }) => part)];
    if (first) this.#emitParts(first, parts, thoughts?.model);
    const lines = new Set(announced.map(({ line }) => line));
    this.#queue = this.#queue.filter((held) => "type" in held || !lines.has(held.line));
    this.#drain(() => true);
  }

  /** Finds the held event that announced the current item: it is the item's first line. */
  #findAnnouncingLine(): RolloutLine | undefined {
    for (const held of this.#queue)
      if (
        !("type" in held) &&
        getAnnouncedPart(held.line) &&
        stripKnownTexts(held.line.payload, this.#known).isKnown
      )
        return held.line;
    return undefined;
  }

  #hold(held: Item | HeldEvent): void {
    this.#queue.push(held);
    if (this.#queue.length > MAX_HELD) this.release();
  }

  #emitParts(line: RolloutLine, parts: readonly PartInput[], model: string | undefined): void {
    const message: MessageInput = { role: "assistant", parts, ...dropUndefined({ model }) };
    this.#emit({
      ...buildRolloutRecord(line, { kind: "message", message }),
      version: `${parts.length} parts`,
    });
  }

  /** Emits queued items and the events that are due. */
  #drain(isDue: (waiting: HeldEvent) => boolean): void {
    const queue = this.#queue;
    this.#queue = [];
    const staying: HeldEvent[] = [];
    for (const held of queue) {
      if ("type" in held) this.#emit(held);
      else if (!isDue(held)) staying.push(held);
      else {
        const rest = stripKnownTexts(held.line.payload, this.#known);
        for (const item of buildEventItems(held.line, rest))
          this.#emit(item.type === "record" ? { ...item, version: `copied ${rest.copiedBytes}` } : item);
      }
    }
    for (const one of staying) this.#queue.push(one);
  }

  #emit(item: Item): void {
    this.#items.push(item);
    if (item.type !== "record") return;
    this.#last = item.id;
    if (item.body.kind === "message") this.#hasMessages = true;
  }
}

function* buildEventItems(line: RolloutLine, { rest: left, copiedBytes }: StrippedEvent): Generator<Item> {
  const bytes = left === undefined ? line.sizeBytes : copiedBytes;
  if (bytes > 0) yield { type: "copy", bytes };
  if (left !== undefined) yield bytes > 0 ? buildRawRolloutRecord(line, left) : buildRawRolloutRecord(line);
}

/** Returns the model's text in an event whose item is missing. */
function findAnnouncement({ line }: HeldEvent, known: KnownPrints) {
  const part = getAnnouncedPart(line);
  return part && !stripKnownTexts(line.payload, known).isKnown ? { line, part } : undefined;
}

/** Returns the model's text in an event that announces it. */
function getAnnouncedPart({ payload }: RolloutLine): PartInput | undefined {
  const text = toText(payload.message) ?? toText(payload.text);
  if (text === undefined) return undefined;
  if (payload.type === "agent_message") return { type: "text", text };
  return payload.type === "agent_reasoning" || payload.type === "agent_reasoning_raw_content"
    ? { type: "reasoning", text }
    : undefined;
}
