import { modelOf, type WireApi, type WireRequest } from "./api.ts";
import type { Reply } from "./behaviour.ts";
import { openaiError } from "./openai-errors.ts";

/** OpenAI embeddings; unscripted texts get a vector that depends only on the text. */
export const openaiEmbeddings: WireApi = {
  name: "openai-embeddings",
  matches: (path) => path.endsWith("/embeddings"),
  isStreaming: () => false,
  body(reply, request) {
    const tokens = reply.usage?.input ?? 8;
    return {
      object: "list",
      data: vectors(reply, request).map((embedding, index) => ({ object: "embedding", index, embedding })),
      model: modelOf(reply, request),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    };
  },
  events: () => [],
  error: openaiError,
  errorEvent: (kind) => ({ data: openaiError(kind).body }),
};

function vectors(reply: Reply, { body }: WireRequest): readonly (readonly number[])[] {
  const texts = Array.isArray(body.input) ? body.input.map(String) : [String(body.input)];
  const dimensions = typeof body.dimensions === "number" ? body.dimensions : 8;
  return texts.map((text, index) => reply.embeddings?.[index] ?? vectorOf(text, dimensions));
}

function vectorOf(text: string, dimensions: number): readonly number[] {
  const sums = Array.from({ length: dimensions }, () => 0);
  for (const [index, character] of [...text].entries()) {
    const place = index % dimensions;
    sums[place] = (sums[place] ?? 0) + (character.codePointAt(0) ?? 0);
  }
  const length = Math.hypot(...sums) || 1;
  return sums.map((sum) => sum / length);
}
