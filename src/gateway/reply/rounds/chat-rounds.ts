import { toArray, toObject, toText } from "../../../wire/fields.ts";
import type { WireObject } from "../../../wire/wire.ts";
import {
  encodeChatResults,
  findChatRound,
  hasClientCall,
  isRecallEntry,
  TEXT_SEPARATOR,
  toShownFinishReason,
} from "./chat-round.ts";
import { ChatStreamMerger } from "./chat-stream-merger.ts";
import { mergeRoundUsage } from "./merge-round-usage.ts";
import type { RoundFormat } from "./round-format.ts";

/** Rounds in OpenAI's Chat Completions API. */
export const chatRounds: RoundFormat = {
  encodeResults: encodeChatResults,
  openStream: (maxRounds) => new ChatStreamMerger(maxRounds),
  readBody: (body) => ({
    recallRound: findChatRound(getMessage(body), getChoice(body).finish_reason),
    hasText: toText(getMessage(body).content) !== undefined,
    usage: toObject(body.usage),
  }),
  mergeBodies(bodies) {
    const [first, ...others] = bodies;
    const last = bodies.at(-1);
    if (!first || !last) return {};
    const messages = bodies.map(getMessage);
    if (others.length === 0 && !toArray(messages[0]?.tool_calls).some(isRecallEntry)) return first;
    const { tool_calls, ...message } = getMessage(last);
    const texts = messages.flatMap(({ content }) => toText(content) ?? []);
    const calls = toArray(tool_calls).filter((entry) => !isRecallEntry(entry));
    const finish_reason = toShownFinishReason(getChoice(last).finish_reason, hasClientCall(getMessage(last)));
    const joined = {
      ...message,
      content: texts.length > 0 ? texts.join(TEXT_SEPARATOR) : (message.content ?? null),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const usage = mergeRoundUsage(bodies.flatMap(listUsages));
    return {
      ...first,
      choices: [{ ...getChoice(last), message: joined, finish_reason }],
      ...(usage && { usage }),
    };
  },
  findEnd: () => undefined,
};

function getChoice({ choices }: WireObject): WireObject {
  return toObject(toArray(choices)[0]) ?? {};
}

function getMessage(body: WireObject): WireObject {
  return toObject(getChoice(body).message) ?? {};
}

function listUsages({ usage }: WireObject): readonly WireObject[] {
  const fields = toObject(usage);
  return fields ? [fields] : [];
}
