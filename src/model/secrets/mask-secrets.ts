import { findSecrets } from "./redact-secrets.ts";

/** Replaces each character of a secret by "*", so that all offsets stay the same. */
export function maskSecrets(text: string): string {
  let masked = "";
  let at = 0;
  for (const { from, to } of findSecrets(text)) {
    masked += text.slice(at, from) + text.slice(from, to).replace(/[^\r\n]/g, "*");
    at = to;
  }
  return at === 0 ? text : masked + text.slice(at);
}
