import { send } from "./client.ts";
import type { StreamEvent, StreamInput, StreamName } from "./routes.ts";

interface FollowOptions {
  readonly signal: AbortSignal;
  /** Continue after this event. */
  readonly lastEventId?: string | undefined;
}

interface RawEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** Follows a stream of the API once, until it ends. EventSource cannot send the token, hence fetch. */
export async function* follow<Name extends StreamName>(
  name: Name,
  input: StreamInput<Name>,
  { signal, lastEventId }: FollowOptions,
): AsyncGenerator<StreamEvent<Name>> {
  const headers = {
    accept: "text/event-stream",
    ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
  };
  const response = await send(name, input as object, { signal, headers });
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const parsed = parseEvent(block);
      if (parsed) yield parsed as StreamEvent<Name>;
    }
  }
}

/** Parses one event; undefined for a comment. */
export function parseEvent(block: string): RawEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ""));
  }
  const data = fields.get("data");
  return data === undefined
    ? undefined
    : { event: fields.get("event") ?? "message", id: fields.get("id"), data: JSON.parse(data) };
}
