import { toArray, toObject } from "../../wire/fields.ts";
import { CopyFilter } from "../copies/copy-filter.ts";
import { COPY_RULES } from "../copies/copy-rules.ts";
import { KnownTexts } from "../copies/known-texts.ts";
import type { JsonObject } from "../reading/json-lines.ts";

/** Creates a filter for a tool's metadata, which repeats its input, its output or its own diffs for display. */
export function createMetadataFilter(state: JsonObject): CopyFilter {
  const diffs = toArray(toObject(state.metadata)?.files).map((file) => toObject(file)?.diff);
  const allDiffs = diffs.length > 0 && diffs.map((diff) => `${diff}\n`).join("");
  const evidence = new KnownTexts(COPY_RULES.opencode, {
    searched: typeof state.output === "string" ? [state.output] : [],
    whole: new Set([...Object.values(toObject(state.input) ?? {}), state.title]),
    isDerived: (field, value) => field === "diff" && value === allDiffs,
  });
  return new CopyFilter(COPY_RULES.opencode, evidence);
}
