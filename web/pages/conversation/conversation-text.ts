import { en } from "../../i18n/en/conversation.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/conversation.ts";

export const conversationText = createText({ en, zh });
