import { toObject, toText } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";
import { mergeRoundUsage } from "./merge-round-usage.ts";
import {
  encodeResponsesResults,
  findResponsesRound,
  getOutputItems,
  isRecallItem,
  isTextItem,
  listRecallCallIds,
  removeRecallTools,
} from "./responses-round.ts";
import { ResponsesStreamMerger } from "./responses-stream-merger.ts";
import type { RoundFormat } from "./round-format.ts";

/** Rounds in OpenAI's Responses API. */
export const responsesRounds: RoundFormat = {
  encodeResults: encodeResponsesResults,
  openStream: (maxRounds) => new ResponsesStreamMerger(maxRounds),
  readBody: (body) => ({
    recallRound: findResponsesRound(getOutputItems(body), body.status ?? "completed"),
    hasText: getOutputItems(body).some(isTextItem),
    usage: toObject(body.usage),
  }),
  mergeBodies(bodies) {
    const [first, ...others] = bodies;
    const last = bodies.at(-1);
    if (!first || !last) return {};
    if (others.length === 0 && !getOutputItems(first).some(isRecallItem)) return removeRecallTools(first);
    const output = bodies.flatMap(getOutputItems).filter((item) => !isRecallItem(item));
    const usage = mergeRoundUsage(bodies.flatMap(listUsages));
    const { id, created_at } = first;
    return { ...removeRecallTools(last), id, created_at, output, ...(usage && { usage }) };
  },
  findEnd(bodies) {
    const [shown, last] = [bodies[0], bodies.at(-1)].map((body) => toText(body?.id));
    if (shown === undefined || last === undefined) return undefined;
    return { shown, last, unanswered: listRecallCallIds(getOutputItems(bodies.at(-1) ?? {})) };
  },
};

function listUsages({ usage }: WireObject): readonly WireObject[] {
  const fields = toObject(usage);
  return fields ? [fields] : [];
}
