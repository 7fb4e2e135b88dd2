import { readFile } from "node:fs/promises";
import { isIPv4, type Socket } from "node:net";

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
