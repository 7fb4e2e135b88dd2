import { basename, dirname, join } from "node:path";
import { dropUndefined, toObject, toText } from "../../wire/fields.ts";
import type { Format, ImportSource } from "../port/format.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import type { FileFacts } from "../reading/folder.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseCutJson } from "../reading/parse-cut-json.ts";
import { isCopilotEvent } from "./copilot-event.ts";
import { EventDecoder } from "./event-decoder.ts";

/** Sessions of GitHub Copilot CLI: one stream of events each, `<id>/events.jsonl` or `<id>.jsonl`. */
export const copilotCliFormat: Format = {
  name: "copilot-cli",
  title: "GitHub Copilot CLI",
  processes: ["copilot"],
  homes({ home, env }) {
    return [join(toText(env.COPILOT_HOME) ?? join(home, ".copilot"), "session-state")];
  },
  async detect(folder) {
    const sources: ImportSource[] = [];
    for (const file of folder.files) {
      if (!file.name.endsWith(".jsonl")) continue;
      const [line = ""] = (await folder.head(file)).trimStart().split("\n", 1);
      const first = toObject(parseCutJson(line));
      if (first && isCopilotEvent(first)) sources.push(buildSource(file, first));
    }
    return sources;
  },
  read({ path }, input) {
    return decodeLines(input, path, (state) => new EventDecoder(state));
  },
};

function buildSource({ path, name, sizeBytes, modifiedAt }: FileFacts, first: JsonObject): ImportSource {
  const data = first.type === "session.start" ? (toObject(first.data) ?? {}) : {};
  const named = name === "events.jsonl" ? basename(dirname(path)) : name.replace(/\.jsonl$/, "");
  const cwd = toText(toObject(data.context)?.cwd);
  return {
    format: "copilot-cli",
    id: toText(data.sessionId) ?? named,
    path,
    paths: [path],
    sizeBytes,
    modifiedAt,
    ...dropUndefined({ cwd }),
  };
}
