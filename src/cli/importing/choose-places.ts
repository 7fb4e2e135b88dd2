import type { ImportOptions } from "../../formats/index.ts";
import { askYesNo } from "../ask.ts";
import type { CommonValues } from "../command.ts";
import type { Context } from "../context.ts";
import { countOf } from "../count.ts";
import { escapeLine, safeJson } from "../escape.ts";
import { paintFor } from "../look.ts";
import { printTo } from "../printer.ts";
import { storePath } from "../store.ts";
import { type FoundPlace, findPlaces, placesTable } from "./places.ts";

/** Shows the conversations in well-known folders and returns the folders to import: none unless the user agrees. */
export async function choosePlaces(
  context: Context,
  options: CommonValues,
  choice: Pick<ImportOptions, "formats" | "since" | "signal">,
  isAgreed: boolean,
): Promise<readonly string[]> {
  const places = await findPlaces(context, choice);
  const paths = [...new Set(places.map(({ path }) => path))];
  if (options.json) {
    if (isAgreed) return paths;
    await printTo(context.stdout, `${safeJson({ places: places.map(placeJson) })}\n`);
    return [];
  }
  if (!options.quiet || !isAgreed) await printTo(context.stdout, placesText(context, options, places));
  if (isAgreed || places.length === 0) return paths;
  if (context.isTerminal.stdin && context.isTerminal.stdout) {
    return (await askYesNo(context, "Import these?")) ? paths : [];
  }
  await printTo(
    context.stdout,
    'Nothing imported. Run "longhaul import --yes" to import these, "longhaul import PATH" to import others.\n',
  );
  return [];
}

function placesText(context: Context, options: CommonValues, places: readonly FoundPlace[]): string {
  if (places.length === 0) {
    return 'No conversations found in the usual places. Run "longhaul import PATH" to search elsewhere.\n';
  }
  const paint = paintFor(context, options);
  const table = placesTable(places, { now: Date.now(), width: context.columns.stdout, paint });
  const count = places.reduce((total, { conversations }) => total + conversations, 0);
  const target = `${countOf(count, "conversation")} to import into the store ${escapeLine(storePath(context, options))}`;
  return `${[...table, "", target].join("\n")}\n`;
}

function placeJson({ format, ...place }: FoundPlace) {
  return { format: format.name, title: format.title, ...place };
}
