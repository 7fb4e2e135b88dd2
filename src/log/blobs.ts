import { createHash } from "node:crypto";
import { checkFields, checkKind } from "../model/argument-checks.ts";
import { BoundedMap } from "../model/base/caches.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { WorkMeter } from "../model/base/work-meter.ts";
import { type Digest, isDigest } from "../model/blob.ts";
import type { Clock } from "../model/clock.ts";
import type { EntryBody } from "../model/entry.ts";
import { createArgumentError, isLonghaulError, LonghaulError } from "../model/errors.ts";
import type { Message } from "../model/message.ts";
import { decideMime, SNIFF_BYTES } from "../model/mime.ts";
import type { BlobPart, DataSource, Part } from "../model/part.ts";
import type { Limits } from "./limits.ts";
import { type RestorePart, restoreParts } from "./spilled-parts.ts";
import type { BlobStore, WrittenBlob } from "./store/blob-store.ts";

/** A stored blob with its detected MIME type. */
interface StoredBlob extends WrittenBlob {
  readonly mime: string;
}

/** Checks for aged blobs per maximum age. */
const CHECKS_PER_AGE = 10;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The blobs of a kernel: reads are verified, and complete reads are cached within limits of size and age. */
export class Blobs {
  readonly #store: BlobStore;
  readonly #limits: Limits;
  readonly #cache: BoundedMap<Digest, Uint8Array>;
  readonly #meter: Pick<WorkMeter, "addFreedImages"> | undefined;
  #aging: NodeJS.Timeout | undefined;

