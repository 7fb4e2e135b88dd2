import { readPinnedEntries } from "../../conversation/read-pinned-entries.ts";
import { readRequestUsage } from "../../conversation/spending/request-usage.ts";
import { UsageSums } from "../../conversation/spending/usage-sums.ts";
import type { Entry, FittedWindow, Kernel, RememberedFact, Session } from "../../index.ts";
import type { OverlayBody } from "../../log-entry.ts";
import { findProjectFolder } from "../../model/session-origin.ts";
import { diffWindows, type TodoItem } from "../../window-entry.ts";
import { compareWithLog, type LogDiff } from "./log-diff.ts";
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
    readonly facts: readonly RememberedFact[];
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
    ...(next && { next }),
    ...(diff && { diff }),
    ...(memories && { memories }),
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
