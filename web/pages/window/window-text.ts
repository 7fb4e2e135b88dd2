import { en } from "../../i18n/en/window.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/window.ts";

export const windowText = createText({ en, zh });
