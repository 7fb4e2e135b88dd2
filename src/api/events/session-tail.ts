import { setTimeout as sleep } from "node:timers/promises";
import type { Entry, Session } from "../../index.ts";
import type { StreamEvent } from "../core/send-reply.ts";

/** Drafts are stored without a commit of the log, so they are looked at in this interval. */
const LOOK_MS = 250;

interface FollowOptions {
  /** True to send the messages that are being written too. */
  readonly hasDrafts: boolean;
  readonly signal: AbortSignal;
}

/** The messages that are being written in a session, as the API shows them. */
export async function readDrafts(session: Session) {
  return (await session.drafts()).map(({ id, at, body }) => ({ id, at, message: body.message }));
}

/** Yields new entries as events, and drafts whenever one changes; closes the session at the end. */
export async function* followTail(
  session: Session,
  entries: AsyncGenerator<Entry>,
  { hasDrafts, signal }: FollowOptions,
): AsyncGenerator<StreamEvent> {
  try {
    if (!hasDrafts) {
      for await (const entry of entries) yield toEntryEvent(entry);
      return;
    }
    let shown = "[]";
    let next = entries.next();
    let look: Promise<undefined> | undefined;
    while (!signal.aborted) {
      look ??= waitForLook(signal);
      const found = await Promise.race([next, look]);
      if (found?.done) return;
      if (found) {
        yield toEntryEvent(found.value);
        next = entries.next();
        if (shown === "[]") continue;
      } else look = undefined;
      const drafts = await readDrafts(session);
      const text = JSON.stringify(drafts.map(({ id, message }) => [id, message]));
      if (text === shown) continue;
      shown = text;
      yield { event: "drafts", data: { drafts } };
    }
  } finally {
    // A tail that still waits for an entry ends with its signal, or with the session.
    await session.close();
  }
}

function toEntryEvent(entry: Entry): StreamEvent {
  return { id: String(entry.seq), event: "entry", data: entry };
}

function waitForLook(signal: AbortSignal): Promise<undefined> {
  return sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
}
