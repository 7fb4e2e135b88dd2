import { crc32 } from "node:zlib";
import { ByteCollector } from "../../model/base/byte-collector.ts";

/** Lengths of the frame and of its headers, with their checksum; the checksum of the whole follows the payload. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MAX_FRAME_BYTES = 24 * 1_024 * 1_024;
const STRING_HEADER = 7;

/** A frame of a stream as Amazon's services write it. */
export interface AwsFrame {
  /** The whole frame. */
  readonly bytes: Buffer;
  /** The payload, which is JSON. */
  readonly payload: string;
}

/** Splits a stream of Amazon's binary frames. After bytes that are not a frame, it yields nothing more. */
export class AwsFrameSplitter {
  /** The beginning of a frame; its bytes are copied a bounded number of times, however small the pieces are. */
  readonly #held = new ByteCollector();
  /** Bytes that have to be there before the held ones are looked at again. */
  #wanted = 0;
  #isBroken = false;

  /** True if the stream, should it end now, would end within a frame or has stopped being frames. */
  get isCut(): boolean {
    return this.#isBroken || this.#held.length > 0;
  }

  /** The frames that these bytes complete. */
  push(bytes: Buffer): readonly AwsFrame[] {
    if (this.#isBroken) return [];
    let left = bytes;
    if (this.#held.length > 0) {
      this.#held.add(bytes);
      if (this.#held.length < this.#wanted) return [];
      left = this.#held.take();
    }
    const frames: AwsFrame[] = [];
    this.#wanted = PRELUDE_BYTES;
    while (left.length >= PRELUDE_BYTES) {
      const length = left.readUInt32BE(0);
      const headers = left.readUInt32BE(4);
      this.#isBroken = length < PRELUDE_BYTES + headers + CHECKSUM_BYTES || length > MAX_FRAME_BYTES;
      this.#wanted = length;
      if (this.#isBroken) return frames;
      if (left.length < length) break;
      const payload = left.subarray(PRELUDE_BYTES + headers, length - CHECKSUM_BYTES).toString("utf8");
      frames.push({ bytes: left.subarray(0, length), payload });
      left = left.subarray(length);
      this.#wanted = PRELUDE_BYTES;
    }
    if (left.length > 0) this.#held.add(left);
    return frames;
  }
}

/** The event of the model in the payload of a frame, or its error in the form of Messages; undefined for other frames. */
export function readFrameEvent(payload: string): string | undefined {
  try {
    const { bytes, message } = JSON.parse(payload) as {
      readonly bytes?: unknown;
      readonly message?: unknown;
    };
    if (typeof bytes === "string") return Buffer.from(bytes, "base64").toString("utf8");
    return typeof message === "string" ? JSON.stringify({ type: "error", error: { message } }) : undefined;
  } catch {
    return undefined;
  }
}

/** A frame with an event, or with an exception, which ends a stream. */
export function encodeAwsFrame(type: "event" | "exception", name: string, payload: unknown): Buffer {
  const headers = Buffer.concat([
    encodeHeader(`:${type}-type`, name),
    encodeHeader(":content-type", "application/json"),
    encodeHeader(":message-type", type),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const frame = Buffer.alloc(PRELUDE_BYTES + headers.length + body.length + CHECKSUM_BYTES);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(headers.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  headers.copy(frame, PRELUDE_BYTES);
  body.copy(frame, PRELUDE_BYTES + headers.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, -CHECKSUM_BYTES)), frame.length - CHECKSUM_BYTES);
  return frame;
}

function encodeHeader(name: string, value: string): Buffer {
  const head = Buffer.from([Buffer.byteLength(name), ...Buffer.from(name), STRING_HEADER, 0, value.length]);
  return Buffer.concat([head, Buffer.from(value)]);
}
