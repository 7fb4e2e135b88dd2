import { en } from "../../i18n/en/health.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/health.ts";

export const healthText = createText({ en, zh });
