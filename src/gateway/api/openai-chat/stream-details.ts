import { arrayOf, numberOf, objectOf, textOf } from "../../../formats/content/fields.ts";

/** Fields of a detail that arrive in pieces. */
const GROWING = ["text", "summary", "data"];

type Detail = { [field: string]: unknown };

/** The reasoning details of a streamed message: text, summaries and encrypted content, each with its signature. */
export class StreamDetails {
  readonly #details: Detail[] = [];

  /** Adds the `reasoning_details` of a delta. */
  add(value: unknown): void {
    for (const entry of arrayOf(value)) {
      const delta = objectOf(entry);
      if (!delta) continue;
      const known = this.#details.find(({ index, type }) => index === delta.index && type === delta.type);
      if (!known || numberOf(delta.index) === undefined) {
        this.#details.push({ ...delta });
        continue;
      }
      for (const [field, piece] of Object.entries(delta)) {
        const before = textOf(known[field]);
        if (GROWING.includes(field)) known[field] = `${before ?? ""}${textOf(piece) ?? ""}`;
        else if (piece !== null && piece !== undefined) known[field] = piece;
      }
    }
  }

  get all(): readonly Detail[] {
    return this.#details;
  }
}
