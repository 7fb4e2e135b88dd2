import type { Json, MessageInput, ReasoningPart } from "../../index.ts";
import { arrayOf, definedFields, textOf } from "../content/fields.ts";
import { fingerprint } from "../content/fingerprint.ts";
import { toldFields } from "../content/told-fields.ts";
import type { Item } from "../item.ts";
import type { LineDecoder, LineRecord } from "../reading/decode-lines.ts";
import { Assets } from "./assets.ts";
import { type CopilotEvent, eventOf, rawOf, recordOf } from "./event.ts";
import {
  assistantMessage,
  callPart,
  type Spoken,
  systemMessage,
  toolMessage,
  userMessage,
} from "./messages.ts";
import { clearingItems, compactionItems, noticeItems, sessionItems } from "./session-events.ts";
import { addOutput, type OutputSoFar, usageOfMessage, usageOfShutdown } from "./usage.ts";

/** State carried from event to event. */
interface Carried {
  /** Id of the conversation's last record; "" if none. */
  last: string;
  /** Fingerprint of the system prompt, which is repeated. */
  system?: string;
  /** Fields of the last assistant message that events about its calls repeat. */
  said: { readonly [field: string]: Json };
  /** Recent calls with fingerprints of their arguments. */
  calls: readonly (readonly [callId: string, print: string])[];
  /** Recent user messages, each with the record before it. */
  asked: readonly (readonly [id: string, before: string])[];
  /** Last record before a running compaction; later records stay in the window. */
  compactedThrough?: string;
  output: OutputSoFar;
}

/** Reasoning from separate events, held until the model's message. */
interface Thoughts {
  readonly event: CopilotEvent;
  readonly parts: ReasoningPart[];
}

const MAX_CALLS = 256;
const MAX_ASKED = 1_000;
const MAX_THOUGHTS = 32;

export class EventDecoder implements LineDecoder {
  readonly #carried: Carried;
  readonly #assets = new Assets();
  #thoughts: Thoughts | undefined;

  constructor(saved: Json | undefined) {
    const state = saved as unknown as Carried | undefined;
    this.#carried = { last: "", said: {}, calls: [], asked: [], output: {}, ...state };
  }

  get isSettled(): boolean {
    return this.#assets.isEmpty && this.#thoughts === undefined;
  }

