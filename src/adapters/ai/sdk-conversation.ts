import { type CallerMessage, Conversation } from "../../kernel/calls/conversation.ts";
import type { Message, Session } from "../../kernel/index.ts";
import { computeMessageKey } from "./compute-message-key.ts";
import { decodeSdkMessage } from "./decode-sdk-message.ts";
import type { SdkMessage } from "./sdk-message.ts";
import { type Media, toPlainMessage } from "./to-plain-message.ts";

/** A message as a caller passed it. */
export interface SdkCallerMessage extends CallerMessage {
  readonly sdk: SdkMessage;
  readonly message: Message;
}

const conversations = new WeakMap<Session, Conversation<SdkCallerMessage>>();

/** The conversation of a session handle, shared by all models that use it. */
export function getConversation(session: Session): Conversation<SdkCallerMessage> {
  const known = conversations.get(session) ?? new Conversation(session, computeMessageKey);
  conversations.set(session, known);
  return known;
}

/** Converts AI SDK messages to ours; empty messages are dropped. */
export function toCallerMessages(messages: readonly SdkMessage[], media: Media): readonly SdkCallerMessage[] {
  return messages.flatMap((sdk) => {
    const input = decodeSdkMessage(sdk);
    const message = toPlainMessage(input, media);
    return message.parts.length === 0
      ? []
      : [{ sdk, input: () => input, message, key: computeMessageKey(message) }];
  });
}
