import { createHash } from "node:crypto";
import type { PageReply } from "../page-reply.ts";
import { FRONT_BODY } from "./front-body.ts";
import { FRONT_SCRIPT } from "./front-script.ts";
import { FRONT_STYLE } from "./front-style.ts";

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>longhaul</title>
<link rel="icon" href="data:,">
<style>${FRONT_STYLE}</style>
</head>
<body>${FRONT_BODY}<script>${FRONT_SCRIPT}</script></body>
</html>
`;

/** Only our own script and style may run, no external resource is loaded, and requests go only to this gateway. */
const POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(FRONT_SCRIPT)}`,
  `style-src ${hashOf(FRONT_STYLE)}`,
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The status page. It contains no data; its script loads all data with the token that the reader enters. */
export function buildFrontPage(): PageReply {
  return {
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": POLICY },
    text: PAGE,
  };
}
