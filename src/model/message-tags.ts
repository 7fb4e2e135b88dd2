/** Place where a tag decides about the text of a person. */
type TagUse =
  /** Identity of a conversation: clients leave these elements out when they resume it. */
  | "identity"
  /** Recall by the gateway: the elements are not part of the question. */
  | "question"
  /** Paging of the window: the elements are not part of the words to search for. */
  | "words"
  /** Window: a message of only such an element is state that a client sends. */
  | "state"
  /** Summary without a model: these names count although they are single words; all compound names do. */
  | "summary"
  /** Rollback in Codex: a message that begins with the tag is not a turn of the person. */
  | "turn"
  /** The same, and the tag may have attributes. */
  | "turn with attributes";

/** A tag that agents and editors write into user messages. */
interface AddedTag {
  /** Name, or its beginning up to "-" or "_" if it ends in "*". */
  readonly name: string;
  readonly uses: readonly TagUse[];
}

/**
 * All tags that tell added text from the words of a person. The uses differ on purpose: a key of a stored conversation
 * depends on "identity", Codex's own count of turns depends on "turn", and people write tags such as `<instructions>`
 * or `<document>` themselves, so only uses that can afford to lose them have them.
 */
export const ADDED_TAGS: readonly AddedTag[] = [
  { name: "system*", uses: ["question", "words", "state"] },
  { name: "environment*", uses: ["question", "words", "state"] },
  { name: "ide*", uses: ["question", "words", "state"] },
  { name: "editor*", uses: ["question", "words", "state"] },
  { name: "workspace*", uses: ["question", "words", "state"] },
  // The output of a person's own command: no words, but the message is the person's.
  { name: "local-command*", uses: ["question", "words"] },
  { name: "command-name", uses: ["question", "words"] },
  { name: "command-message", uses: ["question", "words"] },
  { name: "user_instructions", uses: ["question", "words", "turn"] },
  { name: "instructions", uses: ["question", "summary"] },
  { name: "system-reminder", uses: ["identity"] },
  { name: "environment_details", uses: ["identity"] },
  { name: "environment_context", uses: ["identity", "turn"] },
  { name: "skill", uses: ["summary", "turn"] },
  { name: "context", uses: ["summary"] },
  { name: "attachment", uses: ["summary"] },
  { name: "attachments", uses: ["summary"] },
  { name: "document", uses: ["summary"] },
  { name: "documents", uses: ["summary"] },
  { name: "editor", uses: ["summary"] },
  { name: "terminal", uses: ["summary"] },
  { name: "user_shell_command", uses: ["turn"] },
  { name: "turn_aborted", uses: ["turn"] },
  { name: "subagent_notification", uses: ["turn"] },
  { name: "additional_context", uses: ["turn with attributes"] },
  { name: "extension_context", uses: ["turn with attributes"] },
  { name: "goal_context", uses: ["turn with attributes"] },
  { name: "codex_internal_context", uses: ["turn with attributes"] },
  { name: "hook_prompt", uses: ["turn with attributes"] },
];

/** Place where the tags around a person's own words are removed. */
type WrapperUse =
  /** Window: the message has words of a person. */
  | "window"
  /** Summary without a model. */
  | "summary"
  /** Title of an imported conversation. */
  | "title";

/** A tag that clients put around the words of a person. */
interface WrapperTag {
  /** Name, or its beginning up to "-" or "_" if it ends in "*". */
  readonly name: string;
  readonly uses: readonly WrapperUse[];
}

export const WRAPPER_TAGS: readonly WrapperTag[] = [
  // Instructions of the user count as well, so that the window protects them.
  { name: "user*", uses: ["window"] },
  { name: "task", uses: ["window", "summary", "title"] },
  { name: "feedback", uses: ["window", "summary"] },
  { name: "answer", uses: ["window", "summary"] },
  { name: "question", uses: ["summary"] },
  { name: "user_message", uses: ["summary", "title"] },
  { name: "user_query", uses: ["summary", "title"] },
  { name: "user_request", uses: ["summary"] },
  { name: "user-request", uses: ["summary"] },
  { name: "new_message", uses: ["summary"] },
];

/** Returns the names of the tags with a use. */
export function getTagNames<Use extends string>(
  tags: readonly { readonly name: string; readonly uses: readonly Use[] }[],
  use: Use,
): readonly string[] {
  return tags.filter(({ uses }) => uses.includes(use)).map(({ name }) => name);
}

/** Builds the source of a regular expression that matches the names of the tags with a use. */
export function buildTagPattern<Use extends string>(
  tags: readonly { readonly name: string; readonly uses: readonly Use[] }[],
  use: Use,
): string {
  return getTagNames(tags, use)
    .map((name) => (name.endsWith("*") ? `${name.slice(0, -1)}[-_][\\w-]+` : name))
    .join("|");
}

/** Elements that agents add to user messages: reminders, editor state, machine state. */
export const ADDED_ELEMENTS = new RegExp(
  `<(${buildTagPattern(ADDED_TAGS, "question")})(?![\\w-])[^<>]*>`,
  "gi",
);
