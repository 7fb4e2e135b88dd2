import { createHash } from "node:crypto";
import type { Message, MessageInput } from "../../src/kernel/index.ts";
import { absorbMessage } from "../../src/log/spilled-parts.ts";
import { sniffMime } from "../../src/model/mime.ts";

/** Messages as the log stores them, with their blobs. */
export interface LoggedMessages {
  log(input: MessageInput): Promise<Message>;
  base64Of(digest: string): Promise<string | undefined>;
}

/** Stores messages like the log; parts larger than `spillBytes` become blobs. */
export function loggedMessages(spillBytes = 64 * 1024): LoggedMessages {
  const blobs = new Map<string, Buffer>();
  return {
    async log(input) {
      const put = async (data: unknown, mime: string | undefined) => {
        const bytes = typeof data === "string" ? Buffer.from(data, "base64") : (data as Buffer);
        const digest = createHash("sha256").update(bytes).digest("hex");
        blobs.set(digest, bytes);
        return { digest, sizeBytes: bytes.length, mime: sniffMime(bytes) ?? mime ?? "text/plain" };
      };
      return (await absorbMessage(input, put, spillBytes)).body.message;
    },
    base64Of: async (digest) => blobs.get(digest)?.toString("base64"),
  };
}