  /** `getShare` is the share of its limit that the cache may use; `meter` counts entries that leave the cache. */
  constructor(
    store: BlobStore,
    limits: Limits,
    clock: Clock,
    getShare: () => number = () => 1,
    meter?: Pick<WorkMeter, "addFreedImages">,
  ) {
    this.#store = store;
    this.#meter = meter;
    this.#limits = limits;
    this.#cache = new BoundedMap({
      max: () => limits.blobCacheBytes * getShare(),
      weigh: ({ byteLength }) => byteLength,
      maxAgeMs: limits.blobCacheAgeMs,
      now: () => clock.now(),
    });
  }

  /** Bytes in the cache. */
  get cachedBytes(): number {
    return this.#cache.weight;
  }

  dropCache(): void {
    this.#countFreed(() => this.#cache.clear());
    clearTimeout(this.#aging);
    this.#aging = undefined;
  }

  /** Streams the bytes; throws BLOB_CORRUPT at the end if they do not match the digest. */
  async *stream(digest: Digest): AsyncGenerator<Uint8Array> {
    const hash = createHash("sha256");
    for await (const chunk of this.#store.read(checkDigest(digest))) {
      hash.update(chunk);
      yield chunk;
    }
    const found = hash.digest("hex");
    if (found === digest) return;
    throw new LonghaulError(
      "BLOB_CORRUPT",
      `Blob ${digest} is damaged on disk: its bytes now hash to ${found}. Append the data again, or restore the file from a backup.`,
      {
        details: { digest, found },
      },
    );
  }

  /**
   * Returns all bytes, verified; treat them as read-only, because they may be shared.
   * BLOB_TOO_LARGE above maxReadBytes.
   */
  async bytes(digest: Digest): Promise<Uint8Array> {
    const cached = this.#cache.use(checkDigest(digest));
    if (cached) return cached;
    const sizeBytes = (await this.#store.sizeOf(digest)) ?? 0;
    if (sizeBytes > this.#limits.maxReadBytes) {
      throw new LonghaulError(
        "BLOB_TOO_LARGE",
        `Blob ${digest} has ${sizeBytes} bytes; at most ${this.#limits.maxReadBytes} are loaded at once. Use blobs.stream(), or raise limits.maxReadBytes.`,
        {
          details: { digest, sizeBytes, maxBytes: this.#limits.maxReadBytes },
        },
      );
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.stream(digest)) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    this.#countFreed(() => this.#cache.set(digest, bytes), { digest, bytes });
    this.#dropAged();
    return bytes;
  }

  /** Counts the entries that a change of the cache removes, without the one that it sets. */
  #countFreed(change: () => void, set?: { readonly digest: Digest; readonly bytes: Uint8Array }): void {
    const [count, bytes] = [this.#cache.size, this.#cache.weight];
    change();
    const isSet = set !== undefined && this.#cache.has(set.digest);
    const freed = count + (isSet ? 1 : 0) - this.#cache.size;
    const freedBytes = bytes + (isSet ? set.bytes.byteLength : 0) - this.#cache.weight;
    if (freed > 0) this.#meter?.addFreedImages(freed, freedBytes);
  }

  async text(digest: Digest): Promise<string> {
    return Buffer.from(await this.bytes(digest)).toString("utf8");
  }

  /** Restores a part that was too large for the log; returns media parts unchanged. */
  async restore(part: BlobPart): Promise<Part> {
    checkFields("part", part, { digest: "text?", of: "text?" });
    if (part.of === undefined) return part;
    const text = await this.text(part.digest);
    return part.of === "text" ? { type: "text", text } : (JSON.parse(text) as Part);
  }

  /** Like `restore`, but returns the part's preview if its blob is missing or damaged. */
  async restoreReadable(part: BlobPart): Promise<Part> {
    try {
      return await this.restore(part);
    } catch (error) {
      if (!isLonghaulError(error, "BLOB_CORRUPT") && !isLonghaulError(error, "BLOB_NOT_FOUND")) throw error;
      return buildStandIn(part);
    }
  }

  /**
   * Restores all parts of a message that were too large for the log, inside tool results too; media remain references.
   * A part that is missing, damaged or too large to load is replaced by its preview, unless `restore` decides otherwise.
   */
  async restoreMessage(message: Message, restore?: RestorePart): Promise<Message> {
    checkFields("message", message, { parts: "array" });
    if (restore !== undefined) checkKind("restore", restore, "function");
    return restoreParts(message, restore ?? ((part) => this.restoreOrPreview(part)));
  }

  /** Like `restoreReadable`, but also returns the preview if the part is too large to load. */
  async restoreOrPreview(part: BlobPart): Promise<Part> {
    try {
      return await this.restoreReadable(part);
    } catch (error) {
      if (!isLonghaulError(error, "BLOB_TOO_LARGE")) throw error;
      return { type: "text", text: part.preview ?? "" };
    }
  }

  /** Stores bytes; an append must refer to them soon, or they are collected. */
  async put(data: DataSource, mime: string | undefined, signal?: AbortSignal): Promise<StoredBlob> {
    if (mime !== undefined) checkKind("mime", mime, "text");
    const source = toByteSource(data);
    let decided = "";
    const checked = checkHead(source.bytes, (head) => {
      decided = decideMime(mime ?? source.mime, head);
    });
    const options = { maxBytes: this.#limits.maxBlobBytes, ...dropUndefined({ signal }) };
    const written = await this.#store.write(checked, options);
    return { ...written, mime: decided };
  }

  /** Drops aged blobs now and when the next one is due; the timer does not keep the process alive. */
  #dropAged(): void {
    let dueMs: number | undefined;
    this.#countFreed(() => {
      dueMs = this.#cache.dropAged();
    });
    if (dueMs === undefined || this.#aging) return;
    const delayMs = Math.max(dueMs, this.#limits.blobCacheAgeMs / CHECKS_PER_AGE);
    this.#aging = setTimeout(
      () => {
        this.#aging = undefined;
        this.#dropAged();
      },
      Math.min(delayMs, MAX_TIMER_MS),
    ).unref();
  }
}

function toByteSource(data: DataSource): {
  bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  mime?: string;
} {
  if (typeof data === "string") {
    const url = splitDataUrl(data);
    return url ? { bytes: decodeBase64(url.base64), mime: url.mime } : { bytes: decodeBase64(data) };
  }
  if (data instanceof Uint8Array) return { bytes: splitBytes(data) };
  if (typeof data === "object" && data !== null && Symbol.asyncIterator in data) return { bytes: data };
  throw createArgumentError("data", data, "base64, a data URL, bytes or an async iterable of bytes");
}

function* splitBytes(bytes: Uint8Array, sliceBytes = 256 * 1024): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}

