import { join } from "node:path";
import type { System } from "../port/format.ts";

const EDITORS = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
const SERVERS = [".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".cursor-server"];
const OTHER_SERVERS = [".windsurf-server", ".vscode-remote"];

/** The folder in which editors keep their settings. */
export function findSettingsFolder({
  home,
  platform,
  env,
}: Pick<System, "home" | "platform" | "env">): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return platform === "win32"
    ? env.APPDATA || join(home, "AppData", "Roaming")
    : env.XDG_CONFIG_HOME || join(home, ".config");
}

/** Lists the storage folders of an extension in editors based on VS Code. */
export function listEditorFolders(extension: string, { home, platform, env }: System): readonly string[] {
  const settings = findSettingsFolder({ home, platform, env });
  return [
    ...EDITORS.map((editor) => join(settings, editor)),
    ...[...SERVERS, ...OTHER_SERVERS].map((server) => join(home, server, "data")),
    join(home, ".local", "share", "code-server"),
  ].map((folder) => join(folder, "User", "globalStorage", extension));
}
