import { type Message, textOfMessage } from "../../../model/message.ts";
import { ADDED_TAGS, buildTagPattern, WRAPPER_TAGS } from "../../../model/message-tags.ts";
import { removeElements } from "../../../model/remove-elements.ts";
import { listCallIds } from "../../../model/tool-calls.ts";
import { isQuestion, splitOuterSentences } from "./split-sentences.ts";
import type { SourceMessage } from "./summary-candidate.ts";

/** A user request and the assistant's final reply to it. */
export interface UserRequest {
  readonly source: SourceMessage;
  readonly text: string;
  /** The reply that ended the turn: text without a call. */
  outcome?: { readonly told: SourceMessage; readonly text: string };
}

/** Every user request in order, in the user's own words. */
export function collectRequests(messages: readonly SourceMessage[]): readonly UserRequest[] {
  const requests: UserRequest[] = [];
  let open: UserRequest[] = [];
  for (const told of messages) {
    const { message } = told;
    if (message.role === "user") {
      const text = getUserText(message);
      if (text === "") continue;
      const request: UserRequest = { source: told, text };
      requests.push(request);
      open.push(request);
    } else if (message.role === "assistant" && listCallIds(message).length === 0) {
      const text = textOfMessage(message).trim();
      if (text === "" || message.interrupted) continue;
      for (const request of open) request.outcome = { told, text };
      open = [];
    }
  }
  return requests;
}

/** Requests without an answer, or answered only by a question. */
export function filterPending(requests: readonly UserRequest[]): readonly UserRequest[] {
  const last = requests.at(-1);
  return requests.filter((request) => {
    if (!request.outcome) return true;
    return request === last && isQuestion(splitOuterSentences(request.outcome.text).at(-1) ?? "");
  });
}

/** The person's own text in a message. */
export function getUserText(message: Message): string {
  return message.parts
    .flatMap((part) => {
      if (part.type === "text") return [extractOwnText(part.text)];
      return part.type === "blob" && part.of === "text" ? [extractOwnText(part.preview ?? "")] : [];
    })
    .filter((text) => text !== "")
    .join("\n");
}

const WRAPPERS = buildTagPattern(WRAPPER_TAGS, "summary");
/** Tags of elements that clients add to user messages: all compound names, and some single words. */
const ADDED_ELEMENTS = new RegExp(
  `<(?!(?:${WRAPPERS})[\\s>])((?:[a-z]+[-_])+[a-z]+|${buildTagPattern(ADDED_TAGS, "summary")})\\b[^<>\\n]{0,300}>`,
  "gi",
);
const WRAPPER_MARKS = new RegExp(`</?(?:${WRAPPERS})>`, "gi");
/** Longer texts were pasted; only their beginning and end are inspected. */
const HEAD = 30_000;
const TAIL = 10_000;
/** Older versions of Cline and Roo, and text-only agents, send tool results as user text. */
const RESULT =
  /^\s*(?:\[[\w-]+(?: for '[^\n]*')?[^\]\n]{0,200}\] Result:|(?:OBSERVATION|Observation|TOOL_RESULT|Tool (?:result|output)):)/;
/** Texts that a program sent in the user's name. */
const PROGRAMS =
  /^\s*(?:Base directory for this skill:|This session is being continued from a previous conversation|Caveat: The messages below were generated|\[Request interrupted by user|# AGENTS\.md instructions|# task_progress|# TODO LIST|# todo list|\[ERROR\] You did not use a tool|Please continue from where we left|Continue from where you left|The user (?:interrupted|was asked)|\[TASK RESUMPTION\]|Here is a demonstration of how to correctly)/;

/** True if a text in a user message is a tool result. */
export function isResultText(text: string): boolean {
  return RESULT.test(text);
}

/** The person's own text, without content added by clients; empty if nothing is left. */
function extractOwnText(whole: string): string {
  const text = whole.length > HEAD + TAIL ? `${whole.slice(0, HEAD)}\n${whole.slice(-TAIL)}` : whole;
  if (isResultText(text)) return findFeedback(text);
  if (PROGRAMS.test(text)) return "";
  const kept = removeElements(text, ADDED_ELEMENTS, "\n").replace(WRAPPER_MARKS, "\n");
  return kept.replace(/\n{3,}/g, "\n\n").trim();
}

/** People can comment on a result before it is sent. */
function findFeedback(text: string): string {
  return [...text.matchAll(/<feedback>([\s\S]*?)<\/feedback>/g)]
    .map((match) => match[1] ?? "")
    .join("\n")
    .trim();
}
