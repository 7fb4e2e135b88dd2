import { constants, existsSync, lstatSync } from "node:fs";
import { access, chmod, readdir, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readVersion } from "../../model/base/package-files.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatQuantity } from "../terminal/format-count.ts";
import type { Area, Finding } from "./finding.ts";

const GB = 1e9;
/** Below this, large imports and the index may fail. */
const LOW_BYTES = GB;
/** Below this, appends fail soon. */
const FULL_BYTES = GB / 10;
const PRIVATE_NAMES = [
  "log.db",
  "log.db-wal",
  "log.db-shm",
  "memory.db",
  "longhaul.json",
  "trusted.json",
  "service.env",
];

/** Examines versions, free space and the permissions of the store, or of the settings of a store in a database. */
export async function examineComputer(store: string, isDatabase: boolean): Promise<readonly Finding[]> {
  const content = isDatabase ? "the settings" : "the store";
  const permissions = existsSync(store) ? await examinePermissions(store, content) : [];
  return [...examineVersions(), ...(await examineDisk(store, content)), ...permissions];
}

/** Reports the versions of longhaul, Node and SQLite. */
function examineVersions(): readonly Finding[] {
  const { node, sqlite } = process.versions;
  const text = `longhaul ${readVersion()}, Node ${node}, SQLite ${sqlite ?? "unknown"}, ${process.platform} ${process.arch}`;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 15)) return [{ area: "versions", level: "ok", text }];
  return [
    {
      area: "versions",
      level: "warning",
      text: `${text}; this Node cannot read entries that a newer one packed with zstd`,
      remedy: "install Node 22.15 or newer",
    },
  ];
}

/** Measures the free space of the disks that hold the store and temporary files. */
async function examineDisk(store: string, content: string): Promise<readonly Finding[]> {
  const places = [
    [content, existsSync(store) ? store : undefined],
    ["temporary files", tmpdir()],
  ] as const;
  const findings: Finding[] = [];
  for (const [name, path] of places) {
    if (path === undefined) continue;
    const { bavail, bsize } = await statfs(path);
    const freeBytes = bavail * bsize;
    const text = `${formatBytes(freeBytes)} free for ${name}`;
    if (freeBytes >= LOW_BYTES) findings.push({ area: "disk", level: "ok", text });
    else {
      const level = freeBytes < FULL_BYTES ? "problem" : "warning";
      const remedy = `free some space; "longhaul gc" and "longhaul retention" help`;
      findings.push({ area: "disk", level, text: `only ${text}`, remedy });
    }
  }
  return findings;
}

/** Checks that the store can be written by its user and read by nobody else. */
async function examinePermissions(store: string, content: string): Promise<readonly Finding[]> {
  const area: Area = "permissions";
  const findings: Finding[] = [];
  const names = [".", "blobs", "blobs/incoming", ...PRIVATE_NAMES].filter((name) =>
    existsSync(join(store, name)),
  );
  const open = names.filter((name) => isOpenToOthers(join(store, name)));
  if (open.length > 0)
    findings.push({
      area,
      level: "warning",
      text: `other users can read ${formatQuantity(open.length, "file or folder", "files and folders")} of ${content}: ${open.join(", ")}`,
      remedy: `chmod -R go-rwx ${store}`,
      fix: async () => {
        for (const name of open) {
          const path = join(store, name);
          await chmod(path, lstatSync(path).mode & 0o700);
        }
        return "took the rights of other users away";
      },
    });
  const locked: string[] = [];
  for (const name of names)
    if (
      !(await access(join(store, name), constants.R_OK | constants.W_OK).then(
        () => true,
        () => false,
      ))
    )
      locked.push(name);
  if (locked.length > 0)
    findings.push({
      area,
      level: "problem",
      text: `this user cannot write ${locked.join(", ")}`,
      remedy: "give the store back to the user who runs longhaul, with chown",
    });
  if (findings.length === 0) findings.push({ area, level: "ok", text: `only this user can read ${content}` });
  return findings;
}

/** Finds files that older programs or crashes left in the store's folder. */
export async function listLeftovers(store: string): Promise<readonly string[]> {
  const names = await readdir(store).catch(() => []);
  return names.filter((name) => name === "memory.db.aside" || /\.[0-9a-f-]{36}$/.test(name));
}

function isOpenToOthers(path: string): boolean {
  const found = lstatSync(path);
  return process.platform !== "win32" && !found.isSymbolicLink() && (found.mode & 0o077) !== 0;
}
