import { arrayOf, objectOf, textOf } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { parseJson } from "../reading/parse-json.ts";
import { saidInPhase } from "./echoes.ts";
import type { KnownTexts } from "./known-texts.ts";
import { textsOf } from "./response-items.ts";

/** Remembers the texts of an item in all forms in which events repeat them. */
export function rememberItem(item: JsonObject, known: KnownTexts): void {
  const texts = [...textsOf(item.content), ...textsOf(item.summary)];
  for (const text of texts) known.add(text);
  if (texts.length > 1) for (const joint of ["", "\n", "\n\n"]) known.add(texts.join(joint));
  const phase = textOf(item.phase);
  if (phase !== undefined) for (const text of texts) known.add(saidInPhase(text, phase));
  for (const content of arrayOf(item.content)) known.add(textOf(objectOf(content)?.image_url) ?? "");
  for (const output of outputsOf(item.output)) known.add(output);
  if (objectOf(item.action)) known.add(JSON.stringify(item.action));
  known.add(textOf(item.result) ?? "");
  known.add(textOf(item.revised_prompt) ?? "");
  if (item.name === "apply_patch") for (const file of addedFiles(textOf(item.input) ?? "")) known.add(file);
}

/** Returns the contents of files that a patch adds; their lines begin with "+". */
function addedFiles(patch: string): readonly string[] {
  return patch
    .split(/^\*\*\* /m)
    .filter((section) => section.startsWith("Add File: "))
    .map((section) => {
      const lines = section.split("\n").filter((line) => line.startsWith("+"));
      return lines.map((line) => `${line.slice(1)}\n`).join("");
    });
}

/** Returns an output with and without Codex's leading lines, and unwrapped from the JSON of older versions. */
function outputsOf(output: unknown): readonly string[] {
  const text = typeof output === "string" ? output : textOf(objectOf(output)?.content);
  if (text === undefined) return textsOf(output);
  const mark = text.indexOf("Output:\n");
  const bodies = mark < 0 ? [] : [text.slice(mark + "Output:\n".length)];
  const inner = text.startsWith('{"output"') ? wrappedOutput(text) : undefined;
  return [text, ...bodies, ...(inner === undefined ? [] : [inner])];
}

function wrappedOutput(text: string): string | undefined {
  try {
    return textOf(objectOf(parseJson(text))?.output);
  } catch {
    return undefined;
  }
}
