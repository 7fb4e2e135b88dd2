import { join } from "node:path";
import { toText } from "../../wire/fields.ts";
import type { Format } from "../port/format.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import { detectRollouts } from "./codex-sources.ts";
import { RolloutDecoder } from "./rollout-decoder.ts";

/** Rollouts of OpenAI Codex: one JSONL file per thread, plain or compressed. */
export const codexFormat: Format = {
  name: "codex",
  title: "Codex",
  processes: ["codex"],
  homes({ home, env }) {
    const root = toText(env.CODEX_HOME) ?? join(home, ".codex");
    return [join(root, "sessions"), join(root, "archived_sessions")];
  },
  detect: detectRollouts,
  read({ path }, input) {
    return decodeLines(input, path, (state) => new RolloutDecoder(path, state));
  },
};
