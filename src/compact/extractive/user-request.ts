import { type Message, textOfMessage } from "../../model/message.ts";
import { listCallIds } from "../../model/tool-call-ids.ts";
import { extractOwnText } from "./extract-own-text.ts";
import { isQuestion } from "./sentence-cues.ts";
import type { SourceMessage } from "./source-message.ts";
import { splitOuterSentences } from "./split-sentences.ts";

/** A user request and the assistant's final reply to it. */
export interface UserRequest {
  readonly source: SourceMessage;
  readonly text: string;
  /** The reply that ended the turn: text without a call. */
  outcome?: { readonly told: SourceMessage; readonly text: string };
}

/** Every user request in order, in the user's own words. */
export function collectRequests(messages: readonly SourceMessage[]): readonly UserRequest[] {
  const requests: UserRequest[] = [];
  let open: UserRequest[] = [];
  for (const told of messages) {
    const { message } = told;
    if (message.role === "user") {
      const text = getUserText(message);
      if (text === "") continue;
      const request: UserRequest = { source: told, text };
      requests.push(request);
      open.push(request);
    } else if (message.role === "assistant" && listCallIds(message).length === 0) {
      const text = textOfMessage(message).trim();
      if (text === "" || message.interrupted) continue;
      for (const request of open) request.outcome = { told, text };
      open = [];
    }
  }
  return requests;
}

/** Requests without an answer, or answered only by a question. */
export function filterPending(requests: readonly UserRequest[]): readonly UserRequest[] {
  const last = requests.at(-1);
  return requests.filter((request) => {
    if (!request.outcome) return true;
    return request === last && isQuestion(splitOuterSentences(request.outcome.text).at(-1) ?? "");
  });
}

/** The person's own text in a message. */
export function getUserText(message: Message): string {
  return message.parts
    .flatMap((part) => {
      if (part.type === "text") return [extractOwnText(part.text)];
      return part.type === "blob" && part.of === "text" ? [extractOwnText(part.preview ?? "")] : [];
    })
    .filter((text) => text !== "")
    .join("\n");
}
