import type { Entry, Session } from "../../index.ts";
import { safeJson } from "../escape.ts";

/** How a stretch of a conversation is written: its head, each entry, its end. */
export interface PageWriter {
  /** `before` is the cursor of what is older. */
  head(before: string | undefined): Promise<string>;
  entry(entry: Entry): Promise<string>;
  readonly foot: string;
}

/** One JSON document, written as it is read. */
export function documentWriter(session: Session): PageWriter {
  let separator = "";
  return {
    head: async (before) => {
      const facts = safeJson({ session: await session.record(), ...(before !== undefined && { before }) });
      return `${facts.slice(0, -1)},"entries":[`;
    },
    entry: async (entry) => {
      const text = `${separator}\n${safeJson(entry)}`;
      separator = ",";
      return text;
    },
    foot: "\n]}\n",
  };
}

/** JSON lines, one an entry. */
export const linesWriter: PageWriter = {
  head: async () => "",
  entry: async (entry) => `${safeJson(entry)}\n`,
  foot: "",
};
