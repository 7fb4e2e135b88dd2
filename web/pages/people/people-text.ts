import { en } from "../../i18n/en/people.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/people.ts";

export const peopleText = createText({ en, zh });
