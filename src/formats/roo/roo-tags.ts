import { dropUndefined, toNumber, toObject, toText } from "../../wire/fields.ts";
import type { Item, Span } from "../port/item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** A summary or marker for the messages that refer to it. */
interface WindowMarker {
  readonly type: "condense" | "truncation";
  /** Record of the summary or marker. */
  readonly record: string;
  readonly at: number | undefined;
}

interface TaggedRun {
  readonly from: string;
  through: string;
  /** Index of the last message in the run. */
  last: number;
}

interface WindowTokens {
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

/**
 * Roo's window edits: messages carry the id of the summary that replaces them, or of the marker that hides them. A tag
 * applies as long as its summary or marker exists.
 */
export class RooTags {
  readonly #runs = new Map<string, TaggedRun[]>();
  readonly #markers = new Map<string, WindowMarker>();
  readonly #tokens = new Map<string, WindowTokens>();
  #messageCount = 0;
  #second: string | undefined;
  #previous: string | undefined;

  /** Notes a message of the conversation that was emitted. */
  *addMessage(message: JsonObject, record: string, at: number | undefined): Generator<Item> {
    this.#tag(`condense:${toText(message.condenseParent)}`, message.condenseParent, record);
    this.#tag(`truncation:${toText(message.truncationParent)}`, message.truncationParent, record);
    const [condenseId, truncationId] = [toText(message.condenseId), toText(message.truncationId)];
    if (message.isSummary === true && condenseId !== undefined)
      yield* this.#addMarker(`condense:${condenseId}`, { type: "condense", record, at });
    else if (message.isSummary === true) yield* this.#emitOldSummary(record, at);
    else if (message.isTruncationMarker === true && truncationId !== undefined)
      yield* this.#addMarker(`truncation:${truncationId}`, { type: "truncation", record, at });
    this.#messageCount++;
    if (this.#messageCount === 2) this.#second = record;
    this.#previous = record;
  }

  /** Reads the window size from the message shown to the person. */
  *addShownMessage(shown: JsonObject): Generator<Item> {
    const condensed = toObject(shown.contextCondense);
    const truncated = toObject(shown.contextTruncation);
    const [condenseId, truncationId] = [toText(condensed?.condenseId), toText(truncated?.truncationId)];
    const info = condensed ?? truncated;
    const key = condenseId !== undefined ? `condense:${condenseId}` : `truncation:${truncationId}`;
    if (!info || (condenseId === undefined && truncationId === undefined)) return;
    this.#tokens.set(
      key,
      dropUndefined({
        tokensBefore: toNumber(info.prevContextTokens),
        tokensAfter: toNumber(info.newContextTokens),
      }),
    );
    yield* this.#tryEmit(key);
  }

  /** Emits edits without a shown message. */
  *end(): Generator<Item> {
    for (const key of [...this.#markers.keys()]) yield* this.#emit(key);
  }

  #tag(key: string, parent: unknown, record: string): void {
    if (toText(parent) === undefined) return;
    const runs = this.#runs.get(key) ?? [];
    const last = runs.at(-1);
    if (last && last.last === this.#messageCount - 1) {
      last.through = record;
      last.last = this.#messageCount;
    } else runs.push({ from: record, through: record, last: this.#messageCount });
    this.#runs.set(key, runs);
  }

  *#addMarker(key: string, stand: WindowMarker): Generator<Item> {
    this.#markers.set(key, stand);
    yield* this.#tryEmit(key);
  }

  *#tryEmit(key: string): Generator<Item> {
    if (this.#markers.has(key) && this.#tokens.has(key)) yield* this.#emit(key);
  }

  *#emit(key: string): Generator<Item> {
    const stand = this.#markers.get(key);
    const spans = this.#runs.get(key)?.map(({ from, through }): Span => ({ from, through }));
    this.#markers.delete(key);
    if (stand && spans) yield buildEditItem(key, stand, spans, this.#tokens.get(key));
  }

  /** Old summaries without an id replace everything between the first message and themselves. */
  *#emitOldSummary(record: string, at: number | undefined): Generator<Item> {
    if (this.#second === undefined || this.#previous === undefined) return;
    const spans = [{ from: this.#second, through: this.#previous }];
    yield buildEditItem(`condense:${record}`, { type: "condense", record, at }, spans, undefined);
  }
}

function buildEditItem(
  key: string,
  { type, record, at }: WindowMarker,
  spans: readonly Span[],
  tokens: WindowTokens | undefined,
): Item {
  return {
    type: "record",
    id: key,
    ...dropUndefined({ at }),
    body: {
      kind: "overlay",
      edit: type === "condense" ? { type: "summarize", spans, record } : { type: "hide", spans },
      reason: key,
      ...dropUndefined({ madeAt: at, ...tokens }),
    },
  };
}
