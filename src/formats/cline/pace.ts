import { numberOf } from "../content/fields.ts";
import type { FileElement } from "./element-file.ts";
import { kindOf } from "./shown-message.ts";

/** Tells in which order messages of the conversation and messages shown to the person happened. */
export class Pace {
  readonly #orderBy: "index" | "time";
  #requests = 0;

  constructor(orderBy: "index" | "time") {
    this.#orderBy = orderBy;
  }

  /** Whether the message was there before the other was shown. */
  isMessageNext(message: FileElement, shown: FileElement): boolean {
    const [byIndex, byTime] = [isBeforeByIndex(message, shown), isBeforeByTime(message, shown)];
    const known = this.#orderBy === "index" ? (byIndex ?? byTime) : (byTime ?? byIndex);
    // Old tasks have neither: each request sends one message and gets one back.
    return known ?? message.index <= 2 * this.#requests - (isRequest(shown) ? 1 : 2);
  }

  pass(shown: FileElement): void {
    if (isRequest(shown)) this.#requests++;
  }
}

/** Cline notes the last message there was; -1 before the first. */
function isBeforeByIndex(message: FileElement, shown: FileElement): boolean | undefined {
  const last = numberOf(shown.value.conversationHistoryIndex);
  return last === undefined ? undefined : message.index <= last;
}

function isBeforeByTime(message: FileElement, shown: FileElement): boolean | undefined {
  const [sent, seen] = [numberOf(message.value.ts), numberOf(shown.value.ts)];
  return sent === undefined || seen === undefined ? undefined : sent <= seen;
}

function isRequest({ value }: FileElement): boolean {
  return kindOf(value) === "api_req_started";
}
