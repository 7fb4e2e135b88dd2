import { toNumber } from "../../wire/fields.ts";
import type { FileElement } from "./element-file.ts";
import { getShownKind } from "./shown-message.ts";

/** Interleaves messages of the conversation with messages shown to the person in the order they happened. */
export class MessageInterleaver {
  readonly #orderBy: "index" | "time";
  #requests = 0;

  constructor(orderBy: "index" | "time") {
    this.#orderBy = orderBy;
  }

  /** Tells whether the message existed before the other one was shown. */
  isMessageNext(message: FileElement, shown: FileElement): boolean {
    const [byIndex, byTime] = [isBeforeByIndex(message, shown), isBeforeByTime(message, shown)];
    const known = this.#orderBy === "index" ? (byIndex ?? byTime) : (byTime ?? byIndex);
    // Old tasks have neither: each request sends one message and receives one.
    return known ?? message.index <= 2 * this.#requests - (isRequest(shown) ? 1 : 2);
  }

  addShown(shown: FileElement): void {
    if (isRequest(shown)) this.#requests++;
  }
}

/** Cline records the index of the last message; -1 before the first. */
function isBeforeByIndex(message: FileElement, shown: FileElement): boolean | undefined {
  const last = toNumber(shown.value.conversationHistoryIndex);
  return last === undefined ? undefined : message.index <= last;
}

function isBeforeByTime(message: FileElement, shown: FileElement): boolean | undefined {
  const [sent, seen] = [toNumber(message.value.ts), toNumber(shown.value.ts)];
  return sent === undefined || seen === undefined ? undefined : sent <= seen;
}

function isRequest({ value }: FileElement): boolean {
  return getShownKind(value) === "api_req_started";
}
