import type { SessionId } from "../../model/entry.ts";
import type { Place } from "../../model/place.ts";
import type { RelatedContent } from "../../model/related-content.ts";

/** Finds content of sessions related to a question; implemented by the memory layer. */
export interface PageSource {
  related(
    question: string,
    sessions: readonly SessionId[],
    /** Excludes entries from `before` on, in its session: the question itself and everything after it. */
    options?: { readonly before?: Place; readonly signal?: AbortSignal },
  ): Promise<RelatedContent>;
}
