import { hash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIPv4, type Socket } from "node:net";
import {
  isPersonSecret,
  type Person,
  type PersonRole,
  type PersonToken,
  type Team,
  type TokenOwner,
} from "../../../kernel/faces/people.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { buildPersonId, LOCAL_PERSON } from "../../../model/session-key.ts";
import type { WireFault } from "../../../wire/wire.ts";
import type { PersonIds } from "../identity/person-ids.ts";
import type { TeamState } from "../limits/shared-states.ts";
import {
  type DoorLimits,
  type DoorRefusal,
  type DoorToken,
  type RequestHead,
  refuseRequest,
} from "./request-head.ts";

/** The person a request belongs to. Principals never share sessions. */
export interface Principal extends PersonIds {
  /** Name of the gateway's token in the configuration. */
  readonly token?: string;
  /** The header that carried the gateway's token; it must not be sent upstream. */
  readonly tokenHeader?: CredentialHeader;
  /** The rights of the person; the person of a gateway without tokens has all. */
  readonly role: PersonRole;
  /** The person of the store; undefined for a token of the configuration. */
  readonly person?: Person | undefined;
  /** The person's token that the request carries. */
  readonly personToken?: PersonToken | undefined;
}

/** Separates these digests from other SHA-256 digests of the same secret, such as the one in the configuration. */
const DOMAIN = "longhaul gateway principal\0";
const FORMER_DIGITS = 16;

/**
 * Identifies the principal: the name of the gateway's token if one matched, else "local". Secrets have no part in the
 * id, so that a renewed login and a rotated token keep their sessions. Earlier versions used a digest of the secret,
 * which is the former id of a token's person.
 */
export function identifyPrincipal(match: TokenMatch | undefined, owner?: TokenOwner): Principal {
  const { person, token: personToken } = owner ?? {};
  if (!match) return { id: LOCAL_PERSON, formerIds: [], role: "admin" };
  const { name, credential, role = "member" } = match;
  return {
    id: buildPersonId(name),
    formerIds: [digestSecret(credential.secret)],
    token: name,
    tokenHeader: credential.header,
    role,
    ...dropUndefined({ person, personToken }),
  };
}

function digestSecret(secret: string): string {
  return computeDigest(DOMAIN + secret, FORMER_DIGITS);
}

/** No person takes more than this share of the connections, so that others always get in. */
const CONNECTION_SHARE = 4;
const MAX_PEOPLE = 10_000;
const DAY_MS = 86_400_000;

/** Counts the requests in progress of each person with a token, and the bytes that each stores in a day. */
export class PersonLimits {
  readonly #limits: () => DoorLimits;
  readonly #open = new Map<string, number>();
  readonly #stored = new BoundedMap<string, { readonly day: number; readonly bytes: number }>({
    max: MAX_PEOPLE,
  });

  constructor(limits: () => DoorLimits) {
    this.#limits = limits;
  }

  /** Counts a request of a person with a token until the returned function is called; a fault if there are too many. */
  begin({ id, token }: Principal): WireFault | (() => void) {
    const { maxPersonRequests, maxConnections } = this.#limits();
    const max = Math.max(1, Math.min(maxPersonRequests, Math.floor(maxConnections / CONNECTION_SHARE)));
    const open = this.#open.get(id) ?? 0;
    if (open >= max)
      return {
        status: 429,
        kind: "rate_limit",
        message: `${token} has ${open} requests in progress, which is the limit for one person; wait until one of them has ended.`,
        headers: { "retry-after": "2" },
      };
    this.#open.set(id, open + 1);
    return () => {
      const left = (this.#open.get(id) ?? 1) - 1;
      if (left === 0) this.#open.delete(id);
      else this.#open.set(id, left);
    };
  }

  /**
   * Counts the bytes of a request as stored by its person today; a fault if that is more than one person may store. The
   * returned function corrects the count once, because most messages of a request are in the log already.
   */
  countStored(
    { id, token }: { readonly id: string; readonly token?: string | undefined },
    sizeBytes: number,
  ): WireFault | ((storedBytes: number) => void) {
    const now = Date.now();
    const day = Math.floor(now / DAY_MS);
    const add = (addedBytes: number) => {
      const known = this.#stored.get(id);
      const bytes = (known?.day === day ? known.bytes : 0) + addedBytes;
      const isWithin = bytes <= this.#limits().maxPersonBytes;
      if (isWithin || addedBytes < 0) this.#stored.set(id, { day, bytes: Math.max(0, bytes) });
      return isWithin;
    };
    if (!add(sizeBytes))
      return {
        status: 429,
        kind: "rate_limit",
        message: `${token} has stored as much today as one person may, or the request is larger than what is left (limits.maxPersonBytes). It begins again at midnight UTC; an admin can raise it.`,
        headers: {
          "retry-after": String(Math.ceil(((day + 1) * DAY_MS - now) / 1_000)),
          "x-should-retry": "false",
        },
      };
    let isCorrected = false;
    return (storedBytes) => {
      if (!isCorrected) add(Math.min(0, storedBytes - sizeBytes));
      isCorrected = true;
    };
  }
}

