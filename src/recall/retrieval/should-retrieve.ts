import { checkFields, checkKind } from "../../model/argument-checks.ts";
import { findCodeMentions } from "./code-mentions.ts";
import { hasBackReference, hasCodeReference } from "./retrieval-cues.ts";

/** The state of the conversation when a person has written a message. */
interface RetrievalContext {
  /** Texts of the window; names that occur there need not be searched for. */
  readonly texts?: readonly string[];
}

/** Why memory is searched: the person asked for it, or named a file, code, or something earlier. */
export type RetrievalReason = "command" | "file" | "code" | "earlier";

/** A search to perform in memory. */
export interface WantedRetrieval {
  readonly question: string;
  readonly reason: RetrievalReason;
  /** Files and names in the message that are not in the window. */
  readonly names: readonly string[];
}

const COMMAND = /^\s*\/context(?:\s+([\s\S]+))?$/;
/** A longer question contains pasted text and adds nothing to the search. */
const MAX_QUESTION_CHARACTERS = 2_000;

/**
 * Decides which search of memory precedes the answer to a user message; undefined for none. Depends
 * only on the words: the same message in the same window always has the same result.
 */
export function shouldRetrieve(
  userText: string,
  context: RetrievalContext = {},
): WantedRetrieval | undefined {
  checkKind("userText", userText, "text");
  const { texts = [] } = checkFields("context", context, { texts: "array?" });
  const command = COMMAND.exec(userText);
  if (command) {
    const question = (command[1] ?? "").trim().slice(0, MAX_QUESTION_CHARACTERS);
    return question === "" ? undefined : { question, reason: "command", names: [] };
  }
  const isMissing = (name: string) => !texts.some((text) => text.includes(name));
  const { files, names } = findCodeMentions(userText);
  const missingFiles = files.filter((file) => isMissing(file));
  const missingNames = names.filter((name) => isMissing(name));
  const own = removePastedText(userText);
  const reason = findReason(own, missingFiles, missingNames);
  if (reason === undefined) return undefined;
  return {
    question: own.slice(0, MAX_QUESTION_CHARACTERS),
    reason,
    names: [...missingFiles, ...missingNames],
  };
}

function findReason(
  words: string,
  files: readonly string[],
  names: readonly string[],
): RetrievalReason | undefined {
  if (files.length > 0) return "file";
  if (hasBackReference(words)) return "earlier";
  return names.length > 0 || hasCodeReference(words) ? "code" : undefined;
}

/** A message without quoted or fenced text; only both ends of a long one. */
function removePastedText(text: string): string {
  const without = text.replace(/```[\s\S]*?(?:```|$)/g, " ").replace(/^>.*$/gm, " ");
  const words = without.trim() === "" ? text : without;
  return words.length <= MAX_QUESTION_CHARACTERS ? words : `${words.slice(0, 1_000)}\n${words.slice(-1_000)}`;
}
