import { BoundedMap } from "../../../model/base/caches.ts";
import { type BodyFrame, beginsLike, type CutBody, copyFrame, endsLike, type KnownBody } from "./cut-body.ts";
import { copyMessages, type RequestMessages } from "./request-messages.ts";

/** Bytes at the beginning of a list by which bodies are found. */
const HEAD_BYTES = 512;
/** Maximum number of bodies with the same beginning, such as those of one agent. */
const MAX_SIMILAR = 16;
/** Measured overhead of a body and of each message, which matters because most bodies are small. */
const BYTES_PER_BODY = 3_000;
const BYTES_PER_ELEMENT = 300;

/** Memory of frames, as a share of that for bodies. */
const FRAMES_SHARE = 0.25;

/** Spare capacity of a buffer, because bodies grow. */
const GROWTH = 1.25;

interface KeptBody {
  readonly head: string;
  readonly messages: KnownBody;
  /**
   * Buffer of its bytes, reused by the body that replaces it: allocating large memory each time costs more than
   * copying.
   */
  readonly buffer: Buffer;
  readonly sizeBytes: number;
}

/** A cache of the latest bodies, so that later ones need not be parsed from the beginning. It only affects speed. */
export class SeenBodies {
  readonly #maxBytes: () => number;
  /** By the beginning of their list, newest last. */
  readonly #byHead = new Map<string, KeptBody[]>();
  #sizeBytes = 0;

  /** The parts of bodies that many of them share. */
  readonly frames: SeenFrames;

  constructor(maxBytes: () => number) {
    this.#maxBytes = maxBytes;
    this.frames = new SeenFrames(() => maxBytes() * FRAMES_SHARE);
  }

  get sizeBytes(): number {
    return this.#sizeBytes + this.frames.sizeBytes;
  }

  /** Forgets all bodies. */
  drop(): void {
    this.frames.drop();
    this.#byHead.clear();
    this.#sizeBytes = 0;
  }

  /** Bodies whose lists may begin like this one, the newest first; `owner` separates those of different principals. */
  listAlike(owner: string, bytes: Buffer, listFrom: number): readonly CutBody[] {
    const alike: CutBody[] = [];
    for (const { messages } of this.#byHead.get(buildHeadKey(owner, bytes, listFrom)) ?? [])
      alike.unshift(messages.cut);
    return alike;
  }

  /**
   * Keeps a body in place of the one that it extends, which becomes invalid; returns the kept copy, if there is one.
   */
  keep(owner: string, messages: RequestMessages): CutBody | undefined {
    const { cut } = messages;
    if (cut.listFrom === undefined || cut.elements.length === 0) return undefined;
    const head = buildHeadKey(owner, cut.bytes, cut.listFrom);
    const { length } = cut.bytes;
    if (length > this.#maxBytes() / 2) return undefined;
    const alike = this.#byHead.get(head) ?? [];
    const index = alike.findIndex((one) => one.messages.cut === cut.like);
    // An identical body, as from a client that retries, is already kept.
    if (index >= 0 && alike[index]?.messages.cut.bytes.equals(cut.bytes)) return cut.like;
    const replaced = index >= 0 ? this.#drop(alike, index) : undefined;
    if (!replaced && alike.length >= MAX_SIMILAR) this.#drop(alike, 0);
    const isRoomy = replaced !== undefined && replaced.buffer.length >= length;
    const buffer = isRoomy ? replaced.buffer : Buffer.allocUnsafeSlow(Math.ceil(length * GROWTH));
    cut.bytes.copy(buffer);
    const kept = copyMessages(messages, buffer.subarray(0, length));
    const sizeBytes = BYTES_PER_BODY + buffer.length + cut.elements.length * BYTES_PER_ELEMENT;
    alike.push({ head, messages: kept, buffer, sizeBytes });
    this.#sizeBytes += sizeBytes;
    // Most recently used last.
    this.#byHead.delete(head);
    this.#byHead.set(head, alike);
    const maxBytes = this.#maxBytes();
    for (const [oldest, bodies] of this.#byHead) {
      while (this.#sizeBytes > maxBytes && bodies.length > 0) this.#drop(bodies, 0);
      if (bodies.length === 0) this.#byHead.delete(oldest);
      if (this.#sizeBytes <= maxBytes) break;
    }
    return kept.cut;
  }

  #drop(alike: KeptBody[], index: number): KeptBody | undefined {
    const [dropped] = alike.splice(index, 1);
    this.#sizeBytes -= dropped?.sizeBytes ?? 0;
    return dropped;
  }
}

function buildHeadKey(owner: string, bytes: Buffer, listFrom: number): string {
  return `${owner} ${bytes.toString("latin1", listFrom, listFrom + HEAD_BYTES)}`;
}

/** Bytes at the beginning of a body by which frames are found. */
const FRAME_HEAD_BYTES = 128;
/** Maximum number of frames with the same beginning, such as those of one agent in several folders. */
const MAX_SIMILAR_FRAMES = 8;
/** A larger frame would take the place of many. */
const MAX_FRAME_BYTES = 512 * 1_024;
/** Measured overhead of a frame with the values that were read from it. */
const BYTES_PER_FRAME = 4_000;

/** A cache of the latest frames, so that prompt, tools and settings are not read again. It only affects speed. */
export class SeenFrames {
  /** By the beginning of their body; the newest of each list comes first. */
  readonly #byHead: BoundedMap<string, readonly BodyFrame[]>;

  constructor(maxBytes: () => number) {
    this.#byHead = new BoundedMap({ max: maxBytes, weigh: weighFrames });
  }

  get sizeBytes(): number {
    return this.#byHead.weight;
  }

  drop(): void {
    this.#byHead.clear();
  }

  /** A frame that a body begins with, if possible one that it also ends with; `owner` separates principals. */
  find(owner: string, bytes: Buffer): BodyFrame | undefined {
    let found: BodyFrame | undefined;
    for (const frame of this.#byHead.use(buildFrameKey(owner, bytes)) ?? []) {
      if (!beginsLike(bytes, frame)) continue;
      if (endsLike(bytes, bytes.length - frame.after.length, frame)) return frame;
      found ??= frame;
    }
    return found;
  }

  /** Keeps the frame of a body whose list has this name; undefined if it has none or is too large. */
  keep(owner: string, cut: CutBody, list: string): BodyFrame | undefined {
    const range = cut.fields.get(list);
    if (!range || cut.bytes.length - (range.to - range.from) > MAX_FRAME_BYTES) return undefined;
    const frame = copyFrame(cut, list);
    if (!frame) return undefined;
    const head = buildFrameKey(owner, cut.bytes);
    this.#byHead.set(head, [frame, ...(this.#byHead.get(head) ?? [])].slice(0, MAX_SIMILAR_FRAMES));
    return frame;
  }
}

function buildFrameKey(owner: string, bytes: Buffer): string {
  return `${owner} ${bytes.toString("latin1", 0, FRAME_HEAD_BYTES)}`;
}

/** Counts the bytes of a frame twice, because most of them are also kept as parsed values. */
function weighFrames(frames: readonly BodyFrame[]): number {
  return frames.reduce(
    (sum, { before, after }) => sum + BYTES_PER_FRAME + 2 * (before.length + after.length),
    0,
  );
}
