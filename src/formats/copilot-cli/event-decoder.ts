import { computeFingerprint } from "../../base/digest.ts";
import type { Json, MessageInput, ReasoningPart } from "../../index.ts";
import { dropUndefined, toArray, toText } from "../../wire/fields.ts";
import { nonEmptyFields } from "../content/non-empty-fields.ts";
import type { Item } from "../port/item.ts";
import type { LineDecoder, LineRecord } from "../reading/decode-lines.ts";
import { Assets } from "./assets.ts";
import { buildEventRecord, buildRawEventRecord, type CopilotEvent, toCopilotEvent } from "./copilot-event.ts";
import {
  type CopilotMessage,
  decodeAssistantMessage,
  decodeSystemMessage,
  decodeToolRequest,
  decodeToolResultMessage,
  decodeUserMessage,
} from "./copilot-messages.ts";
import { addOutput, decodeMessageUsage, decodeShutdownUsage, type ReportedOutput } from "./copilot-usage.ts";
import {
  decodeClearing,
  decodeCopilotCompaction,
  decodeNotice,
  decodeSessionStart,
} from "./session-events.ts";

/** State carried from event to event. */
interface CarriedState {
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
  output: ReportedOutput;
}

/** Reasoning from separate events, held until the model's message. */
interface HeldReasoning {
  readonly event: CopilotEvent;
  readonly parts: ReasoningPart[];
}

const MAX_CALLS = 256;
const MAX_USER_MESSAGES = 1_000;
const MAX_THOUGHTS = 32;

export class EventDecoder implements LineDecoder {
  readonly #carried: CarriedState;
  readonly #assets = new Assets();
  #thoughts: HeldReasoning | undefined;

  constructor(saved: Json | undefined) {
    const state = saved as unknown as CarriedState | undefined;
    this.#carried = { last: "", said: {}, calls: [], asked: [], output: {}, ...state };
  }

  get isSettled(): boolean {
    return this.#assets.isEmpty && this.#thoughts === undefined;
  }

