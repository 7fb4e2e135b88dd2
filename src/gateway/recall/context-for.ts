import {
  contextBlock,
  type EntryId,
  estimateText,
  flatParts,
  type MessageInput,
  type Shown,
  shouldRetrieve,
} from "../../index.ts";
import { entryIdOf } from "../edits/render.ts";
import type { Call } from "../thread/call.ts";
import type { LookedBack } from "./look-back.ts";

const MOST_TOKENS = 2_000;
/** Maximum share of the window for the context recalled for one message. */
const SHARE = 0.02;

/**
 * The hits as a delimited block of at most `roomTokens`, without content that the model sees anyway; undefined if
 * nothing is left.
 */
export async function contextFor(
  { words, hits }: LookedBack,
  call: Call,
  roomTokens: number,
): Promise<string | undefined> {
  if (hits.length === 0) return undefined;
  const shown = await shownIn(call);
  // A file that the message names and the window contains need not be recalled.
  if (!shouldRetrieve(words, { texts: shown.texts })) return undefined;
  const budgetTokens = Math.floor(Math.min(MOST_TOKENS, call.asked.room.window * SHARE, roomTokens));
  if (budgetTokens < 1) return undefined;
  return contextBlock(hits, { tokensOf: estimateText, budgetTokens, shown })?.text;
}

async function shownIn({ fitted, thread, asked }: Call): Promise<Required<Shown>> {
  if (!fitted) {
    const line = await thread.line();
    const texts = asked.said.messages.flatMap((message) => textsOf(message.input()));
    return { entries: new Set(line.map(({ id }) => id)), texts };
  }
  const whole = fitted.slots.filter(
    ({ isNote, original, message }) => !isNote && (!original || original === message),
  );
  const entries = whole.map((slot): EntryId => entryIdOf(slot, thread.session.id));
  const texts = fitted.messages.flatMap((message) =>
    flatParts(message).flatMap((part) => (part.type === "text" ? [part.text] : [])),
  );
  return { entries: new Set(entries), texts };
}

function textsOf({ text, parts = [] }: MessageInput): readonly string[] {
  return [
    ...(text === undefined ? [] : [text]),
    ...parts.flatMap((part) => {
      if (part.type === "text") return [part.text];
      if (part.type !== "tool-result") return [];
      return typeof part.output === "string" ? [part.output] : textsOf({ role: "tool", parts: part.output });
    }),
  ];
}
