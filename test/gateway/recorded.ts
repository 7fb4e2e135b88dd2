import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/gateway/api/api.ts";

const folder = join(process.env.LONGHAUL_DATA ?? "../shared/data", "../recordings");

/** Whether this machine has requests that real clients sent. */
export const HAS_RECORDINGS = existsSync(folder);

/** A request that a real client sent and what it was answered, as it was recorded. */
export interface RecordedFile {
  /** "<client>/<scenario>/<number>….json". */
  readonly file: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: JsonObject;
  readonly response: {
    readonly status: number;
    /** Data of the events of a stream. */
    readonly sse?: readonly (JsonObject | string)[];
    readonly body?: unknown;
    /** True for an answer that broke off half-way. */
    readonly truncated?: boolean;
  };
}

/** All requests that were recorded and have a body, in their order. */
export function readRecorded(): readonly RecordedFile[] {
  return globSync("**/*POST*.json", { cwd: folder })
    .sort()
    .map((file) => ({ file, ...JSON.parse(readFileSync(join(folder, file), "utf8")) }))
    .filter(({ body }) => typeof body === "object" && body !== null);
}
