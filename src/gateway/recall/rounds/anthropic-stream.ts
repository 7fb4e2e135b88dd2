import { numberOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import { StreamBlocks } from "../../api/anthropic/stream-blocks.ts";
import type { JsonObject, WireEvent } from "../../api/api.ts";
import { objectIn } from "../../api/replies/event-json.ts";
import { isClientBlock, isOwnBlock, isWords, ownRound, shownReason } from "./anthropic-round.ts";
import { changedEvent, namedEvent } from "./changed-event.ts";
import { joinedUsage } from "./joined-usage.ts";
import type { OwnRound, StreamJoiner } from "./joiner.ts";

/**
 * Joins Anthropic streams into one message: renumbers the blocks, and withholds the gateway's calls and the ends of
 * inner rounds.
 */
export class AnthropicStream implements StreamJoiner {
  readonly #most: number;
  readonly #earlier: JsonObject[] = [];
  #blocks = new StreamBlocks();
  /** Block indexes that the client sees, by index in this round; undefined for withheld blocks. */
  #places = new Map<number, number | undefined>();
  #usage: JsonObject | undefined;
  #own: OwnRound | undefined;
  #hasClientCall = false;
  /** Number of blocks that the client has seen, and the types of the open ones. */
  #shown = 0;
  readonly #open = new Map<number, unknown>();
  hasSaid = false;
  hasEnded = false;
  readonly end = undefined;

  constructor(most: number) {
    this.#most = most;
  }

  get usages(): readonly JsonObject[] {
    return this.#usage ? [...this.#earlier, this.#usage] : this.#earlier;
  }

  take(event: WireEvent): readonly WireEvent[] {
    const value = objectIn(event.data);
    if (this.hasEnded) return [];
    if (!value) return [event];
    switch (textOf(value.type) ?? event.event) {
      case "message_start":
        this.#use(objectOf(value.message)?.usage);
        return this.#earlier.length === 0 ? [event] : [];
      case "content_block_start":
        return this.#start(event, value);
      case "content_block_delta":
      case "content_block_stop":
        return this.#goOn(event, value);
      case "message_delta":
        return this.#stop(event, value);
      case "message_stop":
        this.hasEnded = !this.#own;
        return this.#own ? [] : [event];
      case "error":
        return (this.#earlier.length > 0 && this.finish()) || [event];
      default:
        return [event];
    }
  }

  next(): OwnRound | undefined {
    const own = this.#own;
    if (!own) return undefined;
    this.#earlier.push(this.#usage ?? {});
    this.#blocks = new StreamBlocks();
    this.#places = new Map();
    this.#usage = undefined;
    this.#own = undefined;
    return own;
  }

  finish(): readonly WireEvent[] | undefined {
    const isHalf = [...this.#open.values()].some((type) => type !== "text");
    if (!this.hasSaid || this.#hasClientCall || isHalf || this.hasEnded) return undefined;
    this.hasEnded = true;
    const stop_reason = this.#open.size > 0 ? "max_tokens" : "end_turn";
    const usage = joinedUsage(this.usages);
    return [
      ...[...this.#open.keys()].map((index) => namedEvent({ type: "content_block_stop", index })),
      namedEvent({
        type: "message_delta",
        delta: { stop_reason, stop_sequence: null },
        ...(usage && { usage }),
      }),
      namedEvent({ type: "message_stop" }),
    ];
  }

  #start(event: WireEvent, value: JsonObject): readonly WireEvent[] {
    this.#blocks.start(value);
    const block = objectOf(value.content_block) ?? {};
    const index = numberOf(value.index) ?? -1;
    if (isOwnBlock(block)) {
      this.#places.set(index, undefined);
      return [];
    }
    this.#hasClientCall ||= isClientBlock(block);
    this.hasSaid ||= isWords(block);
    const place = this.#shown++;
    this.#places.set(index, place);
    this.#open.set(place, block.type);
    return [moved(event, value, place)];
  }

  #goOn(event: WireEvent, value: JsonObject): readonly WireEvent[] {
    const index = numberOf(value.index) ?? -1;
    const isStop = value.type === "content_block_stop";
    if (isStop) this.#blocks.stop(value);
    else this.#blocks.add(value);
    const place = this.#places.get(index);
    if (place === undefined) return this.#places.has(index) ? [] : [event];
    if (isStop) this.#open.delete(place);
    const delta = objectOf(value.delta);
    this.hasSaid ||= delta?.type === "text_delta" && textOf(delta.text) !== undefined;
    return [moved(event, value, place)];
  }

  #stop(event: WireEvent, value: JsonObject): readonly WireEvent[] {
    this.#use(value.usage);
    const delta = objectOf(value.delta) ?? {};
    const own = ownRound(this.#blocks.content(), delta.stop_reason);
    if (own && this.#earlier.length < this.#most) {
      this.#own = own;
      return [];
    }
    const isAsItCame = this.#earlier.length === 0 && ![...this.#places.values()].includes(undefined);
    if (isAsItCame) return [event];
    const stop_reason = shownReason(delta.stop_reason, this.#hasClientCall);
    const usage = this.#earlier.length === 0 ? value.usage : joinedUsage(this.usages);
    return [
      changedEvent(event, {
        ...value,
        delta: { ...delta, stop_reason },
        ...(usage !== undefined && { usage }),
      }),
    ];
  }

  /** A later report of the same round overrides the fields it contains. */
  #use(report: unknown): void {
    const told = Object.entries(objectOf(report) ?? {}).filter(([, count]) => count !== null);
    if (told.length > 0) this.#usage = { ...this.#usage, ...Object.fromEntries(told) };
  }
}

function moved(event: WireEvent, value: JsonObject, index: number): WireEvent {
  return value.index === index ? event : changedEvent(event, { ...value, index });
}
