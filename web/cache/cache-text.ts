import { en } from "../i18n/en/cache.ts";
import { createText } from "../i18n/text.ts";
import { zh } from "../i18n/zh/cache.ts";

export const cacheText = createText({ en, zh });
