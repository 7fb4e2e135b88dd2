import type { Entry, Session } from "../../index.ts";
import { toSafeJson } from "../escape.ts";

/** Writes a page of a conversation: head, entries, foot. */
export interface PageWriter {
  /** `before` is the cursor of the next older page. */
  head(before: string | undefined): Promise<string>;
  entry(entry: Entry): Promise<string>;
  readonly foot: string;
}

/** Writes one JSON document incrementally. */
export function createDocumentWriter(session: Session): PageWriter {
  let separator = "";
  return {
    head: async (before) => {
      const facts = toSafeJson({ session: await session.record(), ...(before !== undefined && { before }) });
      return `${facts.slice(0, -1)},"entries":[`;
    },
    entry: async (entry) => {
      const text = `${separator}\n${toSafeJson(entry)}`;
      separator = ",";
      return text;
    },
    foot: "\n]}\n",
  };
}

/** Writes JSON lines, one per entry. */
export const linesWriter: PageWriter = {
  head: async () => "",
  entry: async (entry) => `${toSafeJson(entry)}\n`,
  foot: "",
};
