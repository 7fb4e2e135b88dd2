import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** Runs a marathon in a process whose old generation may take 150 MB, and returns its peaks. */
export async function runMarathon(path: string, messages: number, recalls: number) {
  const script = fileURLToPath(new URL("./marathon.ts", import.meta.url));
  const args = ["--max-old-space-size=150", script, path, `${messages}`, `${recalls}`];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [out, errors] = [text(child.stdout), text(child.stderr)];
  const [code] = await once(child, "exit");
  expect(code, await errors).toBe(0);
  return JSON.parse(await out) as Readonly<Record<string, number>>;
}
