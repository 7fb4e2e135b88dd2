import { checkFields, checkList } from "../../model/argument-checks.ts";
import { createArgumentError, isLonghaulError } from "../../model/errors.ts";
import type { Memories } from "./memories.ts";
import { joinPinTexts } from "./pin-section.ts";
import { MAX_MEMORY_BYTES, type StoredMemory } from "./stored-memory.ts";

/** Pins in the form of older programs, where they were one growing text. */
export interface LegacyPins {
  /** Oldest first. */
  readonly recentMemories: readonly string[];
  /** Can be read; assignments have no effect. */
  pinContent: string;
}

interface RememberLegacyOptions {
  /** Called for each text that was not remembered because its value was forgotten or rejected, with the reason. */
  readonly onRefused?: (text: string, reason: string) => void;
}

/** Number of memories to compare with, so that data read twice is remembered once. */
const MAX_COMPARED = 10_000;

/** Pins for programs that read or write `pinContent`. */
export function toLegacyPins(pins: readonly StoredMemory[]): LegacyPins {
  return {
    recentMemories: checkList("pins", pins, { text: "text" }).map(({ text }) => text),
    get pinContent() {
      return joinPinTexts(pins);
    },
    // Older programs append to it after every save; the appended text is already a pin.
    set pinContent(_) {},
  };
}

/**
 * The memories in the data of an older agent, oldest first: its list of recent ones if there is one, else its
 * `pinContent` split into pieces. Returns an empty list for data without either; never throws.
 */
export function readLegacyMemories(data: unknown): readonly string[] {
  if (data === null || typeof data !== "object") return [];
  const { recentMemories, recent_memories, pinContent, pin_content } = data as Readonly<
    Record<string, unknown>
  >;
  const list = recentMemories ?? recent_memories;
  const texts = Array.isArray(list) && list.length > 0 ? list : [pinContent ?? pin_content];
  return texts.flatMap((text) => (typeof text === "string" ? splitIntoMemories(text.toWellFormed()) : []));
}

/**
 * Remembers the memories in the data of an older agent that are not remembered yet, as notes of the agent, because
 * their author is unknown. Values that were forgotten or rejected are left out.
 */
export async function rememberLegacy(
  memories: Memories,
  data: unknown,
  options: RememberLegacyOptions = {},
): Promise<readonly StoredMemory[]> {
  if (typeof memories?.list !== "function")
    throw createArgumentError("memories", memories, "what kernel.memories() returns");
  const { onRefused } = checkFields("options", options, { onRefused: "function?" });
  const all = await memories.list({ limit: MAX_COMPARED, trust: "rejected", validAt: "ever" });
  const known = new Set(all.map(({ text }) => text));
  const added: StoredMemory[] = [];
  for (const text of readLegacyMemories(data)) {
    if (known.has(text)) continue;
    try {
      const memory = await memories.remember(text, { by: "agent" });
      if (memory) added.push(memory);
    } catch (error) {
      if (!isLonghaulError(error, "MEMORY_REFUSED")) throw error;
      onRefused?.(text, error.message);
    }
  }
  return added;
}

/**
 * Splits a text between lines into pieces of at most the size of a memory; a longer line is split between characters.
 */
function splitIntoMemories(text: string): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const line of text.split("\n").flatMap(splitLongLine)) {
    const longer = piece === "" ? line : `${piece}\n${line}`;
    if (Buffer.byteLength(longer) <= MAX_MEMORY_BYTES) piece = longer;
    else {
      pieces.push(piece);
      piece = line;
    }
  }
  return [...pieces, piece].map((one) => one.trim()).filter((one) => one !== "");
}

function splitLongLine(line: string): string[] {
  if (Buffer.byteLength(line) <= MAX_MEMORY_BYTES) return [line];
  const characters = [...line];
  // A character takes at most four bytes.
  const most = Math.floor(MAX_MEMORY_BYTES / 4);
  return Array.from({ length: Math.ceil(characters.length / most) }, (_, index) =>
    characters.slice(index * most, (index + 1) * most).join(""),
  );
}
