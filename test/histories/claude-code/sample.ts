import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { testFolder } from "../../support/folder.ts";
import { PIXEL_PNG } from "../../support/pixel.ts";

/** The session of all sample lines. */
export const SESSION = "3f2a9c1e-5b7d-4e21-9a66-0c1d2e3f4a5b";

/** A one-pixel PNG. */
export const PIXEL = PIXEL_PNG;

/** One line of a file. */
export type Line = { readonly [field: string]: unknown };

/** The time of a line by its number. */
export function timeAt(second: number): number {
  return Date.UTC(2026, 4, 4, 8, 0, second);
}

let seconds = 0;

/** A line of the conversation, a second after the previous one. */
export function line(type: string, uuid: string, parentUuid: string | null, fields: Line = {}): Line {
  return {
    parentUuid,
    isSidechain: false,
    userType: "external",
    cwd: "/garden",
    sessionId: SESSION,
    version: "2.1.40",
    gitBranch: "main",
    type,
    uuid,
    timestamp: new Date(timeAt(seconds++)).toISOString(),
    ...fields,
  };
}

/** A user message. */
export function prompt(uuid: string, parent: string | null, content: unknown, fields: Line = {}): Line {
  return line("user", uuid, parent, { message: { role: "user", content }, ...fields });
}

/** One block of an assistant message. */
export function said(uuid: string, parent: string, id: string, block: unknown, fields: Line = {}): Line {
  const usage = { input_tokens: 3, output_tokens: 7, cache_read_input_tokens: 400, service_tier: "standard" };
  const message = {
    id,
    type: "message",
    role: "assistant",
    model: "claude-opus-4-6",
    stop_reason: null,
    usage,
  };
  return line("assistant", uuid, parent, {
    requestId: `req_${id}`,
    message: { ...message, content: [block] },
    ...fields,
  });
}

/** A text block. */
export function text(words: string): Line {
  return { type: "text", text: words };
}

/** A tool call block. */
export function call(id: string, name: string, input: unknown = {}): Line {
  return { type: "tool_use", id, name, input };
}

/** A tool result. */
export function result(
  uuid: string,
  parent: string,
  id: string,
  content: unknown,
  toolUseResult?: unknown,
): Line {
  const block = { type: "tool_result", tool_use_id: id, content };
  const beside = toolUseResult === undefined ? {} : { toolUseResult };
  const source = { sourceToolAssistantUUID: parent };
  return line("user", uuid, parent, { message: { role: "user", content: [block] }, ...source, ...beside });
}

/** Progress of a tool. */
export function progress(uuid: string, parent: string, callId: string, data: Line): Line {
  return line("progress", uuid, parent, { data, toolUseID: "progress-1", parentToolUseID: callId });
}

/** The text of a file with these lines. */
export function textOfLines(lines: readonly Line[]): string {
  return lines.map((one) => `${JSON.stringify(one)}\n`).join("");
}

/** Writes files, given as lines or text, into a new folder and returns its path. */
export function folderWith(files: Readonly<Record<string, readonly Line[] | string>>): string {
  const folder = testFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : textOfLines(content));
  }
  return folder;
}

/** Writes the session's file and returns its path. */
export function sessionFile(lines: readonly Line[], name = `${SESSION}.jsonl`): string {
  return join(folderWith({ [name]: lines }), name);
}
