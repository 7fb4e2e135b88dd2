import { arrayOf, numberOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import type { JsonObject, WireEvent } from "../../api/api.ts";
import { StreamCalls } from "../../api/openai-chat/stream-calls.ts";
import { StreamDetails } from "../../api/openai-chat/stream-details.ts";
import { objectIn } from "../../api/replies/event-json.ts";
import { isOwnTool } from "../tools.ts";
import { changedEvent } from "./changed-event.ts";
import { BETWEEN, ownRound, shownReason } from "./chat-round.ts";
import { joinedUsage } from "./joined-usage.ts";
import type { OwnRound, StreamJoiner } from "./joiner.ts";

const DONE = "[DONE]";
/** Fields that identify the reply of a chunk. */
const HEAD = ["id", "object", "created", "model"];

/** The content of one round so far. */
class ChatRound {
  content = "";
  reasoning = "";
  readonly calls = new StreamCalls();
  readonly details = new StreamDetails();
  /** Call indexes that the client sees, by index in this round; undefined for withheld calls. */
  readonly places = new Map<number, number | undefined>();
  usage: JsonObject | undefined;

  take(delta: JsonObject): void {
    this.content += textOf(delta.content) ?? "";
    this.reasoning += textOf(delta.reasoning_content) ?? "";
    this.calls.add(delta.tool_calls);
    this.details.add(delta.reasoning_details);
  }

  message(): JsonObject {
    return {
      role: "assistant",
      content: this.content === "" ? null : this.content,
      ...(this.reasoning !== "" && { reasoning_content: this.reasoning }),
      ...(this.details.all.length > 0 && { reasoning_details: this.details.all }),
      tool_calls: this.calls.whole(false),
    };
  }
}

/** Joins Chat Completions streams into one: withholds the gateway's calls and the ends of inner rounds. */
export class ChatStream implements StreamJoiner {
  readonly #most: number;
  readonly #earlier: JsonObject[] = [];
  #round = new ChatRound();
  #own: OwnRound | undefined;
  #head: JsonObject | undefined;
  /** Number of calls that the client has seen. */
  #shownCalls = 0;
  hasSaid = false;
  hasEnded = false;
  readonly end = undefined;

  constructor(most: number) {
    this.#most = most;
  }

  get usages(): readonly JsonObject[] {
    const { usage } = this.#round;
    return usage ? [...this.#earlier, usage] : this.#earlier;
  }

  take(event: WireEvent): readonly WireEvent[] {
    if (this.hasEnded) return [];
    if (event.data.trim() === DONE) {
      this.hasEnded = !this.#own;
      return this.#own ? [] : [event];
    }
    const chunk = objectIn(event.data);
    if (!chunk) return [event];
    if (objectOf(chunk.error)) return (this.#isLater && this.finish()) || [event];
    this.#head ??= Object.fromEntries(Object.entries(chunk).filter(([field]) => HEAD.includes(field)));
    this.#round.usage = objectOf(chunk.usage) ?? objectOf(objectOf(chunk.x_groq)?.usage) ?? this.#round.usage;
    const choice = objectOf(arrayOf(chunk.choices)[0]);
    if (choice) return this.#choice(event, chunk, choice);
    if (this.#own) return [];
    return [this.#isLater ? changedEvent(event, this.#joined(chunk)) : event];
  }

  next(): OwnRound | undefined {
    const own = this.#own;
    if (!own) return undefined;
    this.#earlier.push(this.#round.usage ?? {});
    this.#round = new ChatRound();
    this.#own = undefined;
    return own;
  }

  finish(): readonly WireEvent[] | undefined {
    if (!this.hasSaid || this.#shownCalls > 0 || this.hasEnded) return undefined;
    this.hasEnded = true;
    const finish_reason = this.#round.content === "" ? "stop" : "length";
    const usage = joinedUsage(this.usages);
    const isTold = usage !== undefined && Object.keys(usage).length > 0;
    return [
      { data: JSON.stringify({ ...this.#head, choices: [{ index: 0, delta: {}, finish_reason }] }) },
      ...(isTold ? [{ data: JSON.stringify({ ...this.#head, choices: [], usage }) }] : []),
      { data: DONE },
    ];
  }

  get #isLater(): boolean {
    return this.#earlier.length > 0;
  }

  #choice(event: WireEvent, chunk: JsonObject, choice: JsonObject): readonly WireEvent[] {
    const delta = objectOf(choice.delta) ?? {};
    const isFirst = this.#round.content === "";
    this.#round.take(delta);
    const shown = this.#shownDelta(delta, isFirst);
    this.hasSaid ||= textOf(shown.content) !== undefined;
    const reason = choice.finish_reason;
    if (typeof reason === "string") {
      const own = ownRound(this.#round.message(), reason);
      if (own && this.#earlier.length < this.#most) this.#own = own;
    }
    const hasHidden = [...this.#round.places.values()].includes(undefined);
    const shownWhy = this.#own ? null : hasHidden || this.#isLater ? this.#reason(reason) : reason;
    if (shown === delta && shownWhy === reason && !this.#isLater) return [event];
    const isSilent = Object.values(shown).every((value) => value === null || value === "");
    if (isSilent && typeof shownWhy !== "string" && shown !== delta) return [];
    if (isSilent && this.#own) return [];
    const { usage: _, ...rest } = chunk;
    const own = {
      ...(this.#own ? rest : chunk),
      choices: [{ ...choice, delta: shown, finish_reason: shownWhy }],
    };
    return [changedEvent(event, this.#isLater ? this.#joined(own) : own)];
  }

  #reason(reason: unknown): unknown {
    return shownReason(reason, this.#shownCalls > 0);
  }

  /** The part of a delta that the client sees; the same object if that is all of it. */
  #shownDelta(delta: JsonObject, isFirst: boolean): JsonObject {
    const { tool_calls, role, ...rest } = delta;
    const entries = arrayOf(tool_calls);
    const shown = entries.flatMap((entry) => this.#shownEntry(objectOf(entry) ?? {}));
    const isAll = shown.length === entries.length && shown.every((entry, at) => entry === entries[at]);
    if (isAll && !this.#isLater) return delta;
    const content = textOf(delta.content);
    const isApart = this.#isLater && isFirst && this.hasSaid && content !== undefined;
    return {
      ...(role !== undefined && !this.#isLater && { role }),
      ...rest,
      ...(isApart && { content: `${BETWEEN}${content}` }),
      ...(shown.length > 0 && { tool_calls: shown }),
    };
  }

  #shownEntry(entry: JsonObject): readonly JsonObject[] {
    const { places } = this.#round;
    const index = numberOf(entry.index) ?? 0;
    const name = textOf(objectOf(entry.function)?.name) ?? textOf(objectOf(entry.custom)?.name);
    // Some servers give all their calls the index 0; a name starts a new call.
    if (name !== undefined || !places.has(index))
      places.set(index, isOwnTool(name) ? undefined : this.#shownCalls++);
    const place = places.get(index);
    if (place === undefined) return [];
    return [entry.index === place || entry.index === undefined ? entry : { ...entry, index: place }];
  }

  /** A chunk of a later round, rewritten to continue the first. */
  #joined(chunk: JsonObject): JsonObject {
    const usage = objectOf(chunk.usage) ? joinedUsage(this.usages) : undefined;
    return { ...chunk, ...this.#head, ...(usage && { usage }) };
  }
}
