import { IncomingMessage } from "node:http";
import { StatementSync } from "node:sqlite";
import { queryObjects } from "node:v8";
import { ThreadCall } from "../../src/gateway/call/thread-call.ts";
import { Thread } from "../../src/gateway/thread/thread.ts";
import { Session } from "../../src/session/session.ts";

const CLASSES = { Session, Thread, ThreadCall: ThreadCall, IncomingMessage, AbortSignal, StatementSync };

/** Number of live objects per class. */
export type LiveObjects = Readonly<Record<keyof typeof CLASSES, number>>;

/** Counts live objects after a thorough collection; takes a second or more. */
export function countLiveObjects(): LiveObjects {
  const counts = Object.entries(CLASSES).map(([name, of]) => [name, queryObjects(of, { format: "count" })]);
  return Object.fromEntries(counts);
}
