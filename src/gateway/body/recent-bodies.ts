import { type CutBody, isSameRange } from "./cut.ts";
import { type Reading, type WireMessages, withoutInputs } from "./wire-message.ts";

/** Bytes at the beginning of a list by which bodies are found. */
const HEAD_BYTES = 512;
/** Bodies that begin alike, as those of one agent do. */
const MOST_ALIKE = 16;
/** A body counts for what is remembered of its messages, too. */
const BYTES_PER_ELEMENT = 300;

interface Kept {
  readonly head: string;
  readonly said: WireMessages;
  readonly sizeBytes: number;
}

/**
 * The bodies that were sent last, so that the next ones need not be read from the beginning. Only ever a matter of speed:
 * what is not here is read.
 */
export class RecentBodies {
  readonly #mostBytes: number;
  /** By the beginning of their list, the newest last. */
  readonly #alike = new Map<string, Kept[]>();
  #sizeBytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** The body of those that begin alike which says most of the same; `who` keeps those of different people apart. */
  find(who: string, bytes: Buffer, listFrom: number): WireMessages | undefined {
    const alike = this.#alike.get(headOf(who, bytes, listFrom)) ?? [];
    let best: WireMessages | undefined;
    let bestBytes = 0;
    for (const { said } of alike.toReversed()) {
      const same = sameBytes(bytes, listFrom, said.cut, bestBytes);
      if (same <= bestBytes) continue;
      best = said;
      bestBytes = same;
    }
    return best ?? alike.at(-1)?.said;
  }

  /** Keeps a body in place of the one that it went on from; returns it as it is kept, if it is. */
  keep(who: string, reading: Reading, said: WireMessages): CutBody | undefined {
    const { cut } = said;
    if (cut.listFrom === undefined || cut.elements.length === 0) return undefined;
    const head = headOf(who, cut.bytes, cut.listFrom);
    const sizeBytes = cut.bytes.length + cut.elements.length * BYTES_PER_ELEMENT;
    if (sizeBytes > this.#mostBytes / 2) return undefined;
    const alike = this.#alike.get(head) ?? [];
    const replaced = alike.findIndex((kept) => kept.said.cut === cut.like);
    if (replaced >= 0) this.#drop(alike, replaced);
    else if (alike.length >= MOST_ALIKE) this.#drop(alike, 0);
    const kept = withoutInputs(reading, said);
    alike.push({ head, said: kept, sizeBytes });
    this.#sizeBytes += sizeBytes;
    // What was used last goes last.
    this.#alike.delete(head);
    this.#alike.set(head, alike);
    this.#shrink();
    return kept.cut;
  }

  #shrink(): void {
    for (const [head, alike] of this.#alike) {
      while (this.#sizeBytes > this.#mostBytes && alike.length > 0) this.#drop(alike, 0);
      if (alike.length === 0) this.#alike.delete(head);
      if (this.#sizeBytes <= this.#mostBytes) return;
    }
  }

  #drop(alike: Kept[], index: number): void {
    const [dropped] = alike.splice(index, 1);
    this.#sizeBytes -= dropped?.sizeBytes ?? 0;
  }
}

function headOf(who: string, bytes: Buffer, listFrom: number): string {
  return `${who} ${bytes.toString("latin1", listFrom, listFrom + HEAD_BYTES)}`;
}

/** Bytes of whole elements that both lists begin with, if those are more than `least`; looked for at a few places only. */
function sameBytes(
  bytes: Buffer,
  from: number,
  { bytes: other, listFrom = 0, elements }: CutBody,
  least: number,
): number {
  for (const back of [0, 1, 2, 4, 8, 16]) {
    const last = elements.at(-1 - back);
    if (!last) return 0;
    const length = last.to - listFrom;
    if (length <= least) return 0;
    const by = from - listFrom;
    // Where they differ, it is mostly in the last of them.
    const isSame =
      isSameRange(bytes, other, last, by) && isSameRange(bytes, other, { from: listFrom, to: last.from }, by);
    if (isSame) return length;
  }
  return 0;
}
