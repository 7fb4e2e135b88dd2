import { createHash } from "node:crypto";
import type { Json } from "../../kernel/index.ts";
import { toNumber, toObject, toText } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import type { Item } from "../reading/item.ts";

/** Maximum records in a line item; about 20 MB of ids. */
const MAX_RECORDS = 250_000;

/** A source whose files the tool rewrites, and the state of its last import. */
interface RewrittenSource {
  readonly source: Pick<ImportSource, "sizeBytes" | "modifiedAt">;
  /** State of the last import. */
  readonly resume: Json | undefined;
  /** False if something was unreadable: then missing records do not prove a deletion. */
  readonly isWhole: () => boolean;
}

/**
 * Passes on the items of a source whose files are rewritten. Yields nothing if the files are unchanged. If records were
 * only appended since the last import, the items suffice; if the tool removed or inserted records, the new line
 * follows.
 */
export async function* trackRecordOrder(
  items: AsyncIterable<Item>,
  { source, resume, isWhole }: RewrittenSource,
): AsyncGenerator<Item> {
  const files = `${source.sizeBytes}:${source.modifiedAt}`;
  if (toObject(resume)?.files === files) return;
  const order = new RecordOrder(resume);
  for await (const item of items) {
    if (item.type === "record") order.addRecord(item.id);
    yield item;
  }
  if (!isWhole()) return;
  yield* order.buildLineChange();
  yield { type: "checkpoint", state: { ...order.state(), files } };
}

class RecordOrder {
  readonly #seen = createHash("sha256");
  #count = 0;
  /** Number of records at the last import and a hash of their ids. */
  readonly #before: { readonly records: number; readonly order: string } | undefined;
  readonly #ids: string[] = [];
  #last: string | null = null;
  #isContinued = false;

  constructor(resume: Json | undefined) {
    const state = toObject(resume);
    const [records, order] = [toNumber(state?.records), toText(state?.order)];
    if (records === undefined || order === undefined) return;
    this.#before = { records, order };
    this.#isContinued = records === 0;
  }

  addRecord(id: string): void {
    this.#seen.update(`${id}\n`);
    this.#count++;
    this.#last = id;
    if (this.#before && this.#ids.length <= MAX_RECORDS) this.#ids.push(id);
    if (this.#count === this.#before?.records) this.#isContinued = this.#order() === this.#before.order;
  }

  /** Yields the new line unless the old one was only extended. */
  *buildLineChange(): Generator<Item> {
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
