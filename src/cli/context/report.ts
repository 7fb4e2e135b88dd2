import {
  diffWindows,
  type Entry,
  type FactsOf,
  type Fitted,
  type OverlayBody,
  type Session,
} from "../../index.ts";
import { Books } from "../spending/books.ts";
import { spentRequests } from "../spending/spent-requests.ts";
import { diffWithLog, type LogDiff } from "./log-diff.ts";
import { pinnedEntries } from "./pins.ts";
import type { DescribedWindow } from "./window-options.ts";

/** Overlays looked through for those that hold: a window rebuilt from the log holds alone, so there are few. */
const MOST_OVERLAYS = 1_000;

/** What is known of a session's window. */
export interface ContextReport {
  readonly session: string;
  readonly described: DescribedWindow;
  readonly now: Fitted;
  /** What the next call would be sent; only where that was asked for. */
  readonly next?: Fitted;
  /** How the window differs from the log, or the next call's from it; only where that was asked for. */
  readonly diff?: LogDiff;
  readonly books: Books;
  readonly pins: readonly Entry[];
  /** Those that hold, newest first. */
  readonly overlays: readonly Entry<OverlayBody>[];
  readonly warnings: readonly string[];
}

const NO_MODEL = "The session names no model: window and prices are assumed; --model names one.";

/** Looks at a window; nothing is changed. `warnings` are those that came up on the way. */
export async function reportOn(
  session: Session,
  described: DescribedWindow,
  {
    isDryRun,
    hasDiff,
    warnings,
    factsOf,
  }: {
    readonly isDryRun: boolean;
    readonly hasDiff: boolean;
    readonly warnings: readonly string[];
    readonly factsOf: FactsOf;
  },
): Promise<ContextReport> {
  const books = new Books();
  for await (const spent of spentRequests(session, factsOf)) books.add(spent);
  const listed = await session.overlays.list(MOST_OVERLAYS);
  const now = await described.window.look();
  const next = isDryRun ? await described.window.fit({ isDryRun: true }) : undefined;
  const diff = hasDiff ? await diffOf(session, now, next) : undefined;
  return {
    session: session.id,
    described,
    now,
    ...(next && { next }),
    ...(diff && { diff }),
    books,
    pins: await pinnedEntries(session),
    overlays: listed.flatMap(({ entry, isHolding }) =>
      isHolding && entry.edit.type !== "revert" ? [entry] : [],
    ),
    warnings: described.model === undefined ? [NO_MODEL] : [...warnings],
  };
}

async function diffOf(session: Session, now: Fitted, next: Fitted | undefined): Promise<LogDiff> {
  if (next) return { changes: diffWindows(now.slots, next.slots), isCut: false };
  return diffWithLog(session, now.slots);
}
