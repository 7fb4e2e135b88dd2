import { basename, join } from "node:path";
import { buildFileSource, type Format, type ImportSource } from "../port/format.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import { createPiDecoder } from "./pi-decoder.ts";
import { type PiHeader, parsePiHeader } from "./pi-header.ts";

/** Sessions of pi: JSONL files of versions 1 to 3. */
export const piFormat: Format = {
  name: "pi",
  title: "pi",
  processes: ["pi"],

  homes({ home, env }) {
    const agent = env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent");
    return [join(agent, "sessions")];
  },

  async detect(folder) {
    const sources: ImportSource[] = [];
    for (const file of folder.files) {
      if (!file.name.endsWith(".jsonl")) continue;
      const header = parsePiHeader(await folder.head(file));
      if (!header) continue;
      const { id, cwd } = header;
      sources.push(buildFileSource("pi", file, { id, cwd, parent: findParent(header, file.path) }));
    }
    return sources;
  },

  read: (source, input) => decodeLines(input, source.path, (state) => createPiDecoder("pi", state)),
};

/** Returns the parent session if this file is in its folder; otherwise `parentSession` is the origin of a fork. */
function findParent({ parentSession }: PiHeader, path: string): string | undefined {
  const stem = basename((parentSession ?? "").replaceAll("\\", "/"), ".jsonl");
  if (stem === "" || !path.split(/[/\\]/).includes(stem)) return undefined;
  return stem.slice(stem.lastIndexOf("_") + 1);
}
