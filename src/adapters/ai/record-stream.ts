import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Draft, MessageInput, Session } from "../../kernel/index.ts";
import { decodeReply } from "./decode-reply.ts";
import type { ModelCall } from "./model-call.ts";
import { ReplyAssembler } from "./reply-assembler.ts";

type Stream = ReadableStream<LanguageModelV4StreamPart>;

/** A stream that was read up to its first content or error. */
export interface OpenedStream {
  readonly reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>;
  readonly readParts: readonly LanguageModelV4StreamPart[];
  /** Set if an error came before any content. */
  readonly error?: { readonly value: unknown };
}

const CONTENTLESS: readonly LanguageModelV4StreamPart["type"][] = [
  "stream-start",
  "response-metadata",
  "raw",
  "ping",
];

/** Reads a stream up to its first content; until then, the call can be repeated. */
export async function openStream(stream: Stream): Promise<OpenedStream> {
  const reader = stream.getReader();
  const read: LanguageModelV4StreamPart[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { reader, readParts: read };
      read.push(value);
      if (value.type === "error") return { reader, readParts: read, error: { value: value.error } };
      if (!CONTENTLESS.includes(value.type)) return { reader, readParts: read };
    }
  } catch (error) {
    // A broken stream reports its error again to the next reader.
    return { reader, readParts: read, error: { value: error } };
  }
}

/** Passes a stream through and writes it to the log: first as a draft, then as a message when it has ended. */
export function recordStream(
  { reader, readParts: read }: OpenedStream,
  call: ModelCall,
  session: Session,
  model: string,
): Stream {
  const recording = new Recording(call, session, model);
  const waiting = [...read];
  return new ReadableStream({
    async pull(controller) {
      try {
        const next = waiting.shift();
        const { done, value } = next ? { done: false, value: next } : await reader.read();
        if (done || !value) {
          await recording.end();
          controller.close();
          return;
        }
        await recording.add(value);
        controller.enqueue(value);
      } catch (error) {
        await recording.end(error);
        throw error;
      }
    },
    async cancel(reason) {
      try {
        await reader.cancel(reason);
      } finally {
        await recording.end(new DOMException("The caller canceled the stream.", "AbortError"));
      }
    },
  });
}

/** Minimum time between two draft updates for reasoning or a tool call. */
const DRAFT_MS = 500;

class Recording {
  readonly #call: ModelCall;
  readonly #session: Session;
  readonly #parts = new ReplyAssembler();
  #model: string;
  #draft: Draft | undefined;
  #draftedMs = 0;
  /** Id of the text that the draft ends with. */
  #writtenText: string | undefined;
  /** The error that the stream reported. */
  #failure: { readonly error: unknown } | undefined;
  #isEnded = false;

  constructor(call: ModelCall, session: Session, model: string) {
    this.#call = call;
    this.#session = session;
    this.#model = model;
  }

  async add(part: LanguageModelV4StreamPart): Promise<void> {
    if (part.type === "response-metadata") this.#model = part.modelId ?? this.#model;
    if (part.type === "error") this.#failure = { error: part.error };
    if (part.type !== "finish") return this.#draftWith(part);
    const { unified, raw = unified } = part.finishReason;
    if (unified === "error" || unified === "interrupted")
      this.#failure ??= { error: `The reply ended early (${raw}).` };
    if (!this.#failure) await this.#finish(part.usage);
  }

  /** Ends the recording; an unfinished reply counts as interrupted, and its content so far is kept. */
  async end(error: unknown = "The stream ended before the reply did."): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const draft = this.#draft;
    const message = this.#message();
    if (draft && message) {
      draft.update(message);
      await this.#call.complete(message, undefined, () => draft.close());
    } else await draft?.discard();
    await this.#call.fail(this.#failure ? this.#failure.error : error);
  }

  async #finish(usage: LanguageModelV4Usage): Promise<void> {
    this.#isEnded = true;
    const draft = this.#draft;
    const message = this.#message();
    if (draft && message) await this.#call.complete(message, usage, (reply) => draft.finish(reply));
    else {
      await draft?.discard();
      await this.#call.complete(message, usage);
    }
  }

  /**
   * Text is written to the draft as it arrives; other parts only periodically, because they require rebuilding the
   * message.
   */
  #draftWith(part: LanguageModelV4StreamPart): void {
    const isWhole = this.#parts.add(part);
    if (!this.#parts.hasAny) return;
    const isText = part.type === "text-delta" && this.#parts.openText === part.id;
    if (this.#draft && isText && this.#writtenText === part.id) {
      this.#draft.write(part.delta);
      return;
    }
    const now = performance.now();
    if (this.#draft && !isWhole && !isText && now - this.#draftedMs < DRAFT_MS) return;
    const message = this.#message();
    if (!message) return;
    this.#draftedMs = now;
    this.#writtenText = isText ? part.id : undefined;
    if (this.#draft) this.#draft.update(message);
    else this.#draft = this.#session.draft(message);
  }

  #message(): MessageInput | undefined {
    return decodeReply(this.#parts.content(), this.#model);
  }
}
