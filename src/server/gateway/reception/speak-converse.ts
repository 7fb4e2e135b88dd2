import type { IncomingMessage, ServerResponse } from "node:http";
import { ByteCollector } from "../../../model/base/byte-collector.ts";
import {
  type AwsFrame,
  AwsFrameSplitter,
  encodeAwsFrame,
  readFrameEvent,
} from "../../../wire/bedrock/aws-frames.ts";
import {
  ConverseEvents,
  checkConverseModel,
  getExceptionName,
  parseExactly,
  type ReplyFacts,
  toConverseError,
  toConverseReply,
  toInvokeRequest,
} from "../../../wire/bedrock/converse.ts";
import { FaultError } from "../../../wire/fault-error.ts";
import { toObject } from "../../../wire/fields.ts";
import { filterHeaders, findRawHeader } from "../upstream/upstream-headers.ts";

/** Headers of the client that are not valid for the translated request, or ask for a reply that cannot be read. */
const CLIENT_HEADERS = /^(?:content-encoding|content-md5|accept|accept-encoding)$/;
const BODY_HEADERS = /^content-(?:type|length|encoding)$/;
const FRAMES = "application/vnd.amazon.eventstream";

/** Translates the body of a request to Converse to one of invoke, which becomes the request. Throws `FaultError`. */
export type ReadConverse = (request: IncomingMessage, body: Buffer, model: string) => Buffer;

/**
 * Makes a response speak Converse: everything written to it in the form of invoke, or of Messages, is translated.
 * `getMaxOutput` returns the most that a model can write.
 */
export function speakConverse(
  response: ServerResponse,
  getMaxOutput: (model: string) => number,
): ReadConverse {
  const startedMs = performance.now();
  let replyFields: readonly string[] = [];
  translateReply(response, () => ({ replyFields, startedMs }));
  return (request, body, model) => {
    checkConverseModel(model);
    const read = toInvokeRequest(toObject(parseBody(body)), getMaxOutput(model));
    replyFields = read.replyFields;
    const kept = filterHeaders(request.rawHeaders, (name) => !CLIENT_HEADERS.test(name));
    request.rawHeaders = [...kept, ...Object.entries(read.headers).flat()];
    return Buffer.from(JSON.stringify(read.body));
  };
}

function parseBody(body: Buffer): unknown {
  try {
    return parseExactly(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

interface ReplyHead {
  readonly status: number;
  readonly headers: readonly string[];
}

/** A stream is translated as it comes; any other reply when it is complete, so that its head waits until then. */
function translateReply(response: ServerResponse, getFacts: () => ReplyFacts): void {
  const { writeHead, write, end, flushHeaders } = response;
  let head: ReplyHead | undefined;
  let stream: StreamTranslation | undefined;
  const collected = new ByteCollector();

  response.writeHead = ((status: number, ...rest: readonly unknown[]) => {
    const given = rest.findLast((one) => typeof one === "object") ?? {};
    const headers: readonly string[] = Array.isArray(given)
      ? given
      : Object.entries(given).flat().map(String);
    const type = findRawHeader(headers, "content-type") ?? "";
    head = { status, headers: filterHeaders(headers, (name) => !BODY_HEADERS.test(name)) };
    if (status !== 200 || !type.includes(FRAMES)) return response;
    stream = openStreamTranslation(getFacts());
    return writeHead.call(response, status, [...head.headers, "Content-Type", FRAMES]);
  }) as ServerResponse["writeHead"];
  response.write = ((bytes: Uint8Array | string) => {
    const chunk = Buffer.from(bytes as Uint8Array);
    if (stream) {
      const frames = stream.push(chunk);
      return frames.length > 0 ? write.call(response, frames, "utf8") : !response.writableNeedDrain;
    }
    collected.add(chunk);
    return true;
  }) as ServerResponse["write"];
  response.end = ((...given: readonly unknown[]) => {
    const [bytes, done = bytes] = given;
    if (typeof bytes === "string" || bytes instanceof Uint8Array) response.write(bytes);
    const onEnd = typeof done === "function" ? (done as () => void) : () => undefined;
    if (stream || !head) return end.call(response, stream?.end() ?? "", "utf8", onEnd);
    const { status, headers, body } = translateWhole(head, collected.take().toString("utf8"), getFacts());
    const text = Buffer.from(JSON.stringify(body));
    const own = ["Content-Type", "application/json", "Content-Length", String(text.length)];
    writeHead.call(response, status, [...headers, ...own]);
    return end.call(response, text, "utf8", onEnd);
  }) as ServerResponse["end"];
  response.flushHeaders = () => {
    if (stream) flushHeaders.call(response);
  };
}

/** A reply that is not a stream. */
function translateWhole({ status, headers }: ReplyHead, text: string, facts: ReplyFacts) {
  try {
    if (status === 200)
      return { status, headers, body: toConverseReply(toObject(parseExactly(text)) ?? {}, facts) };
  } catch (error) {
    return translateWhole({ status: 424, headers }, describeFault(error), facts);
  }
  const isNamed = findRawHeader(headers, "x-amzn-errortype") !== undefined;
  const named = isNamed ? [] : ["x-amzn-ErrorType", getExceptionName(status)];
  return { status, headers: [...headers, ...named], body: toConverseError(text) };
}

function describeFault(error: unknown): string {
  const isOurs = error instanceof FaultError;
  return isOurs ? error.message : "The upstream's reply is not in the form of Anthropic's Messages.";
}

/** The frames of Converse for the bytes of a stream, and for its end. */
interface StreamTranslation {
  push(bytes: Buffer): Buffer;
  end(): Buffer;
}

/** Translates a stream; after an error, which ends it, it gives nothing more. */
function openStreamTranslation(facts: ReplyFacts): StreamTranslation {
  const events = new ConverseEvents(facts);
  const splitter = new AwsFrameSplitter();
  let hasFailed = false;
  const translate = ({ bytes, payload }: AwsFrame): readonly Buffer[] => {
    // Bedrock's own errors have the same frames in both of its streams.
    const isError = bytes.includes(":exception-type");
    if (hasFailed) return [];
    hasFailed = isError;
    if (isError) return [bytes];
    try {
      const event = toObject(JSON.parse(readFrameEvent(payload) ?? "{}")) ?? {};
      return events.take(event).map(({ name, payload }) => encodeAwsFrame("event", name, payload));
    } catch (error) {
      hasFailed = true;
      return [encodeFailure(describeFault(error))];
    }
  };
  return {
    push: (bytes) => Buffer.concat(splitter.push(bytes).flatMap(translate)),
    // A stream that stops being frames looks like an empty reply otherwise.
    end: () =>
      splitter.isCut && !hasFailed
        ? encodeFailure("The upstream's stream ended within a frame, or stopped being frames.")
        : Buffer.alloc(0),
  };
}

function encodeFailure(message: string): Buffer {
  return encodeAwsFrame("exception", "modelStreamErrorException", { message });
}
