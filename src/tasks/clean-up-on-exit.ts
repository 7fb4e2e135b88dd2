import { checkFields, checkKind } from "../model/argument-checks.ts";
import type { Closable } from "../model/scope.ts";
import { processCleanups } from "./process/cleanups.ts";

/** A resource to clean up before the process ends. */
interface ExitCleaner extends Closable {
  /** Synchronous cleanup for when the process can no longer wait. */
  closeNow?(): void;
}

const DEFAULT_GRACE_MS = 5_000;

/**
 * Closes `cleaner` when the process is told to end, within `graceMs`, and then lets the process end as it otherwise
 * would. The same registry ends the programs of tasks afterwards. Returns a function that unregisters the cleaner.
 */
export function cleanUpOnExit(cleaner: ExitCleaner, graceMs = DEFAULT_GRACE_MS): () => void {
  checkFields("cleaner", cleaner, { close: "function", closeNow: "function?" });
  checkKind("graceMs", graceMs, "number");
  return processCleanups().add(() => cleaner.close(), { graceMs, onExit: () => cleaner.closeNow?.() });
}
