import type { Part, TextPart, ToolResultPart } from "../model/part.ts";
import type { Slot } from "./slot.ts";

/** What a stub stands for, and where that can be found. */
export interface StubFacts {
  /** What was there, as in "An earlier read of src/a.ts". */
  readonly what: string;
  /** How large it was, as in "1,200 characters". */
  readonly size: string;
  readonly session: string;
  readonly seq: number;
  /** How the entry is cited, where that is not "<session>#<seq>". */
  readonly cite?: string;
}

const ENDING_WORDS = "; to see it: expand ";
const ENDING = /; to see it: expand \S*#\d+\]/;
/** What clipping leaves where it has cut. */
const CUT_WORDS = " characters cut …]";
const CUT = /\[… \d+ characters cut …\]/;

/** The words that stand in the window for what has left it. */
export function stubText({ what, size, session, seq, cite = `${session}#${seq}` }: StubFacts): string {
  return `[${what} (${size}) was left out; to see it: expand ${cite}]`;
}

/** Where what a slot shows can be found. */
export function placeOf(
  { seq, cite }: Slot,
  { session }: { readonly session: string },
): Pick<StubFacts, "session" | "seq" | "cite"> {
  return { session, seq, ...(cite !== undefined && { cite }) };
}

/** Tells whether a text is a stub, or has one in it, or was clipped. */
export function hasStub(text: string): boolean {
  // Plain searches first: they are many times faster, and hardly any text has either.
  if (text.includes(ENDING_WORDS) && ENDING.test(text)) return true;
  return text.includes(CUT_WORDS) && CUT.test(text);
}

/** Tells whether nothing but a stub is left of a result. */
export function isStub(parts: readonly Part[]): boolean {
  const [part] = parts;
  if (parts.length !== 1 || part?.type !== "text") return false;
  return part.text.startsWith("[") && !part.text.includes("\n") && hasStub(part.text);
}

/** Tells whether some of a result has already left the window. */
export function isStubbed(parts: readonly Part[]): boolean {
  return parts.some((part) => part.type === "text" && hasStub(part.text));
}

/** A stub as a part. */
export function stubPart(facts: StubFacts): TextPart {
  return { type: "text", text: stubText(facts) };
}

/** How large the output of a tool is, in words. */
export function sizeOfOutput(output: ToolResultPart["output"]): string {
  const characters = output.reduce((total, part) => total + charactersOf(part), 0);
  const media = output.filter((part) => part.type === "blob" && part.of === undefined).length;
  const files = media === 0 ? [] : [media === 1 ? "1 file" : `${media} files`];
  const text = characters > 0 || media === 0 ? [sizeOfText(characters)] : [];
  return [...text, ...files].join(" and ");
}

/** A number of characters in words. */
export function sizeOfText(characters: number): string {
  return `${grouped(characters)} characters`;
}

/** A number of bytes in words. */
export function sizeOfBytes(bytes: number): string {
  return bytes < 1_000 ? `${bytes} bytes` : `${grouped(Math.round(bytes / 1_000))} kB`;
}

/** By hand, as thousands of stubs may be made in one go and the locale's way is slow. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

function charactersOf(part: ToolResultPart["output"][number]): number {
  if (part.type === "text") return part.text.length;
  if (part.type === "blob") return part.of === undefined ? 0 : part.sizeBytes;
  return JSON.stringify(part.value).length;
}
