import { toNumber, toObject, toText } from "../../../wire/fields.ts";
import { StreamItems } from "../../../wire/openai-responses/stream-items.ts";
import { parseObject } from "../../../wire/replies/parse-object.ts";
import type { WireEvent, WireObject } from "../../../wire/wire.ts";
import { buildNamedEvent, replaceEventData } from "./build-event.ts";
import { mergeRoundUsage } from "./merge-round-usage.ts";
import {
  findResponsesRound,
  getOutputItems,
  isClientCallItem,
  isRecallItem,
  listRecallCallIds,
  removeRecallTools,
} from "./responses-round.ts";
import type { RecallRound, ShownEnd, StreamMerger } from "./round-format.ts";

const START_EVENTS = ["response.created", "response.in_progress", "response.queued"];
const END_EVENTS = [
  "response.completed",
  "response.done",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
];

/**
 * Joins Responses streams into one: renumbers items and events, and withholds the gateway's calls and the ends of inner
 * rounds.
 */
export class ResponsesStreamMerger implements StreamMerger {
  readonly #maxRounds: number;
  readonly #earlierUsages: WireObject[] = [];
  /** Items of earlier rounds that the client has seen. */
  readonly #output: WireObject[] = [];
  #items = new StreamItems();
  /** Item indexes that the client sees, by index in this round; undefined for withheld items. */
  #places = new Map<number, number | undefined>();
  #own: RecallRound | undefined;
  #usage: WireObject | undefined;
  #first: WireObject | undefined;
  #last: string | undefined;
  #unanswered: readonly string[] = [];
  #hasClientCall = false;
  #shown = 0;
  readonly #open = new Map<number, WireObject>();
  #sequence = 0;
  hasText = false;
  hasEnded = false;

  constructor(most: number) {
    this.#maxRounds = most;
  }

  get usages(): readonly WireObject[] {
    return this.#usage ? [...this.#earlierUsages, this.#usage] : this.#earlierUsages;
  }

