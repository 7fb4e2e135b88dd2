import type { LanguageModelV4Content, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { Json, MessageInput } from "../../kernel/index.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { decodeSdkMessage } from "./decode-sdk-message.ts";
import type { SdkMessagePart } from "./sdk-message.ts";

/** A model's reply, in the form in which the AI SDK will send it back; undefined if it is empty. */
export function decodeReply(
  content: readonly LanguageModelV4Content[],
  model: string,
): MessageInput | undefined {
  // Sources and approval requests are never sent back.
  const asides = content.filter(({ type }) => type === "source" || type === "tool-approval-request");
  const message = decodeSdkMessage(
    { role: "assistant", content: content.flatMap(decodeReplyPart) },
    asides.length > 0 ? { asides: JSON.parse(JSON.stringify(asides)) as Json } : {},
  );
  return message.parts?.length ? { ...message, model } : undefined;
}

function decodeReplyPart(part: LanguageModelV4Content): readonly SdkMessagePart[] {
  const options = toProviderOptions(part.providerMetadata);
  switch (part.type) {
    case "text":
      return part.text === "" && !part.providerMetadata
        ? []
        : [{ type: "text", text: part.text, ...options }];
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...options }];
    case "file":
    case "reasoning-file":
      return [{ type: part.type, data: part.data, mediaType: part.mediaType, ...options }];
    case "custom":
      return [{ type: "custom", kind: part.kind, ...options }];
    case "tool-call": {
      const { toolCallId, toolName, providerExecuted } = part;
      return [
        {
          type: "tool-call",
          toolCallId,
          toolName,
          input: parseInput(part.input),
          ...dropUndefined({ providerExecuted }),
          ...options,
        },
      ];
    }
    case "tool-result": {
      const { toolCallId, toolName, result, isError } = part;
      const output = { type: isError ? "error-json" : "json", value: result };
      return [{ type: "tool-result", toolCallId, toolName, output, ...options }];
    }
    case "source":
    case "tool-approval-request":
      return [];
  }
}

function toProviderOptions(metadata: SharedV4ProviderMetadata | undefined) {
  return metadata === undefined ? {} : { providerOptions: metadata };
}

/** Models write tool input as text; text that is not JSON stays text. */
function parseInput(text: string): unknown {
  try {
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}
