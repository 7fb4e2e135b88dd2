import type { Suite } from "../../suite.ts";
import { code } from "./code.ts";
import { conversations } from "./conversations.ts";
import { editedFiles } from "./edited-files/index.ts";
import { histories } from "./history/index.ts";
import { speed } from "./speed.ts";

/** Recall of conversations, of agents' work, and of the files that an issue or a task is about. */
export const recall: Suite = { measurements: [...conversations, histories, editedFiles, code, speed] };
