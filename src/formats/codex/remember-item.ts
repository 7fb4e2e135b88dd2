import { parseJson } from "../../base/parse-json.ts";
import { toArray, toObject, toText } from "../../wire/fields.ts";
import type { KnownPrints } from "../copies/known-prints.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { getItemTexts } from "./response-items.ts";
import { buildPhaseKey } from "./stripped-event.ts";

/** Remembers the texts of an item in all forms in which events repeat them. */
export function rememberItem(item: JsonObject, known: KnownPrints): void {
  const texts = [...getItemTexts(item.content), ...getItemTexts(item.summary)];
  for (const text of texts) known.add(text);
  if (texts.length > 1) for (const joint of ["", "\n", "\n\n"]) known.add(texts.join(joint));
  const phase = toText(item.phase);
  if (phase !== undefined) for (const text of texts) known.add(buildPhaseKey(text, phase));
  for (const content of toArray(item.content)) known.add(toText(toObject(content)?.image_url) ?? "");
  for (const output of listOutputForms(item.output)) known.add(output);
  if (toObject(item.action)) known.add(JSON.stringify(item.action));
  known.add(toText(item.result) ?? "");
  known.add(toText(item.revised_prompt) ?? "");
  if (item.name === "apply_patch")
    for (const file of findAddedFiles(toText(item.input) ?? "")) known.add(file);
}

/** Returns the contents of files that a patch adds; their lines begin with "+". */
function findAddedFiles(patch: string): readonly string[] {
  return patch
    .split(/^\*\*\* /m)
    .filter((section) => section.startsWith("Add File: "))
    .map((section) => {
      const lines = section.split("\n").filter((line) => line.startsWith("+"));
      return lines.map((line) => `${line.slice(1)}\n`).join("");
    });
}

/** Returns an output with and without Codex's leading lines, and unwrapped from the JSON of older versions. */
function listOutputForms(output: unknown): readonly string[] {
  const text = typeof output === "string" ? output : toText(toObject(output)?.content);
  if (text === undefined) return getItemTexts(output);
  const mark = text.indexOf("Output:\n");
  const bodies = mark < 0 ? [] : [text.slice(mark + "Output:\n".length)];
  const inner = text.startsWith('{"output"') ? unwrapOutput(text) : undefined;
  return [text, ...bodies, ...(inner === undefined ? [] : [inner])];
}

function unwrapOutput(text: string): string | undefined {
  try {
    return toText(toObject(parseJson(text))?.output);
  } catch {
    return undefined;
  }
}
