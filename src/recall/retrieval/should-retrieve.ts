import { checkFields, checkKind } from "../../model/argument-checks.ts";
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

const URL = /\b[a-z][a-z0-9+.-]*:\/\/\S+|\bwww\.\S+/gi;
const FENCED_CODE = /```[\s\S]*?(?:```|$)/g;
const PATH = /(?:^|[\s("'`@=,:：，。、（「“])((?:~|\.{1,2}|[A-Za-z]:)?[\\/]?(?:[\w.@+-]+[\\/])+[\w.@+-]*\w)/g;
const EXTENSIONS =
  "tsx?|jsx?|mjs|cjs|py|rs|go|java|kt|swift|rb|php|cs|cpp|cc|hpp|c|h|m|scala|sh|bash|ps1|sql|html?|css|scss|vue|svelte|json|jsonl|ya?ml|toml|ini|env|lock|xml|md|mdx|rst|txt|csv|tsv|pdf|docx?|xlsx?|log|proto|graphql|ipynb|tf|gradle";
const FILE = new RegExp(`(?<![\\w/\\\\.@])@?([\\w-][\\w.-]*\\.(?:${EXTENSIONS}))(?![\\w/])`, "g");
/** Products whose names look like files. */
const PRODUCTS =
  /^(?:node|vue|next|nuxt|three|express|react|angular|ember|backbone|d3|chart|p5|deno|bun|solid|alpine|discord|socket|moment)\.(?:js|ts|io)$/i;
const QUOTED = /`([^`\n]{2,80})`/g;
const CALL = /\b([A-Za-z_$][\w$]{2,})\(\)/g;
/** Names with only two capitalized parts are mostly companies, so three are required. */
const IDENTIFIER =
  /\b([a-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+){2,}|[a-z0-9]+(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g;
/** Longer messages contain pasted text, whose names are not the subject. */
const MAX_CHARACTERS = 4_000;
const MAX_NAMES = 20;

/** Files and code identifiers in a message. */
interface CodeMentions {
  readonly files: readonly string[];
  readonly names: readonly string[];
}

/** The files and code identifiers in a message; URLs and pasted code do not count. */
function findCodeMentions(message: string): CodeMentions {
  const text = message.slice(0, MAX_CHARACTERS).replace(FENCED_CODE, " ").replace(URL, " ");
  const files = new Set<string>();
  for (const [, path] of text.matchAll(PATH)) if (path && isPath(path)) files.add(path);
  for (const [, file] of text.matchAll(FILE))
    if (file && !PRODUCTS.test(file) && ![...files].some((path) => path.endsWith(file))) files.add(file);
  const names = new Set<string>();
  for (const pattern of [QUOTED, CALL, IDENTIFIER])
    for (const [, name] of text.matchAll(pattern))
      if (name && ![...files].some((file) => file.includes(name))) names.add(name.trim());
  return { files: [...files].slice(0, MAX_NAMES), names: [...names].slice(0, MAX_NAMES) };
}

const ROOTS =
  /^(?:src|lib|libs|test|tests|spec|docs?|apps?|packages|cmd|internal|pkg|bin|scripts?|config|examples?|server|client|web|public|assets|api|core|tools)$/;

/** Distinguishes paths from dates, fractions and "and/or", which also contain slashes. */
function isPath(path: string): boolean {
  const pieces = path.split(/[\\/]/).filter((piece) => piece !== "");
  const [first = ""] = pieces;
  if (/\.[A-Za-z]\w{0,7}$/.test(path)) return true;
  if (/^(?:~|\.{1,2}|[A-Za-z]:)?[\\/]/.test(path)) return pieces.length > 2;
  return pieces.length > 1 && ROOTS.test(first);
}
