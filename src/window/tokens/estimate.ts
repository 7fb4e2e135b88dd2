export { estimateMessage, IMAGE_TOKENS, SAFETY, tokensOfMessage } from "./estimate-message.ts";
export { estimateText } from "./estimate-text.ts";
