import { IncomingMessage } from "node:http";
import { StatementSync } from "node:sqlite";
import { queryObjects } from "node:v8";
import { Session } from "../../src/kernel/session/session.ts";
import { ThreadCall } from "../../src/server/gateway/call/thread-call.ts";
import { Thread } from "../../src/server/gateway/thread/thread.ts";

const CLASSES = { Session, Thread, ThreadCall: ThreadCall, IncomingMessage, AbortSignal, StatementSync };

/** Number of live objects per class. */
export type LiveObjects = Readonly<Record<keyof typeof CLASSES, number>>;

/** Counts live objects after a thorough collection; takes a second or more. */
export function countLiveObjects(): LiveObjects {
  const counts = Object.entries(CLASSES).map(([name, of]) => [name, queryObjects(of, { format: "count" })]);
  return Object.fromEntries(counts);
}
