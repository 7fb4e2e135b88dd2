import { UpstreamError } from "../../upstream/upstream-error.ts";
import type { SseEvent } from "./sse-event.ts";
import { SseSplitter } from "./sse-splitter.ts";

/** Transforms and sends the events of a stream. */
interface EventWriter {
  /** Returns an error if the bytes do not form a stream of events within the size limit. */
  push(bytes: Buffer): UpstreamError | undefined;
  /** Sends the remaining bytes at the end of a stream. */
  end(): UpstreamError | undefined;
}

/** Opens a writer; errors of `transform` are rethrown. */
export function openEventWriter(
  transform: (event: SseEvent) => Uint8Array | string | undefined,
  send: (bytes: Uint8Array) => void,
): EventWriter {
  const splitter = new SseSplitter();
  const write = (events: readonly SseEvent[]) => {
    const pieces: Uint8Array[] = [];
    for (const event of events) {
      const isSaid = event.hasData || event.event !== undefined;
      const changed = isSaid ? transform(event) : event.raw;
      if (changed !== undefined) pieces.push(typeof changed === "string" ? Buffer.from(changed) : changed);
    }
    const [first] = pieces;
    if (first) send(pieces.length === 1 ? first : Buffer.concat(pieces));
  };
  return {
    push(bytes) {
      const events = catchUpstreamError(() => splitter.push(bytes));
      if (events instanceof UpstreamError) return events;
      write(events);
      return undefined;
    },
    end() {
      const rest = catchUpstreamError(() => splitter.end());
      if (rest instanceof UpstreamError) return rest;
      if (rest.event) write([rest.event]);
      return undefined;
    },
  };
}

function catchUpstreamError<Result>(work: () => Result): Result | UpstreamError {
  try {
    return work();
  } catch (error) {
    if (error instanceof UpstreamError) return error;
    throw error;
  }
}
