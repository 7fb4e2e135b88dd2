import { createHash, hash } from "node:crypto";
import { objectOf } from "../../formats/content/fields.ts";
import { soundIn } from "../../formats/content/openai-chat-media-fields.ts";
import type { DataSource, Message, MessageInput, Part, PartInput } from "../../index.ts";
import { isCompactionBlock } from "../api/anthropic/compaction-block.ts";
import { canonicalJson } from "./canonical-json.ts";

type AnyPart = Part | PartInput;

/** A text or a call larger than this is kept by the log as a blob, of which only the digest is known later. */
const LARGE_BYTES = 64 * 1024;
/** Longer messages go to the hash piece by piece, so that no second copy of them is made. */
const MOST_JOINED = 16 * 1024;
/** The first half of a key leaves the inputs of calls out. */
const HALF = 16;

/** A piece of what is said; the input of a call is kept apart. */
type Piece = string | { readonly input: string };

/** Fields of blocks that change while they say the same. */
const UNSTEADY: ReadonlySet<string> = new Set(["cache_control", "id", "call_id", "tool_use_id", "status"]);

/**
 * What a message says, as a key: messages of the same key say the same. Left out is what clients change on the way:
 * cache markers, string or block form, white space around texts, ids of calls, reasoning, media of the model. The key of a message in the
 * log is that of the message that was appended, if large parts moved out at `largeBytes`.
 */
export function canonicalKey(message: MessageInput | Message, largeBytes = LARGE_BYTES): string {
  const text = "text" in message && message.text !== undefined ? [message.text] : [];
  const pieces: Piece[] = [roleClass(message.role)];
  if (message.role === "assistant") addReply(pieces, text, message.parts ?? [], largeBytes);
  else addParts(pieces, text, message.parts ?? [], largeBytes);
  const rest = pieces.filter((piece) => typeof piece === "string");
  if (rest.length === pieces.length) return digestOf(rest).slice(0, 2 * HALF);
  const whole = digestOf(pieces.map((piece) => (typeof piece === "string" ? piece : piece.input)));
  return digestOf(rest).slice(0, HALF) + whole.slice(0, HALF);
}

/** True if messages say the same, whatever they hand to tools: some clients put other paths there. */
export function isAlike(key: string, other: string): boolean {
  return key === other || key.slice(0, HALF) === other.slice(0, HALF);
}

/** Anthropic has no role for tool results: they come from the user. */
function roleClass(role: MessageInput["role"]): string {
  return role === "tool" ? "user" : role;
}

/** Of media that the model made, clients send back what they like; what it said aloud they name by its id alone. */
function addReply(
  pieces: Piece[],
  before: readonly string[],
  parts: readonly AnyPart[],
  largeBytes: number,
): void {
  const said = parts.filter((part) => !isMedia(part));
  const id = said.map((part) => soundIn(part)?.id).find((one) => typeof one === "string");
  if (id === undefined) {
    addParts(pieces, before, said, largeBytes);
    return;
  }
  pieces.push("aloud", id);
  const others = said.filter((part) => part.type !== "text" && !soundIn(part));
  addParts(pieces, [], others, largeBytes);
}

function isMedia(part: AnyPart): boolean {
  if (part.type === "raw") return objectOf(part.value)?.type === "image_url";
  return part.type === "data" || (part.type === "blob" && part.of === undefined);
}

/** Texts first, then the others in their order: clients join texts around calls. */
function addParts(
  pieces: Piece[],
  before: readonly string[],
  parts: readonly AnyPart[],
  largeBytes: number,
): void {
  const texts: string[] = [];
  const others: Piece[] = [];
  const addText = (text: string) => {
    if (isLarge(text, largeBytes)) others.push("large text", hash("sha256", text));
    else {
      const plain = plainText(text);
      if (plain !== "") texts.push(plain);
    }
  };
  before.forEach(addText);
  for (const part of parts) {
    if (part.type === "text") addText(part.text);
    else addOther(others, part, largeBytes);
  }
  if (texts.length > 0) pieces.push("text", texts.length === 1 ? (texts[0] as string) : texts.join("\n"));
  for (const other of others) pieces.push(other);
}

function addOther(pieces: Piece[], part: Exclude<AnyPart, { type: "text" }>, largeBytes: number): void {
  switch (part.type) {
    case "reasoning":
      return;
    case "tool-call": {
      const input = canonicalJson(parsedInput(part.input));
      const isBig = input.length * 6 > largeBytes && isLarge(JSON.stringify(part), largeBytes);
      pieces.push("call", part.name, { input: isBig ? "large" : input });
      return;
    }
    case "tool-result": {
      pieces.push(part.isError === true ? "failed result" : "result");
      if (typeof part.output === "string") addParts(pieces, [part.output], [], largeBytes);
      else addParts(pieces, [], part.output, largeBytes);
      pieces.push("end of result");
      return;
    }
    case "data":
      pieces.push("media", digestOfData(part.data));
      return;
    case "raw":
      // A summary that stands in front of a reply is not what the model said.
      if (part.format === "anthropic" && isCompactionBlock(part.value)) return;
      pieces.push("raw", canonicalJson(part.value, UNSTEADY));
      return;
    case "blob":
      if (part.of === undefined) pieces.push("media", part.digest);
      else if (part.of === "text") pieces.push("large text", part.digest);
      else if (part.of === "tool-call") pieces.push("call", part.toolName ?? "", { input: "large" });
      else if (part.of === "raw") pieces.push("large raw", part.digest);
  }
}

/** Arguments as text say the same as arguments as an object. */
function parsedInput(input: unknown): unknown {
  if (input === "" || input === null || input === undefined) return {};
  if (typeof input !== "string" || !/^\s*[[{]/.test(input)) return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

function plainText(text: string): string {
  return (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text).trim();
}

function isLarge(text: string, largeBytes: number): boolean {
  return text.length * 3 > largeBytes && Buffer.byteLength(text) > largeBytes;
}

/** As digests of blobs are made. */
function digestOfData(data: DataSource): string {
  if (typeof data === "string") {
    const comma = data.startsWith("data:") ? data.indexOf(",") + 1 : 0;
    return hash("sha256", Buffer.from(comma > 0 ? data.slice(comma) : data, "base64"));
  }
  return data instanceof Uint8Array ? hash("sha256", data) : "stream";
}

/** Each piece is preceded by its length, so that no text can be taken for a piece of another kind. */
function digestOf(pieces: readonly string[]): string {
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (size <= MOST_JOINED) return hash("sha256", pieces.map((piece) => `${piece.length} ${piece}`).join(""));
  const digest = createHash("sha256");
  for (const piece of pieces) digest.update(`${piece.length} `).update(piece);
  return digest.digest("hex");
}
