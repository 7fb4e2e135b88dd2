import { dropUndefined, toArray, toNumber } from "../../wire/fields.ts";
import type { Item } from "../port/item.ts";

/** Ranges of the conversation that Cline no longer sends; each extends the one before. */
export class DeletedRanges {
  #last = "";
  #waiting: DeletedRange | undefined;

  /** Notes a range after `passed` messages; yields its overlay once all messages of the range were emitted. */
  *addRange(range: unknown, at: number | undefined, passed: number): Generator<Item> {
    const [from, to] = toArray(range).map(toNumber);
    if (from !== undefined && to !== undefined && from >= 0 && from <= to && `${from}-${to}` !== this.#last) {
      this.#last = `${from}-${to}`;
      this.#waiting = { from, to, at };
    }
    if (!this.#waiting || this.#waiting.to >= passed) return;
    yield buildHideItem(this.#waiting);
    this.#waiting = undefined;
  }
}

interface DeletedRange {
  readonly from: number;
  readonly to: number;
  readonly at: number | undefined;
}

function buildHideItem({ from, to, at }: DeletedRange): Item {
  return {
    type: "record",
    id: `deleted:${from}-${to}`,
    ...dropUndefined({ at }),
    body: {
      kind: "overlay",
      edit: { type: "hide", spans: [{ from: `#${from}`, through: `#${to}` }] },
      reason: "conversationHistoryDeletedRange",
      ...dropUndefined({ madeAt: at }),
    },
  };
}
