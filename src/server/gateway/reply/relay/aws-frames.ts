import type { WireEvent } from "../../../../wire/wire.ts";
import { findRawHeader, type RawHeaders } from "../../upstream/upstream-headers.ts";

/** True for a stream in Amazon's binary frames. */
export function isAwsStream(rawHeaders: RawHeaders): boolean {
  return /^\s*application\/vnd\.amazon\.eventstream\b/i.test(findRawHeader(rawHeaders, "content-type") ?? "");
}

/** Lengths of the frame and of its headers, with their checksum; the checksum of the whole follows the payload. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MAX_FRAME_BYTES = 24 * 1_024 * 1_024;

/**
 * Reads the events in a stream of Amazon's binary frames, whose payload holds an event of the model in base64. Frames that
 * cannot be read are ignored: the client gets all bytes in any case.
 */
export class AwsFrameReader {
  #held: Buffer = Buffer.alloc(0);
  #isBroken = false;

  /** The events that these bytes complete. */
  push(bytes: Buffer): readonly WireEvent[] {
    if (this.#isBroken) return [];
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const events: WireEvent[] = [];
    while (this.#held.length >= PRELUDE_BYTES) {
      const length = this.#held.readUInt32BE(0);
      const headers = this.#held.readUInt32BE(4);
      const isFrame = length >= PRELUDE_BYTES + headers + CHECKSUM_BYTES && length <= MAX_FRAME_BYTES;
      this.#isBroken = !isFrame;
      if (!isFrame || this.#held.length < length) break;
      const payload = this.#held.subarray(PRELUDE_BYTES + headers, length - CHECKSUM_BYTES);
      const data = readPayload(payload.toString("utf8"));
      if (data !== undefined) events.push({ data });
      this.#held = this.#held.subarray(length);
    }
    return events;
  }
}

function readPayload(text: string): string | undefined {
  try {
    const { bytes, message } = JSON.parse(text) as { readonly bytes?: unknown; readonly message?: unknown };
    if (typeof bytes === "string") return Buffer.from(bytes, "base64").toString("utf8");
    return typeof message === "string" ? JSON.stringify({ type: "error", error: { message } }) : undefined;
  } catch {
    return undefined;
  }
}
