import type { Writable } from "node:stream";
import type { ImportProgress } from "../formats/index.ts";
import { formatBytes } from "./format-bytes.ts";
import { formatCount } from "./format-count.ts";
import { formatDuration } from "./format-time.ts";
import { RedrawnLine } from "./redrawn-line.ts";
import { fitText } from "./width.ts";

const BAR_COLUMNS = 24;
/** Earlier estimates of the remaining time are too unreliable to show. */
const GUESS_AFTER_MS = 1_500;

/** Formats the progress of an import on one line. */
export function formatProgress(progress: ImportProgress, elapsedMs: number, columns: number): string {
  const { bytesRead, totalBytes, index, count } = progress;
  const share = computeShare(progress);
  const full = Math.round(share * BAR_COLUMNS);
  const words = [
    `${"█".repeat(full)}${"░".repeat(BAR_COLUMNS - full)} ${Math.floor(share * 100)}%`,
    bytesRead <= totalBytes
      ? `${formatBytes(bytesRead)} of ${formatBytes(totalBytes)}`
      : formatBytes(bytesRead),
    `${formatCount(Math.min(index + 1, count))} of ${formatCount(count)} conversations`,
    `${(bytesRead / 1e3 / Math.max(1, elapsedMs)).toFixed(1)} MB/s`,
  ];
  if (elapsedMs > GUESS_AFTER_MS && share > 0.01) {
    words.push(`${formatDuration((elapsedMs * (1 - share)) / share)} left`);
  }
  return fitText(words.join("  "), columns);
}

/** Compressed sources yield more bytes than they have on disk; their share is counted in conversations. */
function computeShare({ bytesRead, totalBytes, index, count }: ImportProgress): number {
  if (totalBytes > 0 && bytesRead <= totalBytes) return bytesRead / totalBytes;
  return count > 0 ? index / count : 0;
}

/** Shows the progress of an import on the last line of a terminal. */
export class ProgressBar {
  readonly #line: RedrawnLine;
  readonly #startedAt = performance.now();

  constructor(stream: Writable, columns: number) {
    this.#line = new RedrawnLine(stream, columns);
  }

  update(progress: ImportProgress): void {
    const elapsedMs = performance.now() - this.#startedAt;
    this.#line.update((columns) => formatProgress(progress, elapsedMs, columns));
  }

  /** Removes the bar from the screen. */
  clear(): void {
    this.#line.clear();
  }
}
