import { en } from "../../i18n/en/overview.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/overview.ts";

export const overviewText = createText({ en, zh });
