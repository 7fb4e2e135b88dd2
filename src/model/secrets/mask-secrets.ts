import { findSecrets } from "./redact-secrets.ts";

/** The same text with "*" in place of each character of a secret, so that every other place stays where it was. */
export function maskSecrets(text: string): string {
  let masked = "";
  let at = 0;
  for (const { from, to } of findSecrets(text)) {
    masked += text.slice(at, from) + text.slice(from, to).replace(/[^\r\n]/g, "*");
    at = to;
  }
  return at === 0 ? text : masked + text.slice(at);
}
