import { toArray, toNumber, toObject, toText } from "../fields.ts";

/** Fields of a detail that arrive in pieces. */
const GROWING_FIELDS = ["text", "summary", "data"];

type Detail = { [field: string]: unknown };

/** The reasoning details of a streamed message: text, summaries and encrypted content, each with its signature. */
export class StreamDetails {
  readonly #details: Detail[] = [];

  /** Adds the `reasoning_details` of a delta. */
  add(value: unknown): void {
    for (const entry of toArray(value)) {
      const delta = toObject(entry);
      if (!delta) continue;
      const known = this.#details.find(({ index, type }) => index === delta.index && type === delta.type);
      if (!known || toNumber(delta.index) === undefined) {
        this.#details.push({ ...delta });
        continue;
      }
      for (const [field, piece] of Object.entries(delta)) {
        const before = toText(known[field]);
        if (GROWING_FIELDS.includes(field)) known[field] = `${before ?? ""}${toText(piece) ?? ""}`;
        else if (piece !== null && piece !== undefined) known[field] = piece;
      }
    }
  }

  get all(): readonly Detail[] {
    return this.#details;
  }
}
