import { join } from "node:path";
import type { Format, ImportSource } from "../port/format.ts";
import type { FileFacts } from "../reading/folder.ts";
import { readOpenclawDatabase } from "./openclaw-database.ts";
import { findOpenclawDatabaseSources } from "./openclaw-database-sources.ts";
import { findSessionFileSources, readSessionFile } from "./openclaw-session-files.ts";

/** Conversations of OpenClaw: pi sessions, in files up to 2026.7.1 and in one database per agent since. */
export const openclawFormat: Format = {
  name: "openclaw",
  title: "OpenClaw",
  processes: ["openclaw", "openclaw-gateway"],

  homes({ home, env }) {
    const state = env.OPENCLAW_STATE_DIR
      ? [env.OPENCLAW_STATE_DIR]
      : [".openclaw", ".clawdbot"].map((name) => join(home, name));
    return state.map((folder) => join(folder, "agents"));
  },

  async detect(folder) {
    const below = folder.folders.includes("agent") ? await folder.folder("agent") : undefined;
    const sources: ImportSource[] = [];
    // In an agent's folder, sessions in the database must not be read again from the older files.
    if (below?.files.some(isDatabase)) {
      const sessions = folder.folders.includes("sessions") ? await folder.folder("sessions") : undefined;
      const files = sessions ? await findSessionFileSources(sessions) : [];
      const leftovers = new Map(files.map(({ id, path }) => [id, path]));
      for (const file of below.files.filter(isDatabase))
        for (const one of await findOpenclawDatabaseSources(file, leftovers)) sources.push(one);
    }
    for (const file of folder.files.filter(isDatabase))
      for (const one of await findOpenclawDatabaseSources(file)) sources.push(one);
    return [...sources, ...(await findSessionFileSources(folder))];
  },

  read: (source, input) =>
    isDatabasePath(source.path) ? readOpenclawDatabase(source, input) : readSessionFile(source, input),
};

function isDatabasePath(path: string): boolean {
  return /\.sqlite$/i.test(path);
}

function isDatabase({ name, path }: FileFacts): boolean {
  return isDatabasePath(path) && /^openclaw-agent\b/i.test(name);
}
