import type { Readable, Writable } from "node:stream";
import { type DecodingStream, openDecoder, parseCodings } from "../../upstream/content-coding.ts";
import type { RawHeaders } from "../../upstream/raw-headers.ts";
import { findRawHeader } from "../../upstream/raw-headers.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";

/** A chain of streams that undo the content codings of a body. */
export interface BodyDecoder {
  /** Takes the bytes as received. */
  readonly input: Writable;
  /** Yields the decoded bytes. */
  readonly output: Readable;
  destroy(): void;
}

/** Opens the decoding of a response; undefined if it has no coding. Throws `UpstreamError` for an unknown coding. */
export function openBodyDecoder(
  rawHeaders: RawHeaders,
  onFailure: (error: UpstreamError) => void,
): BodyDecoder | undefined {
  const streams: DecodingStream[] = [];
  for (const coding of parseCodings(findRawHeader(rawHeaders, "content-encoding")).toReversed()) {
    const stream = openDecoder(coding);
    if (!stream) {
      for (const opened of streams) opened.destroy();
      throw new UpstreamError("malformed", `The upstream's answer has an unknown encoding: ${coding}.`);
    }
    stream.on("error", (error) => {
      onFailure(
        new UpstreamError("malformed", `The upstream's answer is not in ${coding}, as it says.`, error),
      );
    });
    streams.at(-1)?.pipe(stream);
    streams.push(stream);
  }
  const [input] = streams;
  const output = streams.at(-1);
  if (!input || !output) return undefined;
  return {
    input,
    output,
    destroy() {
      for (const stream of streams) stream.destroy();
    },
  };
}
