import { StreamBlocks } from "../../../wire/anthropic/stream-blocks.ts";
import { toNumber, toObject, toText } from "../../../wire/fields.ts";
import { parseObject } from "../../../wire/replies/parse-object.ts";
import type { WireEvent, WireObject } from "../../../wire/wire.ts";
import {
  findAnthropicRound,
  isClientCallBlock,
  isRecallBlock,
  isTextBlock,
  toShownStopReason,
} from "./anthropic-round.ts";
import { buildNamedEvent, replaceEventData } from "./build-event.ts";
import { mergeRoundUsage } from "./merge-round-usage.ts";
import type { RecallRound, StreamMerger } from "./round-format.ts";

/**
 * Joins Anthropic streams into one message: renumbers the blocks, and withholds the gateway's calls and the ends of
 * inner rounds.
 */
export class AnthropicStreamMerger implements StreamMerger {
  readonly #maxRounds: number;
  readonly #earlierUsages: WireObject[] = [];
  #blocks = new StreamBlocks();
  /** Block indexes that the client sees, by index in this round; undefined for withheld blocks. */
  #places = new Map<number, number | undefined>();
  #usage: WireObject | undefined;
  #own: RecallRound | undefined;
  #hasClientCall = false;
  /** Number of blocks that the client has seen, and the types of the open ones. */
  #shown = 0;
  readonly #open = new Map<number, unknown>();
  hasText = false;
  hasEnded = false;
  readonly end = undefined;

  constructor(most: number) {
    this.#maxRounds = most;
  }

  get usages(): readonly WireObject[] {
    return this.#usage ? [...this.#earlierUsages, this.#usage] : this.#earlierUsages;
  }

  take(event: WireEvent): readonly WireEvent[] {
    const value = parseObject(event.data);
    if (this.hasEnded) return [];
    if (!value) return [event];
    switch (toText(value.type) ?? event.event) {
      case "message_start":
        this.#addUsage(toObject(value.message)?.usage);
        return this.#earlierUsages.length === 0 ? [event] : [];
      case "content_block_start":
        return this.#start(event, value);
      case "content_block_delta":
      case "content_block_stop":
        return this.#continueBlock(event, value);
      case "message_delta":
        return this.#stop(event, value);
      case "message_stop":
        this.hasEnded = !this.#own;
        return this.#own ? [] : [event];
      case "error":
        return (this.#earlierUsages.length > 0 && this.finish()) || [event];
      default:
        return [event];
    }
  }

  next(): RecallRound | undefined {
    const own = this.#own;
    if (!own) return undefined;
    this.#earlierUsages.push(this.#usage ?? {});
    this.#blocks = new StreamBlocks();
    this.#places = new Map();
    this.#usage = undefined;
    this.#own = undefined;
    return own;
  }

  finish(): readonly WireEvent[] | undefined {
    const isHalf = [...this.#open.values()].some((type) => type !== "text");
    if (!this.hasText || this.#hasClientCall || isHalf || this.hasEnded) return undefined;
    this.hasEnded = true;
    const stop_reason = this.#open.size > 0 ? "max_tokens" : "end_turn";
    const usage = mergeRoundUsage(this.usages);
    return [
      ...[...this.#open.keys()].map((index) => buildNamedEvent({ type: "content_block_stop", index })),
      buildNamedEvent({
        type: "message_delta",
        delta: { stop_reason, stop_sequence: null },
        ...(usage && { usage }),
      }),
      buildNamedEvent({ type: "message_stop" }),
    ];
  }

  #start(event: WireEvent, value: WireObject): readonly WireEvent[] {
    this.#blocks.start(value);
    const block = toObject(value.content_block) ?? {};
    const index = toNumber(value.index) ?? -1;
    if (isRecallBlock(block)) {
      this.#places.set(index, undefined);
      return [];
    }
    this.#hasClientCall ||= isClientCallBlock(block);
    this.hasText ||= isTextBlock(block);
    const place = this.#shown++;
    this.#places.set(index, place);
    this.#open.set(place, block.type);
    return [renumberEvent(event, value, place)];
  }

  #continueBlock(event: WireEvent, value: WireObject): readonly WireEvent[] {
    const index = toNumber(value.index) ?? -1;
    const isStop = value.type === "content_block_stop";
    if (isStop) this.#blocks.stop(value);
    else this.#blocks.add(value);
    const place = this.#places.get(index);
    if (place === undefined) return this.#places.has(index) ? [] : [event];
    if (isStop) this.#open.delete(place);
    const delta = toObject(value.delta);
    this.hasText ||= delta?.type === "text_delta" && toText(delta.text) !== undefined;
    return [renumberEvent(event, value, place)];
  }

  #stop(event: WireEvent, value: WireObject): readonly WireEvent[] {
    this.#addUsage(value.usage);
    const delta = toObject(value.delta) ?? {};
    const own = findAnthropicRound(this.#blocks.content(), delta.stop_reason);
    if (own && this.#earlierUsages.length < this.#maxRounds) {
      this.#own = own;
      return [];
    }
    const isAsItCame = this.#earlierUsages.length === 0 && ![...this.#places.values()].includes(undefined);
    if (isAsItCame) return [event];
    const stop_reason = toShownStopReason(delta.stop_reason, this.#hasClientCall);
    const usage = this.#earlierUsages.length === 0 ? value.usage : mergeRoundUsage(this.usages);
    return [
      replaceEventData(event, {
        ...value,
        delta: { ...delta, stop_reason },
        ...(usage !== undefined && { usage }),
      }),
    ];
  }

  /** A later report of the same round overrides the fields it contains. */
  #addUsage(report: unknown): void {
    const counts = Object.entries(toObject(report) ?? {}).filter(([, count]) => count !== null);
    if (counts.length > 0) this.#usage = { ...this.#usage, ...Object.fromEntries(counts) };
  }
}

function renumberEvent(event: WireEvent, value: WireObject, index: number): WireEvent {
  return value.index === index ? event : replaceEventData(event, { ...value, index });
}
