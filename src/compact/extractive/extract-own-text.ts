/** Tags of blocks that clients add to user messages: results, reminders, environment details. */
const OPENING =
  /<((?:[a-z]+[-_])+[a-z]+|context|instructions|skill|attachments?|documents?|editor|terminal)\b[^<>\n]{0,300}>/gi;
const KEPT_TAGS = /^(?:user_message|user_query|user-request|user_request|new_message)$/i;
const WRAPPERS =
  /<\/?(?:task|feedback|user_message|user_query|user_request|user-request|new_message|answer|question)>/gi;
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
export function extractOwnText(whole: string): string {
  const text = whole.length > HEAD + TAIL ? `${whole.slice(0, HEAD)}\n${whole.slice(-TAIL)}` : whole;
  if (isResultText(text)) return findFeedback(text);
  if (PROGRAMS.test(text)) return "";
  const kept = text.includes("<") ? removeBlocks(text).replace(WRAPPERS, "\n") : text;
  return kept.replace(/\n{3,}/g, "\n\n").trim();
}

/** People can comment on a result before it is sent. */
function findFeedback(text: string): string {
  return [...text.matchAll(/<feedback>([\s\S]*?)<\/feedback>/g)]
    .map((match) => match[1] ?? "")
    .join("\n")
    .trim();
}

/** Removes blocks in a single pass; an unclosed tag is searched for only once. */
function removeBlocks(text: string): string {
  const unclosed = new Set<string>();
  const kept: string[] = [];
  let next = 0;
  for (const match of text.matchAll(OPENING)) {
    const tag = match[1] as string;
    if (match.index < next || unclosed.has(tag) || KEPT_TAGS.test(tag)) continue;
    const end = text.indexOf(`</${tag}>`, match.index);
    if (end < 0) {
      unclosed.add(tag);
      continue;
    }
    kept.push(text.slice(next, match.index));
    next = end + tag.length + 3;
  }
  return [...kept, text.slice(next)].join("\n");
}
