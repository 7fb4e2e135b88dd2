import type { Blobs } from "../../log-entry.ts";
import type { LoggedContent } from "../../wire/wire.ts";

/** Access to the large contents of logged messages; content that is gone is undefined. */
export function createLoggedContent(blobs: Pick<Blobs, "bytes" | "restoreReadable">): LoggedContent {
  return {
    loadBase64: async (digest) => {
      try {
        return Buffer.from(await blobs.bytes(digest)).toString("base64");
      } catch {
        return undefined;
      }
    },
    restore: (part) => blobs.restoreReadable(part),
  };
}
