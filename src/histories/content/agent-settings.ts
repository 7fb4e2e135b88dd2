import { findOutsideText } from "../../model/base/outside-file.ts";
import { parseCommentedJson } from "../../model/base/parse-commented-json.ts";
import { toObject } from "../../wire/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";

const MAX_BYTES = 8 * 1_024 * 1_024;

/** Reads settings files of an agent; later files win, field by field. Missing and broken files are skipped. */
export async function readAgentSettings(paths: readonly string[]): Promise<JsonObject> {
  let settings: JsonObject = {};
  for (const path of paths) {
    const text = await findOutsideText(path, { maxBytes: MAX_BYTES, allowsLink: true });
    if (text === undefined) continue;
    try {
      settings = { ...settings, ...toObject(parseCommentedJson(text)) };
    } catch {
      // The agent itself ignores a broken file or refuses to start.
    }
  }
  return settings;
}

const DAYS = { h: 1 / 24, d: 1, w: 7, m: 30 } as const;

/** Parses a length of time such as "30d" to days; undefined if it is none. */
export function parseDays(text: string): number | undefined {
  const [, count, unit] = /^(\d+)([hdwm])$/.exec(text.trim()) ?? [];
  return unit === undefined ? undefined : Number(count) * DAYS[unit as keyof typeof DAYS];
}
