import { toEntry } from "../../log/entry-body.ts";
import type { Log } from "../../log/log.ts";
import type { SessionId } from "../../model/entry.ts";
import { isLonghaulError } from "../../model/errors.ts";
import type { WorkStretch } from "../hit-details.ts";
import { findCommits, findWorkStretch, isRequest, type WorkMessage } from "./work-stretch.ts";

/** Messages to read at a time, and at most in each direction. */
const PAGE = 40;
const MAX_MESSAGES = 400;

/** Reads the stretch of work around an entry, as far as it lies within some hundred messages. */
export async function readWork(log: Log, session: SessionId, seq: number): Promise<WorkStretch> {
  const before = await readWorkMessages(log, session, { seq: seq + 1, order: "descending" }, (messages) =>
    messages.some(({ message }) => isRequest(message)),
  );
  const messages = [...before].reverse();
  const after = await readWorkMessages(log, session, { seq: seq + 1, order: "ascending" }, (more) => {
    const isEnded = more.some(({ message }) => isRequest(message));
    if (!isEnded) return false;
    const all = [...messages, ...more];
    return findWorkStretch(all, seq).changedFiles.length === 0 || findCommits(all).size > 0;
  });
  return findWorkStretch([...messages, ...after], seq);
}

/** Reads messages before or from a seq on, page by page, until `isEnough`; after one page by default. */
export async function readWorkMessages(
  log: Log,
  session: SessionId,
  { seq, order }: { readonly seq: number; readonly order: "ascending" | "descending" },
  isEnough: (messages: readonly WorkMessage[]) => boolean = () => true,
  limit = PAGE,
): Promise<readonly WorkMessage[]> {
  const messages: WorkMessage[] = [];
  let next = seq;
  while (messages.length < MAX_MESSAGES) {
    const range =
      order === "ascending" ? { from: next, to: Number.POSITIVE_INFINITY } : { from: 1, to: next - 1 };
    const page = await log.store.entries.read(session, { ...range, limit, order, kinds: ["message"] });
    for (const stored of page) {
      try {
        const entry = toEntry(session, stored);
        if (entry.kind === "message") messages.push(entry);
      } catch (error) {
        // A damaged entry must not prevent a recall.
        if (!isLonghaulError(error, "STORE_CORRUPT")) throw error;
      }
    }
    const last = page.at(-1)?.seq;
    if (last === undefined || page.length < limit || isEnough(messages)) return messages;
    next = order === "ascending" ? last + 1 : last;
  }
  return messages;
}
