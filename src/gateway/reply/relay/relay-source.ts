import type { IncomingMessage } from "node:http";
import { toCutError, UpstreamError } from "../../upstream/upstream-error.ts";
import type { BodyDecoder } from "./body-decoder.ts";
import type { ListenerGroup } from "./listener-group.ts";

/** Events at the upstream's side. */
interface RelaySourceEvents {
  onBytes(bytes: Buffer): void;
  /** No more bytes follow; `failure` is undefined if the response is complete. */
  onEnd(failure: UpstreamError | undefined): void;
}

/** The upstream's side of a relay. */
interface RelaySource {
  /** Stops reading; the idle timeout does not run until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends the source because of its content; later bytes are dropped. */
  fail(failure: UpstreamError): void;
}

/**
 * Opens the upstream's side of a relay, decoded if there is a decoding. It reports no more events when `listening`
 * ends.
 */
export function openRelaySource(
  body: IncomingMessage,
  decoding: BodyDecoder | undefined,
  idleMs: number,
  listening: ListenerGroup,
  { onBytes, onEnd }: RelaySourceEvents,
): RelaySource {
  const output = decoding?.output ?? body;
  let isPaused = false;
  /** True when the upstream sends no more bytes, though some may still have to be decoded. */
  let isOver = false;
  let hasEnded = false;
  let failure: UpstreamError | undefined;

  const end = () => {
    if (!hasEnded) onEnd(failure);
    hasEnded = true;
  };
  const stop = (error: UpstreamError | undefined) => {
    if (isOver) return;
    isOver = true;
    failure = error;
    clearTimeout(idle);
    if (error) body.destroy();
    if (decoding) decoding.input.end();
    else end();
  };
  const idle = setTimeout(() => {
    if (isPaused) idle.refresh();
    else
      stop(new UpstreamError("idle", `The upstream fell silent for ${idleMs / 1_000} s within its answer.`));
  }, idleMs).unref();
  listening.atEnd(() => clearTimeout(idle));

  const isRead = body.readableEnded;
  if (isRead || body.destroyed) queueMicrotask(() => stop(isRead ? undefined : toCutError(body.errored)));
  listening.on(body, "end", () => stop(body.complete ? undefined : toCutError(undefined)));
  listening.on(body, "error", (error: Error) => stop(toCutError(error)));
  listening.on(body, "close", () => {
    if (!isOver) stop(toCutError(body.errored));
  });
  if (decoding) {
    listening.on(output, "end", end);
    listening.on(body, "data", () => idle.refresh());
    body.pipe(decoding.input, { end: false });
  }
  listening.on(output, "data", (bytes: Buffer) => {
    if (!decoding) idle.refresh();
    if (!hasEnded) onBytes(bytes);
  });

  return {
    pause() {
      isPaused = true;
      output.pause();
    },
    resume() {
      isPaused = false;
      if (!isOver) idle.refresh();
      output.resume();
    },
    fail(error) {
      stop(error);
      failure = error;
      end();
    },
  };
}
