import { dropUndefined } from "../../../../model/base/drop-undefined.ts";
import { StreamBlocks } from "../../../../wire/anthropic/stream-blocks.ts";
import { parseObject, toArray, toNumber, toObject, toText } from "../../../../wire/fields.ts";
import type { WireEvent, WireObject } from "../../../../wire/wire.ts";
import {
  buildNamedEvent,
  mergeBodyUsage,
  mergeRoundUsage,
  type RecallCall,
  type RecallCallResult,
  type RecallRound,
  type RoundFormat,
  replaceEventData,
  type StreamMerger,
} from "./round-format.ts";

/** True for the name of a tool that the gateway carries out. */
type OwnTest = (name: unknown) => boolean;

/** Rounds in Anthropic's Messages API; `isOwn` tells the gateway's tools from those of the client. */
export function createAnthropicRounds(isOwn: OwnTest): RoundFormat {
  const isOwnBlock = (block: WireObject) => block.type === "tool_use" && isOwn(block.name);
  return {
    encodeResults: encodeAnthropicResults,
    openStream: (maxRounds) => new AnthropicStreamMerger(maxRounds, isOwnBlock),
    readBody: (body) => ({
      recallRound: findAnthropicRound(getBlocks(body), body.stop_reason, isOwnBlock),
      hasText: getBlocks(body).some(isTextBlock),
      usage: toObject(body.usage),
      calls: listCalls(getBlocks(body), isOwnBlock),
    }),
    mergeBodies(bodies) {
      const [first, ...others] = bodies;
      const last = bodies.at(-1);
      if (!first || !last || (others.length === 0 && !getBlocks(first).some(isOwnBlock))) return first ?? {};
      const content = bodies.flatMap(getBlocks).filter((block) => !isOwnBlock(block));
      const stop_reason = toShownStopReason(last.stop_reason, content.some(isCallBlock));
      const usage = mergeBodyUsage(bodies);
      return {
        ...first,
        content,
        stop_reason,
        stop_sequence: last.stop_sequence ?? null,
        ...dropUndefined({ usage }),
      };
    },
    findEnd: () => undefined,
  };
}

function getBlocks({ content }: WireObject): readonly WireObject[] {
  return toArray(content).flatMap((block) => {
    const fields = toObject(block);
    return fields ? [fields] : [];
  });
}

type BlockTest = (block: WireObject) => boolean;

/** True for a call that somebody other than the provider must answer. */
function isCallBlock({ type }: WireObject): boolean {
  return type === "tool_use";
}

/** The complete calls among blocks that pass. */
function listCalls(blocks: readonly WireObject[], isOwnBlock: BlockTest): readonly RecallCall[] {
  return blocks.filter(isOwnBlock).flatMap((block): readonly RecallCall[] => {
    const id = toText(block.id);
    const input = toObject(block.input);
    return id === undefined || !input ? [] : [{ id, name: String(block.name), input }];
  });
}

/** True for a text block that is not empty. */
function isTextBlock({ type, text }: WireObject): boolean {
  return type === "text" && toText(text) !== undefined;
}

/** The round made of these blocks, if it stopped for calls of the gateway's tools only. */
function findAnthropicRound(
  blocks: readonly WireObject[],
  stopReason: unknown,
  isOwnBlock: BlockTest,
): RecallRound | undefined {
  if (stopReason !== "tool_use" || blocks.some((block) => isCallBlock(block) && !isOwnBlock(block)))
    return undefined;
  const calls = listCalls(blocks, isOwnBlock);
  if (calls.length === 0) return undefined;
  // The API refuses empty text blocks.
  const content = blocks.filter((block) => block.type !== "text" || isTextBlock(block));
  return { calls, elements: [{ role: "assistant", content }] };
}

/** The stop reason for a client that does not see the gateway's calls. */
function toShownStopReason(reason: unknown, hasClientCall: boolean): unknown {
  return reason === "tool_use" && !hasClientCall ? "end_turn" : reason;
}

/** The message with the results of calls. */
function encodeAnthropicResults(answers: readonly RecallCallResult[]): readonly WireObject[] {
  const content = answers.map(({ call, text }) => ({
    type: "tool_result",
    tool_use_id: call.id,
    content: text,
  }));
  return [{ role: "user", content }];
}

/**
 * Joins Anthropic streams into one message: renumbers the blocks, and withholds the gateway's calls and the ends of
 * inner rounds.
 */
