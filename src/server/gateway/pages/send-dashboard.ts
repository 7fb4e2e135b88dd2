import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { resolvePackageFile } from "../../../model/base/package-files.ts";

/**
 * Only files of the dashboard may run or style a page, nothing is loaded from elsewhere, requests go only to this
 * gateway, and text becomes markup only through the sanitizer. Pictures of conversations arrive with the token of the
 * reader, hence blob:.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types dompurify",
].join("; ");

const GUARD_HEADERS = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

const YEAR_SECONDS = 31_536_000;

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>longhaul</title>
<p>The dashboard is not built. Run: npm run build</p></html>
`;

let known: ReturnType<typeof readDashboardFiles> | undefined;

/** Sends a file of the dashboard, or "not modified" if the browser has it. */
export async function sendDashboard(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  request.resume();
  known ??= readDashboardFiles();
  const files = await known;
  const isHeadOnly = request.method === "HEAD";
  if (!files) {
    known = undefined;
    sendText(response, 503, "text/html; charset=utf-8", NOT_BUILT, isHeadOnly);
    return;
  }
  const file = files.get(path);
  if (file) sendFile(request, response, file, isHeadOnly);
  else
    sendText(
      response,
      404,
      "text/plain; charset=utf-8",
      "There is no such file; reload the page.\n",
      isHeadOnly,
    );
}

function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { mime, etag, bytes, compressed, isImmutable }: DashboardFile,
  isHeadOnly: boolean,
): void {
  const cache = isImmutable ? `public, max-age=${YEAR_SECONDS}, immutable` : "no-cache";
  const head = {
    ...GUARD_HEADERS,
    "content-security-policy": POLICY,
    "cache-control": cache,
    etag,
    vary: "Accept-Encoding",
  };
  if (request.headers["if-none-match"]?.split(/\s*,\s*/).includes(etag)) {
    response.writeHead(304, head).end();
    return;
  }
  const isCompressed = /\bgzip\b/.test(request.headers["accept-encoding"]?.toString() ?? "");
  const body = isCompressed && compressed.length < bytes.length ? compressed : bytes;
  response.writeHead(200, {
    ...head,
    "content-type": mime,
    "content-length": body.length,
    ...(body === compressed && { "content-encoding": "gzip" }),
  });
  response.end(isHeadOnly ? undefined : body);
}

function sendText(
  response: ServerResponse,
  status: number,
  mime: string,
  text: string,
  isHeadOnly: boolean,
): void {
  response.writeHead(status, {
    ...GUARD_HEADERS,
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "content-type": mime,
    "content-length": Buffer.byteLength(text),
  });
  response.end(isHeadOnly ? undefined : text);
}

/** A file of the dashboard, ready to be sent. */
interface DashboardFile {
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
async function readDashboardFiles(): Promise<ReadonlyMap<string, DashboardFile> | undefined> {
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
