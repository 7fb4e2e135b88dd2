import { en } from "../i18n/en/session.ts";
import { createText } from "../i18n/text.ts";
import { zh } from "../i18n/zh/session.ts";

/** Texts that the pages of one conversation share. */
export const sessionText = createText({ en, zh });
