import { checkFields, checkKind } from "../model/arguments.ts";
import type { Closable } from "../model/scope.ts";
import { processCleanups } from "./process/cleanups.ts";

/** Something to be cleaned up before the process ends. */
export interface ExitCleaner extends Closable {
  /** What can be done without waiting, when nothing else is possible any more. */
  closeNow?(): void;
}

const DEFAULT_GRACE_MS = 5_000;

/**
 * Cleans up when the process is told to end, within a time of grace, and then lets it end as it would have. Programs that
 * tasks have started are ended after it, by the same registry. Returns the function that takes the registration back.
 */
export function cleanUpOnExit(cleaner: ExitCleaner, graceMs = DEFAULT_GRACE_MS): () => void {
  checkFields("cleaner", cleaner, { close: "function", closeNow: "function?" });
  checkKind("graceMs", graceMs, "number");
  return processCleanups().add(() => cleaner.close(), { graceMs, onExit: () => cleaner.closeNow?.() });
}