class AnthropicStreamMerger implements StreamMerger {
  readonly #maxRounds: number;
  readonly #isOwnBlock: BlockTest;
  readonly #earlierUsages: WireObject[] = [];
  #blocks = new StreamBlocks();
  /** Block indexes that the client sees, by index in this round; undefined for withheld blocks. */
  #shownIndexes = new Map<number, number | undefined>();
  #usage: WireObject | undefined;
  #recallRound: RecallRound | undefined;
  #hasClientCall = false;
  /** Number of blocks that the client has seen. */
  #shownBlocks = 0;
  /** Types of the unfinished blocks, by index that the client sees. */
  readonly #openBlocks = new Map<number, unknown>();
  hasText = false;
  hasEnded = false;
  readonly end = undefined;

  constructor(maxRounds: number, isOwnBlock: BlockTest) {
    this.#maxRounds = maxRounds;
    this.#isOwnBlock = isOwnBlock;
  }

  get leftCalls(): readonly RecallCall[] {
    return listCalls(this.#blocks.content(), this.#isOwnBlock);
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
        return this.#startBlock(event, value);
      case "content_block_delta":
      case "content_block_stop":
        return this.#continueBlock(event, value);
      case "message_delta":
        return this.#endRound(event, value);
      case "message_stop":
        this.hasEnded = !this.#recallRound;
        return this.#recallRound ? [] : [event];
      case "error":
        return (this.#earlierUsages.length > 0 && this.finish()) || [event];
      default:
        return [event];
    }
  }

  next(): RecallRound | undefined {
    const recallRound = this.#recallRound;
    if (!recallRound) return undefined;
    this.#earlierUsages.push(this.#usage ?? {});
    this.#blocks = new StreamBlocks();
    this.#shownIndexes = new Map();
    this.#usage = undefined;
    this.#recallRound = undefined;
    return recallRound;
  }

  finish(): readonly WireEvent[] | undefined {
    const hasOpenNonText = [...this.#openBlocks.values()].some((type) => type !== "text");
    if (!this.hasText || this.#hasClientCall || hasOpenNonText || this.hasEnded) return undefined;
    this.hasEnded = true;
    const stop_reason = this.#openBlocks.size > 0 ? "max_tokens" : "end_turn";
    const usage = mergeRoundUsage(this.usages);
    return [
      ...[...this.#openBlocks.keys()].map((index) => buildNamedEvent({ type: "content_block_stop", index })),
      buildNamedEvent({
        type: "message_delta",
        delta: { stop_reason, stop_sequence: null },
        ...dropUndefined({ usage }),
      }),
      buildNamedEvent({ type: "message_stop" }),
    ];
  }

  #startBlock(event: WireEvent, value: WireObject): readonly WireEvent[] {
    this.#blocks.start(value);
    const block = toObject(value.content_block) ?? {};
    const index = toNumber(value.index) ?? -1;
    if (this.#isOwnBlock(block)) {
      this.#shownIndexes.set(index, undefined);
      return [];
    }
    this.#hasClientCall ||= isCallBlock(block);
    this.hasText ||= isTextBlock(block);
    const shownIndex = this.#shownBlocks++;
    this.#shownIndexes.set(index, shownIndex);
    this.#openBlocks.set(shownIndex, block.type);
    return [renumberEvent(event, value, shownIndex)];
  }

  #continueBlock(event: WireEvent, value: WireObject): readonly WireEvent[] {
    const index = toNumber(value.index) ?? -1;
    const isStop = value.type === "content_block_stop";
    if (isStop) this.#blocks.stop(value);
    else this.#blocks.add(value);
    const shownIndex = this.#shownIndexes.get(index);
    if (shownIndex === undefined) return this.#shownIndexes.has(index) ? [] : [event];
    if (isStop) this.#openBlocks.delete(shownIndex);
    const delta = toObject(value.delta);
    this.hasText ||= delta?.type === "text_delta" && toText(delta.text) !== undefined;
    return [renumberEvent(event, value, shownIndex)];
  }

  #endRound(event: WireEvent, value: WireObject): readonly WireEvent[] {
    this.#addUsage(value.usage);
    const delta = toObject(value.delta) ?? {};
    const recallRound = findAnthropicRound(this.#blocks.content(), delta.stop_reason, this.#isOwnBlock);
    if (recallRound && this.#earlierUsages.length < this.#maxRounds) {
      this.#recallRound = recallRound;
      return [];
    }
    const isUnchanged =
      this.#earlierUsages.length === 0 && ![...this.#shownIndexes.values()].includes(undefined);
    if (isUnchanged) return [event];
    const stop_reason = toShownStopReason(delta.stop_reason, this.#hasClientCall);
    const usage = this.#earlierUsages.length === 0 ? value.usage : mergeRoundUsage(this.usages);
    return [
      replaceEventData(event, { ...value, delta: { ...delta, stop_reason }, ...dropUndefined({ usage }) }),
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
