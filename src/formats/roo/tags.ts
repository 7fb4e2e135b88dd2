import { definedFields, numberOf, objectOf, textOf } from "../content/fields.ts";
import type { Item, Span } from "../item.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** A summary or marker for the messages that refer to it. */
interface Stand {
  readonly type: "condense" | "truncation";
  /** Record of the summary or marker. */
  readonly record: string;
  readonly at: number | undefined;
}

interface Run {
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
export class Tags {
  readonly #runs = new Map<string, Run[]>();
  readonly #stands = new Map<string, Stand>();
  readonly #tokens = new Map<string, WindowTokens>();
  #passed = 0;
  #second: string | undefined;
  #previous: string | undefined;

  /** Notes a message of the conversation that was emitted. */
  *see(message: JsonObject, record: string, at: number | undefined): Generator<Item> {
    this.#tag(`condense:${textOf(message.condenseParent)}`, message.condenseParent, record);
    this.#tag(`truncation:${textOf(message.truncationParent)}`, message.truncationParent, record);
    const [condenseId, truncationId] = [textOf(message.condenseId), textOf(message.truncationId)];
    if (message.isSummary === true && condenseId !== undefined)
      yield* this.#stand(`condense:${condenseId}`, { type: "condense", record, at });
    else if (message.isSummary === true) yield* this.#oldSummary(record, at);
    else if (message.isTruncationMarker === true && truncationId !== undefined)
      yield* this.#stand(`truncation:${truncationId}`, { type: "truncation", record, at });
    this.#passed++;
    if (this.#passed === 2) this.#second = record;
    this.#previous = record;
  }

  /** Reads the window size from the message shown to the person. */
  *seeShown(shown: JsonObject): Generator<Item> {
    const condensed = objectOf(shown.contextCondense);
    const truncated = objectOf(shown.contextTruncation);
    const [condenseId, truncationId] = [textOf(condensed?.condenseId), textOf(truncated?.truncationId)];
    const info = condensed ?? truncated;
    const key = condenseId !== undefined ? `condense:${condenseId}` : `truncation:${truncationId}`;
    if (!info || (condenseId === undefined && truncationId === undefined)) return;
    this.#tokens.set(
      key,
      definedFields({
        tokensBefore: numberOf(info.prevContextTokens),
        tokensAfter: numberOf(info.newContextTokens),
      }),
    );
    yield* this.#tryOut(key);
  }

  /** Emits edits without a shown message. */
  *end(): Generator<Item> {
    for (const key of [...this.#stands.keys()]) yield* this.#out(key);
  }

  #tag(key: string, parent: unknown, record: string): void {
    if (textOf(parent) === undefined) return;
    const runs = this.#runs.get(key) ?? [];
    const last = runs.at(-1);
    if (last && last.last === this.#passed - 1) {
      last.through = record;
      last.last = this.#passed;
    } else runs.push({ from: record, through: record, last: this.#passed });
    this.#runs.set(key, runs);
  }

  *#stand(key: string, stand: Stand): Generator<Item> {
    this.#stands.set(key, stand);
    yield* this.#tryOut(key);
  }

  *#tryOut(key: string): Generator<Item> {
    if (this.#stands.has(key) && this.#tokens.has(key)) yield* this.#out(key);
  }

  *#out(key: string): Generator<Item> {
    const stand = this.#stands.get(key);
    const spans = this.#runs.get(key)?.map(({ from, through }): Span => ({ from, through }));
    this.#stands.delete(key);
    if (stand && spans) yield edit(key, stand, spans, this.#tokens.get(key));
  }

  /** Old summaries without an id replace everything between the first message and themselves. */
  *#oldSummary(record: string, at: number | undefined): Generator<Item> {
    if (this.#second === undefined || this.#previous === undefined) return;
    const spans = [{ from: this.#second, through: this.#previous }];
    yield edit(`condense:${record}`, { type: "condense", record, at }, spans, undefined);
  }
}

function edit(
  key: string,
  { type, record, at }: Stand,
  spans: readonly Span[],
  tokens: WindowTokens | undefined,
): Item {
  return {
    type: "record",
    id: key,
    ...definedFields({ at }),
    body: {
      kind: "overlay",
      edit: type === "condense" ? { type: "summarize", spans, record } : { type: "hide", spans },
      reason: key,
      ...definedFields({ madeAt: at, ...tokens }),
    },
  };
}
