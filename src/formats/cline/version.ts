import { createHash } from "node:crypto";

/** Changes when a value does: the version of a record that the tool may rewrite. */
export function versionOf(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value) ?? "")
    .digest("base64url")
    .slice(0, 16);
}
