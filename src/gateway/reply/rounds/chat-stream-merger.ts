import { toArray, toNumber, toObject, toText } from "../../../wire/fields.ts";
import { StreamCalls } from "../../../wire/openai-chat/stream-calls.ts";
import { StreamDetails } from "../../../wire/openai-chat/stream-details.ts";
import { parseObject } from "../../../wire/replies/parse-object.ts";
import type { WireEvent, WireObject } from "../../../wire/wire.ts";
import { isRecallTool } from "../../recall/recall-tools.ts";
import { replaceEventData } from "./build-event.ts";
import { findChatRound, TEXT_SEPARATOR, toShownFinishReason } from "./chat-round.ts";
import { mergeRoundUsage } from "./merge-round-usage.ts";
import type { RecallRound, StreamMerger } from "./round-format.ts";

const DONE = "[DONE]";
/** Fields that identify the reply of a chunk. */
const HEAD_FIELDS = ["id", "object", "created", "model"];

/** The content of one round so far. */
class ChatRound {
  content = "";
  reasoning = "";
  readonly calls = new StreamCalls();
  readonly details = new StreamDetails();
  /** Call indexes that the client sees, by index in this round; undefined for withheld calls. */
  readonly shownIndexes = new Map<number, number | undefined>();
  usage: WireObject | undefined;

  take(delta: WireObject): void {
    this.content += toText(delta.content) ?? "";
    this.reasoning += toText(delta.reasoning_content) ?? "";
    this.calls.add(delta.tool_calls);
    this.details.add(delta.reasoning_details);
  }

  message(): WireObject {
    return {
      role: "assistant",
      content: this.content === "" ? null : this.content,
      ...(this.reasoning !== "" && { reasoning_content: this.reasoning }),
      ...(this.details.all.length > 0 && { reasoning_details: this.details.all }),
      tool_calls: this.calls.completeCalls(false),
    };
  }
}

/** Joins Chat Completions streams into one: withholds the gateway's calls and the ends of inner rounds. */
export class ChatStreamMerger implements StreamMerger {
  readonly #maxRounds: number;
  readonly #earlierUsages: WireObject[] = [];
  #round = new ChatRound();
  #recallRound: RecallRound | undefined;
  #head: WireObject | undefined;
  /** Number of calls that the client has seen. */
  #shownCalls = 0;
  hasText = false;
  hasEnded = false;
  readonly end = undefined;

  constructor(maxRounds: number) {
    this.#maxRounds = maxRounds;
  }

