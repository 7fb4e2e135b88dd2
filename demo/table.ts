import type { Figures } from "./figures.ts";
import { formatBytes, formatCount, formatMs } from "./format.ts";
import type { Course } from "./memory.ts";

/** The closing tables, line by line: operations, memory and disk use. */
export function tableLines(figures: Figures): readonly string[] {
  const { append, page, lookUp, rewind, edit, reopen } = figures;
  return [
    ...rows([
      ["messages appended", formatCount(append.messages), `${formatCount(append.messagesPerSecond)}/s`],
      ["images appended", formatCount(append.images), formatBytes(append.imageBytes)],
      ["newest page", formatMs(page.newestMs)],
      ["page up, page down", formatMs(page.olderMs), formatMs(page.newerMs)],
      ["by id, by seq, by time", ...[lookUp.byIdMs, lookUp.bySeqMs, lookUp.byTimeMs].map(formatMs)],
      ...(figures.image ? [["an image, verified", formatMs(figures.image.readMs)]] : []),
      ["rewind, undo", formatMs(rewind.rewindMs), formatMs(rewind.undoMs)],
      ["replace a message", formatMs(edit.replaceMs)],
      ["come back to last page", formatMs(reopen.openMs)],
    ]),
    "",
    ...rows([
      ["memory", "start", "peak", "end", "growth"],
      ["heap", ...courseCells(figures.heap)],
      ["RSS", ...courseCells(figures.rss)],
    ]),
    "",
    ...rows([
      ["bytes", "text", "images", "together"],
      ["of conversation", ...sumCells(append.textBytes, append.imageBytes)],
      ["on disk", ...sumCells(figures.disk.logBytes, figures.disk.blobBytes)],
    ]),
  ];
}

function courseCells({ startBytes, peakBytes, endBytes, growthBytes }: Course): readonly string[] {
  const sign = growthBytes > 0 ? "+" : "";
  return [
    formatBytes(startBytes),
    formatBytes(peakBytes),
    formatBytes(endBytes),
    sign + formatBytes(growthBytes),
  ];
}

function sumCells(textBytes: number, imageBytes: number): readonly string[] {
  return [textBytes, imageBytes, textBytes + imageBytes].map(formatBytes);
}

function rows(cells: readonly (readonly string[])[]): readonly string[] {
  return cells.map(([label = "", ...values]) =>
    `  ${label.padEnd(24)}${values.map((value) => value.padStart(13)).join("")}`.trimEnd(),
  );
}
