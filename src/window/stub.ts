import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { Part, TextPart, ToolResultPart } from "../model/part.ts";
import type { Slot } from "./slot.ts";

/** Describes removed content and where to find it. */
interface StubFacts {
  /** The removed content, as in "An earlier read of src/a.ts". */
  readonly what: string;
  /** Size of the removed content, as in "1,200 characters". */
  readonly size: string;
  readonly session: string;
  readonly seq: number;
  /** Citation of the entry, if it is not "<session>#<seq>". */
  readonly cite?: string;
}

const ENDING_WORDS = "; to see it: expand ";
const ENDING = /; to see it: expand \S*#\d+\]/;
/** The notice that clipping leaves at a cut. */
const CUT_WORDS = " characters cut …]";
const CUT = /\[… \d+ characters cut …\]/;

/** The text that replaces removed content in the window. */
export function buildStubText({ what, size, session, seq, cite = `${session}#${seq}` }: StubFacts): string {
  return `[${what} (${size}) was left out; to see it: expand ${cite}]`;
}

/** The entry that a slot shows, as stub facts. */
export function getStubPlace(
  { seq, cite }: Slot,
  { session }: { readonly session: string },
): Pick<StubFacts, "session" | "seq" | "cite"> {
  return { session, seq, ...dropUndefined({ cite }) };
}

/** True if a text contains a stub or was clipped. */
export function hasStub(text: string): boolean {
  // Plain searches first: they are many times faster, and hardly any text contains either string.
  if (text.includes(ENDING_WORDS) && ENDING.test(text)) return true;
  return text.includes(CUT_WORDS) && CUT.test(text);
}

/** True if a stub is all that remains of a result. */
export function isStub(parts: readonly Part[]): boolean {
  const [part] = parts;
  if (parts.length !== 1 || part?.type !== "text") return false;
  return part.text.startsWith("[") && !part.text.includes("\n") && hasStub(part.text);
}

/** True if part of a result has already left the window. */
export function isStubbed(parts: readonly Part[]): boolean {
  return parts.some((part) => part.type === "text" && hasStub(part.text));
}

export function buildStubPart(facts: StubFacts): TextPart {
  return { type: "text", text: buildStubText(facts) };
}

/** Size of a tool's output in words, as in "1,200 characters and 1 file". */
export function describeOutputSize(output: ToolResultPart["output"]): string {
  const characters = output.reduce((total, part) => total + countOutputCharacters(part), 0);
  const media = output.filter((part) => part.type === "blob" && part.of === undefined).length;
  const files = media === 0 ? [] : [media === 1 ? "1 file" : `${media} files`];
  const text = characters > 0 || media === 0 ? [describeTextSize(characters)] : [];
  return [...text, ...files].join(" and ");
}

export function describeTextSize(characters: number): string {
  return `${formatThousands(characters)} characters`;
}

export function describeByteSize(bytes: number): string {
  return bytes < 1_000 ? `${bytes} bytes` : `${formatThousands(Math.round(bytes / 1_000))} kB`;
}

/** Formatted by hand: one call may write thousands of stubs, and `toLocaleString` is slow. */
function formatThousands(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

function countOutputCharacters(part: ToolResultPart["output"][number]): number {
  if (part.type === "text") return part.text.length;
  if (part.type === "blob") return part.of === undefined ? 0 : part.sizeBytes;
  return JSON.stringify(part.value).length;
}
