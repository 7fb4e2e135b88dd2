import { toArray, toObject } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";
import {
  encodeAnthropicResults,
  findAnthropicRound,
  isClientCallBlock,
  isRecallBlock,
  isTextBlock,
  toShownStopReason,
} from "./anthropic-round.ts";
import { AnthropicStreamMerger } from "./anthropic-stream-merger.ts";
import { mergeRoundUsage } from "./merge-round-usage.ts";
import type { RoundFormat } from "./round-format.ts";

/** Rounds in Anthropic's Messages API. */
export const anthropicRounds: RoundFormat = {
  encodeResults: encodeAnthropicResults,
  openStream: (maxRounds) => new AnthropicStreamMerger(maxRounds),
  readBody: (body) => ({
    recallRound: findAnthropicRound(getBlocks(body), body.stop_reason),
    hasText: getBlocks(body).some(isTextBlock),
    usage: toObject(body.usage),
  }),
  mergeBodies(bodies) {
    const [first, ...others] = bodies;
    const last = bodies.at(-1);
    if (!first || !last || (others.length === 0 && !getBlocks(first).some(isRecallBlock))) return first ?? {};
    const content = bodies.flatMap(getBlocks).filter((block) => !isRecallBlock(block));
    const stop_reason = toShownStopReason(last.stop_reason, content.some(isClientCallBlock));
    const usage = mergeRoundUsage(bodies.flatMap(listUsages));
    return {
      ...first,
      content,
      stop_reason,
      stop_sequence: last.stop_sequence ?? null,
      ...(usage && { usage }),
    };
  },
  findEnd: () => undefined,
};

function getBlocks({ content }: WireObject): readonly WireObject[] {
  return toArray(content).flatMap((block) => {
    const fields = toObject(block);
    return fields ? [fields] : [];
  });
}

function listUsages({ usage }: WireObject): readonly WireObject[] {
  const fields = toObject(usage);
  return fields ? [fields] : [];
}