type CredentialHeader = (typeof HEADERS)[number];

/** A credential as a client sent it. Only digests of it leave the door. */
interface Credential {
  readonly header: CredentialHeader;
  readonly secret: string;
}

/** The matching token of the configuration, and the credential that carried it; its header is not sent upstream. */
interface TokenMatch {
  readonly name: string;
  readonly credential: Credential;
  readonly role?: PersonRole | undefined;
}

interface TokenDigest {
  readonly name: string;
  readonly role: PersonRole | undefined;
  readonly digest: Buffer;
}

/** Azure and Google have headers of their own for keys. */
const HEADERS = ["x-longhaul-token", "authorization", "x-api-key", "api-key", "x-goog-api-key"] as const;
const MAX_CHARACTERS = 8_192;

/**
 * The credentials of a request that may hold the gateway's token. A client that also sends a credential for the provider
 * sends the gateway's token as x-longhaul-token, and then only that header counts. A header sent twice is refused, because
 * the next reader may use the other value.
 */
export function readCredentials(request: RequestHead): readonly Credential[] | DoorRefusal {
  const found: Credential[] = [];
  for (const header of HEADERS) {
    const values = request.headers.get(header) ?? [];
    if (values.length > 1) return refuseRequest(`${header} was sent more than once.`);
    const value = values[0] ?? "";
    // A scheme other than Bearer stays as a prefix: such a credential never matches a token.
    const isPlain = header !== "authorization" || value === "";
    const secret = isPlain ? value : (/^Bearer +(.*)$/i.exec(value)?.[1] ?? `other ${value}`);
    if (secret.length > MAX_CHARACTERS)
      return refuseRequest(`${header} is longer than ${MAX_CHARACTERS} characters.`);
    if (secret) found.push({ header, secret });
  }
  const [first] = found;
  return first?.header === "x-longhaul-token" ? [first] : found;
}

/** Finds the token that a request carries. All tokens are compared even after a match, so that timing reveals nothing. */
export function matchToken(
  credentials: readonly Credential[],
  tokens: readonly DoorToken[],
  environment: NodeJS.ProcessEnv,
): TokenMatch | undefined {
  if (tokens.length === 0) return undefined;
  const digests = digestTokens(tokens, environment);
  let match: TokenMatch | undefined;
  for (const credential of credentials) {
    const given = sha256(credential.secret);
    for (const { name, digest, role } of digests)
      if (timingSafeEqual(digest, given)) match ??= { name, credential, role };
  }
  return match;
}

/** Digests by token list; reloading the configuration creates a new list. */
const knownDigests = new WeakMap<readonly DoorToken[], readonly TokenDigest[]>();

