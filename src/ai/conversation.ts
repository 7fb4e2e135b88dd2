import { Conversation, type Given } from "../conversation/conversation.ts";
import type { Message, Session } from "../index.ts";
import { messageOfSdk } from "./from-sdk.ts";
import { type Media, plainMessage } from "./plain-message.ts";
import { saidKey } from "./said-key.ts";
import type { SdkMessage } from "./sdk-message.ts";

/** A message as a caller passed it. */
export interface GivenMessage extends Given {
  readonly sdk: SdkMessage;
  readonly message: Message;
}

const conversations = new WeakMap<Session, Conversation<GivenMessage>>();

/** The conversation of a session handle, shared by all models that use it. */
export function conversationOf(session: Session): Conversation<GivenMessage> {
  const known = conversations.get(session) ?? new Conversation(session, saidKey);
  conversations.set(session, known);
  return known;
}

/** Converts AI SDK messages to ours; empty messages are dropped. */
export function givenMessages(messages: readonly SdkMessage[], media: Media): readonly GivenMessage[] {
  return messages.flatMap((sdk) => {
    const input = messageOfSdk(sdk);
    const message = plainMessage(input, media);
    return message.parts.length === 0 ? [] : [{ sdk, input: () => input, message, key: saidKey(message) }];
  });
}
