import { BoundedMap } from "../../base/bounded-map.ts";
import { type BodyFrame, beginsLike, copyFrame, endsLike } from "./body-frame.ts";
import type { CutBody } from "./cut-body.ts";

/** Bytes at the beginning of a body by which frames are found. */
const HEAD_BYTES = 128;
/** Maximum number of frames with the same beginning, such as those of one agent in several folders. */
const MAX_SIMILAR = 8;
/** A larger frame would take the place of many. */
const MAX_FRAME_BYTES = 512 * 1_024;
/** Measured overhead of a frame with the values that were read from it. */
const BYTES_PER_FRAME = 4_000;

/** A cache of the latest frames, so that prompt, tools and settings are not read again. It only affects speed. */
export class RecentFrames {
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
    for (const frame of this.#byHead.use(buildHeadKey(owner, bytes)) ?? []) {
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
    const head = buildHeadKey(owner, cut.bytes);
    this.#byHead.set(head, [frame, ...(this.#byHead.get(head) ?? [])].slice(0, MAX_SIMILAR));
    return frame;
  }
}

function buildHeadKey(owner: string, bytes: Buffer): string {
  return `${owner} ${bytes.toString("latin1", 0, HEAD_BYTES)}`;
}

/** Counts the bytes of a frame twice, because most of them are also kept as parsed values. */
function weighFrames(frames: readonly BodyFrame[]): number {
  return frames.reduce(
    (sum, { before, after }) => sum + BYTES_PER_FRAME + 2 * (before.length + after.length),
    0,
  );
}
