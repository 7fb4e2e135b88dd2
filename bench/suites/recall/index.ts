import type { Suite } from "../../suite.ts";
import { code } from "./code.ts";
import { conversations } from "./conversations.ts";
import { speed } from "./speed.ts";

/** Finding again what was said, and the file an issue is about. */
export const recall: Suite = { measurements: [...conversations, code, speed] };
