import {
  type EntryId,
  estimateText,
  flatParts,
  type Kernel,
  type MemoryScope,
  type MessageInput,
  retrieveContext,
  type Shown,
  shouldRetrieve,
} from "../../index.ts";
import { entryIdOf } from "../edits/render.ts";
import type { Call } from "../thread/call.ts";
import { withinTime } from "./within-time.ts";

const TIMEOUT_MS = 2_000;
const MOST_TOKENS = 2_000;
/** What is recalled for one message may take so much of the window. */
const SHARE = 0.02;

/** True if words refer to something that may be found; most do not. */
export function isReferring(words: string): boolean {
  return shouldRetrieve(words) !== undefined;
}

/** What memory holds on a person's words, as a delimited block; undefined if nothing, or nothing in time. */
export async function findContext(
  kernel: Pick<Kernel, "memory">,
  call: Call,
  words: string,
  scope: MemoryScope,
): Promise<string | undefined> {
  const { room, signal } = call.asked;
  const budgetTokens = Math.max(1, Math.min(MOST_TOKENS, Math.floor(room.window * SHARE)));
  const found = await withinTime(TIMEOUT_MS, signal, async (late) =>
    retrieveContext(kernel.memory, words, {
      tokensOf: estimateText,
      budgetTokens,
      scope,
      shown: await shownIn(call),
      signal: late,
    }),
  );
  return found?.text;
}

/** What the model is shown anyway. */
async function shownIn({ fitted, thread, asked }: Call): Promise<Shown> {
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
