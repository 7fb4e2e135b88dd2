import { en } from "../../i18n/en/spending.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/spending.ts";

export const spendingText = createText({ en, zh });
