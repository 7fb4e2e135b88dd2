import { type Format, findSourcePlaces, type ImportOptions, surveySources } from "../../histories/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { getStorePath } from "../open-store.ts";
import { askYesNo } from "../terminal/ask-yes-no.ts";
import { choosePaint } from "../terminal/choose-paint.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatCount, formatQuantity } from "../terminal/format-count.ts";
import { formatAgo } from "../terminal/format-time.ts";
import type { Paint } from "../terminal/paint.ts";
import { printTo } from "../terminal/printer.ts";
import { type Column, renderTable } from "../terminal/table.ts";

/** Conversations of one agent in one folder. */
interface FoundPlace {
  readonly format: Format;
  readonly path: string;
  readonly conversations: number;
  readonly sizeBytes: number;
  readonly lastUsedAt: number;
}

const COLUMNS: readonly Column[] = [
  { title: "agent" },
  { title: "place", shrinks: "first", look: "dim" },
  { title: "conversations", align: "right" },
  { title: "size", align: "right" },
  { title: "last used" },
];

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

/** Surveys the folders where agents keep their conversations, reading only file names and the beginnings of files. */
async function findPopulatedPlaces(
  { home, platform, env }: CliContext,
  options: Pick<ImportOptions, "formats" | "since" | "signal">,
): Promise<readonly FoundPlace[]> {
  const places = await findSourcePlaces({ home, platform, env });
  const paths = [...new Set(places.map(({ path }) => path))];
  const found = new Map<string, FoundPlace>();
  const seen = new Set<string>();
  for (const path of paths) {
    for (const { source, format } of (await surveySources([path], options)).sources) {
      // Folders may be nested: a conversation counts for the first folder that contains it.
      const identity = `${format.name}\n${source.id}\n${source.path}`;
      if (seen.has(identity)) continue;
      seen.add(identity);
      const key = `${format.name}\n${path}`;
      const before = found.get(key) ?? { format, path, conversations: 0, sizeBytes: 0, lastUsedAt: 0 };
      found.set(key, {
        ...before,
        conversations: before.conversations + 1,
        sizeBytes: before.sizeBytes + source.sizeBytes,
        lastUsedAt: Math.max(before.lastUsedAt, source.modifiedAt),
      });
    }
  }
  return [...found.values()];
}

/** Formats the places as a table. */
function renderPlacesTable(
  places: readonly FoundPlace[],
  { now, width, paint }: { readonly now: number; readonly width: number; readonly paint: Paint },
): readonly string[] {
  const rows = places.map(({ format, path, conversations, sizeBytes, lastUsedAt }) => [
    format.title,
    path,
    formatCount(conversations),
    formatBytes(sizeBytes),
    formatAgo(lastUsedAt, now),
  ]);
  return renderTable(COLUMNS, rows, { width, paint });
}
