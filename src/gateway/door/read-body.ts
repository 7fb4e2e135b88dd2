import type { IncomingMessage, ServerResponse } from "node:http";
import type { Fault } from "../api/api.ts";
import { unpack } from "../body/unpack.ts";
import type { ContentEncoding } from "./content.ts";
import { badRequest, tooLarge } from "./refusal.ts";

/** A body that was read, why it was not, or that the client left before its end. */
export type BodyRead =
  | {
      readonly type: "read";
      /** Unpacked. The same buffer as `raw` if it did not come packed. */
      readonly body: Buffer;
      /** As it came. */
      readonly raw: Buffer;
    }
  | { readonly type: "refused"; readonly fault: Fault }
  | { readonly type: "gone" };

/** Bounds of a body: its bytes, packed as well as unpacked, and the time until its last one. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyMs: number;
}

/** What else reading a body takes. */
export interface ReadBodyOptions {
  /** As admitted. Default: identity. */
  readonly encoding?: ContentEncoding;
  readonly signal?: AbortSignal;
  /** The answer to the request; a client that waits for permission to send gets it here. */
  readonly response?: ServerResponse;
}

type RawRead =
  | { readonly type: "whole"; readonly raw: Buffer }
  | Exclude<BodyRead, { readonly type: "read" }>;

/** Reads the body of an admitted request within its bounds. Never throws. */
export async function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  options: ReadBodyOptions = {},
): Promise<BodyRead> {
  const read = await readRaw(request, limits, options);
  if (read.type !== "whole") return read;
  const { encoding = "identity" } = options;
  if (encoding === "identity") return { type: "read", body: read.raw, raw: read.raw };
  const unpacked = await unpack(read.raw, encoding, limits.maxBodyBytes);
  if (unpacked.type === "too-large") return { type: "refused", fault: tooLarge(limits.maxBodyBytes).fault };
  if (unpacked.type === "unpacked") return { type: "read", body: unpacked.bytes, raw: read.raw };
  return {
    type: "refused",
    fault: badRequest("The body is not packed as its Content-Encoding says.").fault,
  };
}

function readRaw(request: IncomingMessage, limits: BodyLimits, options: ReadBodyOptions): Promise<RawRead> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    const settle = (read: RawRead) => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", leave);
      request.off("data", take).off("end", finish).off("close", leave).off("error", leave);
      if (read.type !== "whole") request.pause();
      resolve(read);
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.maxBodyBytes)
        settle({ type: "refused", fault: tooLarge(limits.maxBodyBytes).fault });
      else chunks.push(chunk);
    };
    const finish = () => settle({ type: "whole", raw: joined(chunks) });
    const leave = () => settle({ type: "gone" });
    const timer = setTimeout(() => settle({ type: "refused", fault: tooSlow(limits.bodyMs) }), limits.bodyMs);
    timer.unref();
    if (request.destroyed || options.signal?.aborted) return leave();
    options.signal?.addEventListener("abort", leave);
    request.on("data", take).on("end", finish).on("close", leave).on("error", leave);
    if (expectsContinue(request)) options.response?.writeContinue();
  });
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

function expectsContinue(request: IncomingMessage): boolean {
  return /100-continue/i.test(request.headers.expect ?? "");
}

function tooSlow(bodyMs: number): Fault {
  return {
    status: 408,
    kind: "timeout",
    message: `The body did not arrive within ${bodyMs} ms; send it faster, or raise limits.bodyMs.`,
  };
}
