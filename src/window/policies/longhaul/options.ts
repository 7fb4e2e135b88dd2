/** How the window is rebuilt. Shares are of the room behind system prompt and tools, unless said otherwise. */
export interface LonghaulOptions {
  /** A rebuild goes down to this share, */
  readonly low: number;
  /** but never to more tokens than this: reads are what costs, so money wants a target of its own. */
  readonly target: number;
  /** Kept word by word at the end, of what a rebuild goes down to. */
  readonly tail: number;
  /** For tail and extract at least, of what a rebuild goes down to, however much was said. */
  readonly work: number;
  /** For the extract, where the limit forces out what was said; of what a rebuild goes down to. */
  readonly extract: number;
  /** For the extract at least, if what may not leave takes more than a rebuild goes down to. */
  readonly least: number;
  /** When the cache is cold anyway, rebuild from this multiple of the low mark on. */
  readonly cold: number;
}

/** What holds unless the caller says otherwise. */
export const LONGHAUL_OPTIONS: LonghaulOptions = {
  low: 0.55,
  target: 44_000,
  tail: 0.14,
  work: 0.4,
  extract: 0.65,
  least: 0.1,
  cold: 0.8,
};