  state(): Json {
    return { ...this.#carried } as unknown as Json;
  }

  *decode(record: LineRecord): Generator<Item> {
    for (const item of this.#decodeEvent(toCopilotEvent(record))) {
      if (item.type === "record" && item.child === undefined) this.#carried.last = item.id;
      yield item;
    }
  }

  *end(): Generator<Item> {
    yield* this.#release();
    for (const event of this.#assets.takeRest()) yield buildRawEventRecord(event);
  }

  #decodeEvent(event: CopilotEvent): Iterable<Item> {
    const { data, type } = event;
    switch (type) {
      case "session.start":
        return decodeSessionStart(event);
      case "session.title_changed":
        return [{ type: "session", ...dropUndefined({ title: toText(data.title), child: event.child }) }];
      case "session.resume":
        this.#carried.output = {};
        return [buildRawEventRecord(event)];
      case "system.message":
        return this.#takeSystem(event);
      case "user.message":
        return this.#takeUser(event);
      case "assistant.reasoning":
        return this.#holdReasoning(event);
      case "assistant.message":
        return this.#takeAssistant(event);
      case "tool.user_requested":
      case "tool.execution_start":
        return this.#takeCall(event);
      case "tool.execution_complete":
        return buildMessageItems(event, decodeToolResultMessage(data, this.#assets));
      case "session.binary_asset":
        return [...this.#assets.add(event)].map((late) => buildRawEventRecord(late));
      case "session.compaction_start":
        if (event.child === undefined) this.#carried.compactedThrough = this.#carried.last;
        return [buildRawEventRecord(event)];
      case "session.compaction_complete":
        return this.#compact(event);
      case "session.context_cleared":
        return decodeClearing(event);
      case "session.snapshot_rewind":
        return this.#rewind(event);
      case "session.shutdown":
        return this.#takeShutdown(event);
      case "session.error":
      case "session.warning":
      case "session.info":
        return decodeNotice(event);
      default:
        return [buildRawEventRecord(event)];
    }
  }

  *#takeSystem(event: CopilotEvent): Generator<Item> {
    const print = computeFingerprint(JSON.stringify(event.data));
    if (event.child === undefined && print === this.#carried.system)
      yield { type: "copy", bytes: event.sizeBytes };
    else yield* buildMessageItems(event, decodeSystemMessage(event.data));
    if (event.child === undefined) this.#carried.system = print;
  }

  *#takeUser(event: CopilotEvent): Generator<Item> {
    yield* this.#release();
    const { asked, last } = this.#carried;
    if (event.child === undefined)
      this.#carried.asked = [...asked, [event.id, last] as const].slice(-MAX_USER_MESSAGES);
    yield* buildMessageItems(event, decodeUserMessage(event.data, this.#assets));
  }

  *#holdReasoning(event: CopilotEvent): Generator<Item> {
    const text = toText(event.data.content);
    if (text === undefined) {
      yield buildRawEventRecord(event);
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
    for (const item of buildMessageItems(event, decodeAssistantMessage(data, thoughts?.parts ?? [])))
      yield thoughts && item.type === "record" && item.id === event.id
        ? { ...item, id: thoughts.event.id, version: "whole" }
        : item;
    for (const request of toArray(data.toolRequests)) this.#rememberCall(request);
    const { model, interactionId, turnId } = data;
    this.#carried.said = nonEmptyFields({ model, interactionId, turnId }, []) ?? {};
    this.#carried.output = addOutput(this.#carried.output, event);
    const usage = decodeMessageUsage(event);
    if (usage) yield usage;
  }

  *#release(): Generator<Item> {
    const thoughts = this.#thoughts;
    this.#thoughts = undefined;
    if (!thoughts) return;
    const { event, parts } = thoughts;
    const record = buildEventRecord(event, { kind: "message", message: { role: "assistant", parts } });
    yield { ...record, version: `${parts.length} parts` };
  }

  /** Decodes the start of a call, which the model announced before or the user requested. */
  *#takeCall(event: CopilotEvent): Generator<Item> {
    const { part, extra = {} } = decodeToolRequest(event.data);
    if (part.type !== "tool-call") {
      yield buildRawEventRecord(event);
      return;
    }
    const { calls, said } = this.#carried;
    const print = fingerprintInput(part.input);
    if (!calls.some(([callId, known]) => callId === part.callId && known === print)) {
      const meta = { "copilot-cli": { event: event.type, ...extra } };
      const message: MessageInput = { role: "assistant", parts: [part], meta };
      yield buildEventRecord(event, { kind: "message", message });
      this.#rememberCall(event.data);
      return;
    }
    const news = Object.entries(extra).filter(
      ([name, value]) => name !== "parentToolCallId" && said[name] !== value,
    );
    const isCopy = news.length === 0;
    yield { type: "copy", bytes: isCopy ? event.sizeBytes : Buffer.byteLength(JSON.stringify(part.input)) };
    if (!isCopy) yield buildRawEventRecord(event, { toolCallId: part.callId, ...Object.fromEntries(news) });
  }

  #rememberCall(request: unknown): void {
    const { part } = decodeToolRequest(request);
    if (part.type !== "tool-call") return;
    const call = [part.callId, fingerprintInput(part.input)] as const;
    this.#carried.calls = [...this.#carried.calls, call].slice(-MAX_CALLS);
  }

  *#compact(event: CopilotEvent): Generator<Item> {
    if (event.child !== undefined) {
      yield* decodeCopilotCompaction(event, undefined);
      return;
    }
    yield* decodeCopilotCompaction(event, this.#carried.compactedThrough || undefined);
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
    yield buildRawEventRecord(event);
  }

  *#takeShutdown(event: CopilotEvent): Generator<Item> {
    yield* decodeShutdownUsage(event, this.#carried.output);
    this.#carried.output = {};
    yield buildRawEventRecord(event);
  }
}

function fingerprintInput(input: Json): string {
  return computeFingerprint(JSON.stringify(input));
}

function* buildMessageItems(event: CopilotEvent, spoken: CopilotMessage | undefined): Generator<Item> {
  if (!spoken) {
    yield buildRawEventRecord(event);
    return;
  }
  yield buildEventRecord(event, { kind: "message", message: spoken.message });
  if (spoken.large) yield buildRawEventRecord(event, spoken.large, ":extra");
  if (spoken.copiedBytes) yield { type: "copy", bytes: spoken.copiedBytes };
}
