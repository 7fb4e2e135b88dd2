export { estimateMessage, IMAGE_TOKENS, SAFETY } from "./estimate-message.ts";
export { estimateText } from "./estimate-text.ts";
