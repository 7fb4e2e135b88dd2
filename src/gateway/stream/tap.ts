import type { RawHeaders } from "../upstream/hop-by-hop.ts";
import { type Decoding, openDecoding } from "./decoding.ts";

/** Gives somebody the bytes that pass, in plain. A failure ends the tap, never the relay. */
export interface Tap {
  /** False if it cannot take more before `onReady`. */
  push(chunk: Buffer): boolean;
  /** True if what was pushed is given later, for it has to be unpacked first. */
  readonly isLate: boolean;
  /** Resolves when all that was pushed has been given. */
  end(): Promise<void>;
  /** Why it ended early. */
  readonly failure: unknown;
}

/** Opens a tap on an answer. */
export function openTap(rawHeaders: RawHeaders, take: (bytes: Buffer) => void, onReady: () => void): Tap {
  let failure: unknown;
  let decoding: Decoding | undefined;
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
    decoding = openDecoding(rawHeaders, fail);
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
