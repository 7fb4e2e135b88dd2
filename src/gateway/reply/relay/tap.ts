import type { RawHeaders } from "../../upstream/raw-headers.ts";
import { type BodyDecoder, openBodyDecoder } from "./body-decoder.ts";

/** Passes the decoded bytes of a response to an observer. A failure ends the tap, never the relay. */
interface Tap {
  /** Returns false if no more bytes can be taken before `onReady`. */
  push(chunk: Buffer): boolean;
  /** True if bytes are passed on with a delay, because they must be decoded first. */
  readonly isLate: boolean;
  /** Resolves when all pushed bytes have been passed on. */
  end(): Promise<void>;
  /** Why the tap ended early. */
  readonly failure: unknown;
}

/** Opens a tap on a response. */
export function openTap(rawHeaders: RawHeaders, take: (bytes: Buffer) => void, onReady: () => void): Tap {
  let failure: unknown;
  let decoding: BodyDecoder | undefined;
  const ended = Promise.withResolvers<void>();
  const fail = (error: unknown) => {
    failure ??= error;
    decoding?.destroy();
    ended.resolve();
    onReady();
  };
  const give = (bytes: Buffer) => {
    if (failure !== undefined) return;
    try {
      take(bytes);
    } catch (error) {
      fail(error);
    }
  };
  try {
    decoding = openBodyDecoder(rawHeaders, fail);
  } catch (error) {
    failure = error;
  }
  decoding?.output.on("data", give);
  decoding?.output.once("close", () => ended.resolve());
  decoding?.input.on("drain", onReady);

  return {
    get isLate() {
      return decoding !== undefined && failure === undefined;
    },
    push(chunk) {
      if (failure !== undefined) return true;
      if (decoding) return decoding.input.write(chunk);
      give(chunk);
      return true;
    },
    async end() {
      if (!decoding || failure !== undefined) return;
      decoding.input.end();
      await ended.promise;
    },
    get failure() {
      return failure;
    },
  };
}
