import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { MessageInput } from "../../index.ts";
import { decodeReply } from "../decode-reply.ts";
import type { OpenedStream } from "../record-stream.ts";
import { ReplyAssembler } from "../reply-assembler.ts";

/** Receives the parts of a reply as they arrive, and then the whole reply. */
export interface ReplySink {
  readonly see: (part: LanguageModelV4StreamPart) => Promise<void>;
  readonly store: (reply: WholeReply) => Promise<void>;
  /** Called when the stream ends, whole or not. */
  readonly end: () => void;
}

/** A whole reply and its usage. */
interface WholeReply {
  readonly message: MessageInput | undefined;
  readonly usage: LanguageModelV4Usage;
}

/**
 * Passes a stream through but holds back tool calls until the reply is complete and stored: no call runs that the log
 * does not contain, and a reply that breaks off has no effect and can be requested again.
 */
export function holdToolCalls(
  { reader, readParts: read }: OpenedStream,
  model: string,
  { see, store, end }: ReplySink,
): ReadableStream<LanguageModelV4StreamPart> {
  const waiting = [...read];
  const held: LanguageModelV4StreamPart[] = [];
  const parts = new ReplyAssembler();
  let speaker = model;
  let isWhole = false;

  const next = async () => {
    const first = waiting.shift();
    return first ? { done: false, value: first } : reader.read();
  };
  const pull = async (controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>) => {
    for (;;) {
      const { done, value } = await next();
      if (done || !value) {
        if (!isWhole) throw createBrokenOffError();
        end();
        return controller.close();
      }
      parts.add(value);
      await see(value);
      if (value.type === "response-metadata") speaker = value.modelId ?? speaker;
      if (value.type === "tool-call" && value.providerExecuted !== true) {
        held.push(value);
        continue;
      }
      if (value.type === "finish") {
        const { unified } = value.finishReason;
        if (unified === "error" || unified === "interrupted") throw createBrokenOffError();
        await store({ message: decodeReply(parts.content(), speaker), usage: value.usage });
        isWhole = true;
        for (const call of held) controller.enqueue(call);
      }
      return controller.enqueue(value);
    }
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        await pull(controller);
      } catch (error) {
        end();
        throw error;
      }
    },
    cancel(reason) {
      end();
      return reader.cancel(reason);
    },
  });
}

function createBrokenOffError(): Error {
  return new Error("The model's answer broke off before its end.");
}
