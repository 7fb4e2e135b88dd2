import { en } from "../../i18n/en/tasks.ts";
import { createText } from "../../i18n/text.ts";
import { zh } from "../../i18n/zh/tasks.ts";

export const tasksText = createText({ en, zh });
