import { en } from "../../i18n/en/privacy.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/privacy.ts";

export const privacyText = createText({ en, zh });
