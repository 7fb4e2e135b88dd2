const MAX_BYTES = 160;

/** The name of the work that began last, in memory that another thread can read while this one stands still. */
const shared = new Uint8Array(new SharedArrayBuffer(MAX_BYTES));
const encoder = new TextEncoder();

/** Notes the work that begins, for the report of a loop that stands still. Takes no text that a person wrote. */
export function markStage(stage: string): void {
  const { written } = encoder.encodeInto(stage, shared);
  shared.fill(0, written);
}

/** The memory that `markStage` writes: UTF-8, filled up with zeros. */
export function getStageMemory(): Uint8Array {
  return shared;
}
