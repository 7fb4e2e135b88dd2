import { type Format, findSourcePlaces, type ImportOptions, surveySources } from "../../histories/index.ts";
import type { CliContext } from "../cli-context.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatCount } from "../terminal/format-count.ts";
import { formatAgo } from "../terminal/format-time.ts";
import type { Paint } from "../terminal/paint.ts";
import { type Column, renderTable } from "../terminal/table.ts";

/** Conversations of one agent in one folder. */
export interface FoundPlace {
  readonly format: Format;
  readonly path: string;
  readonly conversations: number;
  readonly sizeBytes: number;
  readonly lastUsedAt: number;
}

/** Surveys the folders where agents keep their conversations, reading only file names and the beginnings of files. */
export async function findPopulatedPlaces(
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

const COLUMNS: readonly Column[] = [
  { title: "agent" },
  { title: "place", shrinks: "first", look: "dim" },
  { title: "conversations", align: "right" },
  { title: "size", align: "right" },
  { title: "last used" },
];

/** Formats the places as a table. */
export function renderPlacesTable(
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
