import { clipEnd } from "../../model/base/clip-end.ts";

const LINE_BREAKS = /\r\n?|[\u0085\u2028\u2029\v\f]/g;
/** Invisible characters, which can change the writing direction or hide text from a reader. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const BETWEEN = "[\\s\\p{M}\\p{Cf}]*";
const FENCES = "(?:context|memories|memory-data|conversation-data|quoted-data)";
const ROLES =
  "(?:system|developer|assistant|human|user|model|tool|function|instruction|invoke|antml|s)(?:[-_:=][\\w-]*|s)?(?=[\\s>＞/]|$)";
const CONTROLS = "(?:[|｜]|[<＜]\\/?SYS)";
/** Closing tags anywhere; opening tags unless they are type arguments as in List<User>. */
const TAGS = new RegExp(
  `[<＜﹤](?=${BETWEEN}(?:[/／]${BETWEEN}(?:${FENCES}|${ROLES})|${FENCES}(?=[\\s\\p{M}\\p{Cf}>＞]|$)|${CONTROLS}))|(?<![\\w\\]])[<＜﹤](?=${BETWEEN}${ROLES})`,
  "giu",
);
const TOKENS = /\[(\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS))\]/gi;

/**
 * Stored text without anything that could pass for a delimiter, a role or a control token of a chat, and without
 * invisible characters. The rest is unchanged.
 */
export function sanitizeText(text: string): string {
  return text
    .toWellFormed()
    .replace(LINE_BREAKS, "\n")
    .replace(UNSEEN, "")
    .replace(TAGS, "‹")
    .replace(TOKENS, "($1)");
}

/** A name (of a session, person or file) on one line that cannot break out of the surrounding text. */
export function sanitizeName(name: string, mostCharacters = 300): string {
  return clipEnd(
    sanitizeText(name)
      .replace(/[<>＜＞"\s]+/g, " ")
      .trim(),
    mostCharacters,
  );
}

/** Stored text with a sign before each line, so that no line can pass for one of the surrounding text. */
export function quoteLines(text: string, sign: (index: number) => string = () => "|"): string {
  return sanitizeText(text)
    .split("\n")
    .map((line, index) => `${sign(index)} ${line}`.trimEnd())
    .join("\n");
}
