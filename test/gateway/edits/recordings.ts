import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiName, JsonObject } from "../../../src/gateway/api/api.ts";

const folder = join(process.env.LONGHAUL_DATA ?? "../shared/data", "../recordings");

/** Whether this machine has requests that real clients sent. */
export const HAS_RECORDINGS = existsSync(folder);

/** A request that a real client sent. */
export interface Recorded {
  readonly file: string;
  readonly api: ApiName;
  readonly body: JsonObject;
  readonly elements: readonly JsonObject[];
}

/** All requests that were recorded. */
export function readRequests(): readonly Recorded[] {
  return globSync("**/*POST*.json", { cwd: folder })
    .sort()
    .flatMap((file): readonly Recorded[] => {
      const { body } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { body: unknown };
      if (typeof body !== "object" || body === null) return [];
      const request = body as JsonObject;
      const elements = request.messages ?? request.input;
      if (!Array.isArray(elements)) return [];
      return [{ file, api: apiOf(file), body: request, elements: elements as JsonObject[] }];
    });
}

function apiOf(file: string): ApiName {
  if (file.includes("chat_completions")) return "openai-chat";
  return file.includes("responses") ? "openai-responses" : "anthropic";
}
