import { parentPort } from "node:worker_threads";
import { type RedactedText, redactSecrets } from "../../../model/secrets/redact-secrets.ts";

/** Texts to redact, and the reply: only texts with secrets, by their index in the request. */
export type RedactRequest = readonly string[];
export type WorkerReply = readonly (readonly [index: number, redacted: RedactedText])[];

parentPort?.on("message", (texts: RedactRequest) => {
  const reply: WorkerReply = texts.flatMap((text, index) => {
    const redacted = redactSecrets(text);
    return redacted.found.length === 0 ? [] : [[index, redacted] as const];
  });
  parentPort?.postMessage(reply);
});
