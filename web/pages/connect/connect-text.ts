import { en } from "../../i18n/en/connect.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/connect.ts";

export const connectText = createText({ en, zh });
