import { dropUndefined } from "../../../../model/base/drop-undefined.ts";
import { parseObject, toArray, toNumber, toObject, toText } from "../../../../wire/fields.ts";
import { StreamCalls } from "../../../../wire/openai-chat/stream-calls.ts";
import { StreamDetails } from "../../../../wire/openai-chat/stream-details.ts";
import type { WireEvent, WireObject } from "../../../../wire/wire.ts";
import { isRecallTool } from "../../recall/recall-tools.ts";
import {
  mergeBodyUsage,
  mergeRoundUsage,
  type RecallCall,
  type RecallCallResult,
  type RecallRound,
  type RoundFormat,
  replaceEventData,
  type StreamMerger,
} from "./round-format.ts";

/** Rounds in OpenAI's Chat Completions API. */
export const chatRounds: RoundFormat = {
  encodeResults: encodeChatResults,
  openStream: (maxRounds) => new ChatStreamMerger(maxRounds),
  readBody: (body) => ({
    recallRound: findChatRound(getMessage(body), getChoice(body).finish_reason),
    hasText: toText(getMessage(body).content) !== undefined,
    usage: toObject(body.usage),
  }),
  mergeBodies(bodies) {
    const [first, ...others] = bodies;
    const last = bodies.at(-1);
    if (!first || !last) return {};
    const messages = bodies.map(getMessage);
    if (others.length === 0 && !toArray(messages[0]?.tool_calls).some(isRecallEntry)) return first;
    const { tool_calls, ...message } = getMessage(last);
    const texts = messages.flatMap(({ content }) => toText(content) ?? []);
    const calls = toArray(tool_calls).filter((entry) => !isRecallEntry(entry));
    const finish_reason = toShownFinishReason(getChoice(last).finish_reason, hasClientCall(getMessage(last)));
    const joined = {
      ...message,
      content: texts.length > 0 ? texts.join(TEXT_SEPARATOR) : (message.content ?? null),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const usage = mergeBodyUsage(bodies);
    return {
      ...first,
      choices: [{ ...getChoice(last), message: joined, finish_reason }],
      ...dropUndefined({ usage }),
    };
  },
  findEnd: () => undefined,
};

function getChoice({ choices }: WireObject): WireObject {
  return toObject(toArray(choices)[0]) ?? {};
}

function getMessage(body: WireObject): WireObject {
  return toObject(getChoice(body).message) ?? {};
}

/** Fields of a reply that are sent back with it. */
const KEPT_FIELDS = ["role", "content", "reasoning_content", "reasoning_details", "tool_calls"];

/** Finish reasons that leave a call complete. */
const COMPLETE_REASONS: readonly unknown[] = ["tool_calls", "stop", "function_call"];

/** Separator between the texts of two rounds. */
const TEXT_SEPARATOR = "\n\n";

/** True for an entry of `tool_calls` that calls one of the gateway's tools. */
function isRecallEntry(entry: unknown): boolean {
  return isRecallTool(toObject(toObject(entry)?.function)?.name);
}

/** True if a message has a call that the client must answer. */
function hasClientCall({ tool_calls, function_call }: WireObject): boolean {
  return toArray(tool_calls).some((entry) => !isRecallEntry(entry)) || toObject(function_call) !== undefined;
}

/** The round made of this message, if it calls the gateway's tools only. */
function findChatRound(message: WireObject, finishReason: unknown): RecallRound | undefined {
  if (!COMPLETE_REASONS.includes(finishReason) || hasClientCall(message)) return undefined;
  const calls = toArray(message.tool_calls).flatMap((entry): readonly RecallCall[] => {
    const fields = toObject(entry);
    const id = toText(fields?.id);
    const called = toObject(fields?.function);
    const input = parseObject(toText(called?.arguments) ?? "{}");
    return id === undefined || !input ? [] : [{ id, name: String(called?.name), input }];
  });
  if (calls.length === 0) return undefined;
  const ids = new Set(calls.map(({ id }) => id));
  const whole = toArray(message.tool_calls).filter((entry) => ids.has(String(toObject(entry)?.id)));
  const kept = Object.entries({ ...message, tool_calls: whole }).filter(
    ([field, value]) => KEPT_FIELDS.includes(field) && (value !== null || field === "content"),
  );
  return { calls, elements: [{ role: "assistant", ...Object.fromEntries(kept) }] };
}

/** The finish reason for a client that does not see the gateway's calls. */
function toShownFinishReason(reason: unknown, isCalling: boolean): unknown {
  return reason === "tool_calls" && !isCalling ? "stop" : reason;
}

/** The messages with the results of calls. */
function encodeChatResults(answers: readonly RecallCallResult[]): readonly WireObject[] {
  return answers.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text }));
}

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
class ChatStreamMerger implements StreamMerger {
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
    return { ...chunk, ...this.#head, ...dropUndefined({ usage }) };
  }
}
