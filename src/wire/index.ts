export {
  type AnthropicMessages,
  decodeAnthropicMessages,
  decodeOpenaiChatMessages,
  decodeOpenaiResponsesMessages,
  type EncodableMessages,
  encodeAnthropicMessages,
  encodeOpenaiChatMessages,
  encodeOpenaiResponsesMessages,
  type OpenaiChatMessages,
  type OpenaiResponsesMessages,
  type WireMessages,
} from "./convert-messages.ts";
export type { PartSource } from "./part-source.ts";
export type {
  ClientMessage,
  DecodedMessage,
  EncodedRequest,
  LoadBase64,
  LoggedContent,
  ReplyReader,
  Wire,
  WireEvent,
  WireFault,
  WireName,
  WireObject,
} from "./wire.ts";
export { getWire, WIRES } from "./wires.ts";
