export {
  decodeAnthropicMessages,
  decodeOpenaiChatMessages,
  decodeOpenaiResponsesMessages,
  encodeAnthropicMessages,
  encodeOpenaiChatMessages,
  encodeOpenaiResponsesMessages,
  getWire,
  type PartSource,
  WIRES,
  type Wire,
} from "../../wire/index.ts";
