import type { Slot } from "../../index.ts";
import { textOfMessage } from "../../index.ts";
import { countOf } from "../count.ts";
import { escapeLine, escapeText } from "../escape.ts";
import type { Paint } from "../paint.ts";
import { fitTo } from "../width.ts";

const SHOWN_ENDS = 3;

/** How two windows differ, as lines: what stays, what leaves (−) and what comes (+). */
export function windowDiff(
  before: readonly Slot[],
  after: readonly Slot[],
  look: { readonly columns: number; readonly paint: Paint; readonly isFull: boolean },
): readonly string[] {
  const { columns, paint, isFull } = look;
  const line = (mark: string, slot: Slot) => fitTo(`${mark} ${heading(slot)}`, columns);
  const stays = new Set(after.filter(({ isNote }) => !isNote).map(({ seq }) => seq));
  const lines: string[] = [];
  let gone: Slot[] = [];
  const flush = () => {
    const shown = isFull || gone.length <= 2 * SHOWN_ENDS + 1 ? gone : gone.slice(0, SHOWN_ENDS);
    for (const one of shown.map((slot) => paint("red", line("-", slot)))) lines.push(one);
    const rest = gone.length - shown.length;
    if (rest > 0) {
      lines.push(paint("red", `- … ${countOf(rest - SHOWN_ENDS, "more message")}`));
      for (const one of gone.slice(-SHOWN_ENDS).map((slot) => paint("red", line("-", slot)))) lines.push(one);
    }
    gone = [];
  };
  const added = after.filter(({ isNote }) => isNote);
  const all = [
    ...before.map((slot) => ({ slot, isNew: false })),
    ...added.map((slot) => ({ slot, isNew: true })),
  ];
  all.sort((a, b) => a.slot.seq - b.slot.seq || Number(a.isNew) - Number(b.isNew));
  const late: Slot[] = [];
  for (const { slot, isNew } of all) {
    if (isNew) late.push(slot);
    else if (!stays.has(slot.seq)) gone.push(slot);
    else {
      flush();
      for (const note of late.splice(0)) for (const one of noteLines(note, paint)) lines.push(one);
      lines.push(line(" ", slot));
    }
  }
  flush();
  for (const note of late) for (const one of noteLines(note, paint)) lines.push(one);
  return lines;
}

function noteLines({ message }: Slot, paint: Paint): readonly string[] {
  return escapeText(textOfMessage(message))
    .split("\n")
    .map((text) => paint("green", `+ ${text}`));
}

function heading({ seq, cite, message }: Slot): string {
  const calls = message.parts.flatMap((part) => {
    if (part.type === "tool-call") return [`calls ${part.name}`];
    return part.type === "tool-result" ? ["tool result"] : [];
  });
  const words = [textOfMessage(message), ...calls].filter((text) => text !== "").join("; ");
  return `${cite ?? `#${seq}`} ${message.role}: ${escapeLine(words)}`;
}
