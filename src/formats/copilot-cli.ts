import { basename, dirname, join } from "node:path";
import { definedFields, objectOf, textOf } from "./content/fields.ts";
import { EventDecoder } from "./copilot-cli/decoder.ts";
import { isEvent } from "./copilot-cli/event.ts";
import type { Format, Source } from "./format.ts";
import { parseCutJson } from "./reading/cut-json.ts";
import { decodeLines } from "./reading/decode-lines.ts";
import type { FileFacts } from "./reading/folder.ts";
import type { JsonObject } from "./reading/json-lines.ts";

/** Sessions of GitHub Copilot CLI: one stream of events each, `<id>/events.jsonl` or `<id>.jsonl`. */
export const copilotCli: Format = {
  name: "copilot-cli",
  title: "GitHub Copilot CLI",
  processes: ["copilot"],
  homes({ home, env }) {
    return [join(textOf(env.COPILOT_HOME) ?? join(home, ".copilot"), "session-state")];
  },
  async detect(folder) {
    const sources: Source[] = [];
    for (const file of folder.files) {
      if (!file.name.endsWith(".jsonl")) continue;
      const [line = ""] = (await folder.head(file)).trimStart().split("\n", 1);
      const first = objectOf(parseCutJson(line));
      if (first && isEvent(first)) sources.push(sourceOf(file, first));
    }
    return sources;
  },
  read({ path }, input) {
    return decodeLines(input, path, (state) => new EventDecoder(state));
  },
};

function sourceOf({ path, name, sizeBytes, modifiedAt }: FileFacts, first: JsonObject): Source {
  const data = first.type === "session.start" ? (objectOf(first.data) ?? {}) : {};
  const named = name === "events.jsonl" ? basename(dirname(path)) : name.replace(/\.jsonl$/, "");
  const cwd = textOf(objectOf(data.context)?.cwd);
  return {
    format: "copilot-cli",
    id: textOf(data.sessionId) ?? named,
    path,
    paths: [path],
    sizeBytes,
    modifiedAt,
    ...definedFields({ cwd }),
  };
}
