import type { MessageInput, PartInput, ReasoningPart } from "../../index.ts";
import { definedFields, textOf } from "../content/fields.ts";
import type { Item, RecordItem } from "../item.ts";
import { type EventRest, restOfEvent } from "./echoes.ts";
import type { KnownTexts } from "./known-texts.ts";
import { withThoughts } from "./response-items.ts";
import { type RolloutLine, rawOf, recordOf } from "./rollout-line.ts";

/** An event that may repeat an item which comes after it; with a call id, the output of that call. */
interface Waiting {
  readonly line: RolloutLine;
  readonly callId?: string;
}

/** Thoughts that belong to what the model says or does next. */
interface Thoughts {
  readonly line: RolloutLine;
  readonly model: string | undefined;
  readonly parts: ReasoningPart[];
}

const MAX_HELD = 32;

/**
 * The items on their way out. Thoughts and events are held back until it is known what they belong to, and what follows
 * waits with them. What the model says has the id of the first line that belongs to it, so that it keeps its id however
 * much of it was written when it was read first.
 */
export class Outbox {
  readonly #known: KnownTexts;
  #last: string;
  #hasMessages: boolean;
  #thoughts: Thoughts | undefined;
  #queue: (Item | Waiting)[] = [];
  #items: Item[] = [];

  constructor(known: KnownTexts, state: { readonly last: string; readonly hasMessages: boolean }) {
    this.#known = known;
    this.#last = state.last;
    this.#hasMessages = state.hasMessages;
  }

  /** True if nothing is held back. */
  get isSettled(): boolean {
    return this.#thoughts === undefined && this.#queue.length === 0;
  }

  /** The id of the record that went out last; "" for none. */
  get last(): string {
    return this.#last;
  }

  get hasMessages(): boolean {
    return this.#hasMessages;
  }

  /** What is ready, to be taken once. */
  take(): readonly Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }

  /** An item that is no message. */
  put(item: Item): void {
    if (this.isSettled || item.type === "copy" || item.type === "session") this.#send(item);
    else this.#hold(item);
  }

  /** What the model thought. */
  think(line: RolloutLine, part: ReasoningPart, model: string | undefined): void {
    if (this.#thoughts && this.#thoughts.parts.length >= MAX_HELD) this.release();
    this.#thoughts ??= { line: this.#announced() ?? line, model, parts: [] };
    this.#thoughts.parts.push(part);
  }

  /** What the model said or did. */
  say(record: RecordItem, message: MessageInput): void {
    const first = this.#thoughts?.line ?? this.#announced();
    const said = withThoughts(message, this.#thoughts?.parts ?? []);
    this.#thoughts = undefined;
    const body = { kind: "message", message: said } as const;
    this.#send(first ? { ...record, id: first.id, version: "whole", body } : { ...record, body });
    this.#drain(({ callId }) => callId === undefined);
  }

  /** What a tool answered. */
  answer(record: RecordItem, callId: string): void {
    if (this.#thoughts) this.release();
    else this.#drain((waiting) => waiting.callId === undefined || waiting.callId === callId);
    this.#send(record);
  }

  /** What someone else said. */
  hear(record: RecordItem): void {
    this.release();
    this.#send(record);
  }

  /** An event whose item may follow. */
  wait(line: RolloutLine, callId: string | undefined): void {
    this.#hold({ line, ...definedFields({ callId }) });
  }

  /** What an event says that is not known. */
  tell(line: RolloutLine, rest: EventRest): void {
    for (const item of newsOf(line, rest)) this.put(item);
  }

  /** Lets go of everything: what was held back stands for itself. */
  release(): void {
    const thoughts = this.#thoughts;
    this.#thoughts = undefined;
    if (thoughts) this.#sendParts(thoughts.line, thoughts.parts, thoughts.model);
    this.#drain(() => true);
  }

  /** The file ends here for now: what the model has begun to say comes out as far as it is known. */
  finish(): void {
    const thoughts = this.#thoughts;
    const announced = this.#queue.flatMap((held) =>
      "type" in held ? [] : (announcement(held, this.#known) ?? []),
    );
    this.#thoughts = undefined;
    const first = thoughts?.line ?? announced[0]?.line;
    const parts = [...(thoughts?.parts ?? []), ...announced.map(({ part }) => part)];
    if (first) this.#sendParts(first, parts, thoughts?.model);
    const lines = new Set(announced.map(({ line }) => line));
    this.#queue = this.#queue.filter((held) => "type" in held || !lines.has(held.line));
    this.#drain(() => true);
  }

  /** The event that has said what is known only now: the first line of what it announced. */
  #announced(): RolloutLine | undefined {
    for (const held of this.#queue)
      if (!("type" in held) && wordsOf(held.line) && restOfEvent(held.line.payload, this.#known).isKnown)
        return held.line;
    return undefined;
  }

  #hold(held: Item | Waiting): void {
    this.#queue.push(held);
    if (this.#queue.length > MAX_HELD) this.release();
  }

  #sendParts(line: RolloutLine, parts: readonly PartInput[], model: string | undefined): void {
    const message: MessageInput = { role: "assistant", parts, ...definedFields({ model }) };
    this.#send({ ...recordOf(line, { kind: "message", message }), version: `${parts.length} parts` });
  }

  /** Sends what waits in the queue: items, and those events that are due. */
  #drain(isDue: (waiting: Waiting) => boolean): void {
    const queue = this.#queue;
    this.#queue = [];
    const staying: Waiting[] = [];
    for (const held of queue) {
      if ("type" in held) this.#send(held);
      else if (!isDue(held)) staying.push(held);
      else {
        const rest = restOfEvent(held.line.payload, this.#known);
        for (const item of newsOf(held.line, rest))
          this.#send(item.type === "record" ? { ...item, version: `copied ${rest.copiedBytes}` } : item);
      }
    }
    for (const one of staying) this.#queue.push(one);
  }

  #send(item: Item): void {
    this.#items.push(item);
    if (item.type !== "record") return;
    this.#last = item.id;
    if (item.body.kind === "message") this.#hasMessages = true;
  }
}

function* newsOf(line: RolloutLine, { left, copiedBytes }: EventRest): Generator<Item> {
  const bytes = left === undefined ? line.sizeBytes : copiedBytes;
  if (bytes > 0) yield { type: "copy", bytes };
  if (left !== undefined) yield bytes > 0 ? rawOf(line, left) : rawOf(line);
}

/** What the model says in an event whose item has not come. */
function announcement({ line }: Waiting, known: KnownTexts) {
  const part = wordsOf(line);
  return part && !restOfEvent(line.payload, known).isKnown ? { line, part } : undefined;
}

/** The words of the model in an event that announces them. */
function wordsOf({ payload }: RolloutLine): PartInput | undefined {
  const text = textOf(payload.message) ?? textOf(payload.text);
  if (text === undefined) return undefined;
  if (payload.type === "agent_message") return { type: "text", text };
  return payload.type === "agent_reasoning" || payload.type === "agent_reasoning_raw_content"
    ? { type: "reasoning", text }
    : undefined;
}
