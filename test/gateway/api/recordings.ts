import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Api, JsonObject } from "../../../src/gateway/api/api.ts";
import { APIS } from "../../../src/gateway/api/apis.ts";

const folder = join(process.env.LONGHAUL_DATA ?? "../shared/data", "../recordings");

/** Whether this machine has requests that real clients sent. */
export const HAS_RECORDINGS = existsSync(folder);

/** A request that a real client sent, and what it was answered. */
export interface RecordedExchange {
  /** "<client>/<scenario>". */
  readonly scenario: string;
  readonly api: Api;
  readonly elements: readonly JsonObject[];
  readonly status: number;
  /** Data of the events of a stream. */
  readonly events: readonly string[] | undefined;
  readonly body: string | undefined;
}

/** All recorded exchanges, in their order. */
export function readExchanges(): readonly RecordedExchange[] {
  const files = globSync("**/*POST*.json", { cwd: folder }).sort();
  return files.flatMap((file) => {
    const { url, body, response } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    const api = APIS.find(({ path }) => String(url).split("?")[0]?.endsWith(path));
    if (!api || typeof body !== "object") return [];
    const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
    return [
      {
        scenario: dirname(file),
        api,
        elements: body[api.messagesField] as readonly JsonObject[],
        status: response.status,
        events: response.sse?.map(text),
        body: response.body === undefined ? undefined : text(response.body),
      },
    ];
  });
}
