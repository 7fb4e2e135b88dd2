import { objectOf, textOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../../api/api.ts";
import { joinedUsage } from "./joined-usage.ts";
import type { RoundForm } from "./joiner.ts";
import {
  isOwnItem,
  isWords,
  itemsOf,
  ownCallIds,
  ownRound,
  results,
  withoutOwnTools,
} from "./responses-round.ts";
import { ResponsesStream } from "./responses-stream.ts";

/** Rounds in OpenAI's Responses API. */
export const responsesRounds: RoundForm = {
  results,
  openStream: (most) => new ResponsesStream(most),
  readBody: (body) => ({
    own: ownRound(itemsOf(body), body.status ?? "completed"),
    hasSaid: itemsOf(body).some(isWords),
    usage: objectOf(body.usage),
  }),
  joinBodies(bodies) {
    const [first, ...others] = bodies;
    const last = bodies.at(-1);
    if (!first || !last) return {};
    if (others.length === 0 && !itemsOf(first).some(isOwnItem)) return withoutOwnTools(first);
    const output = bodies.flatMap(itemsOf).filter((item) => !isOwnItem(item));
    const usage = joinedUsage(bodies.flatMap(usagesOf));
    const { id, created_at } = first;
    return { ...withoutOwnTools(last), id, created_at, output, ...(usage && { usage }) };
  },
  bodyEnd(bodies) {
    const [shown, last] = [bodies[0], bodies.at(-1)].map((body) => textOf(body?.id));
    if (shown === undefined || last === undefined) return undefined;
    return { shown, last, unanswered: ownCallIds(itemsOf(bodies.at(-1) ?? {})) };
  },
};

function usagesOf({ usage }: JsonObject): readonly JsonObject[] {
  const fields = objectOf(usage);
  return fields ? [fields] : [];
}
