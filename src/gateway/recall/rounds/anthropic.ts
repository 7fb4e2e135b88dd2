import { arrayOf, objectOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../../api/api.ts";
import { isClientBlock, isOwnBlock, isWords, ownRound, results, shownReason } from "./anthropic-round.ts";
import { AnthropicStream } from "./anthropic-stream.ts";
import { joinedUsage } from "./joined-usage.ts";
import type { RoundForm } from "./joiner.ts";

/** Rounds in Anthropic's Messages API. */
export const anthropicRounds: RoundForm = {
  results,
  openStream: (most) => new AnthropicStream(most),
  readBody: (body) => ({
    own: ownRound(blocksOf(body), body.stop_reason),
    hasSaid: blocksOf(body).some(isWords),
    usage: objectOf(body.usage),
  }),
  joinBodies(bodies) {
    const [first, ...others] = bodies;
    const last = bodies.at(-1);
    if (!first || !last || (others.length === 0 && !blocksOf(first).some(isOwnBlock))) return first ?? {};
    const content = bodies.flatMap(blocksOf).filter((block) => !isOwnBlock(block));
    const stop_reason = shownReason(last.stop_reason, content.some(isClientBlock));
    const usage = joinedUsage(bodies.flatMap(usagesOf));
    return {
      ...first,
      content,
      stop_reason,
      stop_sequence: last.stop_sequence ?? null,
      ...(usage && { usage }),
    };
  },
  bodyEnd: () => undefined,
};

function blocksOf({ content }: JsonObject): readonly JsonObject[] {
  return arrayOf(content).flatMap((block) => {
    const fields = objectOf(block);
    return fields ? [fields] : [];
  });
}

function usagesOf({ usage }: JsonObject): readonly JsonObject[] {
  const fields = objectOf(usage);
  return fields ? [fields] : [];
}
