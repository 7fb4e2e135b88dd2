import { en } from "../../i18n/en/memory.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/memory.ts";

export const memoryText = createText({ en, zh });
