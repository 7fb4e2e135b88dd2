import { createHash } from "node:crypto";
import type { PageAnswer } from "../answer.ts";
import { BODY } from "./body.ts";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>longhaul</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>${BODY}<script>${SCRIPT}</script></body>
</html>
`;

/** Nothing runs but our own script and style, nothing is loaded from anywhere, and answers come from here alone. */
const POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The status page. It holds nothing of anybody: what it shows, it asks for with the token that its reader types in. */
export function frontPage(): PageAnswer {
  return {
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": POLICY },
    text: PAGE,
  };
}
