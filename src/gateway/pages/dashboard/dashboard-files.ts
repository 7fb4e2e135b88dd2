import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { resolvePackageFile } from "../../../base/package-files.ts";

/** A file of the dashboard, ready to be sent. */
export interface DashboardFile {
  readonly mime: string;
  readonly etag: string;
  readonly bytes: Buffer;
  readonly compressed: Buffer;
  /** True if the name contains a hash of the content, so that a browser need never ask again. */
  readonly isImmutable: boolean;
}

const MIME: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

const compress = promisify(gzip);

/**
 * Reads the built dashboard into memory, by path from its root. The build decides their number and size; a path of a
 * request is only looked up, never opened. Undefined if the dashboard is not built.
 */
export async function readDashboardFiles(): Promise<ReadonlyMap<string, DashboardFile> | undefined> {
  const folder = resolvePackageFile("dist/web/");
  const entries = await readdir(folder, { recursive: true }).catch(() => []);
  const names = entries.map((name) => name.replaceAll("\\", "/")).filter((name) => extname(name) in MIME);
  if (!names.includes("index.html")) return undefined;
  const files = names.map(async (name) => [`/${name}`, await readOne(new URL(name, folder), name)] as const);
  return new Map(await Promise.all(files));
}

async function readOne(url: URL, name: string): Promise<DashboardFile> {
  const bytes = await readFile(url);
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  return {
    mime: MIME[extname(name)] as string,
    etag: `"${hash}"`,
    bytes,
    compressed: await compress(bytes, { level: 9 }),
    isImmutable: name.startsWith("assets/"),
  };
}
