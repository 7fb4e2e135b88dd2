import { dirname } from "node:path";
import type { Wire, WireObject } from "../../src/wire/wire.ts";
import { WIRES } from "../../src/wire/wires.ts";
import { readRecorded } from "../server/gateway/recorded.ts";

/** A request of a real client, and its response. */
export interface RecordedExchange {
  /** "<client>/<scenario>". */
  readonly scenario: string;
  readonly api: Wire;
  readonly elements: readonly WireObject[];
  readonly status: number;
  /** Data of a stream's events. */
  readonly events: readonly string[] | undefined;
  readonly body: string | undefined;
}

/** All recorded exchanges, in order. */
export function readExchanges(): readonly RecordedExchange[] {
  return readRecorded().flatMap(({ file, url, body, response }) => {
    const api = WIRES.find(({ path }) => url.split("?")[0]?.endsWith(path));
    if (!api) return [];
    const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
    return [
      {
        scenario: dirname(file),
        api,
        elements: body[api.messagesField] as readonly WireObject[],
        status: response.status,
        events: response.sse?.map(text),
        body: response.body === undefined ? undefined : text(response.body),
      },
    ];
  });
}
