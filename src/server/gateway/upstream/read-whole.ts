import type { IncomingMessage } from "node:http";
import zlib from "node:zlib";
import { ByteCollector } from "../../../model/base/byte-collector.ts";
import { decompress } from "../../../model/base/decompress.ts";
import { toCutError, UpstreamError } from "./upstream-error.ts";

/** A complete body. */
interface UpstreamBody {
  /** The bytes as received. */
  readonly raw: Buffer;
  /**
   * The body without its content encoding; undefined if that is unknown or invalid, or if the result exceeds the limit.
   */
  readonly decoded: Buffer | undefined;
}

interface ReadBodyLimits {
  /** Maximum time between two chunks. */
  readonly idleMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads a body to its end. Throws `UpstreamError` if the body is cut, stalls or exceeds `maxBytes`. */
export async function readUpstreamBody(
  body: IncomingMessage,
  maxBytes: number,
  { idleMs, signal }: ReadBodyLimits = {},
): Promise<UpstreamBody> {
  const collected = new ByteCollector(Number(body.headers["content-length"] ?? 0));
  const end = (error: UpstreamError) => body.destroy(error);
  const onAbort = () => end(new UpstreamError("aborted", "Reading an answer was aborted.", signal?.reason));
  const idle =
    idleMs === undefined
      ? undefined
      : setTimeout(() => {
          end(
            new UpstreamError("idle", `The upstream fell silent for ${idleMs / 1_000} s within its answer.`),
          );
        }, idleMs).unref();
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      idle?.refresh();
      if (collected.length + chunk.length > maxBytes)
        throw new UpstreamError("too-large", `The upstream's answer is larger than ${maxBytes} bytes.`);
      collected.add(chunk);
    }
  } catch (error) {
    body.destroy();
    throw toCutError(error);
  } finally {
    clearTimeout(idle);
    signal?.removeEventListener("abort", onAbort);
  }
  if (!body.complete) throw toCutError(undefined);
  const raw = collected.take();
  const coding = body.headers["content-encoding"];
  return { raw, decoded: coding === undefined ? raw : await decompressBody(raw, coding, maxBytes) };
}

/** The content codings of a body, in order of application, without "identity". */
export function parseCodings(contentEncoding: string | undefined): readonly string[] {
  return (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim().replace(/^x-(?=gzip$)/, ""))
    .filter((coding) => coding !== "" && coding !== "identity");
}

/** The decoded bytes; undefined if a coding is unknown or invalid, or if the result exceeds `maxBytes`. */
async function decompressBody(
  bytes: Buffer,
  contentEncoding: string,
  maxBytes: number,
): Promise<Buffer | undefined> {
  let decoded = bytes;
  for (const coding of parseCodings(contentEncoding).toReversed()) {
    const unpacked = await decompress(decoded, coding, maxBytes);
    if (unpacked.type !== "unpacked") return undefined;
    decoded = unpacked.bytes;
  }
  return decoded;
}

/** A stream that undoes one coding; undefined if the coding is unknown. */
export function openDecoder(coding: string): DecodingStream | undefined {
  // A truncated body is decoded as far as possible.
  if (coding === "gzip") return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
  if (coding === "deflate") return zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
  if (coding === "br")
    return zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH });
  if (coding === "zstd") return zlib.createZstdDecompress?.({ finishFlush: zlib.constants.ZSTD_e_flush });
  return undefined;
}

/** A decompression stream. */
export type DecodingStream = zlib.Gunzip | zlib.Inflate | zlib.BrotliDecompress | zlib.ZstdDecompress;
