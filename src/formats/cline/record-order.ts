import { createHash } from "node:crypto";
import type { Json } from "../../index.ts";
import { numberOf, objectOf, textOf } from "../content/fields.ts";
import type { Source } from "../format.ts";
import type { Item } from "../item.ts";

/** Longest line that is given record by record; about 20 MB of ids. */
const MAX_RECORDS = 250_000;

/** How a source is read whose files the tool writes anew each time. */
export interface Rereading {
  readonly source: Pick<Source, "sizeBytes" | "modifiedAt">;
  /** What the last import left. */
  readonly resume: Json | undefined;
  /** False if something could not be read: then nothing shows that earlier records are gone. */
  readonly isWhole: () => boolean;
}

/**
 * The items of a source whose files are written anew each time. Nothing comes if the files are as they were. If their
 * records are what the last import saw with more behind, nothing has to be said; if the tool took records away, or put
 * some in between, the line is given anew.
 */
export async function* inOrder(
  items: AsyncIterable<Item>,
  { source, resume, isWhole }: Rereading,
): AsyncGenerator<Item> {
  const files = `${source.sizeBytes}:${source.modifiedAt}`;
  if (objectOf(resume)?.files === files) return;
  const order = new RecordOrder(resume);
  for await (const item of items) {
    if (item.type === "record") order.see(item.id);
    yield item;
  }
  if (!isWhole()) return;
  yield* order.change();
  yield { type: "checkpoint", state: { ...order.state(), files } };
}

class RecordOrder {
  readonly #seen = createHash("sha256");
  #count = 0;
  /** What the last import saw: how many records, and a hash of their ids. */
  readonly #before: { readonly records: number; readonly order: string } | undefined;
  readonly #ids: string[] = [];
  #last: string | null = null;
  #isContinued = false;

  constructor(resume: Json | undefined) {
    const state = objectOf(resume);
    const [records, order] = [numberOf(state?.records), textOf(state?.order)];
    if (records === undefined || order === undefined) return;
    this.#before = { records, order };
    this.#isContinued = records === 0;
  }

  see(id: string): void {
    this.#seen.update(`${id}\n`);
    this.#count++;
    this.#last = id;
    if (this.#before && this.#ids.length <= MAX_RECORDS) this.#ids.push(id);
    if (this.#count === this.#before?.records) this.#isContinued = this.#order() === this.#before.order;
  }

  /** The line, if it is no longer the old one with more behind. */
  *change(): Generator<Item> {
    if (!this.#before || this.#isContinued) return;
    if (this.#ids.length <= MAX_RECORDS) yield { type: "line", records: this.#ids };
    else yield { type: "rewind", to: this.#last };
  }

  state(): { readonly records: number; readonly order: string } {
    return { records: this.#count, order: this.#order() };
  }

  #order(): string {
    return this.#seen.copy().digest("base64url");
  }
}
