import type { WireName, WireObject } from "../../../../src/wire/wire.ts";
import { readRecorded } from "../recorded.ts";

/** A request of a real client. */
export interface Recorded {
  readonly file: string;
  readonly api: WireName;
  readonly body: WireObject;
  readonly elements: readonly WireObject[];
}

/** All recorded requests. */
export function readRequests(): readonly Recorded[] {
  return readRecorded().flatMap(({ file, body }): readonly Recorded[] => {
    const elements = body.messages ?? body.input;
    return Array.isArray(elements) ? [{ file, api: apiOf(file), body, elements }] : [];
  });
}

function apiOf(file: string): WireName {
  if (file.includes("chat_completions")) return "openai-chat";
  return file.includes("responses") ? "openai-responses" : "anthropic";
}