  get usages(): readonly WireObject[] {
    const { usage } = this.#round;
    return usage ? [...this.#earlierUsages, usage] : this.#earlierUsages;
  }

  take(event: WireEvent): readonly WireEvent[] {
    if (this.hasEnded) return [];
    if (event.data.trim() === DONE) {
      this.hasEnded = !this.#recallRound;
      return this.#recallRound ? [] : [event];
    }
    const chunk = parseObject(event.data);
    if (!chunk) return [event];
    if (toObject(chunk.error)) return (this.#isLater && this.finish()) || [event];
    this.#head ??= Object.fromEntries(Object.entries(chunk).filter(([field]) => HEAD_FIELDS.includes(field)));
    this.#round.usage = toObject(chunk.usage) ?? toObject(toObject(chunk.x_groq)?.usage) ?? this.#round.usage;
    const choice = toObject(toArray(chunk.choices)[0]);
    if (choice) return this.#takeChoice(event, chunk, choice);
    if (this.#recallRound) return [];
    return [this.#isLater ? replaceEventData(event, this.#mergeChunk(chunk)) : event];
  }

  next(): RecallRound | undefined {
    const recallRound = this.#recallRound;
    if (!recallRound) return undefined;
    this.#earlierUsages.push(this.#round.usage ?? {});
    this.#round = new ChatRound();
    this.#recallRound = undefined;
    return recallRound;
  }

  finish(): readonly WireEvent[] | undefined {
    if (!this.hasText || this.#shownCalls > 0 || this.hasEnded) return undefined;
    this.hasEnded = true;
    const finish_reason = this.#round.content === "" ? "stop" : "length";
    const usage = mergeRoundUsage(this.usages);
    const hasUsage = usage !== undefined && Object.keys(usage).length > 0;
    return [
      { data: JSON.stringify({ ...this.#head, choices: [{ index: 0, delta: {}, finish_reason }] }) },
      ...(hasUsage ? [{ data: JSON.stringify({ ...this.#head, choices: [], usage }) }] : []),
      { data: DONE },
    ];
  }

  get #isLater(): boolean {
    return this.#earlierUsages.length > 0;
  }

  #takeChoice(event: WireEvent, chunk: WireObject, choice: WireObject): readonly WireEvent[] {
    const delta = toObject(choice.delta) ?? {};
    const isFirstText = this.#round.content === "";
    this.#round.take(delta);
    const shownDelta = this.#toShownDelta(delta, isFirstText);
    this.hasText ||= toText(shownDelta.content) !== undefined;
    const reason = choice.finish_reason;
    if (typeof reason === "string") {
      const recallRound = findChatRound(this.#round.message(), reason);
      if (recallRound && this.#earlierUsages.length < this.#maxRounds) this.#recallRound = recallRound;
    }
    const hasHidden = [...this.#round.shownIndexes.values()].includes(undefined);
    const shownReason = this.#recallRound
      ? null
      : hasHidden || this.#isLater
        ? this.#toShownReason(reason)
        : reason;
    if (shownDelta === delta && shownReason === reason && !this.#isLater) return [event];
    const isEmpty = Object.values(shownDelta).every((value) => value === null || value === "");
    if (isEmpty && typeof shownReason !== "string" && shownDelta !== delta) return [];
    if (isEmpty && this.#recallRound) return [];
    const { usage: _, ...rest } = chunk;
    const shownChunk = {
      ...(this.#recallRound ? rest : chunk),
      choices: [{ ...choice, delta: shownDelta, finish_reason: shownReason }],
    };
    return [replaceEventData(event, this.#isLater ? this.#mergeChunk(shownChunk) : shownChunk)];
  }

  #toShownReason(reason: unknown): unknown {
    return toShownFinishReason(reason, this.#shownCalls > 0);
  }

  /** The part of a delta that the client sees; the same object if that is all of it. */
  #toShownDelta(delta: WireObject, isFirstText: boolean): WireObject {
    const { tool_calls, role, ...rest } = delta;
    const entries = toArray(tool_calls);
    const shown = entries.flatMap((entry) => this.#toShownEntries(toObject(entry) ?? {}));
    const isAll = shown.length === entries.length && shown.every((entry, index) => entry === entries[index]);
    if (isAll && !this.#isLater) return delta;
    const content = toText(delta.content);
    const needsSeparator = this.#isLater && isFirstText && this.hasText && content !== undefined;
    return {
      ...(role !== undefined && !this.#isLater && { role }),
      ...rest,
      ...(needsSeparator && { content: `${TEXT_SEPARATOR}${content}` }),
      ...(shown.length > 0 && { tool_calls: shown }),
    };
  }

  #toShownEntries(entry: WireObject): readonly WireObject[] {
    const { shownIndexes } = this.#round;
    const index = toNumber(entry.index) ?? 0;
    const name = toText(toObject(entry.function)?.name) ?? toText(toObject(entry.custom)?.name);
    // Some servers give all their calls the index 0; a name starts a new call.
    if (name !== undefined || !shownIndexes.has(index))
      shownIndexes.set(index, isRecallTool(name) ? undefined : this.#shownCalls++);
    const shownIndex = shownIndexes.get(index);
    if (shownIndex === undefined) return [];
    return [
      entry.index === shownIndex || entry.index === undefined ? entry : { ...entry, index: shownIndex },
    ];
  }

  /** A chunk of a later round, rewritten to continue the first. */
  #mergeChunk(chunk: WireObject): WireObject {
    const usage = toObject(chunk.usage) ? mergeRoundUsage(this.usages) : undefined;
    return { ...chunk, ...this.#head, ...(usage && { usage }) };
  }
}
