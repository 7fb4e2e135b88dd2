import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { AgentConnector, UserPlace } from "./agents/agent-connector.ts";
import { CONNECTORS } from "./agents/connectors.ts";

/** Finds the agents that are used on this computer: by their folders, or by a program on the search path. */
export function findAgents(
  place: UserPlace,
  agents: readonly AgentConnector[] = CONNECTORS,
): readonly AgentConnector[] {
  return agents.filter(
    (connector) =>
      connector.listTraces(place).some((path) => existsSync(path)) ||
      connector.programs.some((program) => isOnPath(place, program)),
  );
}

/** True if a program is on the search path. */
export function isOnPath({ env, platform }: UserPlace, program: string): boolean {
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => folder !== "");
  const endings = platform === "win32" ? [".exe", ".cmd", ".ps1"] : [""];
  return folders.some((folder) => endings.some((ending) => isProgram(join(folder, program + ending))));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
