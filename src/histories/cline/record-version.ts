import { computeFingerprint } from "../../model/base/digest.ts";

/** Hashes a value into the version of a record that the tool may rewrite. */
export function hashRecordVersion(value: unknown): string {
  return computeFingerprint(JSON.stringify(value) ?? "");
}
