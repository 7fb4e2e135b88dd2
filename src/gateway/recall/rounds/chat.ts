import { arrayOf, objectOf, textOf } from "../../../formats/content/fields.ts";
import type { JsonObject } from "../../api/api.ts";
import { BETWEEN, hasClientCall, isOwnEntry, ownRound, results, shownReason } from "./chat-round.ts";
import { ChatStream } from "./chat-stream.ts";
import { joinedUsage } from "./joined-usage.ts";
import type { RoundForm } from "./joiner.ts";

/** Rounds in OpenAI's Chat Completions API. */
export const chatRounds: RoundForm = {
  results,
  openStream: (most) => new ChatStream(most),
  readBody: (body) => ({
    own: ownRound(messageOf(body), choiceOf(body).finish_reason),
    hasSaid: textOf(messageOf(body).content) !== undefined,
    usage: objectOf(body.usage),
  }),
  joinBodies(bodies) {
    const [first, ...others] = bodies;
    const last = bodies.at(-1);
    if (!first || !last) return {};
    const messages = bodies.map(messageOf);
    if (others.length === 0 && !arrayOf(messages[0]?.tool_calls).some(isOwnEntry)) return first;
    const { tool_calls, ...message } = messageOf(last);
    const texts = messages.flatMap(({ content }) => textOf(content) ?? []);
    const calls = arrayOf(tool_calls).filter((entry) => !isOwnEntry(entry));
    const finish_reason = shownReason(choiceOf(last).finish_reason, hasClientCall(messageOf(last)));
    const joined = {
      ...message,
      content: texts.length > 0 ? texts.join(BETWEEN) : (message.content ?? null),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const usage = joinedUsage(bodies.flatMap(usagesOf));
    return {
      ...first,
      choices: [{ ...choiceOf(last), message: joined, finish_reason }],
      ...(usage && { usage }),
    };
  },
  bodyEnd: () => undefined,
};

function choiceOf({ choices }: JsonObject): JsonObject {
  return objectOf(arrayOf(choices)[0]) ?? {};
}

function messageOf(body: JsonObject): JsonObject {
  return objectOf(choiceOf(body).message) ?? {};
}

function usagesOf({ usage }: JsonObject): readonly JsonObject[] {
  const fields = objectOf(usage);
  return fields ? [fields] : [];
}
