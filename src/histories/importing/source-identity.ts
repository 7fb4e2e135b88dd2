import type { Kernel, SessionId, SessionRecord } from "../../kernel/index.ts";
import { computeDigest, computeFingerprint } from "../../model/base/digest.ts";
import { toObject, toText } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import { Lineage } from "./lineage.ts";
import { RecordComparison } from "./record-comparison.ts";

const MAX_ID = 256;
const KEPT_CHARACTERS = 200;
const PLACE_CHARACTERS = 8;
const DIGEST_DIGITS = 32;

/** Names something that has no id of its own: the name, and a fingerprint of the real path of its file. */
export function nameByPlace(name: string, path: string): string {
  return `${name}-${computeFingerprint(path, PLACE_CHARACTERS)}`;
}

/** A source with the id that it is known by: the tool's own, or one made from the place of its file. */
export function identifySource(source: ImportSource): ImportSource {
  return source.isUnnamed
    ? { ...source, id: nameByPlace(source.id, source.path), formerId: source.id }
    : source;
}

/** The id of the session that holds a foreign conversation, or one of its sub-agents. */
export function deriveSessionId(
  { format, id: own }: Pick<ImportSource, "format" | "id">,
  child?: string,
): SessionId {
  const path = [format, own, ...(child === undefined ? [] : [child])].join("/");
  const id = toPlain(path);
  if (id === path && id.length <= MAX_ID) return id;
  return `${id.slice(0, KEPT_CHARACTERS)}~${computeDigest(path, DIGEST_DIGITS)}`;
}

/** The ids that earlier versions gave the session of a source, if they differ. */
function listFormerIds(source: ImportSource): readonly SessionId[] {
  const { format, id, formerId = id } = source;
  const path = toPlain(`${format}/${formerId}`);
  const former = path.length <= MAX_ID ? path : `${path.slice(0, KEPT_CHARACTERS)}…${path.slice(-55)}`;
  return former === deriveSessionId(source) ? [] : [former];
}

function toPlain(path: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an id from a damaged file may hold them, ours may not
  return path.toWellFormed().replace(/[\u0000-\u001f\u007f]/g, "\ufffd");
}

/** All ids under which the store may have a source, the current one first. */
export function listSourceSessions(source: ImportSource): readonly SessionId[] {
  return [deriveSessionId(source), ...listFormerIds(source)];
}

/**
 * The id of the session that holds a source in a store: one that an earlier version has imported from the same file
 * keeps its id, unless other files with that id were mixed into it.
 */
export async function findSessionId(
  kernel: Pick<Kernel, "find" | "session">,
  source: ImportSource,
): Promise<SessionId> {
  const [own = "", former] = listSourceSessions(source);
  if (former === undefined || (await kernel.find(own))) return own;
  const record = await kernel.find(former);
  if (!record || findSourcePath(record) !== source.path || (await isMixed(kernel, former))) return own;
  return former;
}

/** The path that a session was last imported from; undefined if it was not imported. */
export function findSourcePath({ meta }: Pick<SessionRecord, "meta">): string | undefined {
  return toText(toObject(meta?.source)?.path);
}

/** Name of the intake of an imported session. */
export function nameIntake(session: SessionId): string {
  return `import:${session}`;
}

/** Formats whose conversations earlier versions knew by the name of their file. */
const NAMED_BY_FILE: readonly unknown[] = [
  "anthropic",
  "openai-chat",
  "openai-responses",
  "ai-sdk",
  "swe-agent",
];

/** The sessions into which earlier versions mixed the conversations of files with the same name. */
export async function findMixedSessions(
  kernel: Pick<Kernel, "session">,
  records: AsyncIterable<SessionRecord>,
): Promise<readonly SessionId[]> {
  const mixed: SessionId[] = [];
  for await (const { id, meta } of records)
    if (NAMED_BY_FILE.includes(toObject(meta?.source)?.format) && (await isMixed(kernel, id))) mixed.push(id);
  return mixed;
}

/** Replaced records that are compared. */
const MAX_COMPARED = 100;

/** True if records of a session were replaced by those of another conversation, which had the same id. */
async function isMixed(kernel: Pick<Kernel, "session">, id: SessionId): Promise<boolean> {
  await using session = await kernel.session(id);
  const progress = toObject((await session.intake(nameIntake(id))).progress);
  if (progress?.lineage === undefined) return false;
  const comparison = new RecordComparison();
  for (const [seq, place] of new Lineage(progress.lineage as never).listVersions().slice(0, MAX_COMPARED)) {
    const [known, later] = [await session.entry(place), await session.entry(seq)];
    if (known && later) comparison.add(known, later);
  }
  return comparison.areOthers;
}
