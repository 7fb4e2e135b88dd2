import { join } from "node:path";
import { toObject, toText } from "../../wire/fields.ts";
import { listEditorFolders } from "../cline/editor-folders.ts";
import { codexFormat } from "../codex/codex-format.ts";
import { findOpencodeDatabaseSources } from "../opencode/opencode-database-sources.ts";
import { opencodeFormat } from "../opencode/opencode-format.ts";
import { createPiDecoder } from "../pi/pi-decoder.ts";
import { piFormat } from "../pi/pi-format.ts";
import type { Format, FormatName, ImportSource } from "../port/format.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import type { Item } from "../reading/item.ts";
import { rooFormat } from "../roo/roo-format.ts";

/** Names the sources that another agent's reader finds after this agent. */
function rename(sources: readonly ImportSource[], format: FormatName): readonly ImportSource[] {
  return sources.map((source) => ({ ...source, format }));
}

/** Kilo CLI: the database of opencode under another name. */
export const kiloCliFormat: Format = {
  ...opencodeFormat,
  name: "kilo",
  title: "Kilo CLI",
  processes: ["kilo"],
  homes: ({ home, env }) => [join(env.XDG_DATA_HOME || join(home, ".local", "share"), "kilo")],
  async detect(folder) {
    const sources: ImportSource[] = [];
    for (const file of folder.files)
      if (/^kilo(-[\w.-]+)?\.db$/i.test(file.name) && file.sizeBytes > 0)
        for (const source of rename(await findOpencodeDatabaseSources(file), "kilo")) sources.push(source);
    return sources;
  },
};

const KILO_EXTENSION = "kilocode.kilo-code";

/** Kilo Code for VS Code: the task folders of Roo Code in its own folder. */
export const kiloCodeFormat: Format = {
  ...rooFormat,
  name: "kilo-code",
  title: "Kilo Code",
  homes: (system) => listEditorFolders(KILO_EXTENSION, system),
  detect: async (folder) =>
    folder.path.split(/[\\/]/).includes(KILO_EXTENSION)
      ? rename(await rooFormat.detect(folder), "kilo-code")
      : [],
};

/** oh-my-pi: the session files of pi in its own folder, with profiles. */
export const ompFormat: Format = {
  ...piFormat,
  name: "omp",
  title: "oh-my-pi",
  processes: ["omp"],
  homes: ({ home, env }) => [
    join(home, ".omp"),
    ...(env.XDG_DATA_HOME ? [join(env.XDG_DATA_HOME, "omp")] : []),
  ],
  detect: async (folder) =>
    /[\\/](\.omp|omp)[\\/](.*[\\/])?sessions([\\/]|$)/.test(folder.path)
      ? rename(await piFormat.detect(folder), "omp")
      : [],
  read: (source, input) => decodeLines(input, source.path, (state) => createPiDecoder("omp", state)),
};

/** TRAE CLI: the rollouts of Codex, whose prompts stand only in events. */
export const traeCliFormat: Format = {
  ...codexFormat,
  name: "trae-cli",
  title: "TRAE CLI",
  processes: ["trae", "trae-cli"],
  homes: ({ home }) =>
    [join("cli", "sessions"), join("cli", "archived_sessions"), "sessions"].map((name) =>
      join(home, ".trae", name),
    ),
  detect: async (folder) =>
    /[\\/]\.trae[\\/](cli|sessions)([\\/]|$)/.test(folder.path)
      ? rename(await codexFormat.detect(folder), "trae-cli")
      : [],
  async *read(source, input) {
    for await (const item of codexFormat.read(source, input)) yield findPrompt(item) ?? item;
  },
};

/** Turns the event of a prompt, which Codex's reader keeps raw, into the message that it is. */
function findPrompt(item: Item): Item | undefined {
  if (item.type !== "record" || item.body.kind !== "raw") return undefined;
  const event = toObject(item.body.value);
  const payload = toObject(event?.payload) ?? event;
  const text = payload?.type === "user_message" ? toText(payload.message) : undefined;
  if (text === undefined) return undefined;
  return {
    ...item,
    body: {
      kind: "message",
      message: { role: "user", text, meta: { "trae-cli": { event: item.body.value } } },
    },
  };
}