/** A token without a secret or with an invalid digest matches nothing. */
function digestTokens(tokens: readonly DoorToken[], environment: NodeJS.ProcessEnv): readonly TokenDigest[] {
  const cached = knownDigests.get(tokens);
  if (cached) return cached;
  const digests = tokens.flatMap(({ name, env, sha256: hex, role }) => {
    const secret = env === undefined ? "" : (environment[env] ?? "");
    if (secret) return [{ name, role, digest: sha256(secret) }];
    return hex && /^[0-9a-f]{64}$/i.test(hex) ? [{ name, role, digest: Buffer.from(hex, "hex") }] : [];
  });
  knownDigests.set(tokens, digests);
  return digests;
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** The credentials of a request, and the store's answer about them. */
export interface PersonLookup {
  readonly credentials: readonly Credential[] | DoorRefusal;
  /** True if the store has people, so that nobody is admitted without a token. */
  readonly isClosed: boolean;
  readonly owner?: TokenOwner;
  /** The credential that holds the secret of a person. */
  readonly credential?: Credential;
  /** True if the store could not be asked. */
  readonly hasFailed?: true;
}

/** Asks the store about the person whose secret a request carries; other credentials are not looked up. */
export async function lookUpPerson(
  head: RequestHead,
  team: Pick<Team, "authenticate">,
  state: TeamState,
): Promise<PersonLookup> {
  const isClosed = await state.isInUse();
  const credentials = readCredentials(head);
  let credential: Credential | undefined;
  if (!("fault" in credentials))
    for (const one of credentials) if (isPersonSecret(one.secret)) credential ??= one;
  if (!credential) return { isClosed, credentials };
  try {
    const owner = await team.authenticate(credential.secret);
    if (owner) state.markInUse();
    const hasPeople = isClosed || owner !== undefined;
    return { isClosed: hasPeople, credentials, credential, ...dropUndefined({ owner }) };
  } catch {
    return { isClosed, credentials, credential, hasFailed: true };
  }
}

const CHECK_MS = 500;

/** A request in progress, whose token is asked about again. */
interface WatchedRequest {
  readonly principal: Principal;
  /** Admits the request once more; undefined if its token is not valid any more. */
  readonly admitAgain: () => Promise<Principal | undefined>;
  readonly end: () => void;
}

/** Ends requests in progress, such as streams, whose token was revoked, rotated, expired or given another role. */
export class TokenWatch {
  readonly #requests = new Set<WatchedRequest>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  /** Watches a request with a token until the returned function is called. */
  add(request: WatchedRequest): () => void {
    this.#requests.add(request);
    this.#timer ??= setInterval(() => void this.#check(), CHECK_MS).unref();
    return () => {
      this.#requests.delete(request);
      if (this.#requests.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      // Requests with the same secret have the same answer.
      const known = new Map<string, Promise<Principal | undefined>>();
      for (const request of [...this.#requests]) {
        const { principal, admitAgain, end } = request;
        const secret = principal.formerIds.join();
        const asking = known.get(secret) ?? admitAgain();
        known.set(secret, asking);
        const now = await asking;
        if (this.#requests.has(request) && (now?.id !== principal.id || now.role !== principal.role)) end();
      }
    } finally {
      this.#isChecking = false;
    }
  }
}

/** The user of this machine at the other end of a connection, if the system reports it. */
type PeerUser =
  | { readonly type: "user"; readonly uid: number }
  /** The system does not report users; always the case outside Linux. */
  | { readonly type: "unknown" }
  /** The system reports users, but no process holds the other end any more. */
  | { readonly type: "nobody" };

/**
 * A table of the Linux kernel. Reading one takes time and memory for each connection of the machine, so callers share
 * reads; each gets a text whose reading began after its call.
 */
export class KernelTable {
  readonly #path: string;
  #running: Promise<string | undefined> | undefined;
  /** A read that begins when the running one has ended. */
  #next: Promise<string | undefined> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined if the system has no such table. */
  read(): Promise<string | undefined> {
    if (!this.#running) return this.#next ?? this.#start();
    this.#next ??= this.#running.then(() => this.#start());
    return this.#next;
  }

  #start(): Promise<string | undefined> {
    this.#next = undefined;
    const reading = readFile(this.#path, "latin1").catch(() => undefined);
    this.#running = reading;
    void reading.then(() => {
      if (this.#running === reading) this.#running = undefined;
    });
    return reading;
  }
}

const UNKNOWN: PeerUser = { type: "unknown" };
const NOBODY: PeerUser = { type: "nobody" };
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"].map((path) => new KernelTable(path));

/** Finds the user whose process holds the other end of a loopback connection, from the tables of the Linux kernel. */
async function findPeerUser(socket: Socket): Promise<PeerUser> {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  if (process.platform !== "linux" || process.getuid === undefined) return UNKNOWN;
  if (remoteAddress === undefined || localAddress === undefined) return NOBODY;
  const ends = [`${remotePort}`, `${localPort}`].map((port) =>
    Number(port).toString(16).toUpperCase().padStart(4, "0"),
  );
  const wanted = new Set(
    toTableForms(remoteAddress).flatMap((remote) =>
      toTableForms(localAddress).map((local) => `${remote}:${ends[0]} ${local}:${ends[1]}`),
    ),
  );
  let isReadable = false;
  for (const table of TABLES) {
    const text = await table.read();
    if (text === undefined) continue;
    isReadable = true;
    const uid = findUid(text, wanted);
    if (uid !== undefined) return uid;
  }
  return isReadable ? NOBODY : UNKNOWN;
}

/** Finds a connection in a kernel table. Columns: local and remote end, state, queues, timers, uid, timeout, inode. */
export function findUid(table: string, wanted: ReadonlySet<string>): PeerUser | undefined {
  for (const ends of wanted) {
    const at = table.indexOf(ends);
    if (at < 0) continue;
    const columns = table.slice(at, table.indexOf("\n", at) >>> 0).split(/\s+/);
    const [uid, inode] = [columns[6], columns[8]];
    // A socket that its process has closed is listed under root with inode 0.
    return inode === "0" ? NOBODY : { type: "user", uid: Number(uid) };
  }
  return undefined;
}

/**
 * An address in the notation of the tables: 32-bit words in host byte order; an IPv4 address in the forms of both
 * tables.
 */
export function toTableForms(address: string): readonly string[] {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (isIPv4(plain)) {
    const short = toHexWords(plain.split(".").map(Number));
    return [short, `0000000000000000${toHexWords([0, 0, 0xff, 0xff])}${short}`];
  }
  const [head = "", tail] = plain.split("%")[0]?.split("::") ?? [];
  const groups = (part: string) =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const [first, last] = [groups(head), groups(tail ?? "")];
  const all = [...first, ...Array<number>(Math.max(0, 8 - first.length - last.length)).fill(0), ...last];
  return [toHexWords(all.flatMap((group) => [group >> 8, group & 0xff]))];
}

function toHexWords(bytes: readonly number[]): string {
  const buffer = Buffer.from(bytes);
  if (new Uint8Array(new Uint32Array([1]).buffer)[0] === 1) buffer.swap32();
  return buffer.toString("hex").toUpperCase();
}

/** The users at the other ends of connections, each looked up once. */
export class KnownPeers {
  readonly #users = new WeakMap<Socket, Promise<PeerUser>>();

  find(socket: Socket): Promise<PeerUser> {
    const known = this.#users.get(socket);
    if (known) return known;
    const finding = findPeerUser(socket);
    this.#users.set(socket, finding);
    // The request that waits for it reports a failure.
    finding.catch(() => this.#users.delete(socket));
    return finding;
  }
}
