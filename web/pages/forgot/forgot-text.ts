import { en } from "../../i18n/en/forgot.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/forgot.ts";

export const forgotText = createText({ en, zh });
