import { numberOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import type { JsonObject, WireEvent } from "../../api/api.ts";
import { StreamItems } from "../../api/openai-responses/stream-items.ts";
import { objectIn } from "../../api/replies/event-json.ts";
import { changedEvent, namedEvent } from "./changed-event.ts";
import { joinedUsage } from "./joined-usage.ts";
import type { OwnRound, ShownEnd, StreamJoiner } from "./joiner.ts";
import {
  isClientItem,
  isOwnItem,
  itemsOf,
  ownCallIds,
  ownRound,
  withoutOwnTools,
} from "./responses-round.ts";

const BEGINNINGS = ["response.created", "response.in_progress", "response.queued"];
const ENDS = [
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
export class ResponsesStream implements StreamJoiner {
  readonly #most: number;
  readonly #earlier: JsonObject[] = [];
  /** Items of earlier rounds that the client has seen. */
  readonly #output: JsonObject[] = [];
  #items = new StreamItems();
  /** Item indexes that the client sees, by index in this round; undefined for withheld items. */
  #places = new Map<number, number | undefined>();
  #own: OwnRound | undefined;
  #usage: JsonObject | undefined;
  #first: JsonObject | undefined;
  #last: string | undefined;
  #unanswered: readonly string[] = [];
  #hasClientCall = false;
  #shown = 0;
  readonly #open = new Map<number, JsonObject>();
  #sequence = 0;
  hasSaid = false;
  hasEnded = false;

  constructor(most: number) {
    this.#most = most;
  }

  get usages(): readonly JsonObject[] {
    return this.#usage ? [...this.#earlier, this.#usage] : this.#earlier;
  }

  get end(): ShownEnd | undefined {
    const shown = textOf(this.#first?.id);
    if (shown === undefined) return undefined;
    return { shown, last: this.#last ?? shown, unanswered: this.#unanswered };
  }

  take(event: WireEvent): readonly WireEvent[] {
    if (this.hasEnded) return [];
    const value = objectIn(event.data);
    if (!value) return [event];
    const type = textOf(value.type) ?? event.event ?? "";
    const response = objectOf(value.response) ?? {};
    if (BEGINNINGS.includes(type)) {
      this.#first ??= response;
      this.#last = textOf(response.id);
      this.#unanswered = [];
      return this.#isLater ? [] : [this.#sent(event, value, { response: withoutOwnTools(response) })];
    }
    if (ENDS.includes(type)) return this.#end(event, value, response, type);
    if (type === "error") return (this.#isLater && this.finish()) || [event];
    const index = numberOf(value.output_index);
    return index === undefined ? [this.#sent(event, value)] : this.#item(event, value, type, index);
  }

  next(): OwnRound | undefined {
    const own = this.#own;
    if (!own) return undefined;
    this.#earlier.push(this.#usage ?? {});
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
    if (!this.hasSaid || this.#hasClientCall || isHalf || this.hasEnded) return undefined;
    this.hasEnded = true;
    const isCut = this.#open.size > 0;
    const said = this.#shownItems();
    const isOpen = (item: JsonObject) => isCut && item.id === undefined;
    const content = said.find(isOpen)?.content ?? [];
    const halves = [...this.#open].map(([output_index, item]) => ({
      type: "response.output_item.done",
      output_index,
      item: { ...item, content, status: "incomplete" },
    }));
    const usage = joinedUsage(this.usages);
    const status = isCut ? "incomplete" : "completed";
    const response = {
      ...withoutOwnTools(this.#first ?? {}),
      status,
      ...(isCut && { incomplete_details: { reason: "max_output_tokens" } }),
      output: [...this.#output, ...said.filter((item) => !isOpen(item)), ...halves.map(({ item }) => item)],
      ...(usage && { usage }),
    };
    return [...halves, { type: `response.${status}`, response }].map((value) =>
      namedEvent({ ...value, sequence_number: this.#sequence++ }),
    );
  }

  get #isLater(): boolean {
    return this.#earlier.length > 0;
  }

  #shownItems(): readonly JsonObject[] {
    return this.#items.whole().filter((item) => !isOwnItem(item));
  }

  #item(event: WireEvent, value: JsonObject, type: string, index: number): readonly WireEvent[] {
    const item = objectOf(value.item);
    if (item && !this.#places.has(index))
      this.#places.set(index, isOwnItem(item) ? undefined : this.#shown++);
    if (type === "response.output_item.added") this.#items.add(value);
    else if (type === "response.output_item.done") this.#items.done(value);
    else if (type === "response.output_text.delta") this.#items.say(value, "output_text", value.delta, false);
    else if (type === "response.refusal.delta") this.#items.say(value, "refusal", value.delta, false);
    const place = this.#places.get(index);
    if (place === undefined) return this.#places.has(index) ? [] : [this.#sent(event, value)];
    this.#hasClientCall ||= item !== undefined && isClientItem(item);
    this.hasSaid ||= type === "response.output_text.delta" && textOf(value.delta) !== undefined;
    if (item && type === "response.output_item.added") this.#open.set(place, item);
    if (type === "response.output_item.done") this.#open.delete(place);
    return [this.#sent(event, value, { output_index: place })];
  }

  #end(event: WireEvent, value: JsonObject, response: JsonObject, type: string): readonly WireEvent[] {
    this.#items.replace(response.output);
    this.#usage = objectOf(response.usage) ?? this.#usage;
    this.#last = textOf(response.id) ?? this.#last;
    const isWhole = type === "response.completed" || type === "response.done";
    const own = ownRound(this.#items.whole(), isWhole ? "completed" : type);
    if (own && this.#earlier.length < this.#most) {
      this.#own = own;
      return [];
    }
    if (type === "response.failed" && this.#isLater) {
      const ended = this.finish();
      if (ended) return ended;
    }
    this.hasEnded = true;
    const plain = withoutOwnTools(response);
    this.#unanswered = ownCallIds(this.#items.whole());
    if (!this.#isLater && this.#unanswered.length === 0)
      return [this.#sent(event, value, { response: plain })];
    const listed = itemsOf(response).filter((item) => !isOwnItem(item));
    const now = listed.length > 0 ? listed : this.#shownItems();
    const usage = this.#isLater ? joinedUsage(this.usages) : plain.usage;
    const { id, created_at } = this.#first ?? response;
    const joined = { ...plain, id, created_at, output: [...this.#output, ...now], usage };
    return [this.#sent(event, value, { response: joined })];
  }

  /** An event with the client's sequence number and the given fields; the same object if nothing differs. */
  #sent(event: WireEvent, value: JsonObject, fields: JsonObject = {}): WireEvent {
    const sequence = this.#sequence++;
    const all: JsonObject = {
      ...fields,
      ...(value.sequence_number !== undefined && { sequence_number: sequence }),
    };
    const isSame = Object.entries(all).every(([name, field]) => value[name] === field);
    return isSame ? event : changedEvent(event, { ...value, ...all });
  }
}
