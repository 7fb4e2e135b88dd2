import { isDeepStrictEqual } from "node:util";
import type { Store } from "../log/store/store.ts";
import { checkFields, checkTexts } from "../model/argument-checks.ts";
import { dropUndefined } from "../model/base/drop-undefined.ts";
import type { SessionId } from "../model/entry.ts";
import { createArgumentError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { getOwnerPrefix, isOwnSession } from "../model/session-key.ts";
import { buildPathFilter } from "./files/path-filter.ts";
import { toMemorySession } from "./memories/stored-memory.ts";
import type { SourceFilter } from "./scored-chunk.ts";
import type { SourceNumbers } from "./source-numbers.ts";

/**
 * The sessions and files that a recall searches; everything if undefined. All conditions on sessions must hold; files
 * are searched only where named. A scope of one agent, user or project therefore never reveals content of another.
 */
export interface MemoryScope {
  readonly sessions?: readonly SessionId[];
  /** Sessions whose id begins with this. */
  readonly prefix?: string;
  /** Sessions whose id begins with one of these. */
  readonly prefixes?: readonly string[];
  /** Sessions whose metadata has all of these values. */
  readonly meta?: { readonly [key: string]: Json };
  /** Agents whose memories are searched too, whatever the other conditions. */
  readonly agents?: readonly string[];
  /**
   * Owners whose content may be returned at all, whatever the other conditions: the first part of a session's id with
   * its slash ("@alice/"), or a whole id. A PostgreSQL store enforces it by its own policies too. Files have no owner.
   */
  readonly owners?: readonly string[];
  /** Files, and folders with all files below them. */
  readonly files?: readonly string[];
}

/** Fewer named sessions are looked up one by one. */
const FEW_SESSIONS = 8;

/** Services of `resolveScope`. */
interface ScopeDeps {
  readonly store: Store;
  readonly sessionNumbers: SourceNumbers;
  readonly fileNumbers: SourceNumbers;
}

/** Resolves a scope to its sources; undefined for all. */
export async function resolveScope(deps: ScopeDeps, scope: MemoryScope | undefined): Promise<SourceFilter> {
  if (scope === undefined) return undefined;
  checkFields("scope", scope, { prefix: "text?", meta: "object?" });
  if (scope.sessions !== undefined) checkTexts("scope.sessions", scope.sessions);
  if (scope.files !== undefined) checkTexts("scope.files", scope.files);
  if (scope.prefixes !== undefined) checkTexts("scope.prefixes", scope.prefixes);
  if (scope.agents !== undefined) checkTexts("scope.agents", scope.agents);
  if (scope.owners !== undefined) checkTexts("scope.owners", scope.owners);
  const hasSessions = namesSessions(scope);
  const sessions = hasSessions ? await listSessionNumbers(deps, scope) : [];
  for (const agent of scope.agents ?? []) {
    const name = toMemorySession(agent);
    if (!hasScopeOwner(scope, name)) continue;
    const source = await deps.store.memory.source({ kind: "session", name });
    if (source) sessions.push(source.number);
  }
  const files = scope.files && !scope.owners ? await listFileNumbers(deps, scope.files) : [];
  if (!hasSessions && !scope.agents && !scope.files)
    throw createArgumentError(
      "scope",
      scope,
      "sessions, prefix, prefixes, meta, owners, agents or files; leave it out for everything",
    );
  let last = 0;
  for (const number of sessions) last = Math.max(last, number);
  for (const number of files) last = Math.max(last, number);
  const filter = new Uint8Array(last + 1);
  for (const number of sessions) filter[number] = 1;
  for (const number of files) filter[number] = 1;
  return filter;
}

/** True if a scope has conditions on sessions; without any, it contains none. */
export function namesSessions({ sessions, prefix, prefixes, meta, owners, agents }: MemoryScope): boolean {
  if (sessions !== undefined || prefix !== undefined || prefixes !== undefined || meta !== undefined)
    return true;
  return owners !== undefined && agents === undefined;
}

/** True if the owner of a session is one of those that a scope allows. */
export function hasScopeOwner({ owners }: MemoryScope, id: SessionId): boolean {
  return owners?.includes(getOwnerPrefix(id)) ?? true;
}

/** True if the id of a session meets the prefixes and owners of a scope. */
export function hasScopePrefix(scope: MemoryScope, id: SessionId): boolean {
  const { prefix = "", prefixes } = scope;
  return hasScopeOwner(scope, id) && isOwnSession([prefix], id) && isOwnSession(prefixes, id);
}

/** True if a session is within a scope by its id; conditions on metadata are not checked. */
export function isIdInScope(scope: MemoryScope): (id: SessionId) => boolean {
  const named = scope.sessions && new Set(scope.sessions);
  const memories = new Set(scope.agents?.map(toMemorySession));
  return (id) =>
    (memories.has(id) && hasScopeOwner(scope, id)) ||
    (namesSessions(scope) && (named?.has(id) ?? true) && hasScopePrefix(scope, id));
}

async function listSessionNumbers(
  { store, sessionNumbers }: ScopeDeps,
  scope: MemoryScope,
): Promise<number[]> {
  const { sessions, prefix, prefixes, meta, owners } = scope;
  if (store.memory.sessionsInScope) {
    const conditions = dropUndefined({ names: sessions, prefix, prefixes, meta, owners });
    return [...(await store.memory.sessionsInScope(conditions))];
  }
  const isIn = async (name: string): Promise<boolean> => {
    if (!hasScopePrefix(scope, name)) return false;
    if (!meta) return true;
    const own = (await store.sessions.get(name))?.meta ?? {};
    return Object.entries(meta).every(([key, value]) => isDeepStrictEqual(own[key], value));
  };
  const numbers: number[] = [];
  if (sessions && sessions.length <= FEW_SESSIONS) {
    for (const name of sessions) {
      const source = await store.memory.source({ kind: "session", name });
      if (source && (await isIn(name))) numbers.push(source.number);
    }
    return numbers;
  }
  const known = await sessionNumbers.read();
  for (const name of sessions ?? known.keys()) {
    const number = known.get(name);
    if (number !== undefined && (await isIn(name))) numbers.push(number);
  }
  return numbers;
}

async function listFileNumbers({ fileNumbers }: ScopeDeps, paths: readonly string[]): Promise<number[]> {
  const isIn = buildPathFilter(paths);
  const numbers: number[] = [];
  for (const [name, number] of await fileNumbers.read()) if (isIn(name)) numbers.push(number);
  return numbers;
}