/** Passes a stream on and calls `look` with its first bytes beforehand. */
async function* checkHead(
  bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  look: (head: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  let head: Uint8Array | undefined = new Uint8Array(0);
  for await (const chunk of bytes) {
    if (!head) {
      yield chunk;
      continue;
    }
    // Short first chunks are copied, because their memory may be reused for the next.
    const seen: Uint8Array =
      head.byteLength + chunk.byteLength < SNIFF_BYTES || head.byteLength > 0
        ? Buffer.concat([head, chunk])
        : chunk;
    head = seen;
    if (seen.byteLength < SNIFF_BYTES) continue;
    look(seen);
    yield seen;
    head = undefined;
  }
  if (!head) return;
  look(head);
  yield head;
}

function checkDigest(digest: Digest): Digest {
  if (typeof digest === "string" && isDigest(digest)) return digest;
  throw createArgumentError("digest", digest, "64 lower-case hexadecimal characters");
}

/**
 * Substitute for a part whose blob is missing or damaged; a tool call stays a tool call, so that
 * its result keeps its call.
 */
function buildStandIn(part: BlobPart): Part {
  const preview = part.preview ?? "";
  if (part.of === "tool-call" && part.callId !== undefined)
    return { type: "tool-call", callId: part.callId, name: part.toolName ?? "", input: { preview } };
  if (part.of === "reasoning") return { type: "reasoning", text: preview };
  return { type: "text", text: `[stored content is missing or damaged; what is left of it:]\n${preview}` };
}

/** Characters decoded at a time; a multiple of four. */
const SLICE = 256 * 1024;

/** Splits a data URL into MIME type and base64 text; returns undefined if the text is not a data URL. */
export function splitDataUrl(text: string): { mime: string; base64: string } | undefined {
  if (!text.startsWith("data:")) return undefined;
  const comma = text.indexOf(",");
  const label = text.slice(5, comma === -1 ? 5 : comma);
  if (comma === -1 || !label.endsWith(";base64")) {
    throw new LonghaulError(
      "BASE64_INVALID",
      "The data URL is not base64 (expected data:<type>;base64,<data>); nothing was stored.",
    );
  }
  return { mime: label.slice(0, -";base64".length), base64: text.slice(comma + 1) };
}

/**
 * Decodes base64 in slices, so that memory never holds a complete second copy; throws
 * BASE64_INVALID if it is empty or incomplete.
 */
export function* decodeBase64(text: string): Generator<Uint8Array> {
  try {
    const clean = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
    if (clean === "") throw createBase64Error("it is empty");
    if (clean.length % 4 !== 0)
      throw createBase64Error(`its length ${clean.length} is not a multiple of 4, so it was cut off`);
    for (let at = 0; at < clean.length; at += SLICE) {
      const slice = clean.slice(at, at + SLICE);
      const isLast = at + SLICE >= clean.length;
      const isValid = isLast ? /^[A-Za-z0-9+/_-]*={0,2}$/.test(slice) : /^[A-Za-z0-9+/_-]*$/.test(slice);
      if (!isValid) throw createBase64Error("it holds other characters");
      yield Buffer.from(slice, "base64");
    }
  } finally {
    // The regex engine keeps a reference to the last matched text; replace megabytes by a short one.
    /^/.test("");
  }
}

function createBase64Error(why: string): LonghaulError {
  return new LonghaulError(
    "BASE64_INVALID",
    `The data is not valid base64: ${why}. Send it again whole; nothing was stored.`,
  );
}

/** Digests of the blobs that a body refers to, without duplicates. */
export function findBodyBlobs(body: EntryBody): readonly Digest[] {
  const found = new Set<Digest>();
  const waiting: unknown[] = [body];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (value === null || typeof value !== "object") continue;
    const { digest, sizeBytes } = value as { digest?: unknown; sizeBytes?: unknown };
    if (typeof digest === "string" && typeof sizeBytes === "number" && isDigest(digest)) found.add(digest);
    for (const inner of Object.values(value)) waiting.push(inner);
  }
  return [...found];
}
