import { callIdsOf } from "../../model/calls.ts";
import { type Message, textOfMessage } from "../../model/message.ts";
import { isQuestion } from "./cues.ts";
import { ownWords } from "./own-words.ts";
import { sentencesOf } from "./sentences.ts";
import type { Told } from "./told.ts";

/** A user request and the assistant's final reply to it. */
export interface Request {
  readonly told: Told;
  readonly text: string;
  /** The reply that ended the turn: text without a call. */
  outcome?: { readonly told: Told; readonly text: string };
}

/** Every user request in order, in the user's own words. */
export function requestsOf(messages: readonly Told[]): readonly Request[] {
  const requests: Request[] = [];
  let open: Request[] = [];
  for (const told of messages) {
    const { message } = told;
    if (message.role === "user") {
      const text = wordsOfUser(message);
      if (text === "") continue;
      const request: Request = { told, text };
      requests.push(request);
      open.push(request);
    } else if (message.role === "assistant" && callIdsOf(message).length === 0) {
      const text = textOfMessage(message).trim();
      if (text === "" || message.interrupted) continue;
      for (const request of open) request.outcome = { told, text };
      open = [];
    }
  }
  return requests;
}

/** Requests without an answer, or answered only by a question. */
export function pendingOf(requests: readonly Request[]): readonly Request[] {
  const last = requests.at(-1);
  return requests.filter((request) => {
    if (!request.outcome) return true;
    return request === last && isQuestion(sentencesOf(request.outcome.text).at(-1) ?? "");
  });
}

/** The person's own text in a message. */
export function wordsOfUser(message: Message): string {
  return message.parts
    .flatMap((part) => {
      if (part.type === "text") return [ownWords(part.text)];
      return part.type === "blob" && part.of === "text" ? [ownWords(part.preview ?? "")] : [];
    })
    .filter((text) => text !== "")
    .join("\n");
}
