import type { ImportOptions } from "../../histories/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { getStorePath } from "../open-store.ts";
import { askYesNo } from "../terminal/ask-yes-no.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import { printTo } from "../terminal/printer.ts";
import { type FoundPlace, findPopulatedPlaces, renderPlacesTable } from "./found-places.ts";

/**
 * Shows the conversations in well-known folders and returns the folders to import: none unless the user agrees, by an
 * empty line too if `isUsual`.
 */
export async function choosePlaces(
  context: CliContext,
  options: CommonValues,
  choice: Pick<ImportOptions, "formats" | "since" | "signal">,
  { isAgreed, isUsual = false }: { readonly isAgreed: boolean; readonly isUsual?: boolean },
): Promise<readonly string[]> {
  const places = await findPopulatedPlaces(context, choice);
  const paths = [...new Set(places.map(({ path }) => path))];
  if (options.json) {
    if (isAgreed) return paths;
    await printTo(context.stdout, `${toSafeJson({ places: places.map(toPlaceJson) })}\n`);
    return [];
  }
  if (!options.quiet || !isAgreed) await printTo(context.stdout, renderPlaces(context, options, places));
  if (isAgreed || places.length === 0) return paths;
  if (context.isTerminal.stdin && context.isTerminal.stdout) {
    return (await askYesNo(context, "Import these?", isUsual)) ? paths : [];
  }
  await printTo(
    context.stdout,
    'Nothing imported. Run "longhaul import --yes" to import these, "longhaul import PATH" to import others.\n',
  );
  return [];
}

function renderPlaces(context: CliContext, options: CommonValues, places: readonly FoundPlace[]): string {
  if (places.length === 0) {
    return 'No conversations found in the usual places. Run "longhaul import PATH" to search elsewhere.\n';
  }
  const paint = choosePaint(context, options);
  const table = renderPlacesTable(places, { now: Date.now(), width: context.columns.stdout, paint });
  const count = places.reduce((total, { conversations }) => total + conversations, 0);
  const target = `${formatQuantity(count, "conversation")} to import into the store ${escapeLine(getStorePath(context, options))}`;
  return `${[...table, "", target].join("\n")}\n`;
}

function toPlaceJson({ format, ...place }: FoundPlace) {
  return { format: format.name, title: format.title, ...place };
}