  state(): Json {
    return { ...this.#carried } as unknown as Json;
  }

  *decode(record: LineRecord): Generator<Item> {
    for (const item of this.#decode(eventOf(record))) {
      if (item.type === "record" && item.child === undefined) this.#carried.last = item.id;
      yield item;
    }
  }

  *end(): Generator<Item> {
    yield* this.#release();
    for (const event of this.#assets.rest()) yield rawOf(event);
  }

  #decode(event: CopilotEvent): Iterable<Item> {
    const { data, type } = event;
    switch (type) {
      case "session.start":
        return sessionItems(event);
      case "session.title_changed":
        return [{ type: "session", ...definedFields({ title: textOf(data.title), child: event.child }) }];
      case "session.resume":
        this.#carried.output = {};
        return [rawOf(event)];
      case "system.message":
        return this.#takeSystem(event);
      case "user.message":
        return this.#takeUser(event);
      case "assistant.reasoning":
        return this.#think(event);
      case "assistant.message":
        return this.#takeAssistant(event);
      case "tool.user_requested":
      case "tool.execution_start":
        return this.#takeCall(event);
      case "tool.execution_complete":
        return said(event, toolMessage(data, this.#assets));
      case "session.binary_asset":
        return [...this.#assets.add(event)].map((late) => rawOf(late));
      case "session.compaction_start":
        if (event.child === undefined) this.#carried.compactedThrough = this.#carried.last;
        return [rawOf(event)];
      case "session.compaction_complete":
        return this.#compact(event);
      case "session.context_cleared":
        return clearingItems(event);
      case "session.snapshot_rewind":
        return this.#rewind(event);
      case "session.shutdown":
        return this.#leave(event);
      case "session.error":
      case "session.warning":
      case "session.info":
        return noticeItems(event);
      default:
        return [rawOf(event)];
    }
  }

  *#takeSystem(event: CopilotEvent): Generator<Item> {
    const print = fingerprint(JSON.stringify(event.data));
    if (event.child === undefined && print === this.#carried.system)
      yield { type: "copy", bytes: event.sizeBytes };
    else yield* said(event, systemMessage(event.data));
    if (event.child === undefined) this.#carried.system = print;
  }

  *#takeUser(event: CopilotEvent): Generator<Item> {
    yield* this.#release();
    const { asked, last } = this.#carried;
    if (event.child === undefined)
      this.#carried.asked = [...asked, [event.id, last] as const].slice(-MAX_ASKED);
    yield* said(event, userMessage(event.data, this.#assets));
  }

  *#think(event: CopilotEvent): Generator<Item> {
    const text = textOf(event.data.content);
    if (text === undefined) {
      yield rawOf(event);
      return;
    }
    const isOther = this.#thoughts?.event.child !== event.child;
    if (isOther || (this.#thoughts?.parts.length ?? 0) >= MAX_THOUGHTS) yield* this.#release();
    this.#thoughts ??= { event, parts: [] };
    this.#thoughts.parts.push({ type: "reasoning", text });
  }

  /** Gives an assistant message the id of its first event. */
  *#takeAssistant(event: CopilotEvent): Generator<Item> {
    const { data } = event;
    if (this.#thoughts?.event.child !== event.child) yield* this.#release();
    const thoughts = this.#thoughts;
    this.#thoughts = undefined;
    for (const item of said(event, assistantMessage(data, thoughts?.parts ?? [])))
      yield thoughts && item.type === "record" && item.id === event.id
        ? { ...item, id: thoughts.event.id, version: "whole" }
        : item;
    for (const request of arrayOf(data.toolRequests)) this.#remember(request);
    const { model, interactionId, turnId } = data;
    this.#carried.said = toldFields({ model, interactionId, turnId }, []) ?? {};
    this.#carried.output = addOutput(this.#carried.output, event);
    const usage = usageOfMessage(event);
    if (usage) yield usage;
  }

  *#release(): Generator<Item> {
    const thoughts = this.#thoughts;
    this.#thoughts = undefined;
    if (!thoughts) return;
    const { event, parts } = thoughts;
    const record = recordOf(event, { kind: "message", message: { role: "assistant", parts } });
    yield { ...record, version: `${parts.length} parts` };
  }

  /** Decodes the start of a call, which the model announced before or the user requested. */
  *#takeCall(event: CopilotEvent): Generator<Item> {
    const { part, extra = {} } = callPart(event.data);
    if (part.type !== "tool-call") {
      yield rawOf(event);
      return;
    }
    const { calls, said } = this.#carried;
    const print = printOf(part.input);
    if (!calls.some(([callId, known]) => callId === part.callId && known === print)) {
      const meta = { "copilot-cli": { event: event.type, ...extra } };
      const message: MessageInput = { role: "assistant", parts: [part], meta };
      yield recordOf(event, { kind: "message", message });
      this.#remember(event.data);
      return;
    }
    const news = Object.entries(extra).filter(
      ([name, value]) => name !== "parentToolCallId" && said[name] !== value,
    );
    const isCopy = news.length === 0;
    yield { type: "copy", bytes: isCopy ? event.sizeBytes : Buffer.byteLength(JSON.stringify(part.input)) };
    if (!isCopy) yield rawOf(event, { toolCallId: part.callId, ...Object.fromEntries(news) });
  }

  #remember(request: unknown): void {
    const { part } = callPart(request);
    if (part.type !== "tool-call") return;
    const call = [part.callId, printOf(part.input)] as const;
    this.#carried.calls = [...this.#carried.calls, call].slice(-MAX_CALLS);
  }

  *#compact(event: CopilotEvent): Generator<Item> {
    if (event.child !== undefined) {
      yield* compactionItems(event, undefined);
      return;
    }
    yield* compactionItems(event, this.#carried.compactedThrough || undefined);
    delete this.#carried.compactedThrough;
  }

  /** Rewinds to before a user message; a message that is already gone from the file needs no rewind. */
  *#rewind(event: CopilotEvent): Generator<Item> {
    const { asked } = this.#carried;
    const index = asked.findIndex(([id]) => id === event.data.upToEventId);
    const before = asked[index]?.[1];
    if (before !== undefined && event.child === undefined) {
      this.#carried.asked = asked.slice(0, index);
      yield { type: "rewind", to: before || null };
    }
    yield rawOf(event);
  }

  *#leave(event: CopilotEvent): Generator<Item> {
    yield* usageOfShutdown(event, this.#carried.output);
    this.#carried.output = {};
    yield rawOf(event);
  }
}

function printOf(input: Json): string {
  return fingerprint(JSON.stringify(input));
}

function* said(event: CopilotEvent, spoken: Spoken | undefined): Generator<Item> {
  if (!spoken) {
    yield rawOf(event);
    return;
  }
  yield recordOf(event, { kind: "message", message: spoken.message });
  if (spoken.large) yield rawOf(event, spoken.large, ":extra");
  if (spoken.copiedBytes) yield { type: "copy", bytes: spoken.copiedBytes };
}
