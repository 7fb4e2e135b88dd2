import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { getSystem } from "./importing/source-places.ts";
import type { System } from "./port/format.ts";

/** Conversations on this computer that only their own agent can read. */
export interface EncryptedHistory {
  readonly title: string;
  readonly path: string;
  readonly files: number;
  readonly reason: string;
}

/** Agents that encrypt their conversations, with the folders and names of their files. */
const ENCRYPTED = [
  {
    title: "Windsurf",
    file: /\.pb$/,
    folders: ({ home }: System) => [join(home, ".codeium", "windsurf", "cascade")],
  },
  {
    title: "TRAE IDE",
    file: /^database\.db$/,
    folders: ({ home, platform, env }: System) => {
      const settings =
        platform === "darwin"
          ? join(home, "Library", "Application Support")
          : platform === "win32"
            ? env.APPDATA || join(home, "AppData", "Roaming")
            : env.XDG_CONFIG_HOME || join(home, ".config");
      return ["Trae", "Trae CN"].map((name) => join(settings, name, "ModularData", "ai-agent"));
    },
  },
] as const;

/** Finds conversations that cannot be imported, so that an import can say so. */
export async function findEncryptedHistories(
  system: System = getSystem(),
): Promise<readonly EncryptedHistory[]> {
  const found: EncryptedHistory[] = [];
  for (const { title, file, folders } of ENCRYPTED)
    for (const path of folders(system)) {
      const files = (await readdir(path).catch(() => [])).filter((name) => file.test(name)).length;
      const reason = `encrypted with a key that only ${title} has`;
      if (files > 0) found.push({ title, path, files, reason });
    }
  return found;
}
