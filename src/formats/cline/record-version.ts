import { hash } from "node:crypto";

/** Hashes a value into the version of a record that the tool may rewrite. */
export function hashRecordVersion(value: unknown): string {
  return hash("sha256", JSON.stringify(value) ?? "", "base64url").slice(0, 16);
}
