import { en } from "./en/shell.ts";
import { createText } from "./text.ts";
import { zh } from "./zh/shell.ts";

/** Texts of the frame around the pages and of the shared components. */
export const shellText = createText({ en, zh });
