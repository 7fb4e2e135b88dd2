import type { Json, Kernel, SessionId, SessionRecord } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { buildPersonId, LOCAL_PERSON } from "../../../model/session-key.ts";
import type { ErasedPerson } from "../../erasing/erase-person.ts";

/** The ids under which sessions of one person are stored. */
export interface PersonIds {
  /** "local", or "@" and the name of a token. New sessions get this one. */
  readonly id: string;
  /** Ids that earlier versions used: 16 hexadecimal digits derived from a credential. */
  readonly formerIds: readonly string[];
}

/** All ids of a person, the current one first. */
export function listPersonIds({ id, formerIds }: PersonIds): readonly string[] {
  return [id, ...formerIds];
}

/** The prefix of all session ids of a principal. */
function getSessionPrefix(principal: string): string {
  return `${principal}/`;
}

/** The prefixes of all session ids of a person. */
export function listSessionPrefixes(person: PersonIds): readonly string[] {
  return listPersonIds(person).map(getSessionPrefix);
}

/** The name under which a person's memories are stored; `longhaul remember` writes those of the local user. */
export function getMemoryAgent({ id }: Pick<PersonIds, "id">): string {
  return id === LOCAL_PERSON ? "default" : `gateway:${id}`;
}

/** The former id that a session was stored under; undefined if its id has another form. */
function findFormerId(session: string): string | undefined {
  return /^([0-9a-f]{16})\/[^/]+:/.exec(session)?.[1];
}

/** The owners of all sessions of a person, and of the person's memories. */
export function listPersonOwners(person: PersonIds): readonly string[] {
  return [...listSessionPrefixes(person), `memory:${getMemoryAgent(person)}`];
}

const LOCAL_FACT = "gateway former people";
const PAGE_SESSIONS = 1_000;
/** Maximum number of former ids of one person, most recent first; each costs a lookup for a new conversation. */
const MAX_FORMER_IDS = 1_000;

interface LearnedPeople {
  readonly ids: readonly string[];
  /** The newest session that was read. */
  readonly through: SessionId;
}

/**
 * The ids under which earlier versions stored the sessions of people. Without tokens, all of them belong to the one
 * person of the gateway. With tokens, a person owns the id derived from a secret that its token had. Both are kept as
 * facts of a session, so that they survive a restart and the rotation of a token.
 */
export class FormerPeople {
  readonly #kernel: Kernel;
  readonly #onError: (error: unknown) => void;
  #local: Promise<readonly string[]> | undefined;
  readonly #named = new Map<string, Promise<readonly string[]>>();

  constructor(kernel: Kernel, onError: (error: unknown) => void) {
    this.#kernel = kernel;
    this.#onError = onError;
  }

  /** A person with all former ids. If the store cannot be read, with those of the request. */
  async complete<Person extends PersonIds & { readonly token?: string }>(person: Person): Promise<Person> {
    try {
      const formerIds = await (person.token === undefined ? this.#findLocal() : this.#findNamed(person));
      return { ...person, formerIds };
    } catch (error) {
      this.#onError(error);
      return person;
    }
  }

  #findLocal(): Promise<readonly string[]> {
    this.#local ??= this.#learnLocal().catch((error) => {
      this.#local = undefined;
      throw error;
    });
    return this.#local;
  }

  #findNamed(person: PersonIds): Promise<readonly string[]> {
    const key = [person.id, ...person.formerIds].join(" ");
    let known = this.#named.get(key);
    if (!known) {
      known = this.#learnNamed(person).catch((error) => {
        this.#named.delete(key);
        throw error;
      });
      this.#named.set(key, known);
    }
    return known;
  }

  /** Reads the sessions that are newer than those of the last start. */
  async #learnLocal(): Promise<readonly string[]> {
    const learned = parseLearned((await this.#kernel.findFact(LOCAL_FACT))?.value);
    const found = new Set<string>();
    let [newest, before]: (SessionId | undefined)[] = [];
    read: for (;;) {
      const page = await this.#kernel.sessions({ limit: PAGE_SESSIONS, ...dropUndefined({ before }) });
      for (const { id } of page) {
        if (id === learned?.through) break read;
        newest ??= id;
        const former = findFormerId(id);
        if (former !== undefined) found.add(former);
      }
      before = page.at(-1)?.id;
      if (page.length < PAGE_SESSIONS) break;
    }
    const ids = [...new Set([...found, ...(learned?.ids ?? [])])].slice(0, MAX_FORMER_IDS);
    if (newest !== undefined) await this.#keep(LOCAL_FACT, newest, { ids, through: newest });
    return ids;
  }

  async #learnNamed({ id, formerIds }: PersonIds): Promise<readonly string[]> {
    const name = nameFact(id);
    const kept = toTexts((await this.#kernel.findFact(name))?.value);
    const isKept = formerIds.every((former) => kept.includes(former));
    const all = [...new Set([...formerIds, ...kept])].slice(0, MAX_FORMER_IDS);
    for (const former of isKept ? [] : formerIds) {
      const [session] = await this.#kernel.sessions({ prefix: getSessionPrefix(former), limit: 1 });
      if (session) await this.#keep(name, session.id, all);
    }
    return all;
  }

  /** Keeps a fact with the session that has it already, else with the given one. */
  async #keep(name: string, session: SessionId, value: Json): Promise<void> {
    const owner = (await this.#kernel.findFact(name))?.session ?? session;
    await using own = await this.#kernel.session(owner);
    await own.facts.claim(name, value);
  }
}

/** The former ids of a person, as far as a gateway has learned them; reads only. `person` is a current id. */
export async function readFormerIds(
  kernel: Pick<Kernel, "findFact">,
  person: string,
): Promise<readonly string[]> {
  const isLocal = person === LOCAL_PERSON;
  const value = (await kernel.findFact(isLocal ? LOCAL_FACT : nameFact(person)))?.value;
  return isLocal ? (parseLearned(value)?.ids ?? []) : toTexts(value);
}

function nameFact(person: string): string {
  return `${LOCAL_FACT} ${person}`;
}

function parseLearned(value: Json | undefined): LearnedPeople | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { ids, through } = value as { readonly [key: string]: Json };
  return typeof through === "string" ? { ids: toTexts(ids), through } : undefined;
}

function toTexts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** The places where content of a person is stored. */
export async function findErasedPerson(kernel: Kernel, name: string): Promise<ErasedPerson> {
  const id = buildPersonId(name);
  const formerIds = await readFormerIds(kernel, id);
  return { name, prefixes: listSessionPrefixes({ id, formerIds }), memoryAgent: getMemoryAgent({ id }) };
}

/** A page of sessions. */
interface SessionPage {
  readonly limit: number;
  /** The last session of the page before. */
  readonly before?: SessionId;
}

/**
 * Sessions whose ids begin with one of the prefixes, newest first; a person has several prefixes only in a store of an
 * earlier version. Undefined means all sessions.
 */
export async function listOwnSessions(
  kernel: Pick<Kernel, "sessions">,
  prefixes: readonly string[] | undefined,
  page: SessionPage,
): Promise<readonly SessionRecord[]> {
  if (!prefixes) return kernel.sessions(page);
  const lists = await Promise.all(prefixes.map((prefix) => kernel.sessions({ ...page, prefix })));
  return lists
    .flat()
    .toSorted((one, other) => other.createdAt - one.createdAt)
    .slice(0, page.limit);
}
