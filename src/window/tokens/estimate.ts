export { estimateMessage, estimateText, IMAGE_TOKENS, SAFETY, tokensOfMessage } from "./estimate-text.ts";
