import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { type ProcessIdentity, type ProcessTable, type SeenProcess, sendSignal } from "./process-table.ts";
import { NO_TAGS, RUNS_VARIABLE, TASK_VARIABLE, type Tags, tagsOf } from "./tag.ts";

/** What was read last; whoever reads copies what he needs before the next one reads. */
const page = Buffer.allocUnsafe(16 * 1024);
/** The flag of threads of the kernel: they belong to nobody and have no environment. */
const KERNEL_THREAD = 0x0020_0000;
/** How many are looked at besides those that were born since the last list, how many at most, and how often in vain. */
const CHASE_DEPTH = 6;
const CHASE_MOST = 4_096;
const CHASE_MISSES = 20;

/** The process table of Linux, read from its proc file system. */
export function procTable(folder = "/proc", uid = process.getuid?.() ?? 0): ProcessTable {
  const boot = read(`${folder}/sys/kernel/random/boot_id`)?.toString("latin1").slice(0, 8) ?? "";
  const see = (pid: number) => parseStat(pid, boot, read(`${folder}/${pid}/stat`)?.toString("latin1"));
  const seeWhole = (pid: number): (SeenProcess & { readonly isBlank: boolean }) | undefined => {
    const environment = read(`${folder}/${pid}/environ`);
    const [tags, isBlank] = [tagsIn(environment), environment?.length === 0];
    const stat = see(pid);
    return stat && { ...stat, ...tags, isBlank };
  };
  /** Threads have numbers of the same kind, and files under them, but are in no list. */
  const isWhole = (pid: number) => read(`${folder}/${pid}/status`)?.includes(`\nTgid:\t${pid}\n`) === true;
  const newest = () => Number(read(`${folder}/loadavg`)?.toString("latin1").split(" ")[4]);
  let newestListed = 0;
  return {
    list() {
      const seen: SeenProcess[] = [];
      newestListed = newest();
      for (const name of readdirSync(folder)) {
        const pid = Number(name);
        // A superuser's tree may hold processes of others; everybody else could not signal them anyway.
        if (!Number.isInteger(pid) || (uid !== 0 && ownerOf(`${folder}/${pid}`) !== uid)) continue;
        const whole = seeWhole(pid);
        if (whole) seen.push(whole);
      }
      return seen;
    },
    look(pid) {
      const seen = see(pid);
      return seen && seen.state !== "zombie" ? { pid: seen.pid, born: seen.born } : undefined;
    },
    signal(target: ProcessIdentity, signal) {
      return see(target.pid)?.born === target.born && sendSignal(target.pid, signal);
    },
    chase(find, signal) {
      // A list of one does not show who this process descends from.
      const spared = new Set<number>();
      for (let pid = process.pid; pid > 1 && !spared.has(pid); pid = see(pid)?.parent ?? 0) spared.add(pid);
      let count = 0;
      // Those that were born while a list was read are in none.
      let last = newestListed - CHASE_DEPTH;
      for (let misses = 0; misses < CHASE_MISSES; misses++) {
        const now = newest();
        if (!(now > 1) || now === last) break;
        // Numbers begin anew one day.
        const from = Math.max(2, now < last ? now - CHASE_DEPTH : last + 1, now - CHASE_MOST);
        last = now;
        for (let pid = now; pid >= from; pid--) {
          const seen = spared.has(pid) ? undefined : seeWhole(pid);
          if (!seen) continue;
          // One that is just becoming another program shows nothing, and is looked at again.
          if (seen.isBlank && seen.state === "alive") last = pid - 1;
          if (find([seen]).length === 0 || !isWhole(pid)) continue;
          count++;
          if (!signal) return count;
          if (sendSignal(pid, signal)) misses = 0;
        }
      }
      return count;
    },
  };
}

/** Reads the line of /proc/<pid>/stat; the name in it may hold spaces and brackets. Nothing for a thread of the kernel. */
export function parseStat(
  pid: number,
  boot: string,
  line: string | undefined,
): Omit<SeenProcess, keyof Tags> | undefined {
  const fields = line?.slice(line.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group] = fields ?? [];
  const ticks = fields?.[19];
  if (!state || ticks === undefined || Number(fields?.[6]) & KERNEL_THREAD) return undefined;
  return {
    pid,
    born: `${boot}-${ticks}`,
    parent: Number(parent),
    group: Number(group),
    state: state === "Z" || state === "X" ? "zombie" : state === "T" || state === "t" ? "stopped" : "alive",
  };
}

function tagsIn(environment: Buffer | undefined): Tags {
  if (!environment?.includes("LONGHAUL_")) return NO_TAGS;
  const variables = environment.toString("utf8").split("\0");
  const valueIn = (name: string) =>
    variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
  return tagsOf(valueIn(TASK_VARIABLE), valueIn(RUNS_VARIABLE));
}

function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

/** Processes vanish while they are looked at, and some may not be looked at: both read as nothing. */
function read(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    // One read brings a whole line of numbers and nearly every environment; files of proc do not tell their size.
    const length = readSync(file, page, 0, page.length, null);
    if (length < page.length) return page.subarray(0, length);
    return Buffer.concat([page, readFileSync(file)]);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
