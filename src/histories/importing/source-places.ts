import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { checkSystem } from "../check-arguments.ts";
import { FORMATS } from "../formats.ts";
import type { Format, System } from "../port/format.ts";

/** A folder where a tool keeps its conversations. */
export interface SourcePlace {
  readonly format: Format;
  readonly path: string;
}

/** The environment of this process. */
export function getSystem(): System {
  return { home: homedir(), platform: process.platform, env: process.env };
}

/** Lists the well-known folders of all tools that exist on this computer. */
export async function findSourcePlaces(system: System = getSystem()): Promise<readonly SourcePlace[]> {
  checkSystem(system);
  const places: SourcePlace[] = [];
  const seen = new Set<string>();
  for (const format of FORMATS) {
    for (const path of format.homes(system)) {
      if (seen.has(`${format.name}\n${path}`)) continue;
      seen.add(`${format.name}\n${path}`);
      if ((await stat(path).catch(() => undefined))?.isDirectory()) places.push({ format, path });
    }
  }
  return places;
}
