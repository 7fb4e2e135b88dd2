import type { Kernel, Message, MessageInput, Part } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import {
  decodeAnthropicMessages,
  decodeOpenaiChatMessages,
  decodeOpenaiResponsesMessages,
  encodeAnthropicMessages,
  encodeOpenaiChatMessages,
  encodeOpenaiResponsesMessages,
  type PartSource,
} from "../../../wire/index.ts";

/** Formats of messages that sessions read and write. */
export const SESSION_FORMATS = ["longhaul", "anthropic", "openai-chat", "openai-responses"] as const;

type SessionFormat = (typeof SESSION_FORMATS)[number];

type Elements = readonly { readonly [field: string]: unknown }[];

/** Messages in a format, and the lead that the format keeps apart from them. */
interface MessageEncoding {
  readonly messages: readonly unknown[];
  readonly system?: unknown;
}

/** Converts messages of a format to ours. */
export function decodeMessages(format: SessionFormat, messages: Elements): readonly MessageInput[] {
  switch (format) {
    case "longhaul":
      return messages as unknown as readonly MessageInput[];
    case "anthropic":
      return decodeAnthropicMessages(messages);
    case "openai-chat":
      return decodeOpenaiChatMessages(messages);
    case "openai-responses":
      return decodeOpenaiResponsesMessages(messages);
  }
}

/** Converts logged messages to a format. */
export async function encodeMessages(
  kernel: Kernel,
  format: SessionFormat,
  messages: readonly Message[],
): Promise<MessageEncoding> {
  const source = createPartSource(kernel);
  switch (format) {
    case "longhaul": {
      const whole: Message[] = [];
      for (const message of messages) whole.push(await kernel.blobs.restoreMessage(message));
      return { messages: whole };
    }
    case "anthropic": {
      const encoded = await encodeAnthropicMessages(messages, source);
      return { messages: encoded.messages, ...dropUndefined({ system: encoded.system }) };
    }
    case "openai-chat":
      return { messages: (await encodeOpenaiChatMessages(messages, source)).messages };
    case "openai-responses": {
      const { input, instructions } = await encodeOpenaiResponsesMessages(messages, source);
      return { messages: input, system: instructions };
    }
  }
}

function createPartSource(kernel: Kernel): PartSource {
  return {
    base64: async ({ digest }) => Buffer.from(await kernel.blobs.bytes(digest)).toString("base64"),
    restore: async (part: Part) =>
      part.type === "blob" && part.of !== undefined ? kernel.blobs.restore(part) : part,
  };
}
