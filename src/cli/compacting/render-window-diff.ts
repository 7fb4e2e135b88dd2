import type { WindowChange } from "../../kernel/faces/window.ts";
import { type Message, type Part, textOfMessage } from "../../kernel/index.ts";
import { escapeLine, escapeText } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import type { Paint } from "../terminal/paint.ts";
import { fitText } from "../terminal/width.ts";

/** Messages shown at either end of a shortened run. */
const SHOWN_ENDS = 3;

/** Options for printing a window diff. */
interface DiffPrintOptions {
  readonly columns: number;
  readonly paint: Paint;
  /** List every message that leaves. */
  readonly isFull: boolean;
  /** Shorten runs of messages that stay, too. */
  readonly isBrief?: boolean;
}

/** Formats the difference of two windows: messages that stay, messages that leave (−) and notes that come (+). */
export function renderWindowDiff(
  changes: readonly WindowChange[],
  look: DiffPrintOptions,
): readonly string[] {
  const { columns, paint, isFull, isBrief = false } = look;
  const lines: string[] = [];
  let run: WindowChange[] = [];
  const flush = () => {
    const isLeaving = run[0]?.type === "leaves";
    const mark = isLeaving ? "-" : " ";
    const dress = (text: string) => (isLeaving ? paint("red", text) : text);
    const isWhole = isFull || !(isLeaving || isBrief) || run.length <= 2 * SHOWN_ENDS + 1;
    const show = (shown: readonly WindowChange[]) =>
      lines.push(...shown.map((change) => dress(fitText(`${mark} ${formatHeading(change)}`, columns))));
    if (isWhole) show(run);
    else {
      show(run.slice(0, SHOWN_ENDS));
      lines.push(dress(`${mark} … ${formatQuantity(run.length - 2 * SHOWN_ENDS, "more message")}`));
      show(run.slice(-SHOWN_ENDS));
    }
    run = [];
  };
  for (const change of changes) {
    if (run.length > 0 && run[0]?.type !== change.type) flush();
    if (change.type === "leaves" || change.type === "stays") run.push(change);
    else lines.push(...(change.type === "comes" ? renderNote(change, paint) : renderChange(change, look)));
  }
  flush();
  return lines;
}

function renderNote({ after }: WindowChange, paint: Paint): readonly string[] {
  return escapeText(after ? textOfMessage(after) : "")
    .split("\n")
    .map((text) => paint("green", `+ ${text}`));
}

/** Shows only the parts that differ. */
function renderChange(
  { place, before, after }: WindowChange,
  { columns, paint }: DiffPrintOptions,
): readonly string[] {
  if (!before || !after) return [];
  const known = (message: Message) => new Set(message.parts.map((part) => JSON.stringify(part)));
  const [old, fresh] = [known(before), known(after)];
  const differing = (message: Message, others: ReadonlySet<string>) => ({
    ...message,
    parts: message.parts.filter((part) => !others.has(JSON.stringify(part))),
  });
  const line = (mark: string, message: Message) =>
    fitText(
      `${mark} ${place} ${message.role}: ${escapeLine(describeMessage(message) || "(empty)")}`,
      columns,
    );
  return [
    paint("red", line("-", differing(before, fresh))),
    paint("green", line("+", differing(after, old))),
  ];
}

function formatHeading({ place, before, after }: WindowChange): string {
  const message = after ?? before;
  return message ? `${place} ${message.role}: ${escapeLine(describeMessage(message))}` : place;
}

/** Describes a message's content on one line. */
export function describeMessage(message: Message): string {
  const others = message.parts.flatMap((part) => describePart(part));
  return [textOfMessage(message), ...others].filter((text) => text !== "").join("; ");
}

function describePart(part: Part): readonly string[] {
  if (part.type === "tool-call") return [`calls ${part.name}`];
  if (part.type !== "tool-result") return [];
  const said = textOfMessage({ role: "tool", parts: part.output });
  return [said === "" ? "tool result" : `tool result: ${said}`];
}