  get end(): ShownEnd | undefined {
    const shown = toText(this.#first?.id);
    if (shown === undefined) return undefined;
    return { shown, last: this.#last ?? shown, unanswered: this.#unanswered };
  }

  take(event: WireEvent): readonly WireEvent[] {
    if (this.hasEnded) return [];
    const value = parseObject(event.data);
    if (!value) return [event];
    const type = toText(value.type) ?? event.event ?? "";
    const response = toObject(value.response) ?? {};
    if (START_EVENTS.includes(type)) {
      this.#first ??= response;
      this.#last = toText(response.id);
      this.#unanswered = [];
      return this.#isLater
        ? []
        : [this.#toClientEvent(event, value, { response: removeRecallTools(response) })];
    }
    if (END_EVENTS.includes(type)) return this.#end(event, value, response, type);
    if (type === "error") return (this.#isLater && this.finish()) || [event];
    const index = toNumber(value.output_index);
    return index === undefined ? [this.#toClientEvent(event, value)] : this.#item(event, value, type, index);
  }

  next(): RecallRound | undefined {
    const own = this.#own;
    if (!own) return undefined;
    this.#earlierUsages.push(this.#usage ?? {});
    for (const one of this.#shownItems()) this.#output.push(one);
    this.#items = new StreamItems();
    this.#places = new Map();
    this.#usage = undefined;
    this.#own = undefined;
    this.#unanswered = own.calls.map(({ id }) => id);
    return own;
  }

  finish(): readonly WireEvent[] | undefined {
    const isHalf = [...this.#open.values()].some(({ type }) => type !== "message");
    if (!this.hasText || this.#hasClientCall || isHalf || this.hasEnded) return undefined;
    this.hasEnded = true;
    const isCut = this.#open.size > 0;
    const messages = this.#shownItems();
    const isOpen = (item: WireObject) => isCut && item.id === undefined;
    const content = messages.find(isOpen)?.content ?? [];
    const halves = [...this.#open].map(([output_index, item]) => ({
      type: "response.output_item.done",
      output_index,
      item: { ...item, content, status: "incomplete" },
    }));
    const usage = mergeRoundUsage(this.usages);
    const status = isCut ? "incomplete" : "completed";
    const response = {
      ...removeRecallTools(this.#first ?? {}),
      status,
      ...(isCut && { incomplete_details: { reason: "max_output_tokens" } }),
      output: [
        ...this.#output,
        ...messages.filter((item) => !isOpen(item)),
        ...halves.map(({ item }) => item),
      ],
      ...(usage && { usage }),
    };
    return [...halves, { type: `response.${status}`, response }].map((value) =>
      buildNamedEvent({ ...value, sequence_number: this.#sequence++ }),
    );
  }

  get #isLater(): boolean {
    return this.#earlierUsages.length > 0;
  }

  #shownItems(): readonly WireObject[] {
    return this.#items.completeItems().filter((item) => !isRecallItem(item));
  }

  #item(event: WireEvent, value: WireObject, type: string, index: number): readonly WireEvent[] {
    const item = toObject(value.item);
    if (item && !this.#places.has(index))
      this.#places.set(index, isRecallItem(item) ? undefined : this.#shown++);
    if (type === "response.output_item.added") this.#items.add(value);
    else if (type === "response.output_item.done") this.#items.finishItem(value);
    else if (type === "response.output_text.delta")
      this.#items.addText(value, "output_text", value.delta, false);
    else if (type === "response.refusal.delta") this.#items.addText(value, "refusal", value.delta, false);
    const place = this.#places.get(index);
    if (place === undefined) return this.#places.has(index) ? [] : [this.#toClientEvent(event, value)];
    this.#hasClientCall ||= item !== undefined && isClientCallItem(item);
    this.hasText ||= type === "response.output_text.delta" && toText(value.delta) !== undefined;
    if (item && type === "response.output_item.added") this.#open.set(place, item);
    if (type === "response.output_item.done") this.#open.delete(place);
    return [this.#toClientEvent(event, value, { output_index: place })];
  }

  #end(event: WireEvent, value: WireObject, response: WireObject, type: string): readonly WireEvent[] {
    this.#items.replace(response.output);
    this.#usage = toObject(response.usage) ?? this.#usage;
    this.#last = toText(response.id) ?? this.#last;
    const isWhole = type === "response.completed" || type === "response.done";
    const own = findResponsesRound(this.#items.completeItems(), isWhole ? "completed" : type);
    if (own && this.#earlierUsages.length < this.#maxRounds) {
      this.#own = own;
      return [];
    }
    if (type === "response.failed" && this.#isLater) {
      const ended = this.finish();
      if (ended) return ended;
    }
    this.hasEnded = true;
    const plain = removeRecallTools(response);
    this.#unanswered = listRecallCallIds(this.#items.completeItems());
    if (!this.#isLater && this.#unanswered.length === 0)
      return [this.#toClientEvent(event, value, { response: plain })];
    const listed = getOutputItems(response).filter((item) => !isRecallItem(item));
    const now = listed.length > 0 ? listed : this.#shownItems();
    const usage = this.#isLater ? mergeRoundUsage(this.usages) : plain.usage;
    const { id, created_at } = this.#first ?? response;
    const joined = { ...plain, id, created_at, output: [...this.#output, ...now], usage };
    return [this.#toClientEvent(event, value, { response: joined })];
  }

  /** An event with the client's sequence number and the given fields; the same object if nothing differs. */
  #toClientEvent(event: WireEvent, value: WireObject, fields: WireObject = {}): WireEvent {
    const sequence = this.#sequence++;
    const all: WireObject = {
      ...fields,
      ...(value.sequence_number !== undefined && { sequence_number: sequence }),
    };
    const isSame = Object.entries(all).every(([name, field]) => value[name] === field);
    return isSame ? event : replaceEventData(event, { ...value, ...all });
  }
}
