import { readPinnedEntries } from "../../kernel/calls/read-pinned-entries.ts";
import type { OverlayBody } from "../../kernel/faces/log.ts";
import { diffWindows, type Slot, type TodoItem, type WindowChange } from "../../kernel/faces/window.ts";
import type { Entry, FittedWindow, Kernel, MessageBody, Session, StoredMemory } from "../../kernel/index.ts";
import { readRequestUsage } from "../../kernel/usage/request-usage.ts";
import { UsageSums } from "../../kernel/usage/usage-sums.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { findProjectFolder } from "../../model/session-origin.ts";
import { citeEntry } from "./format-entry-excerpt.ts";
import type { DescribedWindow } from "./window-options.ts";

/**
 * Maximum overlays to search for those in force; they are few, because a rebuilt window replaces all earlier overlays.
 */
const MAX_OVERLAYS = 1_000;

/** State of a session's window. */
export interface ContextReport {
  readonly session: string;
  readonly described: DescribedWindow;
  readonly now: FittedWindow;
  /** The window of the next call; only with --dry-run. */
  readonly next?: FittedWindow;
  /** Difference between window and log, or between next and current window with --dry-run; only with --diff. */
  readonly diff?: LogDiff;
  readonly books: UsageSums;
  readonly pins: readonly Entry[];
  readonly todos: readonly TodoItem[];
  /** Memories that go with the system prompt, oldest first, and their owner; undefined if there are none. */
  readonly memories?: {
    readonly agent: string;
    readonly tokens: number;
    readonly facts: readonly StoredMemory[];
  };
  /** Overlays in force, newest first. */
  readonly overlays: readonly Entry<OverlayBody>[];
  readonly warnings: readonly string[];
}

const NO_MODEL = "The session names no model, so window and prices are assumed; set one with --model.";

/** Builds the report without changing anything. `warnings` are the kernel's warnings so far. */
export async function buildContextReport(
  session: Session,
  described: DescribedWindow,
  {
    isDryRun,
    hasDiff,
    warnings,
    kernel,
  }: {
    readonly isDryRun: boolean;
    readonly hasDiff: boolean;
    readonly warnings: readonly string[];
    readonly kernel: Pick<Kernel, "modelFacts" | "memories">;
  },
): Promise<ContextReport> {
  const books = new UsageSums();
  const factsOf = (model: string) => kernel.modelFacts(model);
  for await (const spent of readRequestUsage(session, factsOf)) books.add(spent);
  const listed = await session.overlays.list(MAX_OVERLAYS);
  const now = await described.window.look();
  const next = isDryRun ? await described.window.fit({ dryRun: true }) : undefined;
  const diff = hasDiff ? await buildDiff(session, now, next) : undefined;
  const memories = await readMemories(kernel, session, described, now);
  return {
    session: session.id,
    described,
    now,
    ...dropUndefined({ next, diff, memories }),
    books,
    pins: await readPinnedEntries(session),
    todos: await session.todos(),
    overlays: listed.flatMap(({ entry, isHolding }) =>
      isHolding && entry.edit.type !== "revert" ? [entry] : [],
    ),
    warnings: described.model === undefined ? [NO_MODEL] : [...warnings],
  };
}

async function readMemories(
  kernel: Pick<Kernel, "memories">,
  session: Session,
  { memoriesOf: agent }: DescribedWindow,
  { parts }: FittedWindow,
): Promise<ContextReport["memories"]> {
  const facts = await readPins(kernel, session, agent);
  if (agent === undefined || facts.length === 0) return undefined;
  return { agent, tokens: parts.memories, facts };
}

async function readPins(kernel: Pick<Kernel, "memories">, session: Session, agent: string | undefined) {
  if (agent === undefined) return [];
  const project = findProjectFolder(await session.record()) ?? null;
  return kernel.memories(agent).pins({ project });
}

async function buildDiff(
  session: Session,
  now: FittedWindow,
  next: FittedWindow | undefined,
): Promise<LogDiff> {
  if (next) return { changes: diffWindows(now.slots, next.slots), isCut: false };
  return compareWithLog(session, now.slots);
}

/** Maximum messages to compare with the window, counted from the newest. */
const MAX_COMPARED = 5_000;

/** Differences between a window and the log. */
interface LogDiff {
  readonly changes: readonly WindowChange[];
  /** True if the line has older messages that were not compared. */
  readonly isCut: boolean;
}

/** Compares a window with the original messages of its line. */
async function compareWithLog(session: Session, window: readonly Slot[]): Promise<LogDiff> {
  const { entries, isCut } = await readNewestMessages(session);
  const places = new Map(entries.map((entry, index) => [citeEntry(entry, session.id), index]));
  const said = entries.map(
    (entry, index): Slot => ({
      seq: index,
      cite: citeEntry(entry, session.id),
      at: entry.at,
      message: entry.message,
      tokens: 0,
    }),
  );
  const shown: Slot[] = [];
  for (const slot of window) {
    const own = slot.cite ?? `#${slot.seq}`;
    const place = slot.isNote ? (shown.at(-1)?.seq ?? -1) + 1 : places.get(own);
    // Slots older than the compared messages are left out of the diff.
    if (place !== undefined) shown.push({ ...slot, seq: place, cite: own });
  }
  return { changes: diffWindows(said, shown), isCut };
}

async function readNewestMessages(
  session: Session,
): Promise<{ readonly entries: readonly Entry<MessageBody>[]; readonly isCut: boolean }> {
  const newest: Entry<MessageBody>[] = [];
  for await (const entry of session.entries({ direction: "older", kinds: ["message"] })) {
    if (newest.length === MAX_COMPARED) return { entries: newest.reverse(), isCut: true };
    newest.push(entry as Entry<MessageBody>);
  }
  return { entries: newest.reverse(), isCut: false };
}
