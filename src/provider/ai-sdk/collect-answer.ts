import type {
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { CallWatch } from "../watch-call.ts";

/** The raw answer, before it is checked. */
export interface RawAnswer {
  readonly text: string;
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
  readonly model?: string;
}

/** No real answer is longer; a server that never stops is cut off here. */
const maxCharacters = 8_000_000;

/** Reads a stream to its end. Throws the error that the stream reports; undefined if it ended without a finish part. */
export async function collectStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  watch: CallWatch,
): Promise<RawAnswer | undefined> {
  const texts: string[] = [];
  let characters = 0;
  let model: string | undefined;
  let finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined;
  for await (const part of stream) {
    if (watch.signal.aborted) return undefined;
    if (part.type === "stream-start") continue;
    watch.progress();
    if (part.type === "error") throw part.error;
    if (part.type === "response-metadata") model = part.modelId ?? model;
    if (part.type === "finish") finish = part;
    if (part.type !== "text-delta") continue;
    texts.push(part.delta);
    characters += part.delta.length;
    if (characters > maxCharacters) throw new Error(`the answer is longer than ${maxCharacters} characters`);
  }
  return finish && { ...finish, text: texts.join(""), ...(model !== undefined && { model }) };
}

/** Like `collectStream`, for an answer that arrived in one piece. */
export function collectResult(result: LanguageModelV4GenerateResult): RawAnswer {
  const texts = result.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const model = result.response?.modelId;
  return {
    text: texts.join(""),
    finishReason: result.finishReason,
    usage: result.usage,
    ...(model !== undefined && { model }),
  };
}
