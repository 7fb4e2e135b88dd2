import { onTestFinished } from "vitest";
import {
  type Entry,
  type Kernel,
  type KernelOptions,
  openKernel,
  type Page,
  type Session,
} from "../../src/kernel/index.ts";
import { testFolder } from "./folder.ts";

/** A kernel for one test, in memory by default, closed afterwards. */
export async function testKernel(options: KernelOptions = { path: ":memory:" }): Promise<Kernel> {
  const kernel = await openKernel(options);
  onTestFinished(() => kernel.close());
  return kernel;
}

/** A kernel on disk for one test, with its folder. */
export async function diskKernel(options: KernelOptions = {}): Promise<{ kernel: Kernel; path: string }> {
  const path = testFolder();
  return { kernel: await testKernel({ ...options, path }), path };
}

/** The text of an entry. */
export function textOf(entry: Entry | undefined): string {
  if (entry?.kind === "notice") return entry.text;
  if (entry?.kind !== "message") return `(${entry?.kind ?? "nothing"})`;
  return entry.message.parts.map((part) => ("text" in part ? part.text : `[${part.type}]`)).join("");
}

export function texts(page: Page): string[] {
  return page.entries.map(textOf);
}

/** Appends plain user messages one by one. */
export async function say(session: Session, ...words: string[]): Promise<Entry[]> {
  const said: Entry[] = [];
  for (const text of words) said.push(await session.append({ role: "user", text }));
  return said;
}
