import { checkFields, checkKind } from "../../model/arguments.ts";
import { pointsBack, pointsToCode } from "./cues.ts";
import { namedThings } from "./named-things.ts";

/** What is known when a person has written something. */
export interface RetrievalContext {
  /** Texts of the window: what is named in the message and stands there need not be looked for. */
  readonly texts?: readonly string[];
}

/** Why something is looked for: the person asked for it, or named a file, code, or something from before. */
export type RetrievalReason = "command" | "file" | "code" | "earlier";

/** What to look for in memory. */
export interface WantedRetrieval {
  readonly question: string;
  readonly reason: RetrievalReason;
  /** Files and names of the message that are not in the window. */
  readonly names: readonly string[];
}

const COMMAND = /^\s*\/context(?:\s+([\s\S]+))?$/;
/** A question of this length has everything that can be searched for; what is longer holds pasted text. */
const MOST_CHARACTERS = 2_000;

/**
 * Decides whether memory is searched before a message of the user is answered, and for what; undefined if it is not. By
 * words alone: the same message in the same window is always decided alike.
 */
export function shouldRetrieve(
  userText: string,
  context: RetrievalContext = {},
): WantedRetrieval | undefined {
  checkKind("userText", userText, "text");
  const { texts = [] } = checkFields("context", context, { texts: "array?" });
  const command = COMMAND.exec(userText);
  if (command) {
    const question = (command[1] ?? "").trim().slice(0, MOST_CHARACTERS);
    return question === "" ? undefined : { question, reason: "command", names: [] };
  }
  const isMissing = (name: string) => !texts.some((text) => text.includes(name));
  const { files, names } = namedThings(userText);
  const missingFiles = files.filter((file) => isMissing(file));
  const missingNames = names.filter((name) => isMissing(name));
  const own = ownWords(userText);
  const reason = reasonOf(own, missingFiles, missingNames);
  if (reason === undefined) return undefined;
  return { question: own.slice(0, MOST_CHARACTERS), reason, names: [...missingFiles, ...missingNames] };
}

function reasonOf(
  words: string,
  files: readonly string[],
  names: readonly string[],
): RetrievalReason | undefined {
  if (files.length > 0) return "file";
  if (pointsBack(words)) return "earlier";
  return names.length > 0 || pointsToCode(words) ? "code" : undefined;
}

/** A long message without what was pasted into it. */
function ownWords(text: string): string {
  const without = text.replace(/```[\s\S]*?(?:```|$)/g, " ").replace(/^>.*$/gm, " ");
  const words = without.trim() === "" ? text : without;
  return words.length <= MOST_CHARACTERS ? words : `${words.slice(0, 1_000)}\n${words.slice(-1_000)}`;
}
