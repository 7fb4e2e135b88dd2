import { dirname } from "node:path";
import type { Json } from "../../index.ts";
import { dropUndefined, toObject } from "../../wire/fields.ts";
import { splitLeftovers } from "../content/leftovers.ts";
import { parsePiHeader } from "../pi/pi-header.ts";
import type { ImportSource } from "../port/format.ts";
import type { Item } from "../port/item.ts";
import { decodeLines } from "../reading/decode-lines.ts";
import type { FileFacts, Folder } from "../reading/folder.ts";
import { Input } from "../reading/input.ts";
import { createOpenclawDecoder } from "./openclaw-decoder.ts";
import { indexSessions, type RegisteredSession } from "./registered-sessions.ts";

/** Live transcripts, and those that a reset or deletion has renamed. */
const TRANSCRIPT = /\.jsonl(\.(?:reset|deleted|bak)\b.*)?$/;
const SESSIONS_FOLDER = /[/\\]agents[/\\][^/\\]+[/\\]sessions$/;
/** Folders of pi itself, named after the working folder. */
const PI_FOLDER = /^--.*--$/;
const OWN_ENTRY = /"customType"\s*:\s*"openclaw[.:]/;

/** Finds the conversations that OpenClaw keeps as files in a folder. */
export async function findSessionFileSources(folder: Folder): Promise<readonly ImportSource[]> {
  if (PI_FOLDER.test(folder.name)) return [];
  const registry = folder.files.find(({ name }) => name === "sessions.json");
  const sessions = registry && (await readRegistry(registry));
  const isSessionsFolder = sessions !== undefined || SESSIONS_FOLDER.test(folder.path);
  const sources: ImportSource[] = [];
  const taken = new Set<string>();
  // Live transcripts come first and keep the id if an archived one has the same.
  const transcripts = folder.files.filter(({ name }) => TRANSCRIPT.test(name)).sort(compareLiveness);
  for (const file of transcripts) {
    const head = await folder.head(file);
    const header = parsePiHeader(head);
    if (!header || !(isSessionsFolder || OWN_ENTRY.test(head))) continue;
    const aside = TRANSCRIPT.exec(file.name)?.[1];
    const id = taken.has(header.id) && aside ? `${header.id}${aside}` : header.id;
    taken.add(id);
    const { path, sizeBytes, modifiedAt } = file;
    sources.push({
      format: "openclaw",
      id,
      path,
      paths: registry && sessions ? [path, registry.path] : [path],
      sizeBytes,
      modifiedAt,
      ...dropUndefined({ cwd: header.cwd, ...getSourceFacts(sessions?.get(header.id)) }),
    });
  }
  return sources;
}

function compareLiveness(a: FileFacts, b: FileFacts): number {
  return Number(!a.name.endsWith(".jsonl")) - Number(!b.name.endsWith(".jsonl"));
}

/** Returns the facts of a listed session for its source. */
export function getSourceFacts(
  session: RegisteredSession | undefined,
): Partial<Pick<ImportSource, "parent" | "title">> {
  return dropUndefined({ parent: session?.parent, title: session?.title });
}

async function readRegistry({
  path,
}: FileFacts): Promise<ReadonlyMap<string, RegisteredSession> | undefined> {
  const input = new Input({ root: dirname(path), paths: [path] });
  const read = await input.json(path).catch(() => undefined);
  const entries = read && "value" in read ? toObject(read.value) : undefined;
  return entries && indexSessions(Object.entries(entries));
}

/** Reads one conversation from a file. */
export async function* readSessionFile(source: ImportSource, input: Input): AsyncGenerator<Item> {
  const [path = "", registry] = source.paths;
  const listed = registry === undefined ? undefined : await input.json(registry);
  const entries = listed && "value" in listed ? toObject(listed.value) : undefined;
  const session = entries && indexSessions(Object.entries(entries)).get(headerId(source));
  for await (const item of decodeLines(input, path, (state) => createOpenclawDecoder(state)))
    yield item.type === "session" && item.meta
      ? { ...item, meta: addSessionFacts(item.meta, session) }
      : item;
}

/** The id in the header of a transcript: an archived one may have a suffix, to tell it from the live one. */
function headerId({ id, path }: ImportSource): string {
  const aside = TRANSCRIPT.exec(path)?.[1];
  return aside !== undefined && id.endsWith(aside) ? id.slice(0, -aside.length) : id;
}

/** Adds the facts of the session list to the session's meta. */
export function addSessionFacts(
  meta: { readonly [key: string]: Json },
  session: RegisteredSession | undefined,
): { readonly [key: string]: Json } {
  if (!session) return meta;
  const { small } = splitLeftovers(session.entry);
  const own = toObject(meta.openclaw) as { readonly [key: string]: Json } | undefined;
  return { ...meta, openclaw: { ...own, sessionKey: session.key, ...(small && { session: small }) } };
}
