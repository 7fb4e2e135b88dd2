import type { Json } from "../../model/json.ts";
import { scanIdentifiers } from "../../window/extract/scan-identifiers.ts";
import type { SourceMessage } from "./source-message.ts";
import { getUserText } from "./user-request.ts";

/** An identifier that was named; frequent and recent ones have a higher worth. */
interface NamedIdentifier {
  readonly identifier: string;
  /** Number of messages that name it. */
  readonly times: number;
  readonly worth: number;
}

/** Age, in messages, at which a mention counts half. */
const HALF_LIFE_MESSAGES = 12;
const MAX_IDENTIFIER_CHARACTERS = 160;
/** A status word that appears in every to-do list. */
const STATUS_WORD = "in_progress";
/** Longest call argument, in characters, that is searched; longer ones are file contents. */
const MAX_INPUT = 4_000;

/** Identifiers that user and assistant named in the last messages, highest worth first; tool results do not count. */
export function findRecentIdentifiers(
  messages: readonly SourceMessage[],
  last: number,
): readonly NamedIdentifier[] {
  const named = new Map<string, { times: number; worth: number }>();
  for (const [age, told] of messages.slice(-last).toReversed().entries()) {
    const seen = new Set<string>();
    for (const text of listNamingTexts(told))
      scanIdentifiers(text, false, (identifier) => seen.add(identifier));
    for (const identifier of seen) {
      if (identifier.length > MAX_IDENTIFIER_CHARACTERS || identifier === STATUS_WORD) continue;
      const known = named.get(identifier) ?? { times: 0, worth: 0 };
      named.set(identifier, {
        times: known.times + 1,
        worth: known.worth + HALF_LIFE_MESSAGES / (HALF_LIFE_MESSAGES + age),
      });
    }
  }
  return [...named]
    .map(([identifier, counts]) => ({ identifier, ...counts }))
    .sort((one, other) => other.worth - one.worth || (one.identifier < other.identifier ? -1 : 1));
}

function listNamingTexts({ message }: SourceMessage): readonly string[] {
  if (message.role === "user") return [getUserText(message)];
  if (message.role !== "assistant") return [];
  return message.parts.flatMap((part) => {
    if (part.type === "text") return [part.text];
    return part.type === "tool-call" ? listArgumentTexts(part.input, MAX_INPUT) : [];
  });
}

/** The texts among a call's arguments. Argument names belong to the tool and not to the conversation. */
function listArgumentTexts(input: Json, most: number): readonly string[] {
  if (typeof input === "string") return [input.slice(0, most)];
  if (input === null || typeof input !== "object") return [];
  return Object.values(input).flatMap((value) => listArgumentTexts(value as Json, most));
}
