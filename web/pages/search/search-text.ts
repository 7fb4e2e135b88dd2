import { en } from "../../i18n/en/search.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/search.ts";

export const searchText = createText({ en, zh });
