import type { MessageInput } from "../../index.ts";

/** Elements that agents put into messages of the user: reminders, what the editor shows, the state of the machine. */
const ADDED =
  /<((?:system|environment|ide|local-command|editor|workspace)[-_][\w-]*|user_instructions|command-(?:name|message)|INSTRUCTIONS)\b[^>]*>[\s\S]*?<\/\1>/gi;
const COMMAND = /^\s*\/context\s/;

/**
 * What a person has written in a message, without what the agent added; undefined where nothing is left, or where tools
 * have answered. A "/context …" of theirs stands for all of it.
 */
export function ownWords({ role, text, parts = [] }: MessageInput): string | undefined {
  if (role !== "user" || parts.some(({ type }) => type === "tool-result")) return undefined;
  const texts = [
    ...(text === undefined ? [] : [text]),
    ...parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
  ];
  const own = texts.map((one) => one.replace(ADDED, " ").trim()).filter((one) => one !== "");
  return own.find((one) => COMMAND.test(one)) ?? (own.length > 0 ? own.join("\n\n") : undefined);
}
