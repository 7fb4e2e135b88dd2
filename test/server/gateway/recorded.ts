import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { WireObject } from "../../../src/wire/wire.ts";

const folder = join(process.env.LONGHAUL_DATA ?? "../shared/data", "../recordings");

/** Whether this machine has recorded requests of real clients. */
export const HAS_RECORDINGS = existsSync(folder);

/** A recorded request of a real client, with its response. */
export interface RecordedFile {
  /** "<client>/<scenario>/<number>….json". */
  readonly file: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: WireObject;
  readonly response: {
    readonly status: number;
    /** Data of a stream's events. */
    readonly sse?: readonly (WireObject | string)[];
    readonly body?: unknown;
    /** True for a response that broke off. */
    readonly truncated?: boolean;
  };
}

/** All recorded requests with a body, in order. */
export function readRecorded(): readonly RecordedFile[] {
  return globSync("**/*POST*.json", { cwd: folder })
    .sort()
    .map((file) => ({ file, ...JSON.parse(readFileSync(join(folder, file), "utf8")) }))
    .filter(({ body }) => typeof body === "object" && body !== null);
}
