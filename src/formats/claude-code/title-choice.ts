import type { Json } from "../../index.ts";
import { toNumber, toText } from "../../wire/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Sources of titles with their ranks; a title chosen by a person wins. */
const RANKS: Readonly<Record<string, { readonly rank: number; readonly field: string }>> = {
  summary: { rank: 1, field: "summary" },
  "ai-title": { rank: 2, field: "aiTitle" },
  "custom-title": { rank: 3, field: "customTitle" },
};

/** Chooses the title of a conversation among those in its lines. */
export class TitleChoice {
  #rank: number;

  constructor(state: unknown) {
    this.#rank = toNumber(state) ?? 0;
  }

  /** Returns the title in a line, unless a better one is known. Summaries of other conversations are ignored. */
  chooseTitle(record: JsonObject, isOwn: (uuid: string) => boolean): string | undefined {
    const kind =
      typeof record.type === "string" && Object.hasOwn(RANKS, record.type) ? RANKS[record.type] : undefined;
    const title = kind && toText(record[kind.field]);
    if (!kind || title === undefined || kind.rank < this.#rank) return undefined;
    if (record.type === "summary" && !isOwn(toText(record.leafUuid) ?? "")) return undefined;
    this.#rank = kind.rank;
    return title;
  }

  toJSON(): Json {
    return this.#rank;
  }
}
