import type { SessionId } from "../../model/entry.ts";
import type { Place } from "../../model/place.ts";
import type { Related } from "../../model/related.ts";

/** Finds what sessions say about a question; memory, a layer beside this one, implements it. */
export interface Paging {
  related(
    question: string,
    sessions: readonly SessionId[],
    /** Entries from `before` on, in its session, are the question itself and what follows it. */
    options?: { readonly before?: Place; readonly signal?: AbortSignal },
  ): Promise<Related>;
}
